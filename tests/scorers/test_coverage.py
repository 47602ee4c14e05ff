"""Support of summaries by documents, from stand-in models with known answers."""

import numpy as np
import pytest

from fairjudge.domain import Cluster, Summary
from fairjudge.scorers.coverage import embedding_supports, entailment_supports

CLUSTER = Cluster.model_validate(
    {
        "eid": "e",
        "articles": [
            {"aid": "1", "content": "The soup was cold. The wine was good."},
            {"aid": "2", "content": "The staff was rude."},
            {"aid": "3", "content": ""},
        ],
    }
)


class WordOverlap:
    """Entailment is the share of the hypothesis's words that the premise has."""

    fingerprint = "overlap"

    def __init__(self):
        self.pairs = []

    def classify(self, pairs):
        self.pairs.extend(pairs)
        return np.array([self._one(*pair) for pair in pairs], dtype=np.float32)

    def _one(self, premise, hypothesis):
        request = hypothesis.lower().strip(".").split()
        share = sum(word in premise.lower() for word in request) / len(request)
        return (share, (1 - share) / 2, (1 - share) / 2)


class Axes:
    """Each known word is an axis; a text's vector is the normalised sum of its words' axes."""

    fingerprint = "axes"
    known = ("soup", "wine", "staff", "cold", "good", "rude")

    def embed(self, texts):
        rows = np.array([[w in t.lower() for w in self.known] for t in texts], dtype=np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_document_support_is_that_of_its_best_chunk():
    summary = Summary(eid="e", system="s", text="The soup was cold. The staff was rude.")
    model = WordOverlap()
    (support,) = entailment_supports([CLUSTER], [summary], model=model, max_words=4)
    assert support.units == ("The soup was cold.", "The staff was rude.")
    # document 1: "soup cold" has all 4 words of unit 1, and "the", "was" of unit 2;
    # document 2: the, was of unit 1, all of unit 2; document 3 has no text
    assert support.probabilities == pytest.approx(np.array([[1, 0.5], [0.5, 1], [0, 0]]))
    assert support.arg_max == pytest.approx(np.array([[1, 0.5], [0.5, 1], [0, 0]]))
    assert support.kind == "entailment"
    assert len(model.pairs) == 3 * 2


def test_pairs_are_scored_once_for_all_systems():
    summaries = [Summary(eid="e", system=s, text="The soup was cold.") for s in "ab"]
    model = WordOverlap()
    result = list(entailment_supports([CLUSTER], summaries, model=model, max_words=4))
    assert [support.system for support in result] == ["a", "b"]
    assert len(model.pairs) == 3


def test_units_are_scored_against_each_other():
    units = {("e", "s"): ["The soup.", "The soup was cold."]}
    summary = Summary(eid="e", system="s", text="ignored")
    (support,) = entailment_supports(
        [CLUSTER], [summary], model=WordOverlap(), units=units, between_units=True
    )
    assert support.units == ("The soup.", "The soup was cold.")
    assert support.between_units == pytest.approx(np.array([[1, 0.5], [1, 1]]))


def test_similarity_by_hand():
    summary = Summary(eid="e", system="s", text="The soup was good.")
    (support,) = embedding_supports([CLUSTER], [summary], embedder=Axes(), max_words=4)
    # unit (soup, good); "soup cold" and "wine good" share one of two axes each: cosine 1/2
    assert support.probabilities == pytest.approx(np.array([[0.5], [0], [0]]))
    assert support.kind == "similarity"
    assert support.arg_max is None


def test_empty_summaries_have_no_units_and_clusters_without_summaries_are_skipped():
    empty = Summary(eid="e", system="s", text=" ")
    (support,) = embedding_supports([CLUSTER], [empty], embedder=Axes())
    assert support.probabilities.shape == (3, 0)
    (support,) = entailment_supports([CLUSTER], [empty], model=WordOverlap(), between_units=True)
    assert support.probabilities.shape == (3, 0)
    assert list(embedding_supports([CLUSTER], [], embedder=Axes())) == []


def test_progress_counts_clusters():
    batches = []
    summary = Summary(eid="e", system="s", text="The soup.")
    list(embedding_supports([CLUSTER], [summary], embedder=Axes(), on_cluster=batches.append))
    list(entailment_supports([CLUSTER], [summary], model=WordOverlap(), on_cluster=batches.append))
    assert batches == [1, 1]
