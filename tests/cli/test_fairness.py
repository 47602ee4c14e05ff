"""The fairness commands, from files to JSON and exit codes."""

import json

import pytest
from json_files import read_json
from typer.testing import CliRunner

from fairjudge.cli._main import app
from fairjudge.errors import ConfigurationError, InputError

CLUSTERS = [
    {
        "eid": "c1",
        "articles": [
            {"aid": "1", "content": "Slow service.", "attributes": {"side": "a", "age": 20}},
            {"aid": "2", "content": "Slow food.", "attributes": {"side": "a", "age": 30}},
            {"aid": "3", "content": "Nice wine.", "attributes": {"side": "b", "age": 60}},
        ],
    },
    {"eid": "c2", "articles": [{"aid": "1", "content": "Slow.", "attributes": {"side": "a"}}]},
]
SUMMARIES = [
    {"eid": "c1", "system": "s", "text": "Slow service, nice wine."},
    {"eid": "c2", "system": "s", "text": "Slow."},
]


@pytest.fixture
def files(tmp_path):
    def write(name, rows):
        path = tmp_path / name
        path.write_text("\n".join(json.dumps(row) for row in rows) + "\n", encoding="utf-8")
        return str(path)

    return write, write("clusters.jsonl", CLUSTERS), write("summaries.jsonl", SUMMARIES)


def invoke(*arguments):
    return CliRunner().invoke(app, ["fairness", *map(str, arguments), "--quiet"])


def test_proportional_to_standard_output(files):
    _, clusters, summaries = files
    result = invoke(
        "proportional", clusters, "--summaries", summaries, "--attribute", "side", "--json", "-"
    )
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)["systems"]["s"]
    # c1: p_x = (2/3, 1/3), p_y = (1/2, 1/2): unfair; c2 has one value: fair
    assert data["n"] == 2
    assert data["bur"]["value"] == pytest.approx(50.0)
    assert data["uer"]["value"] == pytest.approx(100 / 24)


