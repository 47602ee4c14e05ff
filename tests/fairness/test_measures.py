"""A measure that is added to its registry appears everywhere, and moves no other figure."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner
from word_bag import WordBag

import fairjudge as fj
from fairjudge.api import fairness
from fairjudge.cli._main import app
from fairjudge.errors import ConfigurationError, StatisticsError
from fairjudge.fairness.coverage_measures import COVERAGE, CoverageMeasure
from fairjudge.fairness.coverage_parity import mean_coverage
from fairjudge.fairness.measures import Band
from fairjudge.fairness.proportional import PROPORTIONAL, ShareMeasure
from fairjudge.fairness.registry import FAMILIES
from fairjudge.fairness.shares import shortfalls
from fairjudge.reports.directions import direction_notes, title_with_direction
from fairjudge.reports.kinds import make_findings, make_tables
from fairjudge.scorers import embedding

DOCS = Path(__file__).parents[2] / "docs"

# One document of each value in every set. Shares of the summaries' words by value are 3 to 1, or
# the other way round; half is wanted: the largest shortfall is .25 in each sample.
CLUSTERS = [
    {
        "eid": f"c{n}",
        "articles": [
            {"aid": "1", "content": "slow rude cold noisy", "attributes": {"side": "a"}},
            {"aid": "2", "content": "nice fresh kind warm", "attributes": {"side": "b"}},
        ],
    }
    for n in range(8)
]
TEXTS = {"one": "slow rude cold nice", "other": "slow nice fresh kind", "even": "slow nice"}
SUMMARIES = [
    {"eid": cluster["eid"], "system": system, "text": TEXTS[system]}
    for cluster in CLUSTERS
    for system in ("one", "even")
]
SUPPORTS = [
    {
        "eid": row["eid"], "system": row["system"], "units": ["u"], "aids": ["1", "2"],
        "support": [[0.9], [0.5]] if row["system"] == "one" else [[0.6], [0.6]],
    }
    for row in SUMMARIES
]  # fmt: skip
# People share half of the summaries of "one" evenly, and none of the others.
PEOPLE = [{"eid": f"c{n}", "system": "one", "shares": {"a": 1, "b": 1}} for n in range(4)]

TOYS = {
    "proportional": [
        ShareMeasure(
            key="worst",
            label="Worst Shortfall",
            unit="percent",
            sample_formula=lambda shares: shortfalls(shares).max(axis=1),
            band=lambda errors: Band(
                low=max(0.0, float(shortfalls(errors.shares).max(axis=1).mean()) - 0.1), high=1.0
            ),
        ),
        ShareMeasure(
            key="smallest",
            label="Smallest Share",
            direction="higher",
            corpus_formula=lambda shares, counts: (
                counts @ shares.actual.min(axis=1) / counts.sum(axis=1)
            ),
        ),
    ],
    "coverage": [
        CoverageMeasure(
            key="spread",
            label="Spread of Coverage",
            sample_formula=lambda rows: np.array([np.ptp(s.differences) for s in rows.samples]),
            band=lambda errors: Band(low=0.0, high=errors.error_rate),
        ),
        CoverageMeasure(
            key="balance",
            label="Balance of Coverage",
            direction="higher",
            corpus_formula=lambda parts, counts: (
                (means := mean_coverage(parts, counts)).min(axis=1) / means.max(axis=1)
            ),
        ),
    ],
}


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(embedding, "load_embedder", lambda model=None: WordBag())
    rows = {"clusters": CLUSTERS, "summaries": SUMMARIES, "supports": SUPPORTS, "people": PEOPLE}
    for name, items in rows.items():
        text = "".join(json.dumps(row) + "\n" for row in items)
        Path(f"{name}.jsonl").write_text(text, encoding="utf-8")

    def invoke(*arguments):
        result = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "200"})
        assert result.exit_code == 0, result.output
        return result.stdout

    return invoke


COMMAND = {
    "proportional": ("--human", "people.jsonl"),
    "coverage": ("--scorer", "matrix:supports.jsonl"),
}


def measured(run, family, *options):
    """Return the command's tables, and its JSON, which is left in a file of its name."""
    files = ("clusters.jsonl", "--summaries", "summaries.jsonl", "--attribute", "side")
    more = (*COMMAND[family], *options, "--error-rate", "0.1", "--json", f"{family}.json")
    result = run("fairness", family, *files, *more)
    return result, json.loads(Path(f"{family}.json").read_text("utf-8"))


