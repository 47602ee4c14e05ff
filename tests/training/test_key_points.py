"""Key points: what people matched, what they did not, and the other stance's, by topic."""

from __future__ import annotations

import gzip
import json
from collections import Counter

import pytest

from training import data
from training.key_points import TOPIC_CAP, key_points, topic_rows

N_TOPICS, N_ARGUMENTS = 6, 30


def rows_of(topic: str) -> list[dict]:
    """Of each stance two key points; every third argument makes the first of its stance."""
    return [
        {
            "topic": topic,
            "stance": stance,
            "argument": f"{topic} argument {number} for {stance}",
            "key_point": f"{topic} point {point} for {stance}",
            "match": int(point == 0 and number % 3 == 0),
        }
        for stance in (1, -1)
        for number in range(N_ARGUMENTS)
        for point in (0, 1)
    ]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "keypoints").mkdir()
    data.rows.cache_clear()
    for name, topics in (("train", [f"t{n}" for n in range(N_TOPICS)]), ("dev", ["d0"])):
        with gzip.open(tmp_path / f"keypoints/{name}.jsonl.gz", "wt") as file:
            for row in (row for topic in topics for row in rows_of(topic)):
                file.write(json.dumps(row) + "\n")
    yield tmp_path
    data.rows.cache_clear()


def test_each_topic_is_in_one_split(folder):
    topics = {
        split: {row["topic"] for row in topic_rows(split, folder=folder)}
        for split in ("train", "calibrate", "test")
    }
    assert topics["calibrate"] == {"d0"}
    assert len(topics["test"]) == 2
    assert topics["train"] == {f"t{n}" for n in range(N_TOPICS)} - topics["test"]


def test_labels_are_human_and_the_opposite_stance_contradicts(folder):
    examples = list(key_points("train", folder=folder))
    matches = {
        (row["argument"], row["key_point"]): row["match"]
        for topic in range(N_TOPICS)
        for row in rows_of(f"t{topic}")
    }
    for example in examples:
        if example.label == data.CONTRADICTED:
            assert example.first.split(" for ")[1] != example.second.split(" for ")[1]
            assert example.first.split()[0] == example.second.split()[0], "of the same topic"
        else:
            assert matches[example.second, example.first] == (example.label == data.SUPPORTED)
    counts = Counter(example.label for example in examples)
    n_matches = (N_TOPICS - 2) * 2 * N_ARGUMENTS // 3
    assert counts[data.SUPPORTED] == n_matches
    assert counts[data.UNSUPPORTED] == counts[data.CONTRADICTED] == 0.75 * n_matches
    assert examples == list(key_points("train", folder=folder))


def test_no_topic_has_more_matches_than_the_cap(folder, monkeypatch):
    monkeypatch.setattr("training.key_points.TOPIC_CAP", 8)
    counts = Counter(
        example.group
        for example in key_points("train", folder=folder)
        if example.label == data.SUPPORTED
    )
    assert set(counts.values()) == {8} != {TOPIC_CAP}
