"""A measure that is added to its registry appears everywhere, and moves no other figure."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import fairjudge as fj
from fairjudge.api import fairness
from fairjudge.cli._main import app
from fairjudge.errors import ConfigurationError, StatisticsError
from fairjudge.fairness.coverage_measures import COVERAGE, CoverageMeasure
from fairjudge.fairness.measures import Band
from fairjudge.fairness.proportional import PROPORTIONAL, ShareMeasure
from fairjudge.fairness.registry import FAMILIES
from fairjudge.fairness.shares import shortfalls

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
            key="breadth",
            label="Breadth of Values",
            direction="higher",
            corpus_formula=lambda shares, counts: counts @ shares.takes_part.sum(axis=1) / 2.0,
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
            key="entries",
            label="Entries by Value",
            corpus_formula=lambda parts, counts: (counts @ parts.counts).sum(axis=1),
        ),
    ],
}


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
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


def measured(run, family):
    """Return the command's tables, and its JSON, which is left in a file of its name."""
    files = ("clusters.jsonl", "--summaries", "summaries.jsonl", "--attribute", "side")
    more = (*COMMAND[family], "--error-rate", "0.1", "--json", f"{family}.json")
    result = run("fairness", family, *files, *more)
    return result, json.loads(Path(f"{family}.json").read_text("utf-8"))


def values(family):
    if family == "proportional":
        return fairness.proportionality(
            "clusters.jsonl", "summaries.jsonl", attribute="side"
        ).table()
    return fairness.coverage(
        "clusters.jsonl", "summaries.jsonl", attribute="side", scorer="matrix:supports.jsonl"
    ).table()


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_measure_of_the_registry_appears_everywhere(run, family, place):
    toy = TOYS[family][place]
    with FAMILIES[family].adding(toy):
        output, results = measured(run, family)
        assert toy.label in output
        for system in results["systems"].values():
            assert system[toy.key]["low"] is not None
            assert (toy.key in system["sensitivity"]) is (toy.band is not None)
        if toy.sample_formula is not None:
            assert all(toy.key in sample for sample in results["samples"])
        if family == "proportional":
            corrected = results["systems"]["one"]["corrected"]
            assert (toy.key in corrected) is (toy.sample_formula is not None)
        changes = run(
            "fairness", "compare", f"{family}.json", "--baseline", "even", "--json", "cmp.json"
        )
        assert toy.label in changes
        compared = json.loads(Path("cmp.json").read_text("utf-8"))["systems"]["one"]
        assert compared[toy.key]["difference"]["value"] is not None
        run("report", f"{family}.json", "cmp.json", "-o", "page.html")
        assert Path("page.html").read_text("utf-8").count(toy.label) >= 4  # two tables, two plots
        for row in values(family):
            assert {toy.key, f"{toy.key}_low", f"{toy.key}_high"} <= row.keys()


def test_a_toy_has_the_figures_worked_by_hand(run):
    with PROPORTIONAL.adding(TOYS["proportional"][0]):
        _, results = measured(run, "proportional")
        # "one": p_y = (3/4, 1/4), half is wanted: short of b by .25, in percent 25
        first = results["systems"]["one"]
        assert first["worst"]["value"] == pytest.approx(25.0)
        assert first["sensitivity"]["worst"] == {"low": pytest.approx(15.0), "high": 100.0}
        assert first["corrected"]["worst"]["labels_only"]["value"] == 0.0
        assert results["samples"][0]["worst"] == pytest.approx(0.0)  # "even" comes first
        assert [row["worst"] for row in values("proportional")] == pytest.approx([0.0, 0.25])


@pytest.mark.parametrize("family", FAMILIES)
def test_an_added_measure_moves_no_other_figure(run, family):
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
def test_json_that_lacks_a_measure_is_read_without_it(run, family):
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
def test_a_known_measure_may_be_absent_from_json_too(run, family):
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


def test_which_changes_are_fairer_follows_the_direction(run):
    """Of a measure where more is fairer, a rise is no loss."""
    lower, higher = TOYS["proportional"]
    assert lower.is_fairer(-0.1)
    assert not lower.is_fairer(0.1)
    assert higher.is_fairer(0.1)
    with PROPORTIONAL.adding(higher):
        output, _ = measured(run, "proportional")
        changes = run("fairness", "compare", "proportional.json", "--baseline", "even")
    assert "Breadth of Values: higher is fairer." in output
    assert "Breadth of Values: above 0 is fairer." in changes


def test_the_choices_of_overall_are_the_measures_shown(run):
    toy = TOYS["coverage"][1]
    with COVERAGE.adding(toy):
        assert f"|{toy.key}|" in run("fairness", "overall", "--help")
        with pytest.raises(ConfigurationError, match=f"measure: expected .*'{toy.key}'"):
            fj.fairness.overall(["none.json"], measure="auc_ten_point")  # which is not shown
    assert toy.key not in run("fairness", "overall", "--help")


def test_a_measure_has_one_formula_and_a_key_of_its_own():
    with pytest.raises(StatisticsError, match="'x': pass sample_formula or corpus_formula, got n"):
        ShareMeasure(key="x", label="X")
    with pytest.raises(StatisticsError, match="got both"):
        ShareMeasure(key="x", label="X", sample_formula=len, corpus_formula=len)
    with pytest.raises(StatisticsError, match="two coverage measures are called 'r_ec'"):
        COVERAGE.adding(CoverageMeasure(key="r_ec", label="X", sample_formula=len)).__enter__()


def test_keys_and_labels_differ_over_all_families():
    for name in ("key", "label"):
        every = [getattr(measure, name) for family in FAMILIES.values() for measure in family]
        assert len(every) == len(set(every))


@pytest.mark.parametrize("page", ["fairness.md", "formats.md", "methods.md"])
def test_the_docs_name_every_measure(page):
    text = (DOCS / page).read_text("utf-8")
    for family in FAMILIES.values():
        for measure in family.shown:
            name = f"`{measure.key}`" if page == "formats.md" else measure.label
            assert name in text, f"docs/{page} does not name {measure.label}"
