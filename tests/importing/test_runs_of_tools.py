"""Runs of evaluation tools: each score once, the grader's own errors unscored.

Layouts from promptfoo (``src/types/index.ts``), confident-ai/deepeval (``tracing/api.py``),
mlflow (``entities/assessment.py``) and lm-evaluation-harness (``loggers/evaluation_tracker.py``).
"""

import json

import pytest

from fairjudge.importing import import_file


def outcomes(data):
    return [
        (judgement.aspect, judgement.value if judgement.unscored is None else judgement.unscored)
        for judgement in data.judgements
    ]


def component(kind, score, *, passed=True, value=None, **more):
    return {
        "pass": passed,
        "score": score,
        "reason": "because",
        "assertion": {"type": kind, "value": value},
        **more,
    }


def test(*components, **changes):
    return {
        "promptIdx": 0,
        "testIdx": 0,
        "testCase": {"vars": {"topic": "x"}, "assert": [{"type": "llm-rubric", "value": "good"}]},
        "provider": {"id": "openai:gpt-4o-mini", "label": ""},
        "prompt": {"raw": "Write", "label": "Write"},
        "vars": {"topic": "x"},
        "response": {"output": "text"},
        "failureReason": 0,
        "success": True,
        "score": 1,
        "gradingResult": {"pass": True, "score": 1, "componentResults": list(components)},
        **changes,
    }


test.__test__ = False


def promptfoo(*tests, **config):
    return {
        "evalId": "eval-1",
        "results": {"version": 3, "timestamp": "2026", "results": list(tests), "stats": {}},
        "config": config,
        "shareableUrl": None,
    }


def test_promptfoo_assertions_are_judgements_and_human_ones_labels(write_file):
    rubric = component("llm-rubric", 0.5, value="good")
    rubric["assertion"]["provider"] = {"id": "openai:gpt-4o"}
    tests = [
        test(rubric, component("contains", 1, value="a"), component("human", 1)),
        test(
            component("llm-rubric", 0, passed=False, metadata={"graderError": True}),
            testIdx=1,
        ),
        test(testIdx=2, failureReason=2, error="HTTP 500", gradingResult=None),
        test(testIdx=3, testCase={}, failureReason=2, error="HTTP 500", gradingResult=None),
        test(testIdx=4, gradingResult=None),
    ]
    result = import_file(write_file("results.json", promptfoo(*tests)))
    assert result.tool == "promptfoo"
    assert outcomes(result) == [
        ("llm-rubric", 0.5), ("contains", 1.0),
        ("llm-rubric", "backend"), ("llm-rubric", "backend"),
    ]  # fmt: skip
    assert [
        (judgement.eid, judgement.judge, judgement.scored_by) for judgement in result.judgements
    ] == [
        ("0", "openai:gpt-4o", "llm"),
        ("0", "promptfoo/contains", "code"),
        ("1", "promptfoo/llm-rubric", "llm"),
        ("2", "promptfoo/llm-rubric", "llm"),
    ]
    assert [(label.eid, label.aspect, label.value) for label in result.labels] == [
        ("0", "human", 1.0)
    ]
    assert [item.why for item in result.skipped] == [
        "the test ended in an error",
        "the test has no assertion",
    ]
    assert result.n_rows == 4 + 1 + 2
    assert result.judgements[0].system == "openai:gpt-4o-mini"
    assert result.judgements[0].model_extra["reason"] == "because"


def test_promptfoo_assertions_of_equal_type_are_distinguished(write_file):
    inner = [component("llm-rubric", 1, value="short"), component("llm-rubric", 0, value="kind")]
    tests = [
        test(
            {"pass": True, "score": 0.5, "reason": "", "assertion": None, "componentResults": inner}
        )
    ]
    result = import_file(write_file("r.json", promptfoo(*tests)))
    assert outcomes(result) == [("llm-rubric", 1.0), ("llm-rubric#2", 0.0)]


def test_promptfoo_variables_and_the_configured_grader_name_item_and_judge(write_file):
    tests = [
        test(component("g-eval", 0.8), vars={"eid": "e1", "system": "lead"}),
        test(component("g-eval", True), promptIdx=1),
    ]
    config = {"defaultTest": {"options": {"provider": "openai:gpt-4o"}}}
    result = import_file(write_file("r.json", promptfoo(*tests, **config)))
    assert [
        (judgement.eid, judgement.system, judgement.judge) for judgement in result.judgements
    ] == [
        ("e1", "lead", "openai:gpt-4o"),
        ("0", "openai:gpt-4o-mini#1", "openai:gpt-4o"),
    ]


