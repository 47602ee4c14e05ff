"""Judgements as other tools want them, and back where they come back.

Layouts: inspect_ai ``scorer/_precomputed.py``; OpenTelemetry's semantic conventions for GenAI
events and the JSON encoding of OTLP; labelstud.io/guide/task_format.
"""

import csv
import gzip
import io
import json
import sys

import pytest
from invoking import invoke
from json_files import read_json, read_rows
from missing import missing

from fairjudge.datasets import write_records
from fairjudge.domain import Judgement, Reference, Summary
from fairjudge.errors import InputError, MissingExtraError
from fairjudge.exporting.targets import TARGETS, export_judgements
from fairjudge.importing import import_file


def single(eid="e1", system="lead", value=3.5, **more):
    fields = {"aspect": "coverage", "protocol": "likert", "judge": "j", "raw": f"Score: {value}"}
    return Judgement(**{"eid": eid, "system": system, "value": value, **fields, **more})


def pair(value="a", order="ab", eid="e1", **more):
    fields = {"aspect": "coverage", "protocol": "pairwise", "judge": "j"}
    return Judgement(
        **{"eid": eid, "system_a": "x", "system_b": "y", "order": order, "value": value, **fields},
        **more,
    )


def unscored(**more):
    return single(value=None, unscored="refused", raw="No.", **more)


MIXED = (
    single(raw='=1+1, "quoted"\nand – more', probabilities={"3": 0.5, "4": 0.5}, signature="s"),
    single("e2", repeat=1),
    unscored(eid="e3"),
    pair("tie", "ba"),
)


def exported(tmp_path, judgements, to, name="file", **more):
    path = tmp_path / name
    return path, export_judgements(judgements, path, to=to, **more)


def test_csv_has_one_row_per_judgement_with_full_text(tmp_path):
    path, records = exported(tmp_path, MIXED, "csv")
    rows = list(csv.DictReader(io.StringIO(path.read_text("utf-8"), newline="")))
    assert records.n_rows == len(rows) == 4
    assert [row["value"] for row in rows] == ["3.5", "3.5", "", ""]
    assert [row["verdict"] for row in rows] == ["", "", "", "tie"]
    assert [row["unscored"] for row in rows] == ["", "", "refused", ""]
    assert [row["repeat"] for row in rows] == ["", "1", "", ""]
    assert rows[0]["raw"] == MIXED[0].raw
    assert json.loads(rows[0]["probabilities"]) == {"3": 0.5, "4": 0.5}
    assert (rows[3]["system_a"], rows[3]["system_b"], rows[3]["order"]) == ("x", "y", "ba")


def test_parquet_has_the_same_rows_with_typed_columns(tmp_path):
    try:
        import pyarrow.parquet as pq
    except ImportError:
        missing("pyarrow: it comes with an extra")
    path, records = exported(tmp_path, MIXED, "parquet")
    table = pq.read_table(path)
    assert records.n_rows == table.num_rows == 4
    assert table.column("value").to_pylist() == [3.5, 3.5, None, None]
    assert table.column("repeat").to_pylist() == [None, 1, None, None]
    assert table.column("raw").to_pylist()[0] == MIXED[0].raw
    types = {field.name: str(field.type) for field in table.schema}
    assert (types["value"], types["repeat"], types["eid"]) == ("double", "int64", "string")


def test_parquet_without_pyarrow_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"fairjudge\[parquet\]"):
        exported(tmp_path, MIXED, "parquet")
    assert list(tmp_path.iterdir()) == []


def test_inspect_scores_are_of_one_judge_without_unscored_items(tmp_path):
    rows = [single(), single("e2", repeat=0), single("e2", repeat=1, value=1), unscored(eid="e3")]
    path, records = exported(tmp_path, rows, "inspect-scores")
    assert (records.n_rows, records.n_left_out) == (3, 1)
    result = read_rows(path)
    assert [(item["id"], item["value"], item.get("epoch")) for item in result] == [
        ("e1", 3.5, None),
        ("e2", 3.5, 1),
        ("e2", 1, 2),
    ]
    assert result[0]["explanation"] == "Score: 3.5"
    assert result[0]["metadata"]["judge"] == "j"
    assert {key for item in result for key in item} <= {
        "id", "value", "epoch", "answer", "explanation", "metadata",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([pair()], "judgements of pairs"),
        ([single(), single(system="other")], "for one system; choose one of 'lead', 'other'"),
        ([single(), single(judge="k", eid="e2")], "for one judge"),
        ([single(), single()], "two judgements of 'e1', repeat 0"),
    ],
)
def test_values_unsupported_by_inspect_raise(tmp_path, rows, problem):
    with pytest.raises(InputError, match=problem):
        exported(tmp_path, rows, "inspect-scores")
    assert list(tmp_path.iterdir()) == []


def plain(attributes):
    """Return OTLP's attributes as a mapping; integers are texts there."""
    return {
        attribute["key"]: int(v) if kind == "intValue" else v
        for attribute in attributes
        for kind, v in attribute["value"].items()
    }


