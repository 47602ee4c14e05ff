"""What a report takes in: every kind of file told by its content, runs, and clear errors."""

from __future__ import annotations

import gzip
import json
import pickle
import random

import pytest
from cli_tools import write_jsonl
from report_study import N_CLUSTERS, judgements, reference, run

from fairjudge.analysis.report_inputs import Inputs
from fairjudge.analysis.reporting import make_report
from fairjudge.datasets.recognising import recognise, report_kind
from fairjudge.errors import InputError
from fairjudge.records.sealed import seal
from fairjudge.reports import pages
from fairjudge.reports.svg import to_svg

LABEL = {"eid": "c0", "system": "alpha", "aspect": "a", "annotator": "expert1", "value": 1}
SUMMARY = {"eid": "c0", "system": "alpha", "text": "Text."}
CLUSTER = {"eid": "c0", "articles": [{"aid": "1", "content": "Text."}]}


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        (judgements()[0], "judgements"),
        (reference(0), "references"),
        (CLUSTER, "clusters"),
        (LABEL, "labels"),
        (SUMMARY, "summaries"),
    ],
)
@pytest.mark.parametrize("name", ["rows.jsonl", "rows.json", "rows.jsonl.gz", "rows"])
def test_record_type_is_detected_by_keys_not_file_name(tmp_path, row, kind, name):
    path = tmp_path / name
    text = json.dumps([row] if ".json" in name and ".jsonl" not in name else row) + "\n"
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    assert recognise(path).kind == kind


def test_label_csv_is_detected_by_its_header(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("eid,system,aspect,annotator,value\nc0,alpha,quality,ann,3\n", "utf-8")
    assert recognise(path).kind == "labels"


def test_command_json_is_detected_by_its_keys(study):
    by_name = {path.name: recognise(path).kind for path in study.glob("*.json")}
    assert by_name == {
        "proportional.json": "fairness proportional",
        "coverage.json": "fairness coverage",
        "words.json": "bias words",
        "inputs.json": "bias inputs",
    }
    assert report_kind({"groups": []}) is None
    assert report_kind({"systems": {"s": {"mean": 1}}}) is None


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("not json", "unknown kind of file"),
        ('{"some": "thing"}', "unknown kind of file"),
        ("[1, 2]", "unknown kind of file"),
        ("", "the file is empty"),
        ('{"groups": 3, "systems": null}', "unknown kind of file"),
    ],
)
def test_unknown_file_raises_one_clear_error(tmp_path, content, problem):
    path = tmp_path / "file.json"
    path.write_text(content, "utf-8")
    with pytest.raises(InputError, match=problem) as raised:
        make_report(path)
    assert str(path) in str(raised.value)


def test_options_reject_files_of_another_type(tmp_path):
    path = write_jsonl(tmp_path / "summaries.jsonl", [SUMMARY])
    with pytest.raises(InputError, match="expected references or clusters, found summaries"):
        make_report(references=path)
    with pytest.raises(InputError, match="nothing to report on"):
        make_report(summaries=path)


def _run(folder, command, name, rows, **more):
    folder.mkdir()
    identity = {"command": command, "version": "0.1.0", "options": {"aspect": "coverage"}, **more}
    manifest = {"schema": 1, "identity": identity}
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    _sealed(folder / f"{name}.jsonl", rows)
    return folder


def _sealed(path, rows):
    path.write_bytes(b"".join(seal(row) + b"\n" for row in rows))


def _task(row):
    return {"task": json.dumps([row["eid"], row.get("system"), row["unit"]]), "judgement": row}


def test_judge_run_includes_requests_and_tolerates_a_truncated_line(tmp_path):
    rows = [row for row in judgements() if row["aspect"] == "coverage"]
    run = _run(tmp_path / "run", "judge", "judgements", map(_task, [*rows, rows[0]]))
    with (run / "judgements.jsonl").open("a") as file:
        file.write('{"task": "t", "judg')
    spent = {"when": "2026-01-01 00:00 UTC", "n_calls": 7, "n_cached": 2, "cost_usd": 0.5}
    _sealed(run / "spent.jsonl", [spent, {**spent, "cost_usd": None}])
    result = Inputs()
    result.add(run)
    # asked twice, as after a resume: the later reply counts, once
    assert len(result.judgements) == len(rows)
    assert [(cost.n_calls, cost.cost_usd) for cost in result.costs] == [(7, 0.5), (7, None)]
    assert result.runs[0].arguments == {"version": "0.1.0", "options.aspect": "coverage"}


def test_a_damaged_row_is_named(tmp_path):
    run = _run(tmp_path / "run", "judge", "judgements", [_task(judgements()[0])])
    with (run / "judgements.jsonl").open("a") as file:
        file.write("broken\n{}\n")
    with pytest.raises(InputError, match=r"judgements.jsonl:2: a row that was changed after"):
        Inputs().add(run)
    _sealed(run / "judgements.jsonl", [{"task": "t", "judgement": {"eid": 1}}])
    with pytest.raises(InputError, match="not what a run records of a judgement"):
        Inputs().add(run)
    (run / "manifest.json").write_text("[]", "utf-8")
    with pytest.raises(InputError, match="not a run's manifest"):
        Inputs().add(run)


def test_run_and_its_output_count_once_but_reruns_are_kept(tmp_path):
    rows = judgements()
    run = _run(tmp_path / "run", "judge", "judgements", map(_task, rows[:3]))
    output = write_jsonl(tmp_path / "out.jsonl", [*rows[:4], rows[3]])
    result = Inputs()
    result.add(run)
    result.add(output)
    assert len(result.judgements) == 5
    assert result.sources[-1].note == "3 also in an earlier file (counted once)"


