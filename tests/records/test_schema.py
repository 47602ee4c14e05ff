"""The schema number of JSON: written by every command, checked by every reader."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from invoking import invoke, run

import fairjudge as fj
from fairjudge.errors import InputError
from fairjudge.records.schema import SCHEMA, report_text, with_schema, without_schema

FILES = ("clusters.json", "--summaries", "summaries.jsonl")
COVERAGE = {
    "schema": 1, "measure": "coverage", "attribute": "side", "variant": "soft", "systems": {},
    "samples": [], "excluded": [], "notes": [], "signature": "measure:coverage",
}  # fmt: skip


@pytest.fixture
def example(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("clusters.json", "summaries.jsonl"):
        Path(name).write_bytes(Path(fj.example_path(name)).read_bytes())


@pytest.mark.parametrize(
    "command",
    [
        ("bias", "words", *FILES),
        ("bias", "inputs", "clusters.json"),
        ("fairness", "proportional", *FILES, "--attribute", "outlet_type"),
        ("backends", "list"),
    ],
)
def test_commands_begin_their_json_with_the_schema(example, command):
    result = run(*command, "--json", "-")
    data = json.loads(result.stdout)
    assert next(iter(data.items())) == ("schema", SCHEMA)
    assert result.stdout.count('"schema"') == 1


def test_backends_name_the_package_that_each_needs():
    kinds = json.loads(run("backends", "list", "--json", "-").stdout)["backends"]
    needs = {kind["provider"]: kind["needs"] for kind in kinds}
    assert (needs["openai"], needs["anthropic"]) == (None, "anthropic")
    assert needs["transformers-decision"] == "transformers"


def test_python_result_matches_the_command_json(example):
    result = invoke("bias", "words", *FILES, "--json", "-")
    report = fj.bias.words("clusters.json", "summaries.jsonl")
    assert json.loads(json.dumps(report.to_dict())) == json.loads(result.stdout)


def test_old_and_new_files_are_read_equally(example, tmp_path):
    result = fj.fairness.proportionality(
        "clusters.json", "summaries.jsonl", attribute="outlet_type"
    ).to_dict()
    older = {key: value for key, value in result.items() if key != "schema"}
    pages = []
    for name, report in (("now", result), ("older", older), ("zero", older | {"schema": 0})):
        path = tmp_path / name / "found.json"
        path.parent.mkdir()
        path.write_text(json.dumps(report), encoding="utf-8")
        pages.append(fj.report(path).html)
        assert fj.fairness.compare(path, baseline="thorough", n_resamples=100)["systems"]
    assert pages[0].count("BUR") == pages[1].count("BUR") == pages[2].count("BUR") > 0


def newer_readers(path):
    people = ("clusters.json", "--summaries", "summaries.jsonl")
    return {
        "report": ("report", path, "-o", "page.html"),
        "compare": ("fairness", "compare", path, "--baseline", "x"),
        "overall": ("fairness", "overall", path),
        "agreement": ("fairness", "agreement", path, path),
        "judge": (
            "judge", "--references", people[0], *people[1:], "--aspect", "faithfulness",
            "--protocol", "likert", "--backend", "replay:none.jsonl", "--cascade", path,
            "-o", "j.jsonl",
        ),
    }  # fmt: skip


@pytest.mark.parametrize("reader", ["report", "compare", "overall", "agreement", "judge"])
def test_newer_schema_version_gives_one_clear_error(example, reader):
    path = Path("newer.json")
    path.write_text(json.dumps(COVERAGE | {"schema": SCHEMA + 1, "low": 1, "high": 2}), "utf-8")
    result = invoke(*newer_readers(path)[reader])
    assert result.exit_code != 0
    output = str(result.exception) + result.output
    assert "newer.json: written by a newer FairJudge" in output
    assert f"reads up to {SCHEMA}" in output


@pytest.mark.parametrize("number", ["1", 1.0, True, None, -1, [1]])
def test_nonnumeric_schema_version_is_named(number):
    with pytest.raises(InputError, match=r"found\.json: field 'schema': expected a whole number"):
        without_schema({"schema": number}, Path("found.json"))


def test_a_record_may_have_a_field_of_this_name(tmp_path):
    """Summaries are no report: what a user calls schema in them is theirs."""
    path = tmp_path / "one.json"
    row = {"eid": "c", "system": "s", "text": "t", "schema": 99}
    path.write_text(json.dumps(row), encoding="utf-8")
    from fairjudge.datasets.recognising import recognise

    assert recognise(path).kind == "summaries"


def test_schema_version_is_added_once_and_removed():
    report = {"systems": {}, "n": 1}
    assert with_schema(with_schema(report)) == {"schema": SCHEMA, **report}
    assert without_schema(json.loads(report_text(report))) == report
