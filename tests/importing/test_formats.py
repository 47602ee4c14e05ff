"""Which tool wrote a file, and what becomes of files that are wrong, in every format."""

import gzip
import json

import pytest
from invoking import invoke

from fairjudge.errors import InputError
from fairjudge.importing import import_file
from fairjudge.importing.formats import FORMATS

ROWS = {
    "mt-bench": {
        "question_id": 1, "model": "m", "judge": ["gpt-4", "p"], "judgment": "[[3]]", "score": 3,
    },
    "alpaca-eval": {
        "instruction": "?", "output_1": "a", "generator_1": "x", "output_2": "b",
        "generator_2": "y", "annotator": "j", "preference": 1,
    },
    "llmbar": {
        "input": "?", "output_1": "a", "output_2": "b", "label": 1,
        "results": [{"swap = False": {"completion": ["Output (a)", "stop"], "winner": "1"}}],
    },
    "judgebench": {
        "pair_id": "p", "response_A": "a", "response_B": "b", "label": "A>B",
        "judge_name": "vanilla",
        "judgments": [{"judgment": {"response": "Output (a)"}, "decision": "A>B"}],
    },
    "lm-eval": {
        "doc_id": 0, "doc": {}, "resps": [], "filtered_resps": ["x"], "filter": "none",
        "metrics": ["acc"], "acc": 1,
    },
    "mlflow": {
        "trace_id": "t", "name": "ok", "feedback": {"value": True},
        "source": {"source_type": "LLM_JUDGE", "source_id": "j"},
    },
    "langfuse": {
        "traceId": "t", "name": "ok", "value": 1, "dataType": "BOOLEAN", "source": "EVAL",
    },
    "phoenix": {
        "span_id": "s", "name": "ok", "annotator_kind": "LLM", "result": {"score": 1.0},
    },
    "langsmith": {"run_id": "r", "key": "ok", "score": 1},
    "label-studio": {
        "data": {"eid": "e", "system": "s"},
        "annotations": [
            {"result": [{"from_name": "q", "type": "rating", "value": {"rating": 3}}]}
        ],
    },
    "summeval": {
        "id": "e", "model_id": "m", "decoded": "", "expert_annotations": [{"coherence": 3}],
    },
    "promptfoo": {
        "provider": {"id": "p"}, "testIdx": 0,
        "gradingResult": {"pass": True, "score": 1, "assertion": {"type": "g-eval"}},
    },
    "inspect": {
        "eval": {"task": "t", "model": "m"},
        "samples": [{"id": 1, "epoch": 1, "scores": {"match": {"value": "C"}}}],
    },
    "deepeval": {
        "testCases": [{"name": "t", "metricsData": [{"name": "m", "score": 1}]}], "testPassed": 1,
    },
    "nuggetizer": {
        "qid": "e", "query": "Why?", "run_id": "s", "answer_text": "Rain.",
        "nuggets": [{"text": "Rain.", "importance": "vital", "assignment": "support"}],
    },
    "trec-run": {
        "metadata": {"run_id": "s", "topic_id": "e"}, "documents": {"d": {"text": "Rain."}},
        "responses": [{"text": "Rain.", "citations": ["d"]}],
    },
    "dragun": {"topic_id": "e", "run_tag": "s", "answer_id": "na-1", "auto_assessment": "none"},
    "argkp": {
        "topic": "Ban it", "stance": 1, "arg_id": "a", "argument": "Bad.", "key_point_id": "k",
        "key_point": "It is bad", "label": 1,
    },
    "trec-eval": {"run_id": "s", "topic_id": "e", "measure": "ndcg", "value": 0.5},
    "nuggetbank": {
        "query_id": "e", "format_version": "v3",
        "nugget_bank": {"Why?": {
            "question": "Why?", "importance": "vital",
            "answers": {"Rain.": {"answer": "Rain.", "references": [{"doc_id": "d"}]}},
        }},
    },
}  # fmt: skip
NAMES = sorted(ROWS)


def n_found(data):
    return data.n_rows - len(data.skipped)


def test_every_format_except_folders_is_tested():
    assert set(ROWS) == set(FORMATS) - {"realsumm"}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("extension", [".json", ".jsonl", ".json.gz"])
def test_format_is_detected_by_content_not_file_name(tmp_path, name, extension):
    path = tmp_path / f"file{extension}"
    data = json.dumps(ROWS[name]).encode()
    path.write_bytes(gzip.compress(data) if extension.endswith(".gz") else data)
    result = import_file(path)
    assert result.tool == name
    assert n_found(result) > 0
    assert import_file(path, tool=name) == result