def test_runs_of_build_and_summarize(tmp_path):
    built = {"eid": "c0", "kept_aids": ["c0a0"], **reference(0)}
    built.pop("articles")
    build = _run(tmp_path / "build", "build", "references", [built])
    summarize = _run(tmp_path / "summarize", "summarize", "summaries", [SUMMARY])
    result = Inputs()
    result.add(build)
    result.add(summarize)
    assert [article.aid for article in result.clusters["c0"].articles] == [
        f"c0a{a}" for a in range(4)
    ]
    assert ("c0", "alpha") in result.summaries
    whole = write_jsonl(tmp_path / "references.jsonl", [reference(0)])
    other = Inputs()
    other.add(whole)
    other.add(build)
    assert other.clusters["c0"].articles[0].content  # the run must not hide the articles


def test_folder_yields_its_runs_and_known_files(tmp_path, study):
    (study.parent / "notes").mkdir()
    folder = study.parent / "notes"
    (folder / "other.json").write_text("{}", "utf-8")
    with pytest.raises(InputError, match="neither a run nor a file of a known kind"):
        Inputs().add(folder)
    result = Inputs()
    result.add(study)
    assert len(result.clusters) == N_CLUSTERS
    assert {source.kind for source in result.sources} >= {"references", "labels", "judgements"}
    jury = tmp_path / "jury"
    jury.mkdir()
    for place, row in enumerate(judgements()[:2]):
        _run(jury / f"member-{place}", "judge", "judgements", [_task(row)])
    members = Inputs()
    members.add(jury)
    assert len(members.judgements) == 2


def test_labels_of_some_annotators(tmp_path):
    path = write_jsonl(tmp_path / "l.jsonl", [LABEL, {**LABEL, "annotator": "turker1"}])
    result = Inputs(annotators=("expert*",))
    result.add(path)
    assert [label.annotator for label in result.labels] == ["expert1"]
    assert result.sources[0].note == "1 of other annotators excluded"


def _mutated(value, rng):
    """Drop, empty or retype something at a random place of a JSON value."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(sorted(value))
        if rng.random() < 0.15:
            return {name: item for name, item in value.items() if name != key}
        return {**value, key: _mutated(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.9:
        place = rng.randrange(len(value))
        return [*value[:place], _mutated(value[place], rng), *value[place + 1 :]]
    return rng.choice([None, "text", -1.5, [], {}, [None], True])


@pytest.fixture(scope="module")
def inputs(study, tmp_path_factory):
    """A folder with the JSON of commands that need no model."""
    folder = tmp_path_factory.mktemp("written")
    for path in study.glob("*.json"):
        (folder / path.name).write_bytes(path.read_bytes())
    rows, options = study / "judgements.jsonl", ["--max-unscored", "1"]
    references = ["--references", study / "references.jsonl"]
    quality = write_jsonl(
        folder / "quality.jsonl", [row for row in judgements() if row["aspect"] == "quality"]
    )
    run("audit", "position", rows, *options, "--json", folder / "position.json")
    run("audit", "parse", rows, *options, "--json", folder / "parse.json")
    run("audit", "covered", rows, *references, "--json", folder / "covered.json")
    labels = ["--labels", study / "labels.jsonl", "--resamples", "100"]
    run("calibrate", quality, *labels, *options, "--json", folder / "calibrate.json")
    summaries = ["--summaries", study / "summaries.jsonl"]
    whole = [study / "references.jsonl", *summaries, "--representation", "counts"]
    run("bias", "distinguishability", *whole, "--json", folder / "distinguishability.json")
    run("audit", "length", rows, *summaries, "--json", folder / "length.json")
    return folder


@pytest.fixture
def each_plot_once(monkeypatch):
    """Draw a plot only where what it shows is new: one damage leaves nearly all as before."""
    by_name = {}

    def once(figure):
        text = pickle.dumps(figure)
        if text not in by_name:
            by_name[text] = to_svg(figure)
        return by_name[text]

    monkeypatch.setitem(pages._environment().filters, "svg", once)


@pytest.mark.usefixtures("each_plot_once")
@pytest.mark.parametrize(
    "name",
    [
        "proportional", "coverage", "words", "inputs", "position", "parse", "covered", "calibrate",
        "distinguishability", "length",
    ],
)  # fmt: skip
def test_damaged_json_renders_or_raises_one_clear_error(inputs, tmp_path, name):
    whole = json.loads((inputs / f"{name}.json").read_text("utf-8"))
    make_report(inputs / f"{name}.json")
    rng = random.Random(name)
    refused = 0
    for _ in range(60):
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(_mutated(whole, rng)), "utf-8")
        try:
            make_report(path)
        except InputError as error:
            assert f"{name}.json" in str(error)  # noqa: PT017  # either way is right
            refused += 1
    assert refused > 0


def test_costs_must_be_numbers(tmp_path):
    report = {"n_summaries": 1, "failed": [], "spent": {"n_calls": "many", "n_cached": 0}}
    path = tmp_path / "report.json"
    path.write_text(json.dumps(report), "utf-8")
    with pytest.raises(InputError, match="expected numbers of calls"):
        make_report(path)
    report["spent"]["n_calls"] = 3
    path.write_text(json.dumps(report), "utf-8")
    assert "Calls of models" in make_report(path).html