def values_of(family):
    if family == "proportional":
        return fairness.proportionality(
            "clusters.jsonl", "summaries.jsonl", attribute="side"
        ).table()
    return fairness.coverage(
        "clusters.jsonl", "summaries.jsonl", attribute="side", scorer="matrix:supports.jsonl"
    ).table()


ORACLE = {"proportional": "unigrams", "coverage": "embedding"}


def compared(run, family, measure):
    """Return the output of every command that shows the family's measures, and leave its JSON."""
    first = f"{family}.json"
    Path("second.json").write_bytes(Path(first).read_bytes())
    oracle = ("--attribute", "side", "--documents", "1", "--scorer", ORACLE[family])
    commands = {
        "compare": (first, "--baseline", "even"),
        "overall": (first, "second.json", "--measure", measure),
        "agreement": (first, "second.json"),
        "oracle": ("clusters.jsonl", *oracle),
    }
    return {
        name: run("fairness", name, *arguments, "--json", f"{name}.json")
        for name, arguments in commands.items()
    }


def read(name):
    """Return the JSON in a file; NaN is none."""
    text = Path(f"{name}.json").read_text("utf-8")
    return json.loads(text, parse_constant=lambda number: pytest.fail(f"{number} in {name}"))


@pytest.mark.parametrize("family", FAMILIES)
def test_registered_measures_appear_in_every_output(run, family):
    first, second = TOYS[family]
    with FAMILIES[family].adding(first), FAMILIES[family].adding(second):
        output, results = measured(run, family)
        outputs = compared(run, family, second.key)
        run("report", f"{family}.json", *map("{}.json".format, outputs), "-o", "page.html")
        page = Path("page.html").read_text("utf-8")
        rows = values_of(family)
        reports = [f"{family}.json", "second.json"]
        changes = fj.fairness.compare(reports[0], baseline="even")["systems"]["one"]
        agreements = fj.fairness.agreement(*reports)
        for toy in (first, second):
            assert toy.label in output
            for text in (outputs["compare"], outputs["agreement"], outputs["oracle"]):
                assert toy.label in text
            # tables and plots of the command, compare and oracle, and the table of agreement
            assert page.count(toy.label) >= 7
            for system in results["systems"].values():
                assert system[toy.key]["low"] is not None
                assert (toy.key in system["sensitivity"]) is (toy.band is not None)
            in_samples = [toy.key in sample for sample in results["samples"]]
            assert set(in_samples) == {toy.sample_formula is not None}
            if family == "proportional":
                corrected = results["systems"]["one"]["corrected"]
                assert (toy.key in corrected) is (toy.sample_formula is not None)
            for difference in (
                read("compare")["systems"]["one"][toy.key]["difference"],
                read("oracle")["measures"][toy.key]["difference"],
            ):
                assert difference["value"] is not None
            assert toy.key in read("agreement")
            assert all({toy.key, f"{toy.key}_low", f"{toy.key}_high"} <= row.keys() for row in rows)
            assert toy.key in changes
            assert toy.key in agreements
            # "even" is fairer by every toy, whatever its direction
            for scaling in ("range", "none"):
                overall = fj.fairness.overall(reports, measure=toy.key, scaling=scaling)
                assert any("even is the fairest" in finding for finding in overall.findings)
    assert f"Overall {second.key} of 2 systems" in outputs["overall"]
    values = {name: system["value"] for name, system in read("overall")["systems"].items()}
    assert values == {"even": 0.0, "one": 1.0}


def test_compare_uses_the_tau_of_the_report(run):
    toy = ShareMeasure(
        key="toy_tau",
        label="Tau",
        corpus_formula=lambda shares, counts: np.full(len(counts), shares.tau),
    )
    with PROPORTIONAL.adding(toy):
        measured(run, "proportional", "--tau", "0.5")
        changes = fj.fairness.compare("proportional.json", baseline="even")
    assert changes["systems"]["one"]["toy_tau"]["baseline"] == 0.5


