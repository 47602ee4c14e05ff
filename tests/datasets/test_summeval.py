"""SummEval's own layout; the sample is written by hand after the published field names."""

import json
from itertools import groupby

import pytest

from fairjudge.datasets import read_clusters, read_labels, read_summaries
from fairjudge.datasets.summeval import read_summeval
from fairjudge.errors import InputError

LINE = {
    "id": "d1",
    "decoded": "a summary .",
    "expert_annotations": [{"coherence": 2, "relevance": 1}, {"coherence": 5, "relevance": 4}],
    "turker_annotations": [{"coherence": 3, "relevance": 3}],
    "references": ["not read"],
    "model_id": "M1",
    "text": "An article.",
}


def write(tmp_path, *lines):
    path = tmp_path / "model_annotations.aligned.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_every_rating_becomes_a_label(tmp_path):
    data = read_summeval(write(tmp_path, LINE, {**LINE, "model_id": "M2"}))
    assert [(c.eid, c.articles[0].content) for c in data.clusters] == [("d1", "An article.")]
    assert [(s.eid, s.system, s.text) for s in data.summaries] == [
        ("d1", "M1", "a summary ."),
        ("d1", "M2", "a summary ."),
    ]
    assert [(x.annotator, x.aspect, x.value) for x in data.labels[:6]] == [
        ("expert1", "coherence", 2),
        ("expert1", "relevance", 1),
        ("expert2", "coherence", 5),
        ("expert2", "relevance", 4),
        ("turker1", "coherence", 3),
        ("turker1", "relevance", 3),
    ]
    assert len(data.labels) == 12


def test_without_the_articles_there_are_no_clusters(tmp_path):
    line = {key: value for key, value in LINE.items() if key != "text"}
    assert read_summeval(write(tmp_path, line)).clusters == ()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model_id": "M2", "text": "Another."}, ":2: field 'text': the article of 'd1' is not"),
        ({}, ":2: field 'id': duplicate id 'd1', model_id 'M1'"),
        (
            {"expert_annotations": [{"coherence": "good"}]},
            r":2: field 'expert_annotations\[0\].coherence': expected a finite number",
        ),
        ({"decoded": None}, ":2: field 'decoded': expected text, found null"),
    ],
)
def test_bad_lines_are_named(tmp_path, changes, message):
    with pytest.raises(InputError, match=message):
        read_summeval(write(tmp_path, LINE, {**LINE, **changes}))


def test_the_real_ratings_survive_the_original_layout(shared_data, tmp_path):
    """The data at hand are a conversion; put back into the original layout they read the same."""
    folder = shared_data / "summeval"
    texts = {c.eid: c.articles[0].content for c in read_clusters(folder / "clusters.jsonl")}
    summaries = {(s.eid, s.system): s.text for s in read_summaries(folder / "summaries.jsonl")}
    labels = read_labels(folder / "labels.jsonl").records
    lines = []
    for (eid, system), given in groupby(labels, key=lambda label: (label.eid, label.system)):
        ratings = {}
        for label in given:
            ratings.setdefault(label.annotator, {})[label.aspect] = label.value
        lines.append(
            {
                "id": eid,
                "model_id": system,
                "decoded": summaries[eid, system],
                "text": texts[eid],
                "expert_annotations": [r for who, r in ratings.items() if who[0] == "e"],
                "turker_annotations": [r for who, r in ratings.items() if who[0] == "t"],
            }
        )
    data = read_summeval(write(tmp_path, *lines))
    assert data.labels == labels
    assert {(s.eid, s.system): s.text for s in data.summaries} == summaries
    assert len(data.clusters) == 100