def test_events_have_the_opentelemetry_attributes(tmp_path):
    rows = [*MIXED, single(trace_id="0" * 31 + "A", span_id="not an id", response_id="r-1")]
    path, records = exported(tmp_path, rows, "otel", observed_unix_nano=5)
    requests = read_rows(path)
    assert records.n_rows == len(requests) == 5
    (resource,) = requests[0]["resourceLogs"]
    assert plain(resource["resource"]["attributes"]) == {"service.name": "fairjudge"}
    events = [request["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0] for request in requests]
    assert {(event["eventName"], event["observedTimeUnixNano"]) for event in events} == {
        ("gen_ai.evaluation.result", "5")
    }
    items = [plain(event["attributes"]) for event in events]
    assert {item["gen_ai.evaluation.name"] for item in items} == {"coverage"}
    assert items[0]["gen_ai.evaluation.score.value"] == 3.5
    assert items[0]["gen_ai.evaluation.explanation"] == MIXED[0].raw
    assert items[1]["fairjudge.repeat"] == 1
    assert items[2]["error.type"] == "refused"
    assert "gen_ai.evaluation.score.value" not in items[2]
    assert items[3]["gen_ai.evaluation.score.label"] == "tie"
    assert items[4]["gen_ai.response.id"] == "r-1"
    assert (events[4]["traceId"], "spanId" in events[4]) == ("0" * 31 + "a", False)


def identity(row):
    systems = (row.system, row.system_a, row.system_b)
    value = row.value if isinstance(row.value, str) else float(row.value)
    return (row.eid, *systems, row.unit, row.aspect, row.judge, value)


def test_label_studio_tasks_round_trip(tmp_path):
    rows = [
        single(),
        single(judge="k", value=2),
        single(aspect="faithful", protocol="binary", value=1),
        single("e2", value=4),
        pair("a"),
        pair("b", eid="e2", order="ba"),
        pair("tie", eid="e3"),
    ]
    path, records = exported(tmp_path, [*rows, unscored(eid="e2")], "label-studio")
    assert records.n_rows == 5
    result = import_file(path)
    assert result.tool == "label-studio"
    assert sorted(map(repr, map(identity, result.judgements))) == sorted(
        map(repr, map(identity, rows))
    )


def test_repeats_and_both_orders_are_predictions_of_one_task(tmp_path):
    rows = [single(repeat=0), single(repeat=1, value=2), pair("a"), pair("b", "ba")]
    path, records = exported(tmp_path, rows, "label-studio")
    assert records.n_rows == 2
    first, second = read_json(path)
    assert [len(first["predictions"]), len(second["predictions"])] == [2, 2]
    assert [p["result"][0]["value"] for p in second["predictions"]] == [
        {"selected": "left"},
        {"selected": "right"},
    ]
    back = import_file(path).judgements
    assert [(judgement.order, judgement.repeat, judgement.value) for judgement in back] == [
        (row.order, row.repeat, row.value) for row in rows
    ]


def test_label_studio_shows_the_summaries_in_their_order(tmp_path):
    texts = [Summary(eid="e1", system=name, text=f"by {name}") for name in ("lead", "x", "y")]
    rows = [single(), pair("a", "ba")]
    path, _ = exported(tmp_path, rows, "label-studio", summaries=texts)
    first, second = read_json(path)
    assert first["data"]["text"] == "by lead"
    assert (second["data"]["left"], second["data"]["right"]) == ("by y", "by x")
    assert second["predictions"][0]["result"][0]["value"] == {"selected": "right"}
    with pytest.raises(InputError, match="no summary of 'e2' by 'lead'"):
        exported(tmp_path, [single("e2")], "label-studio", summaries=texts)


def test_annotations_of_exported_tasks_are_imported(tmp_path):
    path, _ = exported(tmp_path, [single(), pair("a", "ba")], "label-studio")
    tasks = read_json(path)
    for task in tasks:
        (prediction,) = task["predictions"]
        task["annotations"] = [{"completed_by": 3, "result": prediction["result"]}]
    path.write_text(json.dumps(tasks))
    labels = import_file(path).labels
    assert [(label.annotator, label.aspect, label.value) for label in labels] == [
        ("3", "coverage", 3.5),
        ("3", "coverage", "a"),
    ]


@pytest.mark.parametrize("to", sorted(set(TARGETS) - {"parquet"}))
def test_gzip_export_has_equal_content(tmp_path, to):
    answers = [[{"aid": "a", "answer": "Rain."}]]
    requests = [{"question": "Why?", "answer_groups": answers}]
    article = {"aid": "a", "content": "It rained."}
    reference = {"eid": "e1", "articles": [article], "question_answers": requests}
    listed = [{"unit": "answer:0.0", "covered": 1}]
    rows = [single(value=1.0, protocol="checklist", checklist=listed)]
    beside = {"references": [Reference.model_validate(reference)]}
    plain_file, _ = exported(tmp_path, rows, to, name="file", **beside)
    packed, _ = exported(tmp_path, rows, to, name="file.gz", **beside)
    assert gzip.decompress(packed.read_bytes()) == plain_file.read_bytes()


def test_empty_exports_and_unknown_targets_raise(tmp_path):
    with pytest.raises(InputError, match="there are no judgements"):
        exported(tmp_path, [], "csv")
    with pytest.raises(InputError, match="no target 'xlsx'; choose from csv"):
        exported(tmp_path, [single()], "xlsx")


def run(*arguments):
    return invoke("data", "export", *arguments)


def test_command_filters_by_aspect_system_and_judge(tmp_path):
    source, out = tmp_path / "j.jsonl", tmp_path / "scores.jsonl"
    write_records(source, [single(), single(system="other"), single("e2"), unscored(eid="e3")])
    result = run(source, "-o", out, "--to", "inspect-scores", "--system", "lead")
    assert result.exit_code == 0, result.output
    assert "3 judgements of 4: 2 rows written" in result.output
    assert "1 without a score excluded" in result.output
    assert [item["id"] for item in read_rows(out)] == ["e1", "e2"]
    nothing = run(source, "-o", out, "--to", "csv", "--judge", "nobody")
    assert "contains no judgement of this" in str(nothing.exception)
    assert run(source, "-o", out, "--to", "csv", "--summaries", source).exit_code == 2


def test_command_accepts_every_target():
    result = run("--help")
    assert all(name.split("-")[0] in result.output for name in TARGETS)