def test_proportional_shows_a_table_and_takes_a_target_file(files, tmp_path):
    _, clusters, summaries = files
    target = tmp_path / "target.json"
    target.write_text('{"a": 1, "b": 1}')
    result = invoke(
        "proportional", clusters, "--summaries", summaries, "--attribute", "side",
        "--target", target, "--json", tmp_path / "out.json",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "BUR, tau 0.8" in result.stdout
    data = read_json(tmp_path / "out.json")
    assert data["systems"]["s"]["bur"]["value"] == 0.0
    assert "target:a=1,b=1" in data["signature"]


def test_coverage_from_a_matrix(files, tmp_path):
    write, clusters, summaries = files
    supports = write(
        "supports.jsonl",
        [
            {
                "eid": "c1", "system": "s", "aids": ["1", "2", "3"], "units": ["u", "v"],
                "support": [[1.0, 0.8], [0.4, 0.6], [0.2, 0.0]],
            }
        ],
    )  # fmt: skip
    matrix = tmp_path / "kept.jsonl"
    result = invoke(
        "coverage", clusters, "--summaries", summaries, "--attribute", "side",
        "--scorer", f"matrix:{supports}", "--save-supports", matrix, "--json", "-",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    # means .9, .5, .1: p(a) = .7, p(b) = .1, overall .5: EC = (.2 + .4) / 2
    assert data["systems"]["s"]["equal_coverage"]["value"] == pytest.approx(0.3)
    assert data["systems"]["s"]["excluded_by_reason"] == {"one_value": 1}
    assert read_json(matrix)["support"] == [[1.0, 0.8], [0.4, 0.6], [0.2, 0.0]]


@pytest.mark.local_model
def test_coverage_uses_units_written_by_split(files, tmp_path):
    """One sentence on two things is one unit; split, each of the two has a support of its own."""
    write, clusters, summaries = files
    items = [
        {"eid": "c1", "system": "s", "units": ["Slow service.", "Nice wine."], "split_by": "llm"},
        {"eid": "c2", "system": "s", "units": ["Slow."], "split_by": "llm"},
    ]
    options = ("coverage", clusters, "--summaries", summaries, "--attribute", "side")
    for name, more in (("plain", ()), ("split", ("--units", write("units.jsonl", items)))):
        matrix, report = tmp_path / f"{name}.jsonl", tmp_path / f"{name}.json"
        result = invoke(*options, *more, "--save-supports", matrix, "--json", report)
        assert result.exit_code == 0, result.output
    rows = {
        name: next(map(json.loads, (tmp_path / f"{name}.jsonl").read_text().splitlines()))
        for name in ("plain", "split")
    }
    assert rows["plain"]["units"] == ["Slow service, nice wine."]
    assert rows["split"]["units"] == ["Slow service.", "Nice wine."]
    # "Slow service." and "Nice wine." stand word for word in documents 1 and 3.
    support = rows["split"]["support"]
    assert support[0][0] == pytest.approx(1.0, abs=1e-5)
    assert support[2][1] == pytest.approx(1.0, abs=1e-5)
    signature = read_json(tmp_path / "split.json")["signature"]
    assert "+units" in json.dumps(signature)


def test_units_must_match_summaries_and_a_supporting_scorer(files):
    write, clusters, summaries = files
    options = ("coverage", clusters, "--summaries", summaries, "--attribute", "side")
    other = write("units.jsonl", [{"eid": "c2", "system": "s", "units": ["Slow."]}])
    result = invoke(*options, "--units", other)
    assert isinstance(result.exception, InputError)
    assert "no units here for 1 summary, such as that of 's' on 'c1'" in str(result.exception)
    result = invoke(*options, "--units", other, "--scorer", f"matrix:{other}")
    assert isinstance(result.exception, ConfigurationError)


def test_coverage_from_verdicts_by_article(files):
    write, clusters, summaries = files
    rows = [
        {
            "eid": "c1", "system": "s", "aspect": "faithfulness", "protocol": "likert",
            "unit": f"article:{aid}", "judge": "j", "value": value,
        }
        for aid, value in (("1", 5), ("2", 3), ("3", 1))
    ]  # fmt: skip
    judged = write("judged.jsonl", rows)
    command = ["coverage", clusters, "--summaries", summaries, "--attribute", "side"]
    result = invoke(*command, "--scorer", f"judgements:{judged}", "--json", "-")
    assert result.exit_code == 0, result.output
    # supports 1, .5, 0: p(a) = .75, p(b) = 0, overall .5: EC = (.25 + .5) / 2
    data = json.loads(result.stdout)
    assert data["systems"]["s"]["equal_coverage"]["value"] == pytest.approx(0.375)
    assert "scorer:judgements:j" in data["signature"]
    # without the third article's verdict the summary is unscored: 1 of 2
    incomplete = write("incomplete.jsonl", rows[:2])
    result = invoke(*command, "--scorer", f"judgements:{incomplete}")
    assert result.exit_code == 3


def test_numeric_attribute_can_be_binned(files):
    _, clusters, summaries = files
    result = invoke(
        "proportional", clusters, "--summaries", summaries, "--attribute", "age",
        "--bins", "25,50", "--json", "-",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert set(data["systems"]["s"]["by_value"]) == {"below 25", "25 to below 50", "50 or more"}
    assert data["systems"]["s"]["excluded_by_reason"] == {"no_values": 1}


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        (["--attribute", "colour"], InputError, "attributes found: 'age', 'side'"),
        (["--attribute", "side", "--scorer", "magic"], ConfigurationError, "unknown scorer"),
        (["--attribute", "side", "--scorer", "matrix"], ConfigurationError, "needs a file"),
        (["--attribute", "side", "--target", "nowhere.json"], InputError, "shares by value"),
    ],
)
def test_impossible_options_report_the_reason(files, arguments, kind, message):
    _, clusters, summaries = files
    result = invoke("proportional", clusters, "--summaries", summaries, *arguments)
    assert isinstance(result.exception, kind)
    assert message in str(result.exception)


def test_human_labels_and_assumed_error_are_in_the_table(files, tmp_path):
    write, *_ = files
    rows = [{**CLUSTERS[0], "eid": f"e{i}"} for i in range(4)]
    clusters = write("c4.jsonl", rows)
    summaries = write("s4.jsonl", [{**SUMMARIES[0], "eid": f"e{i}"} for i in range(4)])
    shares = write(
        "people.jsonl",
        [{"eid": f"e{i}", "system": "s", "shares": {"a": 2, "b": 1}} for i in range(2)],
    )
    result = invoke(
        "proportional", clusters, "--summaries", summaries, "--attribute", "side",
        "--human", shares, "--error-rate", "0.1", "--json", tmp_path / "out.json",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "UER, corrected by human labels" in " ".join(result.stdout.split())
    data = read_json(tmp_path / "out.json")["systems"]["s"]
    # by unigrams p_y = (1/2, 1/2) of a wanted (2/3, 1/3); people see the wanted shares: UER 0
    assert data["corrected"]["uer"]["uncorrected"] == pytest.approx(100 / 12)
    assert data["corrected"]["uer"]["value"] == pytest.approx(0.0)
    # the shortfall of 1/6 moves by the rate, over two values
    assert data["sensitivity"]["uer"]["low"] == pytest.approx(100 * (1 / 6 - 0.1) / 2)
    odd = write("odd.jsonl", [{"eid": "e0", "system": "s", "shares": {"z": 1}}])
    result = invoke(
        "proportional", clusters, "--summaries", summaries, "--attribute", "side", "--human", odd
    )
    assert isinstance(result.exception, InputError)
    assert "does not have the value 'z'" in str(result.exception)


def test_nonnumeric_bins_are_a_usage_error(files):
    _, clusters, summaries = files
    result = invoke(
        "coverage", clusters, "--summaries", summaries, "--attribute", "age", "--bins", "a,b"
    )
    assert result.exit_code == 2


def test_an_unknown_cluster_is_named(files):
    write, clusters, _ = files
    stray = write("stray.jsonl", [{"eid": "c9", "system": "s", "text": "x"}])
    result = invoke("coverage", clusters, "--summaries", stray, "--attribute", "side")
    assert "'c9'" in str(result.exception)


def report(systems, samples=()):
    return {
        "systems": {
            name: {"r_ec": {"value": r_ec}, "coverage_parity": {"value": parity}}
            for name, (r_ec, parity) in systems.items()
        },
        "samples": [{"eid": e, "system": s, "equal_coverage": v} for e, s, v in samples],
    }


def test_overall_over_two_reports(tmp_path):
    first, other = tmp_path / "one.json", tmp_path / "other.json"
    first.write_text(json.dumps(report({"a": (0.1, 0), "b": (0.5, 0), "c": (0.2, 0)})))
    other.write_text(json.dumps(report({"a": (0.8, 0), "b": (0.4, 0), "c": (None, 0)})))
    result = CliRunner().invoke(app, ["fairness", "overall", str(first), str(other), "--json", "-"])
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)["systems"]
    assert data["a"] == {"value": 0.5, "normalised": {"one": 0.0, "other": 1.0}}
    assert data["c"]["why"] == "no score on other"


def test_mean_of_several_scorers_for_a_share_measure(tmp_path):
    """FairSumm's Table 2: reports of one data set, averaged as they are."""
    files = []
    for name, values in (("ngram", (34.47, 51.0)), ("bert", (38.73, 70.0)), ("bart", (58.93, 74))):
        systems = {system: {"bur": {"value": v}} for system, v in zip("ab", values, strict=True)}
        files.append(tmp_path / f"{name}.json")
        files[-1].write_text(json.dumps({"measure": "proportional", "systems": systems}))
    words = ["fairness", "overall", *map(str, files), "--measure", "bur", "--scaling", "none"]
    result = CliRunner().invoke(app, [*words, "--json", "-"])
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report["scaling"] == "none"
    assert report["systems"]["a"]["value"] == pytest.approx(44.043, abs=1e-3)
    text = CliRunner().invoke(app, words).output
    assert "a is the fairest of 2 systems by the mean of the reports (44.043)" in text
    assert "Mean bur over reports" in text


def test_agreement_of_two_scorers(tmp_path):
    systems = {name: (0.1, place / 10) for place, name in enumerate("abcd")}
    samples = [(f"e{i}", "a", i / 10) for i in range(8)]
    first, other = tmp_path / "one.json", tmp_path / "other.json"
    first.write_text(json.dumps(report(systems, samples)))
    other.write_text(json.dumps(report(systems, [(e, s, v * v) for e, s, v in samples])))
    result = CliRunner().invoke(
        app, ["fairness", "agreement", str(first), str(other), "--json", "-"]
    )
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    # both orders are the same
    assert data["equal_coverage"]["value"] == pytest.approx(1.0)
    assert data["coverage_parity"]["n"] == 4
    assert CliRunner().invoke(app, ["fairness", "agreement", str(first), str(other)]).exit_code == 0


def test_non_report_file_raises(tmp_path):
    odd = tmp_path / "odd.json"
    odd.write_text("[]")
    result = CliRunner().invoke(app, ["fairness", "overall", str(odd)])
    assert isinstance(result.exception, InputError)


def test_unjudged_article_is_excluded(files):
    write, _, _ = files
    sides = {"1": "a", "2": "a", "3": "b", "4": "b"}
    articles = [
        {
            "aid": aid,
            "content": "" if aid == "4" else f"Text number {aid}.",
            "attributes": {"side": side},
        }
        for aid, side in sides.items()
    ]
    clusters = write("stub.jsonl", [{"eid": "c1", "articles": articles}])
    summaries = write("one.jsonl", [{"eid": "c1", "system": "s", "text": "Slow service."}])
    rows = [
        {
            "eid": "c1", "system": "s", "aspect": "faithfulness", "protocol": "likert",
            "unit": f"article:{aid}", "judge": "j", "value": value,
        }
        for aid, value in (("1", 5), ("2", 3), ("3", 1))
    ]  # fmt: skip
    judged = write("judged.jsonl", rows)
    command = ("coverage", clusters, "--summaries", summaries, "--attribute", "side")
    result = invoke(*command, "--scorer", f"judgements:{judged}", "--json", "-")
    assert result.exit_code == 0, result.output
    # as in the test above: supports 1, .5, 0 of the three that were asked about
    data = json.loads(result.stdout)
    assert data["systems"]["s"]["equal_coverage"]["value"] == pytest.approx(0.375)
