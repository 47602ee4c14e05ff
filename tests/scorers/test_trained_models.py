"""The trained models as they ship: they load, tell what they must, and refuse other weights."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from json_files import read_json

from fairjudge.errors import ConfigurationError
from fairjudge.scorers._unit_features import UnitFeatures
from fairjudge.scorers.trained_models import FOLDER, MAX_TOKENS, load_trained_models, rows_of

PASSAGE = (
    "The council of Harwell voted on Tuesday to close the old bridge. Engineers had found cracks "
    "in two of its pillars, the mayor, Anna Lind, said."
)
pytestmark = pytest.mark.local_model


@pytest.fixture(scope="module")
def models():
    pytest.importorskip("torch")
    return load_trained_models()


def test_copy_is_supported_and_negation_is_not(models):
    text = models.support(
        [
            (PASSAGE, "The council of Harwell voted on Tuesday to close the old bridge."),
            (PASSAGE, "The council of Harwell did not vote to close the old bridge."),
            (PASSAGE, "A man is eating soup in a restaurant."),
        ]
    )
    assert text.shape == (3, 3)
    np.testing.assert_allclose(text.sum(axis=1), 1)
    assert text[0].argmax() == 0
    assert text[1, 0] < text[0, 0]
    assert text[2, 0] < 0.5


def test_present_unit_is_covered_and_absent_is_not(models):
    covered = models.coverage_probabilities(
        [(PASSAGE, "Engineers found cracks in the bridge."), (PASSAGE, "Prices of bread rose.")]
    )
    assert covered[0] > 0.5 > covered[1]


def test_answer_span_is_in_passage_characters(models):
    span, none = models.read([("Who is the mayor?", PASSAGE), ("Who won the race?", PASSAGE)])
    assert "Anna Lind" in PASSAGE[span.start : span.end]
    assert span.answered > none.answered
    assert 0 <= none.start < none.end <= len(PASSAGE)


def test_same_answer_score_is_symmetric(models):
    question = "When did the council vote?"
    first = models.same_answer([(question, "on Tuesday", "Tuesday"), (question, "Tuesday", "1890")])
    two = models.same_answer([(question, "Tuesday", "on Tuesday"), (question, "1890", "Tuesday")])
    np.testing.assert_allclose(first, two, atol=1e-3)
    assert first[0] > first[1]


def test_a_row_does_not_depend_on_the_others(models):
    pairs = [(PASSAGE[: 20 + 11 * n], PASSAGE[:60]) for n in range(10)]
    alone = np.concatenate([models.support([pair]) for pair in pairs])
    np.testing.assert_allclose(models.support(pairs), alone, atol=5e-3)


def test_empty_input_gives_empty_output(models):
    assert models.support([]).shape == (0, 3)
    assert models.coverage_probabilities([]).shape == (0,)
    assert models.read([]) == []
    assert models.same_answer([]).shape == (0,)


def test_empty_and_unusual_texts_have_finite_scores(models):
    odd = ["", "\ud800", "a " * 600]
    assert np.isfinite(models.support([(a, b) for a in odd for b in odd])).all()
    empty, *_ = models.read([("Who?", "")])
    assert (empty.answered, empty.start, empty.end) == (0.0, 0, 0)


def test_long_pairs_are_truncated_at_the_passage_end(models):
    (row,) = rows_of([("who?", "word " * 500)], models._tokenizer)
    assert len(row.ids) == MAX_TOKENS
    assert row.spans[0] == (0, 4)


def test_model_is_loaded_once_and_fingerprinted_by_weights(models):
    assert load_trained_models() is models
    record = read_json(FOLDER / "record.json")
    assert models.identity == f"fairjudge-minilm:{record['sha256'][:12]}"


def test_other_weights_raise(models, tmp_path):
    folder = tmp_path / "trained"
    shutil.copytree(FOLDER, folder)
    with (folder / "weights.safetensors").open("r+b") as file:
        file.seek(-1, 2)
        file.write(b"\x7f")
    with pytest.raises(ConfigurationError, match="sha256"):
        load_trained_models(folder=folder)


def test_unreadable_record_raises(tmp_path):
    with pytest.raises(ConfigurationError, match="record"):
        load_trained_models(folder=tmp_path)


def test_released_weights_are_small():
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) <= 16_000_000


def test_unit_features_are_relative_to_the_unit():
    class Letters:
        """A tokenizer of one id a word."""

        known = ("the", "plant", "closed", "in", "2019", "rain", "fell")

        def get_vocab(self):
            return {word: place for place, word in enumerate(self.known)}

        def __call__(self, texts, **_):
            ids = self.get_vocab()
            items = [[ids[w] for w in text.lower().strip(".").split()] for text in texts]
            return {"input_ids": items}

    features = UnitFeatures(np.eye(7, dtype=np.float32), Letters())
    passage = "In 2019 the plant closed"
    text = features.compute(
        [(passage, "The plant closed."), (passage, "Rain fell."), (passage, "")]
    )
    np.testing.assert_allclose(text, [[1, 1, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0]])
    assert features.compute([]).shape == (0, 4)