def test_toy_measure_matches_values_by_hand(run):
    with PROPORTIONAL.adding(TOYS["proportional"][0]):
        _, results = measured(run, "proportional")
        # "one": p_y = (3/4, 1/4), half is wanted: short of b by .25, in percent 25
        first = results["systems"]["one"]
        assert first["worst"]["value"] == pytest.approx(25.0)
        assert first["sensitivity"]["worst"] == {"low": pytest.approx(15.0), "high": 100.0}
        assert first["corrected"]["worst"]["labels_only"]["value"] == 0.0
        assert results["samples"][0]["worst"] == pytest.approx(0.0)  # "even" comes first
        assert [row["worst"] for row in values_of("proportional")] == pytest.approx([0.0, 0.25])


@pytest.mark.parametrize("family", FAMILIES)
def test_added_measure_changes_no_other_result(run, family):
    _, before = measured(run, family)
    with FAMILIES[family].adding(TOYS[family][0]), FAMILIES[family].adding(TOYS[family][1]):
        _, after = measured(run, family)
    keys = {toy.key for toy in TOYS[family]}
    for name, system in after["systems"].items():
        assert {k: v for k, v in system.items() if k not in keys} | {
            part: {k: v for k, v in system[part].items() if k not in keys}
            for part in ("sensitivity", "several_values", "corrected")
            if part in system
        } == before["systems"][name]


@pytest.mark.parametrize("family", FAMILIES)
def test_json_without_an_added_measure_is_readable(run, family):
    measured(run, family)  # as an earlier version wrote it, without the measure
    toy = TOYS[family][0]
    with FAMILIES[family].adding(toy):
        changes = run(
            "fairness", "compare", f"{family}.json", "--baseline", "even", "--json", "cmp.json"
        )
        run("report", f"{family}.json", "cmp.json", "-o", "page.html")
    label = next(iter(FAMILIES[family])).label
    for text in (changes, Path("page.html").read_text("utf-8")):
        assert toy.label not in text
        assert label in text


@pytest.mark.parametrize("family", FAMILIES)
def test_json_without_a_builtin_measure_is_readable(run, family):
    _, results = measured(run, family)
    gone = FAMILIES[family].shown[1]
    for system in results["systems"].values():
        del system[gone.key]
    for sample in results["samples"]:
        del sample[gone.sample_json_key]
    Path("old.json").write_text(json.dumps(results), encoding="utf-8")
    changes = run("fairness", "compare", "old.json", "--baseline", "even")
    run("report", "old.json", "-o", "page.html")
    assert FAMILIES[family].shown[0].label in changes
    assert f"{gone.label} " not in changes.replace("R_EC:", "")


@pytest.mark.parametrize("family", FAMILIES)
def test_titles_match_the_directions_of_all_measures(run, family):
    statements = {
        "0 is fair": "higher is fairer",
        "below 0 is fairer": "above 0 is fairer",
        "far above 0 for a valid scorer": "far below 0 for a valid scorer",
    }

    def texts():
        first, _ = measured(run, family)
        outputs = compared(run, family, FAMILIES[family].shown[0].key)
        return [" ".join(text.split()) for text in (first, outputs["compare"], outputs["oracle"])]

    lower, higher = TOYS[family]
    assert lower.is_fairer(-0.1)
    assert not lower.is_fairer(0.1)
    assert higher.is_fairer(0.1)
    assert title_with_direction("Title", [higher]) == "Title; higher is fairer"
    assert not list(direction_notes([higher]))
    directions = {measure.direction for measure in FAMILIES[family].shown}
    for text, (lower_is, higher_is) in zip(texts(), statements.items(), strict=True):
        assert (f"; {lower_is}" in text) is (directions == {"lower"})
        assert (higher_is in text) is ("higher" in directions)
    with FAMILIES[family].adding(higher):
        for text, (lower_is, higher_is) in zip(texts(), statements.items(), strict=True):
            assert f"; {lower_is}" not in text
            for direction, statement in (("lower", lower_is), ("higher", higher_is)):
                measures = [m for m in FAMILIES[family].shown if m.direction == direction]
                assert f"{', '.join(m.label for m in measures)}: {statement}." in text


