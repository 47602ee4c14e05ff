"""Folders of text files: which texts are articles and summaries, of which cluster and system."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import fairjudge as fj

TEXT = "The dam above Dunmere broke at noon, and two thousand people had to leave their homes."


def write(path: str, text: str = TEXT) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text)


FORMS = {
    "systems, then clusters": "in/outputs/{system}/{eid}.txt",
    "clusters, then systems": "in/Summaries/{eid}/{system}.md",
    "with the articles": "in/{eid}/summary/{system}.txt",
}


@pytest.mark.parametrize("form", FORMS)
def test_cluster_ids_separate_systems_from_clusters(form):
    for eid in ("e1", "e2"):
        for n in range(1, 12):
            article = f"in/{eid}/documents/{n}.txt" if "with" in form else f"in/news/{eid}/{n}.txt"
            write(article, f"{TEXT} {n}")
        for system in ("phi-3.5", "e"):
            write(FORMS[form].format(eid=eid, system=system), f"{system} {eid}")
    result = fj.convert("in")
    assert [cluster.eid for cluster in result.clusters] == ["e1", "e2"]
    texts = [article.content for article in result.clusters[0].articles]
    assert texts == [f"{TEXT} {n}" for n in range(1, 12)]  # 2 before 10
    assert {(summary.eid, summary.system, summary.text) for summary in result.summaries} == {
        (eid, system, f"{system} {eid}") for eid in ("e1", "e2") for system in ("phi-3.5", "e")
    }


def test_each_file_is_a_cluster_and_references_are_human_summaries():
    for eid in ("a", "b"):
        write(f"articles/{eid}.txt", f"{TEXT} ||||| {TEXT} More.")
        write(f"references/{eid}.txt", "By people.")
        write(f"references/second/{eid}.txt", "By others.")
        write(f"summaries/{eid}.txt", "By a system.")
    result = fj.convert("articles", "summaries", "references", system="ours")
    assert result.counts()["clusters"] == "2 clusters, 4 articles (2 each)"
    assert {summary.system for summary in result.summaries} == {
        "reference",
        "reference-second",
        "ours",
    }


def test_labels_are_in_the_folder_of_the_texts(cli):
    write("in/source/a.txt")
    write("in/systems/gpt/a.txt", "A dam broke.")
    write("in/systems/gpt/b.txt", "")
    label = {"doc_id": "a", "system": "gpt", "tone": 3, "fluency": 4}
    write("in/rated.json", json.dumps([label]))
    write("in/notes.pdf", "no text")
    result = cli("convert", "in", "-o", "data", code=0)
    text = " ".join(result.out.split())
    assert "one text per file: 1 article, 2 summaries" in text
    assert "2 labels of fluency, tone" in text
    assert "Excluded 1 time: a file without text" in text
    assert "notes.pdf: not a data file by its name" in text
    assert "a folder" not in text


def test_texts_in_unknown_folders_are_read_only_without_known_ones():
    write("in/e1/1.txt")
    write("in/e1/2.txt")
    assert fj.convert("in").counts()["clusters"] == "1 cluster, 2 articles"
    write("in/c.json", json.dumps([{"id": "z", "documents": [TEXT]}]))
    result = fj.convert("in")
    assert [cluster.eid for cluster in result.clusters] == ["z"]
    assert any("e1: a folder" in why for why in result.left_out)


def test_a_folder_without_texts_or_data():
    Path("in/articles").mkdir(parents=True)
    with pytest.raises(fj.FairJudgeError, match="contains no data files"):
        fj.convert("in")
