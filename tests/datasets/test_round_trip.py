"""What is read and written is equal as JSON, and a file is either whole or untouched."""

import gzip
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairjudge.datasets import (
    read_clusters,
    read_labels,
    read_references,
    read_summaries,
    write_jsonl,
    write_records,
)
from fairjudge.domain import Summary
from fairjudge.errors import InputError

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
NAME = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
FLOAT = st.floats(allow_nan=False, allow_infinity=False)
SCALAR = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | FLOAT | TEXT
JSON = st.recursive(
    SCALAR,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
KNOWN = {
    "eid", "articles", "question_answers", "aid", "title", "url", "domain", "content", "attributes",
    "question", "answer_groups", "answer", "to_json", "self",
}  # fmt: skip
UNKNOWN = st.dictionaries(NAME.filter(lambda name: name not in KNOWN), JSON, max_size=3)


def with_more(fields):
    return st.builds(
        lambda fields, extra: {**fields, **extra}, st.fixed_dictionaries(fields), UNKNOWN
    )


@st.composite
def references(draw):
    aids = draw(st.lists(NAME, min_size=1, max_size=3, unique=True))
    articles = [
        {"aid": aid, "title": draw(TEXT), "content": draw(TEXT)}
        | draw(st.just({}) | st.fixed_dictionaries({"attributes": st.dictionaries(TEXT, SCALAR)}))
        | draw(UNKNOWN)
        for aid in aids
    ]
    answers = st.lists(
        with_more({"aid": st.sampled_from(aids), "answer": TEXT}),
        max_size=2,
    )
    questions = with_more({"question": TEXT, "answer_groups": st.lists(answers, max_size=2)})
    return {
        "eid": draw(NAME),
        "articles": articles,
        "question_answers": draw(st.lists(questions, max_size=2)),
    } | draw(UNKNOWN)


def exact(value):
    """JSON text tells 1 from 1.0 and from true, which == does not."""
    return json.dumps(value, sort_keys=True)


@given(st.lists(references(), min_size=1, max_size=3, unique_by=lambda r: r["eid"]))
def test_references_round_trip(tmp_path_factory, given_list):
    folder = tmp_path_factory.mktemp("trip")
    for name in ("r.json", "r.jsonl", "r.jsonl.gz"):
        (folder / "given.json").write_text(json.dumps(given_list))
        write_records(folder / name, read_references(folder / "given.json"))
        items = [record.to_json() for record in read_references(folder / name)]
        assert exact(items) == exact(given_list)


def test_unknown_keys_keep_order_and_numbers_keep_type(tmp_path):
    line = (
        '{"eid": "e", "system": "s", "aspect": "coverage", "annotator": "p", "value": 3, '
        '"z": {"b": 1, "a": [1.0, 2, null]}, "y": 1e-07, "x": 123456789012345678901}'
    )
    (tmp_path / "l.jsonl").write_text(line + "\n")
    write_jsonl(tmp_path / "out.jsonl", read_labels(tmp_path / "l.jsonl"))
    assert (tmp_path / "out.jsonl").read_text() == line + "\n"


@pytest.mark.parametrize(
    ("name", "reader"),
    [
        ("summeval/labels.jsonl", read_labels),
        ("summeval/summaries.jsonl", read_summaries),
        ("summeval/clusters.jsonl", read_clusters),
        ("yelp/clusters.jsonl", read_clusters),
    ],
)
def test_real_files_round_trip_line_by_line(shared_data, tmp_path, name, reader):
    write_jsonl(tmp_path / "out.jsonl", reader(shared_data / name))
    with (shared_data / name).open() as given_lines, (tmp_path / "out.jsonl").open() as lines:
        for given_line, line in zip(given_lines, lines, strict=True):
            assert json.loads(given_line) == json.loads(line)


def test_published_list_round_trips(shared_data, tmp_path):
    path = shared_data / "recession" / "cluster.json"
    write_records(tmp_path / "out.json", read_clusters(path))
    assert json.loads((tmp_path / "out.json").read_text()) == json.loads(path.read_text())


ONE = Summary(eid="e", system="s", text="t")


def failing():
    yield ONE
    raise RuntimeError("the source broke off")


@pytest.mark.parametrize("name", ["s.jsonl", "s.json", "s.jsonl.gz"])
def test_failed_write_keeps_only_the_old_file(tmp_path, name):
    (tmp_path / name).write_text("old")
    with pytest.raises(RuntimeError, match="broke off"):
        write_records(tmp_path / name, failing())
    assert (tmp_path / name).read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_equal_records_give_equal_gzip_bytes(tmp_path):
    write_jsonl(tmp_path / "a.jsonl.gz", [ONE])
    write_jsonl(tmp_path / "b.jsonl.gz", [ONE])
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.jsonl.gz").read_bytes()).startswith(b'{"eid": "e"')


def test_standard_output(capsysbinary):
    write_jsonl("-", [ONE, {"plain": "café"}])
    assert capsysbinary.readouterr().out == (
        '{"eid": "e", "system": "s", "text": "t"}\n{"plain": "café"}\n'.encode()
    )


def test_symlink_is_followed_not_replaced(tmp_path):
    (tmp_path / "real.jsonl").write_text("old")
    (tmp_path / "link.jsonl").symlink_to("real.jsonl")
    write_jsonl(tmp_path / "link.jsonl", [ONE])
    assert (tmp_path / "link.jsonl").is_symlink()
    assert len(read_summaries(tmp_path / "real.jsonl")) == 1


def test_a_device_is_written_to_not_replaced():
    write_jsonl(os.devnull, [ONE])
    assert not Path(os.devnull).is_file()


@pytest.mark.parametrize("name", ["absent/s.jsonl", ".", "s.csv"])
def test_unwritable_location_raises(tmp_path, name):
    with pytest.raises(InputError, match=r"cannot write the file|not as \.csv"):
        write_records(tmp_path / name, [ONE])
    assert list(tmp_path.iterdir()) == []


def test_lone_surrogates_never_stop_a_write(tmp_path):
    write_jsonl(tmp_path / "s.jsonl", [Summary(eid="e", system="s", text="a\ud800", x="b\udc00")])
    assert "a\ufffd" in (tmp_path / "s.jsonl").read_text()
