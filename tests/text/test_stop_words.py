"""The published lists of stop words, against whoever else ships them."""

from __future__ import annotations

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from fairjudge.text.stop_words import GLASGOW_STOP_WORDS, SMART_STOP_WORDS


def test_glasgow_list_matches_scikit_learn():
    assert GLASGOW_STOP_WORDS == ENGLISH_STOP_WORDS


def test_smart_list_has_the_published_words():
    assert len(SMART_STOP_WORDS) == 570
    assert {"a", "c'mon", "zero"} <= SMART_STOP_WORDS
