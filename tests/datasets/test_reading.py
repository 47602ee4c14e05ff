"""Unusual files that are fine, and what they hold."""

import gzip
import json

import pytest

from fairjudge.datasets import (
    Loaded,
    match_summaries,
    read_clusters,
    read_labels,
    read_summaries,
    why_not_buildable,
)
from fairjudge.datasets.readers import empty_articles
from fairjudge.domain import Cluster, Summary
from fairjudge.errors import InputError

SUMMARY = '{"eid": "e1", "system": "s", "text": "t"}'
OTHER = '{"eid": "e2", "system": "s", "text": "t"}'


def summaries(tmp_path, content, name="s.jsonl"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_summaries(path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("s.jsonl", f"{SUMMARY}\n{OTHER}"),
        ("s.jsonl", f"{SUMMARY}\r\n\r\n{OTHER}\r\n"),
        ("s.jsonl", f"\ufeff{SUMMARY}\n  \n{OTHER}\n\n"),
        ("s.json", f"[{SUMMARY},{OTHER}]"),
        ("s.json", f"\ufeff\r\n[\r\n{SUMMARY},\r\n\r\n{OTHER}\r\n]\r\n"),
        ("S.JSON", f"[{SUMMARY}, {OTHER}]"),
        ("s.jsonl.gz", gzip.compress(f"{SUMMARY}\n{OTHER}\n".encode(), mtime=0)),
        ("s.json.gz", gzip.compress(f"[{SUMMARY},{OTHER}]".encode(), mtime=0)),
        ("packed", gzip.compress(f"{SUMMARY}\n{OTHER}\n".encode(), mtime=0)),
        ("no-extension", f"[{SUMMARY}, {OTHER}]"),
        ("s.txt", f"{SUMMARY}\n{OTHER}"),
        ("s.csv", "eid,system,text\ne1,s,t\ne2,s,t\n"),
        ("s.csv", 'eid, system, text\ne1, s, "t"\ne2, s, t\n'),
        ("s.json", f"{SUMMARY}\n\n{OTHER}\n"),
        ("s.tsv", "eid\tsystem\ttext\ne1\ts\tt\ne2\ts\tt\n"),
        ("s.csv", "eid;system;text\ne1;s;t\ne2;s;t\n"),
        ("s.csv", ",eid,system,text\n0,e1,s,t\n1,e2,s,t\n"),
        ("s.csv", '\ufeffeid,system,text\r\n"e1",s,"t"\r\n,,\r\ne2,s,t\r\n'),
    ],
)
def test_summaries_are_read_equally_from_every_format(tmp_path, name, content):
    loaded = summaries(tmp_path, content, name)
    assert [(r.eid, r.system, r.text) for r in loaded] == [("e1", "s", "t"), ("e2", "s", "t")]
    assert loaded.bad == ()
    assert loaded.repaired == ()


