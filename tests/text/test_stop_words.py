"""The published lists of stop words, against whoever else ships them."""

from __future__ import annotations

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from fairjudge.text.stop_words import GLASGOW_STOP_WORDS, SMART_STOP_WORDS


def test_the_glasgow_list_is_scikit_learns():
    assert GLASGOW_STOP_WORDS == ENGLISH_STOP_WORDS


def test_the_smart_list_has_its_words():
    assert len(SMART_STOP_WORDS) == 570
    assert {"a", "c'mon", "zero"} <= SMART_STOP_WORDS