@pytest.mark.parametrize("name", NAMES)
def test_each_file_is_detected_as_exactly_one_tool(write_file, name):
    path = write_file("file.json", ROWS[name])
    for other in set(FORMATS) - {name}:
        with pytest.raises(InputError) as error:
            import_file(path, tool=other)
        assert str(path) in str(error.value)


@pytest.mark.parametrize("name", NAMES)
def test_a_bad_row_is_named_or_listed(tmp_path, name):
    good = json.dumps(ROWS[name])
    bad = [
        "{",
        '["x"]',
        "[" * 200 + "]" * 200,
        '{"a": 1, "a": 2}',
        '{"a": 1e999}',
        '{"a": Infinity}',
    ]
    path = tmp_path / "file.jsonl"
    for text in bad:
        path.write_text(f"{good}\n{text}\n")
        with pytest.raises(InputError) as error:
            import_file(path)
        assert str(error.value).startswith(f"{path}:2: ")
        result = import_file(path, skip_bad=True)
        assert [item.line for item in result.skipped if item.line == 2] == [2]
        assert n_found(result) == n_found(import_file(path, skip_bad=True, tool=name)) > 0


def places(value, path=()):
    """Yield the path of every value within `value`."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*path, key)
        if isinstance(item, dict | list):
            yield from places(item, (*path, key))


@pytest.mark.parametrize("name", NAMES)
def test_value_of_another_type_is_read_or_gives_one_error(write_file, name):
    messages = set()
    for place in places(ROWS[name]):
        for odd in (None, True, 7, -1.5, "", "x" * 50, [], [[]], {}, {"a": {}}, [None], ["\ud800"]):
            row = json.loads(json.dumps(ROWS[name]))
            holder = row
            for key in place[:-1]:
                holder = holder[key]
            holder[place[-1]] = odd
            path = write_file("file.json", row)
            try:
                result = import_file(path, tool=name)
            except InputError as error:
                messages.add(str(error))
            else:
                assert n_found(result) > 0
    assert messages
    assert all(message.startswith(f"{path}:") for message in messages)
    assert not any("\n" in message for message in messages)


def test_unknown_format_error_lists_supported_tools(write_file):
    with pytest.raises(InputError, match="unknown format; supported are inspect"):
        import_file(write_file("file.jsonl", [{"eid": "e", "system": "s", "response": "3"}]))
    with pytest.raises(InputError, match="unknown tool 'other'"):
        import_file(write_file("file.jsonl", [{}]), tool="other")


def test_unknown_folder_raises(tmp_path):
    with pytest.raises(InputError, match="unknown format"):
        import_file(tmp_path)


def run(*arguments):
    return invoke("data", "import", *arguments)


def test_the_command_writes_judgements_and_labels_and_counts_all(write_file, tmp_path):
    rows = [ROWS["judgebench"], ROWS["judgebench"] | {"label": "?", "pair_id": "q"}]
    path = write_file("outputs.jsonl", rows)
    out, labels, report = (tmp_path / name for name in ("j.jsonl", "l.jsonl", "r.json"))
    result = run(path, "-o", out, "--labels", labels, "--json", report)
    assert result.exit_code == 0, result.output
    assert len(out.read_text().splitlines()) == 2
    assert len(labels.read_text().splitlines()) == 1
    data = json.loads(report.read_text())
    assert data["tool"] == "judgebench"
    assert data["n_rows"] == data["n_judgements"] + data["n_labels"] + len(data["skipped"]) == 4
    assert "unknown label '?'" in result.output
    without = run(path, "-o", out)
    assert "1 human label not written; --labels FILE writes them" in without.output


def test_command_warns_if_labels_or_judgements_would_be_lost(write_file, tmp_path):
    labels_alone = write_file("l.jsonl", [ROWS["summeval"]])
    result = run(labels_alone, "-o", tmp_path / "j.jsonl")
    assert "use --labels" in str(result.exception)
    result = run(write_file("j.jsonl", [ROWS["mt-bench"]]), "--labels", tmp_path / "l2.jsonl")
    assert "write them with -o" in str(result.exception)
    assert run(labels_alone).exit_code == 2
    assert run(labels_alone, "-o", tmp_path / "x", "--scale", "1-5").exit_code == 2
    options = ("--protocol", "likert", "--from", "summeval")
    assert run(labels_alone, "-o", tmp_path / "x", *options).exit_code == 2


def test_many_unscored_exit_with_3(write_file, tmp_path):
    row = ROWS["mt-bench"] | {"judgment": "none", "score": -1}
    assert run(write_file("x.jsonl", [row]), "-o", tmp_path / "j.jsonl").exit_code == 3
