"""Embedding support as a baseline."""

from __future__ import annotations

import hashlib

import numpy as np

from fairjudge.app.calibrating import embedding_support
from fairjudge.domain import Article, Cluster, Summary


class WordEmbedder:
    """A sentence is the sum of its words' places among 256, at unit length."""

    fingerprint = "words"

    def embed(self, texts):
        rows = np.zeros((len(texts), 256), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().split():
                row[hashlib.sha256(word.encode()).digest()[0]] += 1
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def test_a_copy_has_more_support_than_an_invention_and_gaps_are_left_out():
    story = "The council closed two libraries on Monday. Readers protested outside the town hall."
    cluster = Cluster(eid="e", articles=(Article(aid="a", title="t", content=story),))
    texts = {
        "copy": "The council closed two libraries on Monday.",
        "invention": "Scientists discovered seven new planets orbiting a distant star yesterday.",
        "empty": "",
    }
    summaries = [Summary(eid="e", system=name, text=text) for name, text in texts.items()]
    elsewhere = Summary(eid="unknown", system="copy", text=texts["copy"])
    found = embedding_support([*summaries, elsewhere], [cluster], embedder=WordEmbedder())
    assert set(found) == {("e", "copy"), ("e", "invention")}
    assert 0 <= found["e", "invention"] < 0.5 < found["e", "copy"] <= 1
