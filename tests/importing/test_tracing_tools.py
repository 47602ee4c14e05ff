"""Langfuse, Phoenix and LangSmith: judges' scores are judgements, people's are labels.

Layouts from langfuse-python (``api/commons/types``), Langfuse's field reference of its blob storage
export, Phoenix' client (``resources/spans``) and langsmith (``schemas.py``, ``_runner.py``).
"""

import csv
import json

import pytest

from fairjudge.errors import InputError
from fairjudge.importing import import_file, scale_from_options

AT = {"timestamp": "2026-11-02T10:00:00Z", "createdAt": "x", "updatedAt": "x", "environment": "p"}


def fields(data):
    judged = [
        (
            judgement.eid,
            judgement.system,
            judgement.aspect,
            judgement.judge,
            judgement.value if judgement.unscored is None else None,
        )
        for judgement in data.judgements
    ]
    return judged, [
        (label.eid, label.aspect, label.annotator, label.value) for label in data.labels
    ]


def langfuse(**changes):
    return {
        "id": "s-1", "traceId": "t-1", "observationId": None, "name": "coverage", "value": 0.5,
        "dataType": "NUMERIC", "source": "EVAL", "comment": "half", "metadata": {}, **AT, **changes,
    }  # fmt: skip


def test_langfuse_scores_of_the_api(write_file):
    row = {"eid": "e1", "system": "s", "judge": "openai:m"}
    page = {
        "data": [
            langfuse(metadata=row),
            langfuse(source="ANNOTATION", authorUserId="ann", value=1.0),
            langfuse(dataType="CATEGORICAL", value=0, stringValue="poor"),
            langfuse(dataType="BOOLEAN", value=1, stringValue="True", name="ok", source="API"),
        ],
        "meta": {"page": 1},
    }
    result = import_file(write_file("scores.json", page))
    assert result.tool == "langfuse"
    judged, labels = fields(result)
    assert judged == [
        ("e1", "s", "coverage", "openai:m", 0.5),
        ("t-1", "langfuse", "ok", "langfuse/ok", 1.0),
    ]
    assert labels == [("t-1", "coverage", "ann", 1.0)]
    assert result.judgements[0].model_extra["reason"] == "half"
    whys = [item.why for item in result.skipped]
    assert whys == ["the feedback is not a number; define the values of words with --options"]
    scale = scale_from_options("likert", answers="poor,good")
    result = import_file(write_file("scores.json", page), answers=scale)
    assert [judgement.value for judgement in result.judgements] == [0.5, 1.0, 1.0]


def test_langfuse_blob_storage_and_traces(write_file):
    row = {
        "id": "s", "trace_id": "t", "name": "coverage", "value": 4.0, "data_type": "NUMERIC",
        "source": "ANNOTATION", "author_user_id": None, "string_value": None,
    }  # fmt: skip
    result = import_file(write_file("scores.jsonl", [row, {**row, "source": "EVAL"}]))
    assert fields(result) == (
        [("t", "langfuse", "coverage", "langfuse/coverage", 4.0)],
        [("t", "coverage", "people", 4.0)],
    )
    trace = {"id": "t-1", "name": "system-a", "metadata": {"eid": "e7"}, "observations": []}
    traces = [{**trace, "scores": [langfuse()]}, {**trace, "scores": []}]
    result = import_file(write_file("traces.json", traces))
    assert fields(result)[0] == [("e7", "system-a", "coverage", "langfuse/coverage", 0.5)]
    assert [item.why for item in result.skipped] == ["the trace has no score"]


def phoenix(kind="LLM", name="coverage", result=None, **changes):
    result = result or {"label": None, "score": 0.85, "explanation": "why"}
    return {
        "id": "U3A=", "span_id": "67f6", "name": name, "annotator_kind": kind,
        "result": result,
        "metadata": {}, "identifier": "", "source": "API", "user_id": None, **changes,
    }  # fmt: skip


