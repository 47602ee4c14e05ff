"""Inspect's logs: what is a score, who gave it, and what is the grader's own failure.

Layouts from UKGovernmentBEIS/inspect_ai, ``log/_log.py``, ``scorer/_metric.py`` and
``log/_recorders/eval.py``.
"""

import json
import struct
import zipfile
import zlib
from collections import Counter

import pytest
from missing import missing

from fairjudge.errors import InputError, MissingExtraError
from fairjudge.importing import import_file


def spec(**changes):
    return {
        "eval_id": "x",
        "task": "summaries",
        "dataset": {"name": "d"},
        "model": "openai/gpt-4o-mini",
        "model_roles": {"grader": {"model": "openai/gpt-4o"}},
        "config": {"epochs": 1},
        "scorers": [{"name": "model_graded_qa", "options": {"partial_credit": True}}],
        **changes,
    }


def graded(value, explanation, **more):
    return {"model_graded_qa": {"value": value, "answer": "a", "explanation": explanation, **more}}


def sample(number, scores, **more):
    return {"id": number, "epoch": 1, "input": "?", "target": "!", "scores": scores, **more}


def log(*samples, **changes):
    return {"version": 2, "status": "success", "eval": spec(**changes), "samples": list(samples)}


def values(data):
    return [
        judgement.value if judgement.unscored is None else judgement.unscored
        for judgement in data.judgements
    ]


def test_grader_reply_is_read_and_failures_are_unscored(write_file):
    path = write_file(
        "log.json",
        log(
            sample("e1", graded("C", "All there.\n\nGRADE: C")),
            sample("e2", graded("P", "Half of it. GRADE: P")),
            sample("e3", graded("I", "GRADE: I")),
            sample("e4", graded("I", "Grade not found in model output: I would rather not say.")),
            sample("e5", graded(float("nan"), None, metadata={"unscored_reason": "no_reply"})),
            sample(
                "e7", graded(float("nan"), "Grade not found in model output: Eh.", reason="failed")
            ),
            sample("e6", {}, error={"message": "timeout"}),
        ),
    )
    result = import_file(path)
    assert result.tool == "inspect"
    assert values(result) == [1.0, 0.5, 0.0, *["unparseable"] * 3]
    assert [item.why for item in result.skipped] == ["the sample ended in an error"]
    assert result.n_rows == 7
    details = [judgement.model_extra["detail"] for judgement in result.judgements[4:]]
    assert details == ["no_reply", "failed"]
    first = result.judgements[0]
    assert (first.eid, first.system, first.judge, first.aspect, first.scored_by) == (
        "e1", "openai/gpt-4o-mini", "openai/gpt-4o", "model_graded_qa", "llm",
    )  # fmt: skip
    assert "source:imported:inspect" in first.signature
    assert "parser:" in first.signature


def test_replies_contradicting_the_recorded_value_are_counted(write_file):
    result = import_file(write_file("log.json", log(sample("e1", graded("I", "GRADE: C")))))
    assert values(result) == [1.0]
    assert result.judgements[0].model_extra["tool_value"] == 0.0
    assert result.n_reread == 1


def test_reply_to_a_custom_grader_prompt_is_not_parsed(write_file):
    scorers = [{"name": "model_graded_qa", "options": {"template": "Say {x}"}}]
    result = import_file(
        write_file("log.json", log(sample("e1", graded("C", "GRADE: I")), scorers=scorers))
    )
    assert values(result) == [1.0]
    assert "parser" not in result.judgements[0].signature


def test_scores_by_rule_and_of_several_values(write_file):
    scores = {
        "match": {"value": "I", "answer": "x", "explanation": "x"},
        "rates": {"value": {"precision": 0.25, "recall": True}},
        "list": {"value": [1, 2]},
    }
    result = import_file(write_file("log.json", log(sample("e1", scores))))
    assert [
        (judgement.aspect, judgement.value, judgement.scored_by, judgement.protocol)
        for judgement in result.judgements
    ] == [
        ("match", 0.0, "code", "binary"),
        ("rates.precision", 0.25, "code", "likert"),
        ("rates.recall", 1.0, "code", "binary"),
    ]
    assert [item.why for item in result.skipped] == ["score 'list' is a list"]


@pytest.mark.parametrize(
    ("options", "metadata", "judge"),
    [
        ({"model": {"model": "x/grader"}}, {}, "x/grader"),
        ({"model": "x/grader"}, {}, "x/grader"),
        ({"model": "x"}, {"grading": [{"role": "user"}, {"model": "y"}]}, "y"),
        ({}, {}, "model_graded_qa"),
    ],
)
def test_judge_is_the_grader_if_known(write_file, options, metadata, judge):
    scorers = [{"name": "inspect_ai/model_graded_qa", "options": options}]
    first = sample("e1", graded("C", "GRADE: C", metadata=metadata))
    result = import_file(write_file("log.json", log(first, scorers=scorers, model_roles=None)))
    assert result.judgements[0].judge == judge