def test_promptfoo_test_without_assertions_is_not_imported(write_file):
    passed = {"pass": True, "score": 1, "reason": "No assertions", "componentResults": []}
    tests = [test(gradingResult=passed), test(component("g-eval", 1), testIdx=1)]
    result = import_file(write_file("r.json", promptfoo(*tests)))
    assert outcomes(result) == [("g-eval", 1.0)]
    assert [item.why for item in result.skipped] == ["the test has no assertion"]


def test_promptfoo_results_per_line(write_file):
    result = import_file(write_file("r.jsonl", [test(component("g-eval", 0.8)), test(testIdx=1)]))
    assert (result.tool, result.n_rows) == ("promptfoo", 2)


def metric(name, score, **more):
    return {
        "name": name,
        "threshold": 0.5,
        "success": True,
        "score": score,
        "reason": "r",
        "evaluationModel": "gpt-5",
        **more,
    }


def deepeval(*cases):
    return {
        "testCases": list(cases),
        "conversationalTestCases": [],
        "metricsScores": [],
        "testPassed": 1,
        "testFailed": 0,
    }


def test_deepeval_metrics_with_an_error_or_without_a_score_are_unscored(write_file):
    case = {
        "name": "test_case_0",
        "input": "?",
        "success": False,
        "order": 0,
        "metricsData": [
            metric("Faithfulness", 0.45),
            metric("Toxicity", 0, error="rate limit"),
            metric("Bias", None),
            metric("Exact", 1, evaluationModel=None),
        ],
        "trace": {
            "metricsData": [metric("Faithfulness", 0.45)],
            "llmSpans": [{"metricsData": None}],
        },
    }
    other = {"name": "test_case_0", "input": "another", "metricsData": [metric("Bias", 1)]}
    fields = {
        "name": "t",
        "input": "",
        "metricsData": None,
        "additionalMetadata": {"eid": "e1", "system": "lead"},
    }
    newer = {
        "name": "u",
        "input": "",
        "metricsData": [metric("Bias", 0)],
        "metadata": {"eid": "e2", "system": "lead"},
    }
    run = deepeval(case, other, fields, newer) | {"hyperparameters": {"model": "gpt-4"}}
    result = import_file(write_file("run.json", run))
    assert result.tool == "deepeval"
    assert outcomes(result) == [
        ("Faithfulness", 0.45), ("Toxicity", "backend"), ("Bias", "unparseable"), ("Exact", 1.0),
        ("Bias", 1.0), ("Bias", 0.0),
    ]  # fmt: skip
    assert [judgement.eid for judgement in result.judgements] == ["test_case_0"] * 4 + [
        "test_case_0#2",
        "e2",
    ]
    assert [judgement.system for judgement in result.judgements] == ["gpt-4"] * 5 + ["lead"]
    assert [judgement.scored_by for judgement in result.judgements] == ["llm"] * 3 + [
        "code",
        "llm",
        "llm",
    ]
    assert result.judgements[0].model_extra["threshold"] == 0.5
    assert len(result.skipped) == 2
    assert result.n_rows == 8


def test_real_deepeval_run_has_consistent_counts(recorded):
    """Counted by its text: ten metrics, of which the test case has two."""
    path = recorded / "deepeval" / "test_run_sample.json"
    result = import_file(path)
    assert path.read_text("utf-8").count('"strictMode"') == result.n_rows == 10
    assert outcomes(result) == [("Answer Relevancy", 0.92), ("Faithfulness", 0.45)]
    assert {judgement.judge for judgement in result.judgements} == {"gpt-5.4"}


def assessment(kind="LLM_JUDGE", who="gpt-4o", name="relevance", **more):
    return {
        "assessment_id": "a-1",
        "trace_id": "tr-1",
        "assessment_name": name,
        "source": {"source_type": kind, "source_id": who},
        "create_time": "2026-11-22T23:03:17.169Z",
        "last_update_time": "2026-11-22T23:03:17.169Z",
        "rationale": "since",
        "metadata": {},
        **more,
    }