def test_phoenix_annotations(write_file, tmp_path):
    rows = [
        phoenix(metadata={"eid": "e1", "system": "s", "model": "gpt-4"}),
        phoenix("HUMAN", result={"label": "no", "score": None}, identifier="user-1"),
        phoenix("CODE", "short", result={"label": None, "score": 1}),
        phoenix(result={"label": None, "score": None}),
    ]
    result = import_file(write_file("annotations.json", {"data": rows, "next_cursor": None}))
    assert result.tool == "phoenix"
    assert fields(result) == (
        [
            ("e1", "s", "coverage", "gpt-4", 0.85),
            ("67f6", "phoenix", "short", "phoenix/short", 1.0),
            ("67f6", "phoenix", "coverage", "phoenix/coverage", None),
        ],
        [("67f6", "coverage", "user-1", 0.0)],
    )
    assert [judgement.scored_by for judgement in result.judgements] == ["llm", "code", "llm"]
    frame = tmp_path / "frame.csv"  # get_span_annotations_dataframe().to_csv()
    with frame.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(
            ["span_id", "annotation_name", "annotator_kind", "metadata", "identifier",
             "result.label", "result.score", "result.explanation"]
        )  # fmt: skip
        writer.writerow(["a1", "coverage", "LLM", json.dumps({"eid": "e9"}), "", "", "0.25", "w"])
        writer.writerow(["a2", "coverage", "HUMAN", "", "ann", "yes", "", ""])
    assert fields(import_file(frame)) == (
        [("e9", "phoenix", "coverage", "phoenix/coverage", 0.25)],
        [("a2", "coverage", "ann", 1.0)],
    )


def langsmith(**changes):
    return {
        "id": "f", "run_id": "r-1", "trace_id": "r-1", "key": "coverage", "score": 4, "value": None,
        "comment": "most", "correction": None, "session_id": "p", "extra": None,
        "feedback_source": {"type": "model", "metadata": {"__run": {}}}, **changes,
    }  # fmt: skip


def test_langsmith_feedback_and_results(write_file):
    app = {"type": "app", "user_id": "u", "user_name": "Ann", "metadata": None}
    rows = [
        langsmith(extra={"eid": "e1", "system": "s", "judge": "anthropic:m"}),
        langsmith(feedback_source=app, score=2),
        langsmith(score=None, value="vague"),
        langsmith(score=None),
    ]
    data = import_file(write_file("feedback.jsonl", rows))
    assert data.tool == "langsmith"
    assert fields(data) == (
        [
            ("e1", "s", "coverage", "anthropic:m", 4.0),
            ("r-1", "langsmith", "coverage", "langsmith/coverage", None),
        ],
        [("r-1", "coverage", "Ann", 2.0)],
    )
    result = {
        "inputs.topic": "x", "outputs.text": "y", "outputs.system": "s", "error": None,
        "reference.eid": "e3", "feedback.coverage": 0.5, "feedback.faithful": None,
        "execution_time": 1.2, "example_id": "x-1", "id": "r",
    }  # fmt: skip
    data = import_file(write_file("results.jsonl", [result, {**result, "error": "timeout"}]))
    assert [
        (judgement.eid, judgement.system, judgement.aspect, judgement.value)
        for judgement in data.judgements
    ] == [
        ("e3", "s", "coverage", 0.5),
        ("e3", "s", "faithful", None),
        ("e3", "s", "coverage", None),
        ("e3", "s", "faithful", None),
    ]
    assert [judgement.unscored for judgement in data.judgements][2:] == ["backend", "backend"]


def test_a_field_of_another_type_is_named(write_file):
    with pytest.raises(InputError, match="field 'name'"):
        import_file(write_file("scores.json", [langfuse(name={})]), tool="langfuse")
    with pytest.raises(InputError, match="field 'annotator_kind'"):
        import_file(write_file("a.json", [phoenix(kind=3.5)]), tool="phoenix")
    with pytest.raises(InputError, match="field 'key'"):
        import_file(write_file("f.json", [langsmith(key=[])]), tool="langsmith")