def test_epochs_are_repeats_and_metadata_names_the_item(write_file):
    samples = [
        sample("s", graded("C", "GRADE: C"), metadata={"eid": "e1", "system": "lead"})
        | {"epoch": n}
        for n in (1, 2)
    ]
    result = import_file(write_file("log.json", log(*samples, config={"epochs": 2})))
    assert [
        (judgement.eid, judgement.system, judgement.repeat) for judgement in result.judgements
    ] == [
        ("e1", "lead", 0),
        ("e1", "lead", 1),
    ]
    last = import_file(write_file("log.json", log(*samples, config={"epochs": 2})), repeats="last")
    assert [judgement.repeat for judgement in last.judgements] == [None]
    assert last.n_rows == 2


def test_human_edited_score_gives_judge_value_and_label(write_file):
    history = [
        {"value": "I", "explanation": "GRADE: I"},
        {"value": "C", "provenance": {"author": "ann", "reason": "it is there"}},
    ]
    scores = graded("C", "GRADE: I", history=history)
    result = import_file(write_file("log.json", log(sample("e1", scores))))
    assert values(result) == [0.0]
    assert [(label.annotator, label.value, label.aspect) for label in result.labels] == [
        ("ann", 1.0, "model_graded_qa")
    ]


def test_long_texts_are_fetched_from_the_attachments(write_file):
    scores = graded("C", "attachment://abc")
    whole = log(sample("e1", scores, attachments={"abc": "GRADE: C"}))
    assert import_file(write_file("log.json", whole)).judgements[0].raw == "GRADE: C"
    with pytest.raises(InputError, match="refers to a missing attachment"):
        import_file(write_file("log.json", log(sample("e1", scores))))


def test_a_bad_sample_is_named_or_skipped(write_file):
    path = write_file(
        "log.json", log({"scores": {"match": {"value": 1}}}, sample("e2", graded("C", "C")))
    )
    with pytest.raises(InputError, match=r"log\.json:1: field 'id': missing"):
        import_file(path)
    result = import_file(path, skip_bad=True)
    assert len(result.judgements) == 1
    assert [(item.line, item.why) for item in result.skipped] == [(1, "field 'id': missing")]


def archive(path, members, *, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as packed:
        for name, value in members.items():
            packed.writestr(name, value if isinstance(value, bytes | str) else json.dumps(value))
    return path


def members(*samples):
    header = {key: value for key, value in log().items() if key != "samples"}
    return {
        "header.json": header,
        **{f"samples/{sample['id']}_epoch_{sample['epoch']}.json": sample for sample in samples},
    }


def zstd_archive(path, entries):
    """Write a ZIP of zstd members (method 93), which the zipfile module of 3.11 cannot write."""
    try:
        import zstandard
    except ImportError:
        missing("zstandard: it comes with an extra")
    body, directory = b"", b""
    for name, value in entries.items():
        plain = json.dumps(value).encode()
        packed = zstandard.compress(plain)
        sizes = struct.pack("<III", zlib.crc32(plain), len(packed), len(plain))
        local = struct.pack("<4sHHHHH", b"PK\x03\x04", 63, 0, 93, 0, 0) + sizes
        central = struct.pack("<4sHHHHHH", b"PK\x01\x02", 63, 63, 0, 93, 0, 0) + sizes
        directory += central + struct.pack("<HHHHHII", len(name), 0, 0, 0, 0, 0, len(body))
        directory += name.encode()
        body += local + struct.pack("<HH", len(name), 0) + name.encode() + packed
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, len(entries), len(entries),
                      len(directory), len(body), 0)  # fmt: skip
    path.write_bytes(body + directory + end)
    return path


@pytest.fixture(params=["deflate", "zstd"])
def pack(request):
    return archive if request.param == "deflate" else zstd_archive


SAMPLES = (sample("e1", graded("C", "GRADE: C")), sample("e2", graded("I", "GRADE: I")))


def test_archive_gives_the_same_result_as_json(tmp_path, write_file, pack):
    result = import_file(pack(tmp_path / "run.eval", members(*SAMPLES)))
    assert result == import_file(write_file("log.json", log(*SAMPLES)))
    assert values(result) == [1.0, 0.0]