def test_mlflow_assessments(write_file):
    decided = {"openai.decisions.probabilities": json.dumps({"yes": 0.9, "no": 0.1})}
    found_list = [
        assessment(feedback={"value": "yes"}),
        assessment(feedback={"value": 3.5}, trace_id="tr-2"),
        assessment(feedback={"value": None, "error": {"error_code": "TIMEOUT"}}, trace_id="tr-3"),
        assessment(feedback={"value": "rather good"}, trace_id="tr-4"),
        assessment("CODE", "len", feedback={"value": True}, name="short"),
        assessment("HUMAN", "ann", feedback={"value": False}),
        assessment("HUMAN", "ann", expectation={"value": "a text"}),
        assessment(feedback={"value": 1}, valid=False),
        assessment(feedback={"value": True}, trace_id="tr-5", metadata=decided),
    ]
    result = import_file(write_file("assessments.json", found_list))
    assert result.tool == "mlflow"
    assert outcomes(result) == [
        ("relevance", 1.0), ("relevance", 3.5), ("relevance", "backend"), ("short", 1.0),
        ("relevance", 1.0),
    ]  # fmt: skip
    assert [judgement.scored_by for judgement in result.judgements] == [
        "llm",
        "llm",
        "llm",
        "code",
        "llm",
    ]
    assert result.judgements[4].probabilities == {"yes": 0.9, "no": 0.1}
    assert [(label.eid, label.annotator, label.value) for label in result.labels] == [
        ("tr-1", "ann", 0.0)
    ]
    assert [item.why for item in result.skipped] == [
        "the feedback is not a number; define the values of words with --options",
        "the label is not a number; define the values of words with --options",
        "a later assessment overrides it",
    ]
    assert result.n_rows == len(found_list)


def test_mlflow_traces_name_item_and_system_in_tags_and_metadata(write_file):
    info = {
        "trace_id": "tr-9",
        "tags": {"eid": "e9"},
        "trace_metadata": {"mlflow.modelId": "m-1"},
        "assessments": [
            assessment(feedback={"value": 1}),
            assessment("HUMAN", "b", feedback={"value": 0}),
        ],
    }
    rows = [{"info": info, "data": {}}, {"info": {**info, "assessments": []}, "data": {}}]
    result = import_file(write_file("traces.json", rows))
    assert [(item.eid, item.system) for item in (*result.judgements, *result.labels)] == [
        ("e9", "m-1"),
        ("e9", "m-1"),
    ]
    assert [item.why for item in result.skipped] == ["the trace has no assessment"]


def lm_row(number, **changes):
    return {
        "doc_id": number,
        "doc": {"question": "?"},
        "target": "4",
        "arguments": {"gen_args_0": {"arg_0": "Q: ?", "arg_1": {"until": ["\n"]}}},
        "resps": [["4."]],
        "filtered_resps": ["4"],
        "filter": "strict-match",
        "metrics": ["exact_match"],
        "doc_hash": "a",
        "prompt_hash": "b",
        "target_hash": "c",
        "exact_match": 1.0,
        **changes,
    }


@pytest.mark.parametrize("named", [True, False])
def test_lm_eval_samples_by_metric_and_filter(write_file, named):
    rows = [
        lm_row(0),
        lm_row(0, filter="flexible-extract", exact_match=0.0),
        lm_row(1, exact_match=float("nan")),
        lm_row(2, metrics=["exact_match", "bleu"], bleu=[["a"], ["b"]]),
    ]
    if not named:
        rows = [{key: value for key, value in row.items() if key != "metrics"} for row in rows]
    path = write_file("openai__gpt/samples_gsm8k_2026-08-21T10-11-12.345678.jsonl", rows)
    result = import_file(path)
    assert result.tool == "lm-eval"
    assert outcomes(result) == [
        ("exact_match,strict-match", 1.0),
        ("exact_match,flexible-extract", 0.0),
        ("exact_match,strict-match", "unparseable"),
        ("exact_match,strict-match", 1.0),
    ]
    first = result.judgements[0]
    assert (first.eid, first.system, first.judge, first.scored_by, first.protocol) == (
        "0", "openai__gpt", "lm-eval/gsm8k", "code", "binary",
    )  # fmt: skip
    assert first.model_extra["response"] == "4"
    assert [item.why for item in result.skipped] == ["metric 'bleu' is not a number"]
    assert result.n_rows == 5


def test_single_filter_is_not_part_of_the_aspect(write_file):
    result = import_file(write_file("m/samples_gsm8k.jsonl", [lm_row(0), lm_row(1)]))
    assert outcomes(result) == [("exact_match", 1.0), ("exact_match", 1.0)]