def test_overall_ranks_by_direction_and_states_it(run):
    toy = TOYS["coverage"][1]
    with COVERAGE.adding(toy):
        measured(run, "coverage")
        unscaled = run("fairness", "overall", "coverage.json", "--measure", toy.key,
                       "--scaling", "none")  # fmt: skip
        scaled = run("fairness", "overall", "coverage.json", "--measure", toy.key)
    assert "Mean balance over reports, of 2 systems; higher is fairer" in unscaled
    # least over greatest mean coverage: .6 / .6 and .5 / .9
    assert "even is the fairest of 2 systems by the mean of the reports (1.000)." in unscaled
    assert "0.556" in unscaled
    assert "even is the fairest of 2 systems over all data sets (0.000; 0 is the" in scaled


def test_findings_follow_the_directions():
    toy = TOYS["coverage"][1]

    def changed(value):
        return {"difference": {"value": value, "low": value, "high": value, "p_holm": 0.01}}

    report = {"measures": {"balance": changed(-0.4), "equal_coverage": changed(0.2)}}
    backwards = {"measures": {"balance": changed(0.4)}}
    rho = {"value": -0.9, "low": -1.0, "high": -0.8, "p_value": 0.01, "n": 9, "n_unmatched": 0}
    agreement = {"balance with uer": rho, "equal_coverage with uer": rho}
    with COVERAGE.adding(toy):
        assert make_findings("fairness oracle", report) == (
            "The scorer detects the planted unfairness significantly in Balance of Coverage, "
            "Equal Coverage.",
        )
        (finding,) = make_findings("fairness oracle", backwards)
        assert "significantly fairer" in finding
        first, second = make_findings("fairness agreement", agreement)
        (table,) = make_tables("fairness agreement", agreement)
    assert first.startswith("Balance of Coverage and UER % agree significantly (rho -0.90")
    assert second.startswith("Equal Coverage and UER % rank in significantly opposite order")
    assert table.notes == (
        "Balance of Coverage with UER %: below 0 they agree, since higher values of one are "
        "fairer.",
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_measure_without_value_has_a_reason_in_every_output(run, family):
    toy = replace(TOYS[family][1], corpus_formula=lambda _, counts: np.full(len(counts), np.nan))
    with FAMILIES[family].adding(toy):
        measured(run, family)
        outputs = compared(run, family, toy.key)
        run("report", f"{family}.json", *map("{}.json".format, outputs), "-o", "page.html")
        assert [row[toy.key] for row in values_of(family)] == [None, None]
    figures = [
        read(family)["systems"]["one"][toy.key],
        read("compare")["systems"]["one"][toy.key]["difference"],
        read("oracle")["measures"][toy.key]["difference"],
        read("overall")["systems"]["one"],
        read("agreement")[toy.key],
    ]
    for figure in figures:
        assert figure["value"] is None
        assert figure["why"]
    assert read("compare")["systems"]["one"][toy.key]["baseline"] is None
    assert read("oracle")["measures"][toy.key]["biased"] is None


def test_overall_choices_are_the_displayed_measures(run):
    toy = TOYS["coverage"][1]
    with COVERAGE.adding(toy):
        assert f"|{toy.key}|" in run("fairness", "overall", "--help")
        with pytest.raises(ConfigurationError, match=f"measure: expected .*'{toy.key}'"):
            fj.fairness.overall(["none.json"], measure="auc_ten_point")  # which is not shown
    assert toy.key not in run("fairness", "overall", "--help")


def test_measure_has_one_formula_and_a_unique_key():
    with pytest.raises(StatisticsError, match="'x': pass sample_formula or corpus_formula, got n"):
        ShareMeasure(key="x", label="X")
    with pytest.raises(StatisticsError, match="got both"):
        ShareMeasure(key="x", label="X", sample_formula=len, corpus_formula=len)
    with pytest.raises(StatisticsError, match="two coverage measures are called 'r_ec'"):
        COVERAGE.adding(CoverageMeasure(key="r_ec", label="X", sample_formula=len)).__enter__()


def test_keys_and_labels_are_unique_across_families():
    for name in ("key", "label"):
        every = [getattr(measure, name) for family in FAMILIES.values() for measure in family]
        assert len(every) == len(set(every))


@pytest.mark.parametrize("page", ["fairness.md", "formats.md", "methods.md"])
def test_docs_list_every_measure(page):
    text = (DOCS / page).read_text("utf-8")
    for family in FAMILIES.values():
        for measure in family.shown:
            name = f"`{measure.key}`" if page == "formats.md" else measure.label
            assert name in text, f"docs/{page} does not name {measure.label}"
