"""Words and normalised terms."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairjudge.errors import ConfigurationError
from fairjudge.text.stop_words import SMART_STOP_WORDS
from fairjudge.text.tokens import ENGLISH_STOP_WORDS, Normaliser, words


def test_words_are_lower_case_runs_of_letters_and_digits():
    assert words("Don't  pay $12.50 -- it's OK!") == [
        "don", "t", "pay", "12", "50", "it", "s", "ok",
    ]  # fmt: skip


def test_composed_and_decomposed_letters_are_one_word():
    assert words("café") == words("cafe\N{COMBINING ACUTE ACCENT}") == ["café"]


def test_vowel_signs_do_not_split_a_word():
    assert words("हिन्दी भाषा") == ["हिन्दी", "भाषा"]


def test_terms_drop_stop_words_and_punctuation_then_stem():
    # Porter (1980): staff -> staff, "were" is a stop word, amazingly -> amazingli, prices -> price
    assert Normaliser().terms("The staff were amazingly friendly; prices?") == (
        "staff", "amazingli", "friendli", "price",
    )  # fmt: skip


def test_contractions_of_stop_words_are_removed_entirely():
    assert Normaliser().terms("They'd isn't you've won't") == ()
    assert "couldn't" in SMART_STOP_WORDS
    assert {"couldn", "t"} <= ENGLISH_STOP_WORDS


def test_stemmer_and_stop_words_are_configurable():
    whole = Normaliser(stop_words=frozenset(), stemmer=None)
    assert whole.terms("The prices") == ("the", "prices")
    assert Normaliser(stop_words=frozenset(), stemmer="german").terms("Preise") == ("preis",)


def test_unknown_stemmer_raises():
    with pytest.raises(ConfigurationError, match="klingon"):
        Normaliser(stemmer="klingon")


@given(st.text())
def test_words_contain_no_separator_and_are_stable(text):
    result = words(text)
    assert words(" ".join(result)) == result
