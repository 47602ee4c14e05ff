"""Results of the local models are kept for a second question about the same texts."""

import numpy as np
import pytest

from fairjudge.scorers._recent import _MAX_RESULTS, RecentResults


def test_a_result_is_computed_once_and_cannot_be_changed():
    recent, computed = RecentResults(), []

    def compute():
        computed.append(1)
        return np.ones(3)

    first = recent.get(("pair", ["a", "b"]), compute)
    assert recent.get(("pair", ["a", "b"]), compute) is first
    assert len(computed) == 1
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 2.0
    recent.get(("pair", ["a", "B"]), compute)
    recent.get(("same", ["a", "b"]), compute)
    assert len(computed) == 3


def test_the_least_recently_used_is_dropped():
    recent = RecentResults()
    for number in range(_MAX_RESULTS):
        recent.get(number, lambda number=number: np.array([number]))
    recent.get(0, lambda: pytest.fail("dropped"))
    recent.get(_MAX_RESULTS, lambda: np.zeros(1))
    assert recent.get(0, lambda: np.array([-1]))[0] == 0
    assert recent.get(1, lambda: np.array([-1]))[0] == -1


@pytest.mark.local_model
def test_packaged_models_process_equal_texts_once(monkeypatch):
    pytest.importorskip("torch", reason="needs the extra [local]")
    from fairjudge.scorers.embedding import TransformersEmbedder, load_embedder
    from fairjudge.scorers.trained_models import TrainedModels, load_trained_models

    pairs = [("The bridge closed at noon.", "A bridge closed."), ("It rained.", "It snowed.")]
    texts = ["a text of this test alone", "and a second one"]
    models = load_trained_models()
    before = models.support(pairs), load_embedder().embed(texts)
    monkeypatch.setattr(TrainedModels, "_compute", lambda *_: pytest.fail("read anew"))
    monkeypatch.setattr(TransformersEmbedder, "_embed_distinct", lambda *_: pytest.fail("anew"))
    after = models.support(pairs), load_embedder().embed(texts)
    assert all(map(np.array_equal, before, after))
    with pytest.raises(pytest.fail.Exception, match="read anew"):
        models.support([*pairs, ("It rained.", "It hailed.")])
    with pytest.raises(pytest.fail.Exception, match="anew"):
        load_embedder().embed([*texts, "a third"])
