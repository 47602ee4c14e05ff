"""What a conversion makes of rows, and what it says of those that it leaves out."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import pytest

import fairjudge as fj
from fairjudge.errors import ConfigurationError, InputError

ONE = "The dam above Dunmere broke at noon, and two thousand people had to leave their homes."
TWO = "Officials said that the dam had been checked in May; engineers doubt that they looked."


def lines(name: str, rows: list[dict]) -> str:
    text = "".join(f"{json.dumps(row)}\n" for row in rows)
    Path(name).write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return name


def table(name: str, rows: list[dict], separator: str = ",") -> str:
    with Path(name).open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], delimiter=separator)
        writer.writeheader()
        writer.writerows(rows)
    return name


@pytest.mark.parametrize(
    "documents",
    [
        [ONE, TWO],
        f"{ONE} ||||| {TWO} |||||",
        f"{ONE} story_separator_special_tag {TWO}",
        str([ONE, TWO]),
        json.dumps([ONE, TWO]),
        [{"text": ONE}, {"body": TWO, "title": None}],
        {"title": ["", ""], "text": [ONE, TWO]},
        [ONE, "  ", TWO, "..."],
    ],
)
def test_documents_are_found_in_any_cell_format(documents):
    result = fj.convert(lines("a.jsonl.gz", [{"id": 7, "documents": documents, "summary": "s"}]))
    (cluster,) = result.clusters
    assert cluster.eid == "7"
    assert [article.content for article in cluster.articles] == [ONE, TWO]
    assert [(summary.eid, summary.system, summary.text) for summary in result.summaries] == [
        ("7", "reference", "s")
    ]


def test_list_cells_of_a_table_are_parsed():
    rows = [{"docs": str([ONE, TWO]), "prediction": "s"}]
    result = fj.convert(table("mine.csv", rows, ";"))
    assert [article.content for article in result.clusters[0].articles] == [ONE, TWO]
    assert result.summaries[0].system == "mine"
    assert fj.convert("mine.csv", system="gpt").summaries[0].system == "gpt"


def test_articles_keep_their_fields_and_named_attributes():
    articles = [
        {"id": "x", "headline": "H", "body": ONE, "link": "http://a", "lean": "left"},
        {"id": "x", "headline": "I", "body": TWO, "link": "http://b", "lean": ""},
    ]
    path = lines("a.jsonl", [{"articles": articles}])
    first, second = fj.convert(path, attributes=["lean"]).clusters[0].articles
    assert (first.aid, first.title, first.url) == ("x", "H", "http://a")
    assert second.aid == "x#2"
    assert first.attributes == {"lean": "left"}
    assert second.attributes == {}


def test_rows_are_grouped_and_common_attributes_are_read():
    rows = [
        {"hotel": h, "review": f"{text} {h}", "stars": n, "user": n}
        for h in "AB"
        for n, text in enumerate(("Lovely.", "Cold soup.", ""))
    ]
    rows[2]["review"] = rows[5]["review"] = ""
    result = fj.convert(table("r.tsv", rows, "\t"))
    assert [(cluster.eid, len(cluster.articles)) for cluster in result.clusters] == [
        ("A", 2),
        ("B", 2),
    ]
    assert [article.attributes for article in result.clusters[0].articles] == [
        {"stars": "0"},
        {"stars": "1"},
    ]
    assert result.left_out == {"an article without text": 2}
    assert result.files[0].unused == ("user",)
    articles = fj.convert("r.tsv", attributes=["user"]).clusters[0].articles
    assert [item.attributes for item in articles] == [{"user": "0"}, {"user": "1"}]


def test_unclear_grouping_suggests_a_column():
    path = table("r.csv", [{"was": "A", "wort": ONE}, {"was": "B", "wort": TWO}])
    with pytest.raises(InputError, match=r"not recognised \('was', 'wort'\).*group='COLUMN'"):
        fj.convert(path)
    result = fj.convert(path, group="was", columns={"content": "wort"})
    assert [cluster.eid for cluster in result.clusters] == ["A", "B"]
    with pytest.raises(ConfigurationError, match="no column 'what'; there are 'was', 'wort'"):
        fj.convert(path, group="what")
    with pytest.raises(ConfigurationError, match="no column 'text'"):
        fj.convert(path, columns={"content": "text"})
    with pytest.raises(
        ConfigurationError, match="unknown field 'body'; choose from eid, documents"
    ):
        fj.convert(path, columns={"body": "wort"})
    with pytest.raises(ConfigurationError, match="'content': 'COLUMN'"):
        fj.convert(path, group="was")


def test_ratings_become_labels_per_annotator_and_aspect():
    rows = [
        {"doc_id": 1, "model": "m", "summary": "s", "Coherence": 4, "fluency": 3.5, "words": 9},
        {"doc_id": 1, "model": "m", "summary": "s", "Coherence": 2, "fluency": "n/a", "words": 9},
    ]
    result = fj.convert(lines("r.jsonl", rows[:1] * 2))
    assert [(label.annotator, label.aspect, label.value) for label in result.labels] == [
        ("annotator1", "Coherence", 4), ("annotator1", "fluency", 3.5),
        ("annotator2", "Coherence", 4), ("annotator2", "fluency", 3.5),
    ]  # fmt: skip
    by_name = fj.convert(lines("r.jsonl", rows), columns={"value": ["fluency", "Coherence"]})
    assert len(by_name.labels) == 3
    assert by_name.left_out == {"a rating of 'fluency' that is not a number: 'n/a'": 1}
    assert len(by_name.summaries) == 1


def test_labels_of_any_name_are_read_one_per_row():
    rows = [{"doc_id": "1", "model": "m", "rater": "ann", "criterion": "tone", "score": "4"}]
    (label,) = fj.convert(table("l.csv", rows)).labels
    assert (label.eid, label.system, label.annotator, label.aspect, label.value) == (
        "1", "m", "ann", "tone", 4,
    )  # fmt: skip


def test_files_without_ids_are_matched_by_row_number():
    documents = lines("test.jsonl", [{"document": ONE}, {"document": TWO}])
    outputs = [
        lines(f"{name}.jsonl", [{"output": f"{name} 1"}, {"output": f"{name} 2"}])
        for name in ("gpt", "llama")
    ]
    result = fj.convert(documents, *outputs)
    assert {(summary.eid, summary.system, summary.text) for summary in result.summaries} == {
        (eid, name, f"{name} {eid}") for name in ("gpt", "llama") for eid in "12"
    }
    with pytest.raises(
        InputError, match=r"earlier cluster '1' has other.*columns=.'eid': 'COLUMN'"
    ):
        fj.convert(documents, lines("more.jsonl", [{"document": TWO}]))


def test_package_records_are_read_with_all_fields():
    cluster = {"eid": "e", "articles": [{"aid": "a", "content": ONE}], "note": "kept"}
    cited = {
        "eid": "e",
        "system": "s",
        "text": "t",
        "citations": [{"text": "t", "articles": ["a"]}],
    }
    label = {"eid": "e", "system": "s", "aspect": "tone", "annotator": "p", "value": 1}
    for name, row in (("c", cluster), ("s", cited), ("l", label)):
        lines(f"{name}.jsonl", [row])
    Path("notes.txt").write_text("no data")
    result = fj.convert(".")
    assert result.clusters[0].to_json() == cluster
    assert result.summaries[0].to_json() == cited
    assert result.labels[0].to_json() == label
    assert repr(result) == (
        "Converted(1 cluster, 1 article; 1 summary by 1 system; 1 label of tone)"
    )
    text = result.write("out")
    assert [path.name for path in text] == ["clusters.jsonl", "summaries.jsonl", "labels.jsonl"]
    assert fj.read_clusters(text[0]).records == result.clusters


def test_a_second_summary_of_a_system_and_empty_rows_are_counted():
    rows = [
        {"id": 1, "document": ONE, "model": "m", "output": "a"},
        {"id": 1, "document": ONE, "model": "m", "output": "b"},
        {"id": 2, "document": " ... ", "model": "m", "output": "c"},
        {"id": 3, "document": TWO, "model": None, "output": "d"},
    ]
    result = fj.convert(lines("a.jsonl", rows))
    assert [cluster.eid for cluster in result.clusters] == ["1", "3"]
    assert result.left_out == {
        "a second summary of a cluster by one system": 1,
        "a cluster without an article that has text": 1,
        "a summary without a system": 1,
    }


def test_hub_summeval_has_one_article_per_row():
    row = {
        "id": "dm-1", "text": ONE, "machine_summaries": ["a", "b"], "human_summaries": ["r"],
        "relevance": [1.5, 4], "coherence": [2, 3], "fluency": [5, 5], "consistency": [1, 5],
    }  # fmt: skip
    result = fj.convert(lines("s.jsonl", [row]))
    assert [summary.text for summary in result.summaries] == ["a", "b"]
    assert [label.value for label in result.labels if label.aspect == "relevance"] == [1.5, 4]
    row["fluency"] = [5]
    with pytest.raises(InputError, match=r"s.jsonl:1: field 'fluency': 1 ratings of 2 summaries"):
        fj.convert(lines("s.jsonl", [row]))


def test_line_counts_must_match_the_documents():
    Path("test.src").write_text(f"{ONE}\n{TWO}\n")
    Path("test.tgt").write_text("one\n")
    with pytest.raises(InputError, match=r"test.tgt: 1 line for the 2 of test.src"):
        fj.convert("test.src")
    Path("test.tgt").write_text("one\r\ntwo\r\n")
    assert [summary.text for summary in fj.convert("test.src").summaries] == ["one", "two"]


@pytest.mark.parametrize("content", ["", "not JSON", "[1, 2]", '{"a": {"b": NaN}}', "\xff\xfe"])
def test_non_data_file_gives_one_error_naming_it(content):
    Path("odd.jsonl").write_bytes(content.encode("latin-1"))
    with pytest.raises(InputError, match=r"^odd\.jsonl"):
        fj.convert("odd.jsonl")


def test_invalid_rows_raise_or_are_counted():
    Path("a.jsonl").write_text(f'{{"document": "{ONE}", "summary": "s"}}\n{{"document": 3}}\nno\n')
    with pytest.raises(InputError, match=r"a.jsonl:2: "):
        fj.convert("a.jsonl")
    result = fj.convert("a.jsonl", skip_bad=True)
    assert len(result.clusters) == 1
    assert sum(result.left_out.values()) == 2


def test_converted_data_is_accepted_by_every_command():
    rows = [{"id": 1, "document": ONE, "model": m, "summary": "s", "tone": 3} for m in ("x", "y")]
    result = fj.convert(lines("a.jsonl", rows), columns={"value": "tone"})
    assert fj.read_clusters(result).records == result.clusters
    assert fj.read_summaries(result).records == result.summaries
    assert fj.read_labels(result).records == result.labels
    with pytest.raises(InputError, match="references: holds no references"):
        fj.read_references(result)


def test_summary_parts_are_merged_with_ratings():
    rows = [{"eid": "e", "system": "s", "text": "t", "unit": u, "covered": n}
            for n, u in enumerate("ab")]  # fmt: skip
    result = fj.convert(lines("units.jsonl", rows), columns={"value": "covered"})
    assert len(result.summaries) == 1
    assert [(label.unit, label.annotator, label.value) for label in result.labels] == [
        ("a", "annotator1", 0), ("b", "annotator1", 1),
    ]  # fmt: skip


def test_recorded_replies_are_left_to_the_importer():
    row = {"eid": "e", "system": "s", "aspect": "tone", "response": "4/5"}
    with pytest.raises(InputError, match=r"recorded replies .*use fairjudge data import"):
        fj.convert(lines("r.jsonl", [row]))


@pytest.mark.parametrize(
    ("cell", "systems"),
    [({"gpt": "a", "llama": "b"}, ["gpt", "llama"]), (["a", "b"], ["system-1", "system-2"])],
)
def test_cell_may_contain_summaries_of_several_systems(cell, systems):
    result = fj.convert(lines("a.jsonl", [{"query_id": "q", "docs": [ONE], "candidates": cell}]))
    assert [(summary.eid, summary.system, summary.text) for summary in result.summaries] == [
        ("q", name, text) for name, text in zip(systems, "ab", strict=True)
    ]
    assert "'candidates', one per system" in result.files[0].layout