def test_arrow_table_matches_json_lines(tmp_path):
    pa = pytest.importorskip("pyarrow", reason="the extra [parquet]")
    from pyarrow import parquet

    cited = {
        "eid": "e2",
        "system": "s",
        "text": "[1]",
        "citations": '[{"text": "[1]", "articles": ["a"]}]',
    }
    table = pa.Table.from_pylist([json.loads(SUMMARY) | {"citations": None}, cited])
    parquet.write_table(table, tmp_path / "any name")
    for folder in (tmp_path / "on disk", tmp_path / "splits" / "test"):
        folder.mkdir(parents=True)
        with pa.ipc.new_stream(folder / "data-00000-of-00001.arrow", table.schema) as stream:
            stream.write_table(table)
        state = {"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}
        (folder / "state.json").write_text(json.dumps(state))
    splits = tmp_path / "splits" / "dataset_dict.json"
    splits.write_text('{"splits": ["test"]}')
    for name in ("any name", "on disk", "splits"):
        first, second = read_summaries(tmp_path / name)
        assert first.text == "t"
        assert first.citations is None
        assert second.text == "[1]"
        assert second.citations[0].articles == ("a",)
    splits.write_text('{"splits": ["train", "test"]}')
    with pytest.raises(InputError, match=r"several splits: pass one of .*train, .*test"):
        read_summaries(tmp_path / "splits")
    (tmp_path / "any name").write_bytes(b"PAR1 and no more")
    with pytest.raises(InputError, match="cannot read the Parquet file"):
        read_summaries(tmp_path / "any name")


def test_parquet_export_round_trips(tmp_path):
    pytest.importorskip("pyarrow", reason="the extra [parquet]")
    pytest.importorskip("pandas")
    import fairjudge as fj

    clusters = read_clusters([{"eid": "1", "articles": [{"aid": "a", "content": "x"}]}])
    pair = {"eid": "1", "system_a": "x", "system_b": "y", "order": "ab", "aspect": "coverage"}
    judged = [
        pair | {"protocol": "pairwise", "judge": "j", "value": "tie", "raw": '{"verdict": "tie"}'},
        pair | {"protocol": "pairwise", "judge": "j", "unscored": "refused", "value": None},
    ]
    fj.export(clusters, tmp_path / "c.parquet")
    assert read_clusters(tmp_path / "c.parquet").records == clusters.records
    for kind in ("parquet", None):
        fj.export(judged, tmp_path / "j.parquet", format=kind)
        first, second = fj.read_judgements(tmp_path / "j.parquet")
        assert (first.value, first.raw) == ("tie", '{"verdict": "tie"}')
        assert (second.value, second.unscored) == (None, "refused")


def test_single_object_is_a_file_with_one_record(tmp_path):
    assert len(summaries(tmp_path, SUMMARY, "s.json")) == 1


def test_line_breaks_of_unicode_do_not_end_a_line(tmp_path):
    text = "one\u2028two\u2029three\x85four\x0bfive"
    line = json.dumps({"eid": "e", "system": "s", "text": text}, ensure_ascii=False)
    assert summaries(tmp_path, f"{line}\n{SUMMARY}").records[0].text == text


def test_nul_is_kept_and_lone_surrogates_are_replaced_and_listed(tmp_path):
    broken = (
        r'{"eid": "e\u0000", "system": "s", "text": "a\u0000b\ud800c\ud83d\ude00", "x": "\uDFFF"}'
    )
    loaded = summaries(tmp_path, f"{SUMMARY}\n{broken}")
    record = loaded.records[1]
    assert record.eid == "e\0"
    assert record.text == "a\0b\ufffdc\U0001f600"
    assert record.to_json()["x"] == "\ufffd"
    assert loaded.repaired == (2,)


def test_a_raw_nul_within_text_is_kept(tmp_path):
    assert summaries(tmp_path, SUMMARY.replace('"t"', '"a\0b"')).records[0].text == "a\0b"


def test_ten_megabyte_line_is_read(tmp_path):
    text = "word " * 2_000_000
    line = json.dumps({"eid": "e", "system": "s", "text": text})
    assert len(summaries(tmp_path, line).records[0].text) == 10_000_000


def test_integer_ids_become_text(tmp_path):
    assert summaries(tmp_path, SUMMARY.replace('"e1"', "7")).records[0].eid == "7"


def test_csv_labels_hold_numbers_verdicts_and_extra_columns(tmp_path):
    path = tmp_path / "l.csv"
    path.write_text(
        "eid,system,system_a,system_b,aspect,annotator,value,unit,note\n"
        "e1,s,,,coverage,p1,3,,fine\n"
        'e1,s,,,coverage,p2,2.5,sentence:0,"a, b"\n'
        "e1,,s,t,coverage,p1,tie\n"
    )
    first, second, third = read_labels(path)
    assert repr((first.value, second.value, third.value)) == "(3, 2.5, 'tie')"
    assert (first.unit, second.unit) == ("summary", "sentence:0")
    assert (third.system, third.system_a, third.system_b) == (None, "s", "t")
    assert first.to_json()["note"] == "fine"
    assert "note" not in third.to_json()


def test_a_line_number_in_csv_counts_lines_within_cells(tmp_path):
    path = tmp_path / "s.csv"
    path.write_text('eid,system,text\ne1,s,"two\nlines"\ne2,s,t\n')
    assert read_summaries(path).lines == (2, 4)


def cluster(*contents, eid="e1"):
    articles = [{"aid": str(i), "content": text} for i, text in enumerate(contents)]
    return Cluster.model_validate({"eid": eid, "articles": articles})


def test_summary_of_unknown_cluster_is_named_with_its_line():
    summaries = (
        Summary(eid="flood-2031", system="s", text=""),
        Summary(eid="flod-2031", system="s", text=""),
    )
    clusters = [cluster("a", "b", eid="flood-2031")]
    match_summaries(Loaded(path="s.jsonl", records=summaries[:1], lines=(1,)), clusters)
    with pytest.raises(InputError) as caught:
        match_summaries(Loaded(path="s.jsonl", records=summaries, lines=(1, 4)), clusters)
    assert str(caught.value) == (
        "s.jsonl:4: field 'eid': the summary by 's' is of cluster 'flod-2031', "
        "which is not among the 1 given; did you mean 'flood-2031'?"
    )


@pytest.mark.parametrize(
    ("contents", "part"),
    [
        (("one",), "has one article"),
        (("", " \n", "\0"), "all 3 articles are empty"),
        (("text", "", "..."), "2 of 3 articles are empty, one is left"),
    ],
)
def test_unbuildable_clusters_are_reported(contents, part):
    assert part in why_not_buildable(cluster(*contents))


def test_a_cluster_with_two_articles_of_text_can_be_built():
    data = cluster("one", "", "two")
    assert why_not_buildable(data) is None
    assert [article.aid for article in empty_articles(data)] == ["1"]


def test_real_labels_are_read(shared_data):
    loaded = read_labels(shared_data / "summeval" / "labels.jsonl")
    assert len(loaded) == 38_400  # 100 articles x 12 systems x 4 aspects x 8 annotators


def test_real_crawled_cluster_is_read(shared_data):
    (real,) = read_clusters(shared_data / "recession" / "cluster.json")
    assert len(real.articles) == 46
    assert why_not_buildable(real) is None