def test_archive_of_a_killed_run_is_read_from_its_journal(tmp_path, pack):
    whole = members(*SAMPLES)
    whole["_journal/start.json"] = whole.pop("header.json")
    assert values(import_file(pack(tmp_path / "run.eval", whole))) == [1.0, 0.0]


def test_decompression_bomb_raises(tmp_path, monkeypatch, pack):
    monkeypatch.setattr("fairjudge.files._MIN_UNPACKED_LIMIT", 1_000_000)
    bomb = sample("e3", graded("C", "GRADE: C" + " " * 2_000_000))
    with pytest.raises(InputError, match="unpacks to more than 1,000,000"):
        import_file(pack(tmp_path / "run.eval", members(*SAMPLES, bomb)))


def test_damaged_archive_gives_one_error(tmp_path, pack):
    path = pack(tmp_path / "run.eval", members(*SAMPLES))
    data = bytearray(path.read_bytes())
    middle = data.index(b"samples/e1") + 40
    data[middle : middle + 8] = b"\0" * 8
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"run\.eval: "):
        import_file(path)
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(InputError, match="the archive is damaged"):
        import_file(path)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("samples/x.json", '{"id": 1, "id": 2}', "duplicate key"),
        ("samples/x.json", "[" * 5000 + "]" * 5000, "levels deep"),
        ("samples/x.json", '{"id": 1e999}', "finite number"),
        ("samples/x.json", b"\xff\xfe", "not UTF-8"),
        ("samples/x.json", "[]", "expected an object"),
        ("header.json", "{", "not valid JSON"),
    ],
)
def test_a_bad_member_is_named(tmp_path, name, content, problem):
    path = archive(tmp_path / "run.eval", {**members(*SAMPLES), name: content})
    with pytest.raises(InputError, match=problem) as error:
        import_file(path)
    assert name in str(error.value)


def test_other_archive_raises(tmp_path):
    path = archive(tmp_path / "x.zip", {"other.txt": "x"})
    with pytest.raises(InputError, match="not an Inspect log"):
        import_file(path)


def test_missing_zstandard_error_names_the_extra(tmp_path, monkeypatch):
    path = zstd_archive(tmp_path / "run.eval", members(*SAMPLES))
    monkeypatch.setitem(__import__("sys").modules, "zstandard", None)
    with pytest.raises(MissingExtraError, match=r"fairjudge\[inspect\]"):
        import_file(path)


def test_real_logs_are_imported(recorded):
    """Counted with the json and zipfile modules alone; one log was cancelled before its scoring."""
    folder = recorded / "inspect"
    sizes = Counter()
    for path in sorted(folder.iterdir()):
        if "dPiJifoWeEQBrfWsAopzWr" in path.name:
            with pytest.raises(InputError, match="the sample has no score"):
                import_file(path)
            continue
        result = import_file(path)
        if path.suffix == ".json":
            samples = json.loads(path.read_text())["samples"]
        else:
            with zipfile.ZipFile(path) as packed:
                names = [name for name in packed.namelist() if name.startswith("samples/")]
                samples = [json.loads(packed.read(name)) for name in names]
        assert result.n_rows == sum(len(sample["scores"]) for sample in samples)
        expected = [
            float(s["value"] == "C") for sample in samples for s in sample["scores"].values()
        ]
        assert [judgement.value for judgement in result.judgements] == expected
        sizes[result.judgements[0].aspect] += len(expected)
    assert sizes == {"match": 13, "model_graded_fact": 3}


def _changed(data, at, *values):
    """Return an archive with the bytes at an offset of its first central record replaced."""
    start = data.index(b"PK\x01\x02") + at
    return data[:start] + bytes(values) + data[start + len(values) :]


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:45] + b"\xff" * 40 + data[85:],  # the packed bytes
        lambda data: _changed(data, 6, 255, 0),  # a version that is to come
        lambda data: _changed(data, 10, 77, 0),  # a method that is not known
        lambda data: _changed(data, 42, 255, 255, 255, 127),  # an offset beyond the end
        lambda data: _changed(data, 42, 9, 0, 0, 0),  # an offset into something else
        lambda data: _changed(data, 46, 0xFF, 0xFE),  # a name that is another in either header
        lambda data: _changed(data, 24, 255, 255, 255, 255),  # a size that is none
        lambda data: _changed(data, 8, 1, 0),  # encrypted
        lambda data: _changed(data, 8, 0, 8),  # names are UTF-8, which this is not
    ],
)
def test_damaged_archive_error_names_the_file(tmp_path, method, damage):
    path = tmp_path / "run.eval"
    with zipfile.ZipFile(path, "w", method) as packed:
        packed.writestr("header.json", json.dumps(log()) + " " * 500)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(InputError) as caught:
        import_file(path)
    assert caught.value.path == str(path)
