"""Names of files as names of systems, and values of columns that are no plain values."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import fairjudge as fj
from fairjudge.converting.columns import system_name

TEXT = "The dam above Dunmere broke at noon, and two thousand people had to leave their homes."


@pytest.mark.parametrize(
    ("name", "system"),
    [
        ("gpt-4.1-mini.txt", "gpt-4.1-mini"),
        ("llama-3.1-8b.out.jsonl.gz", "llama-3.1-8b"),
        ("v0.2.CSV", "v0.2"),
        ("test.txt.tgt.cleaned", "test"),
        ("qwen2.5", "qwen2.5"),
        (".jsonl", ".jsonl"),
        ("txt", "txt"),
    ],
)
def test_only_known_extensions_are_removed(name, system):
    assert system_name(Path(name)) == system


def test_systems_are_named_after_files_of_lines_and_of_rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("test.src").write_text(f"{TEXT} ||||| {TEXT} It did.\n")
    Path("phi-3.5.hypo").write_text("A dam broke.\n")
    Path("phi-3.5.jsonl").write_text(json.dumps({"id": 1, "prediction": "A dam broke."}))
    for files in (("test.src", "phi-3.5.hypo"), ("phi-3.5.jsonl",)):
        assert {summary.system for summary in fj.convert(*files).summaries} == {"phi-3.5"}


def test_lists_and_objects_are_not_attributes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [
        {"hotel": "A", "review": f"{TEXT} {n}", "country": [[], ["FR"], ["FR", "DE"]][n]}
        | {"stars": [n], "language": {"code": "fr"}}
        for n in range(3)
    ]
    Path("reviews.json").write_text(json.dumps(rows))
    converted = fj.convert("reviews.json")
    attributes = [article.attributes for article in converted.clusters[0].articles]
    assert attributes == [{"stars": 0}, {"stars": 1}, {"stars": 2}]
    assert {"country", "language"} <= {*converted.files[0].unused}


def test_report_counts_articles_per_cluster(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [{"id": n, "documents": [TEXT] * 2} for n in range(3)]
    Path("even.json").write_text(json.dumps(rows))
    Path("odd.json").write_text(json.dumps([*rows, {"id": 9, "documents": [TEXT]}]))
    Path("only.json").write_text(json.dumps(rows[:1]))
    texts = [fj.convert(f"{name}.json").counts()["clusters"] for name in ("even", "odd", "only")]
    assert texts == [
        "3 clusters, 6 articles (2 each)",
        "4 clusters, 7 articles (1 to 2 each)",
        "1 cluster, 2 articles",
    ]


def test_python_error_names_the_reading_function(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [{"product": "a", "review_text": TEXT}, {"product": "a", "review_text": "Fine."}]
    Path("of a shop.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(
        fj.FairJudgeError, match=r"layout: fj\.convert\('of a shop.jsonl'\)"
    ) as error:
        fj.read_clusters("of a shop.jsonl")
    command_line_text = error.value.command_line_text or ""
    assert command_line_text.endswith("fairjudge convert 'of a shop.jsonl' -o data")
