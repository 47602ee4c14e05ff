"""The passage that shares most with a sentence, rare words counting more, by hand."""

from __future__ import annotations

from math import log, sqrt

import pytest

from fairjudge.text.closest import ClosestPassage, PassageFinder

ARTICLE = "Alpha beta. Gamma delta. Epsilon zeta."
"""Five passages: three sentences and two pairs; alpha, beta, epsilon and zeta stand in 2, gamma
and delta in 3."""
ONCE, TWICE, NOWHERE = log(1 + 5 / 2), log(1 + 5 / 3), log(1 + 5)


def closest(sentence, *articles):
    return PassageFinder(articles or (ARTICLE,)).closest(sentence)


def test_a_sentence_of_the_article_is_found_whole():
    assert closest("alpha beta") == ClosestPassage(
        article=0, text="Alpha beta.", similarity=pytest.approx(1.0)
    )


def test_similarity_is_the_cosine_of_weighted_words():
    """Alpha alone: w / sqrt(2 w^2); with a word that stands nowhere, the sentence is longer."""
    assert closest("alpha").similarity == pytest.approx(1 / sqrt(2))
    result = closest("alpha unknown")
    assert result.text == "Alpha beta."
    assert result.similarity == pytest.approx(ONCE / (sqrt(ONCE**2 + NOWHERE**2) * sqrt(2)))
    matches = closest("alpha gamma")
    assert matches.text == "Alpha beta. Gamma delta."
    length = sqrt(ONCE**2 + TWICE**2)
    assert matches.similarity == pytest.approx(length / sqrt(2 * ONCE**2 + 2 * TWICE**2))


def test_passages_have_at_most_two_sentences():
    assert closest("alpha beta gamma delta").text == "Alpha beta. Gamma delta."
    assert closest("gamma delta epsilon zeta").text == "Gamma delta. Epsilon zeta."
    assert closest("alpha zeta").text == "Alpha beta."  # the earlier of two alike


def test_equal_passages_prefer_the_first_article():
    assert closest("alpha beta", "Other words.", "Alpha beta.", "Alpha beta.").article == 1
    result = closest("alpha beta gamma delta", "Alpha beta.", "Gamma delta.")
    assert result.text == "Alpha beta."


def test_a_sentence_that_shares_no_word_has_no_passage():
    assert closest("unknown") is None
    assert closest("") is None
    assert closest("alpha", "") is None
