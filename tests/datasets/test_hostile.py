"""Every way in which a file can be wrong ends in one message that names the place."""

import gzip
import json

import pytest

from fairjudge.datasets import (
    read_clusters,
    read_judgements,
    read_labels,
    read_references,
    read_summaries,
)
from fairjudge.errors import InputError

ARTICLE = '{"aid": "1", "content": "Text."}'
CLUSTER = f'{{"eid": "e1", "articles": [{ARTICLE}]}}'
SUMMARY = '{"eid": "e1", "system": "s", "text": "t"}'
LABEL = '{"eid": "e1", "system": "s", "aspect": "coverage", "annotator": "p", "value": 3}'
JUDGEMENT = (
    '{"eid": "e1", "system": "s", "aspect": "coverage", "protocol": "likert", "judge": "j", '
    '"value": 3}'
)


def label(**changes):
    return json.dumps({**json.loads(LABEL), **changes})


def judgement(**changes):
    return json.dumps({**json.loads(JUDGEMENT), **changes})


def reference(question_answers):
    return json.dumps({**json.loads(CLUSTER), "question_answers": question_answers})


CASES = {
    # name: (reader, file name, content, place after the path, part of the message)
    "empty": (read_clusters, "c.jsonl", "", ": ", "the file is empty"),
    "blank": (read_clusters, "c.json", " \r\n\n ", ": ", "the file is empty"),
    "only a BOM": (read_clusters, "c.json", "\ufeff", ": ", "the file is empty"),
    "empty list": (read_clusters, "c.json", "[]", ": ", "holds no clusters"),
    "not JSON": (read_clusters, "c.jsonl", "eid,articles\n", ":1: ", "expecting value (column 1)"),
    "wrong JSON": (
        read_clusters,
        "c.jsonl",
        CLUSTER + '\n{"eid": "e2" "articles": []}',
        ":2: ",
        "expecting ',' delimiter (column 14)",
    ),
    "wrong JSON in a list": (
        read_clusters,
        "c.json",
        f'[\n{CLUSTER},\n{{"eid": "e2",\n  "articles" []}}\n]',
        ":4: ",
        "expecting ':' delimiter (column 14)",
    ),
    "single quotes": (
        read_summaries,
        "s.jsonl",
        "{'eid': 'e1'}",
        ":1: ",
        "expecting property name",
    ),
    "cut off": (
        read_summaries,
        "s.jsonl",
        SUMMARY + "\n" + SUMMARY[:25],
        ":2: ",
        "the file is cut off in the middle of this record",
    ),
    "cut off within a string": (
        read_summaries,
        "s.jsonl",
        SUMMARY + "\n" + SUMMARY[:-4],
        ":2: ",
        "the file is cut off in the middle of this record",
    ),
    "list cut off within a record": (
        read_clusters,
        "c.json",
        f"[\n{CLUSTER},\n{CLUSTER[:20]}",
        ":3: ",
        "the file is cut off in the middle of a record",
    ),
    "list cut off after a record": (
        read_clusters,
        "c.json",
        f"[\n{CLUSTER}\n",
        ":3: ",
        "the file is cut off: its list has no closing ']'",
    ),
    "no comma in a list": (
        read_clusters,
        "c.json",
        f"[{CLUSTER}\n{CLUSTER}]",
        ":2: ",
        "expected ',' or ']'",
    ),
    "record over two lines": (
        read_summaries,
        "s.jsonl",
        '{"eid": "e1",\n"system": "s", "text": "t"}',
        ":1: ",
        "each record must be on one line",
    ),
    "two records on a line": (
        read_summaries,
        "s.jsonl",
        SUMMARY + SUMMARY,
        ":1: ",
        "unexpected text after the value",
    ),
    "list in JSONL": (read_clusters, "c.jsonl", f"[{CLUSTER}]", ":1: ", "found a list"),
    "something after the JSON": (
        read_summaries,
        "s.json",
        SUMMARY + "\nand more",
        ":2: ",
        "unexpected text after the first JSON value",
    ),
    "a number": (read_clusters, "c.json", "3", ":1: ", "expected an object, a cluster with 'eid'"),
    "a list of text": (read_clusters, "c.json", '["e1"]', ":1: ", "found text 'e1'"),
    "missing field": (
        read_clusters,
        "c.jsonl",
        '{"eid": "e1"}',
        ":1: field 'articles': ",
        "missing; expected a cluster with 'eid' and 'articles'",
    ),
    "missing nested field": (
        read_clusters,
        "c.jsonl",
        '{"eid": "e1", "articles": [{"aid": "1", "content": ""}, {"aid": "2"}]}',
        ":1: field 'articles[1].content': ",
        "missing",
    ),
    "null content": (
        read_clusters,
        "c.jsonl",
        CLUSTER.replace('"Text."', "null"),
        ":1: field 'articles[0].content': ",
        "expected text, found null",
    ),
    "wrong type": (
        read_clusters,
        "c.jsonl",
        '{"eid": "e1", "articles": {"aid": "1"}}',
        ":1: field 'articles': ",
        "expected a list, found an object",
    ),
    "article is text": (
        read_clusters,
        "c.jsonl",
        '{"eid": "e1", "articles": ["Text."]}',
        ":1: field 'articles[0]': ",
        "expected an object, found text 'Text.'",
    ),
    "no articles": (
        read_clusters,
        "c.jsonl",
        '{"eid": "e1", "articles": []}',
        ":1: field 'articles': ",
        "must not be empty",
    ),
    "empty eid": (
        read_clusters,
        "c.jsonl",
        CLUSTER.replace('"e1"', '""'),
        ":1: field 'eid': ",
        "must not be empty",
    ),
    "eid true": (
        read_clusters,
        "c.jsonl",
        CLUSTER.replace('"e1"', "true"),
        ":1: field 'eid': ",
        "expected text, found true",
    ),
    "attribute is an object": (
        read_clusters,
        "c.jsonl",
        CLUSTER.replace('"1",', '"1", "attributes": {"leaning": {}},'),
        ":1: field 'articles[0].attributes.leaning': ",
        "expected text, a whole number, a number or true/false, found an object",
    ),
    "duplicate eid": (
        read_clusters,
        "c.jsonl",
        f"{CLUSTER}\n\n{CLUSTER}",
        ":3: field 'eid': ",
        "duplicate eid 'e1' (first on line 1)",
    ),
    "duplicate aid": (
        read_clusters,
        "c.jsonl",
        f'{{"eid": "e1", "articles": [{ARTICLE}, {ARTICLE}]}}',
        ":1: ",
        "duplicate aid '1' in cluster 'e1'",
    ),
    "duplicate summary": (
        read_summaries,
        "s.jsonl",
        f"{SUMMARY}\n{SUMMARY}",
        ":2: field 'eid': ",
        "duplicate eid 'e1', system 's' (first on line 1)",
    ),
    "duplicate key": (
        read_summaries,
        "s.jsonl",
        SUMMARY.replace('"text"', '"eid": "e2", "text"'),
        ":1: ",
        "duplicate key 'eid'",
    ),
    "NaN": (
        read_labels,
        "l.jsonl",
        LABEL.replace("3", "NaN"),
        ":1: field 'value': ",
        "expected a finite number",
    ),
    "infinite by size": (
        read_labels,
        "l.jsonl",
        LABEL.replace("}", ', "x": {"y": [1, 1e999]}}'),
        ":1: field 'x.y[1]': ",
        "expected a finite number",
    ),
    "huge integer": (
        read_labels,
        "l.jsonl",
        LABEL.replace("3", "1" + "0" * 400),
        ":1: field 'value': ",
        "expected a finite number",
    ),
    "integer of 5,000 digits": (
        read_labels,
        "l.jsonl",
        LABEL.replace("3", "9" * 5000),
        ":1: ",
        "a number has too many digits",
    ),
    "value as text": (
        read_labels,
        "l.jsonl",
        label(value="3"),
        ":1: field 'value': ",
        "expected a finite number, or 'a', 'b' or 'tie', found text '3'",
    ),
    "value true": (read_labels, "l.jsonl", label(value=True), ":1: field 'value': ", "found true"),
    "deep nesting": (
        read_clusters,
        "c.jsonl",
        CLUSTER[:-1] + ', "x": ' + "[" * 100_000 + "]" * 100_000 + "}",
        ":1: ",
        "nested more than 64 levels deep",
    ),
    "nesting that json takes": (
        read_clusters,
        "c.jsonl",
        CLUSTER[:-1] + ', "x": ' + "[" * 200 + "]" * 200 + "}",
        ":1: ",
        "nested more than 64 levels deep",
    ),
    "not UTF-8": (
        read_summaries,
        "s.jsonl",
        SUMMARY.encode() + b'\n{"eid": "caf\xe9"}',
        ":2: ",
        "not UTF-8 text: byte 0xE9 at byte 13 of the line",
    ),
    "not UTF-8 in a list": (
        read_summaries,
        "s.json",
        b'[\n {"eid": "caf\xe9"}]',
        ":2: ",
        "not UTF-8 text: byte 0xE9 at byte 14 of the line",
    ),
    "UTF-16": (read_summaries, "s.jsonl", SUMMARY.encode("utf-16"), ": ", "save it as UTF-8"),
    "gz that is not": (read_clusters, "c.jsonl.gz", CLUSTER, ": ", "the content is not gzip"),
    "gz cut off": (
        read_clusters,
        "c.jsonl.gz",
        gzip.compress(CLUSTER.encode(), mtime=0)[:-10],
        ": ",
        "the gzip data are cut off",
    ),
    "gz damaged": (
        read_clusters,
        "c.jsonl.gz",
        gzip.compress(CLUSTER.encode(), mtime=0)[:-8] + b"\0" * 8,
        ": ",
        "the gzip data are damaged",
    ),
    "gz of nothing": (
        read_clusters,
        "c.jsonl.gz",
        gzip.compress(b"", mtime=0),
        ": ",
        "the file is empty",
    ),
    "clusters as CSV": (read_clusters, "c.csv", "eid\ne1\n", ": ", "cannot be CSV"),
    "answer of no article": (
        read_references,
        "r.jsonl",
        reference([{"question": "q", "answer_groups": [[{"answer": "a"}]]}]),
        ":1: field 'question_answers[0].answer_groups[0][0].aid': ",
        "missing",
    ),
    "reference without questions": (
        read_references,
        "r.jsonl",
        CLUSTER,
        ":1: field 'question_answers': ",
        "missing",
    ),
    "neither one system nor two": (
        read_labels,
        "l.jsonl",
        LABEL.replace('"system"', '"system_a"'),
        ":1: ",
        "expected either 'system', or both 'system_a' and 'system_b'",
    ),
    "unknown protocol": (
        read_judgements,
        "j.jsonl",
        judgement(protocol="stars"),
        ":1: field 'protocol': ",
        "expected 'likert', 'binary', 'pairwise', 'checklist' or 'ranking', found text 'stars'",
    ),
    "two problems": (
        read_judgements,
        "j.jsonl",
        judgement(protocol="stars", judge=7),
        ":1: field 'protocol': ",
        "found text 'stars' (also invalid: judge)",
    ),
    "scored and unscored": (
        read_judgements,
        "j.jsonl",
        judgement(unscored="refused"),
        ":1: ",
        "expected exactly one of 'value' and 'unscored'",
    ),
    "CSV without a column": (
        read_labels,
        "l.csv",
        "eid,system,aspect,value\ne1,s,coverage,3\n",
        ":2: field 'annotator': ",
        "missing",
    ),
    "CSV with semicolons": (
        read_labels,
        "l.csv",
        "eid;system;aspect;annotator\ne1;s;coverage;p\n",
        ":2: field 'value': ",
        "missing",
    ),
    "CSV with a column twice": (
        read_labels,
        "l.csv",
        "eid,system,eid\n",
        ":1: field 'eid': ",
        "duplicate column in the header",
    ),
    "CSV with a cell too many": (
        read_labels,
        "l.csv",
        "eid,system,aspect,annotator,value\ne1,s,coverage,p,3,5\n",
        ":2: ",
        "expected 5 cells as in the header, found 6",
    ),
    "CSV with a decimal comma": (
        read_labels,
        "l.csv",
        'eid,system,aspect,annotator,value\ne1,s,coverage,p,"3,5"\n',
        ":2: field 'value': ",
        "found text '3,5'",
    ),
    "CSV value nan": (
        read_labels,
        "l.csv",
        "eid,system,aspect,annotator,value\ne1,s,coverage,p,nan\n",
        ":2: field 'value': ",
        "expected a finite number",
    ),
    "CSV with an open quote": (
        read_summaries,
        "s.csv",
        'eid,system,text\ne1,s,"two\nlines"\ne2,s,"open\nto the end\n',
        ":4: ",
        "the file ends inside a quoted cell that begins in this row",
    ),
    "CSV with an open quote and much text": (
        read_summaries,
        "s.csv",
        'eid,system,text\ne1,s,"' + "word " * 40_000,
        ":2: ",
        "a cell is longer than 131,072 characters; is a closing quote missing?",
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_error_names_file_line_and_field(tmp_path, case):
    reader, name, content, place, part = case
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError) as caught:
        reader(path)
    message = str(caught.value)
    assert message.startswith(f"{path}{place}")
    assert part in message
    assert "\n" not in message
    assert "Input should" not in message
    assert ("(also" in message) == (case is CASES["two problems"])
    assert len(message) < 400 + len(str(path))


def test_missing_file_raises(tmp_path):
    with pytest.raises(InputError, match=r"absent\.json: no such file"):
        read_clusters(tmp_path / "absent.json")


def test_folder_instead_of_file_raises(tmp_path):
    with pytest.raises(InputError, match="expected a file, found a folder"):
        read_clusters(tmp_path)


def test_unreadable_file_raises(tmp_path, monkeypatch):
    # file modes do not bind the superuser, as whom tests may run
    def refuse(self):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr("pathlib.Path.read_bytes", refuse)
    with pytest.raises(InputError, match=r"c\.json: no permission to read the file"):
        read_clusters(tmp_path / "c.json")


def test_nul_in_the_file_name_raises():
    with pytest.raises(InputError, match="not a file name"):
        read_clusters("a\0b.json")


def test_decompression_bomb_raises(tmp_path, monkeypatch):
    """Past a bound, gzip may hold 200 times its size: a million spaces take about a thousandth."""
    packed = gzip.compress(f"{SUMMARY}\n".encode() + b" " * 1_000_000)
    assert len(packed) * 200 < 1_000_000
    path = tmp_path / "s.jsonl.gz"
    path.write_bytes(packed)
    assert len(read_summaries(path)) == 1
    monkeypatch.setattr("fairjudge.files._MIN_UNPACKED_LIMIT", 1_000_000)
    with pytest.raises(InputError, match=r"s\.jsonl\.gz: .* hold more than 1,000,000"):
        read_summaries(path)
    path.write_bytes(gzip.compress(f"{SUMMARY}\n".encode() + b" " * 1_000_000, 0))
    assert len(read_summaries(path)) == 1


def test_skip_bad_keeps_the_good_lines_and_lists_the_others(tmp_path):
    path = tmp_path / "s.jsonl"
    lines = [SUMMARY, '{"eid": ', SUMMARY, '{"eid": "e2", "system": "s"}', '["x"]', SUMMARY[:20]]
    path.write_text("\n".join(lines))
    loaded = read_summaries(path, skip_bad=True)
    assert [record.eid for record in loaded] == ["e1"]
    assert loaded.lines == (1,)
    assert [bad.line for bad in loaded.bad] == [2, 3, 4, 5, 6]
    assert "duplicate eid 'e1', system 's' (first on line 1)" in loaded.bad[1].problem
    assert loaded.bad[2].problem.startswith("field 'text': missing")
    assert "the file is cut off" in loaded.bad[4].problem


def test_skip_bad_in_a_list_continues_after_an_invalid_record(tmp_path):
    path = tmp_path / "c.json"
    items = [CLUSTER, '{"eid": NaN, "articles": []}', CLUSTER.replace("e1", "e3"), CLUSTER[:9]]
    path.write_text("[" + ",\n".join(items))
    loaded = read_clusters(path, skip_bad=True)
    assert [record.eid for record in loaded] == ["e1", "e3"]
    assert loaded.lines == (1, 3)
    assert [bad.line for bad in loaded.bad] == [2, 4]


def test_skip_bad_without_valid_records_raises(tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_text("{\n{\n")
    with pytest.raises(InputError, match="holds no summaries; the first of 2 bad lines is 1: not"):
        read_summaries(path, skip_bad=True)
