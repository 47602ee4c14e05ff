"""A tool's own failure is unscored, and words become numbers by the scale that the user names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_fixtures import cli, no_keys, own_home

from fairjudge.errors import InputError
from fairjudge.importing import import_file, scale_from_options

__all__ = ["cli", "no_keys", "own_home"]


def promptfoo(*reasons: str, kind: str = "llm-rubric", score: float = 0.0):
    return [
        {
            "provider": {"id": "openai:gen"},
            "vars": {"eid": f"e{number}"},
            "gradingResult": {
                "componentResults": [
                    {"pass": False, "score": score, "reason": reason, "assertion": {"type": kind}}
                ]
            },
        }
        for number, reason in enumerate(reasons)
    ]


def outcomes(data):
    return [
        judgement.value if judgement.unscored is None else judgement.unscored
        for judgement in data.judgements
    ]


@pytest.mark.parametrize(
    ("reason", "outcome"),
    [
        ("Could not extract JSON from llm-rubric response", "unparseable"),
        ("llm-rubric produced malformed response: SyntaxError\n\nHm.", "unparseable"),
        ("llm-rubric produced malformed response - grader returned no score", "unparseable"),
        ("Model grader produced a malformed response:\nHm.", "unparseable"),
        ("LLM-proposed evaluation result is not in JSON format: Hm.", "unparseable"),
        ("Grading failed: API call error: 429 Too Many Requests", "backend"),
        ("API error: 500 Internal Server Error", "backend"),
        ("API call error: TypeError: fetch failed", "backend"),
        ("Request timed out after 300000 ms", "backend"),
        # a judge's words, which only speak of errors
        ("Not supported: the article says nothing of an API error", 0.0),
        ("The summary mentions 429 Too Many Requests, which the source does not", 0.0),
        ("Could not find any claim that the source backs", 0.0),
    ],
)
def test_grader_failure_is_detected_by_promptfoo_messages(write_file, reason, outcome):
    path = write_file("results.jsonl", promptfoo(reason))
    assert outcomes(import_file(path)) == [outcome]


def test_rule_based_scores_are_kept_for_any_text(write_file):
    path = write_file("results.jsonl", promptfoo("API error: 500 Internal", kind="contains"))
    assert outcomes(import_file(path)) == [0.0]


@pytest.mark.parametrize("value", [999, None, ["gold", "said"], {"a": 1}])
def test_lm_eval_predict_only_run_has_no_score(write_file, value):
    row = {"doc_id": 0, "doc": {}, "resps": [["x"]], "filtered_resps": ["x"], "bypass": value}
    result = import_file(write_file("m/samples_t.jsonl", [row | {"metrics": ["bypass"]}]))
    assert outcomes(result) == ["unparseable"]


def test_a_metric_that_deepeval_skipped_has_no_score(write_file):
    metric = {"name": "faithfulness", "score": 0, "skipped": True, "evaluationModel": "m"}
    case = {"name": "c", "input": "?", "metricsData": [metric]}
    result = import_file(write_file("run.json", {"testCases": [case], "testPassed": 0}))
    assert outcomes(result) == ["unparseable"]


def feedback(value: object, kind: str = "LLM_JUDGE", trace: str = "t1"):
    source = {"source_type": kind, "source_id": "who"}
    return {"assessment_name": "tone", "source": source, "trace_id": trace,
            "feedback": {"value": value}}  # fmt: skip


def test_verbal_feedback_is_skipped_without_mapped_values(write_file):
    path = write_file(
        "assessments.jsonl",
        [feedback("Poor"), feedback("good ", trace="t2"), feedback("fair", "HUMAN")],
    )
    with pytest.raises(InputError, match="define the values of words with --options"):
        import_file(path)
    result = import_file(path, answers=scale_from_options("likert", answers="poor,fair,good"))
    assert outcomes(result) == [1.0, 3.0]
    assert [label.value for label in result.labels] == [2.0]


def test_label_studio_choices_use_the_same_mapping(write_file):
    def task(choice: str):
        result = {"from_name": "tone", "type": "choices", "value": {"choices": [choice]}}
        annotation = {"completed_by": 1, "result": [result]}
        return {"data": {"eid": choice, "system": "s"}, "annotations": [annotation]}

    path = write_file("tasks.json", [task("Bad"), task("Fine")])
    result = import_file(path, answers=scale_from_options("likert", answers="bad,fine"))
    assert [label.value for label in result.labels] == [1.0, 2.0]


def test_labels_only_file_is_written_to_the_labels_output(cli):
    Path("a.jsonl").write_text(json.dumps(feedback(4, "HUMAN")) + "\n")
    result = cli("data", "import", "a.jsonl", "-o", "j.jsonl", "--labels", "l.jsonl", code=0)
    assert not Path("j.jsonl").exists()
    assert json.loads(Path("l.jsonl").read_text())["value"] == 4
    assert "no judgement; j.jsonl is not written" in result.err
    assert "1 human label written to l.jsonl" in result.err


def test_options_without_protocol_map_tool_words(cli):
    rows = [feedback("no"), feedback("YES", trace="t2")]
    Path("a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    cli("data", "import", "a.jsonl", "-o", "j.jsonl", "--options", "no,yes", code=0)
    text = [json.loads(line) for line in Path("j.jsonl").read_text().splitlines()]
    assert [(item["value"], item["protocol"]) for item in text] == [(0, "binary"), (1, "binary")]


@pytest.mark.parametrize("options", [("--scale", "1-5"), ("--stars",), ("--scale", "0-2")])
def test_numeric_range_is_not_a_binary_scale(cli, options):
    row = {"eid": "e", "system": "s", "aspect": "coverage", "judge": "j", "response": "4"}
    Path("r.jsonl").write_text(json.dumps(row) + "\n")
    result = cli(
        "data", "import", "r.jsonl", "-o", "j.jsonl", "--protocol", "binary", *options, code=1
    )
    assert "does not fit --protocol binary" in result.err
