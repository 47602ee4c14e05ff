"""Chunks around sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairjudge.errors import ConfigurationError
from fairjudge.text.chunks import chunks


def test_by_hand():
    # Lengths 2, 3, 1, 4; at most 6 words.
    # From 0: only sentence 1 follows, 2 + 3 = 5; then sentence 2, 6; then 3 would make 10.
    # From 1: around are 0 (2 words) and 2 (1 word); 2 first: 4, then 0: 6; then 3: 10.
    # From 2: around are 1 (3) and 3 (4); 1 first: 4, then 3 would make 8: stop.
    # From 3: sentence 2: 5, then 1: 8.
    sentences = ["a a", "b b b", "c", "d d d d"]
    assert chunks(sentences, max_words=6) == ("a a b b b c", "b b b c", "c d d d d")


def test_short_documents_are_one_chunk():
    assert chunks(["One two.", "Three."]) == ("One two. Three.",)


def test_no_neighbours_without_room_and_no_cut():
    assert chunks(["a b c", "d"], max_words=2) == ("a b c", "d")
    assert chunks(["a", "b", "a"], max_words=0) == ("a", "b")


def test_degenerate_input():
    assert chunks([]) == ()
    with pytest.raises(ConfigurationError, match="-1"):
        chunks(["a"], max_words=-1)


@given(st.lists(st.integers(1, 30), max_size=12), st.integers(0, 60))
def test_chunks_cover_every_sentence_and_hold_the_limit(lengths, most):
    sentences = [" ".join([f"w{i}"] * n) for i, n in enumerate(lengths)]
    result = chunks(sentences, max_words=most)
    assert len(set(result)) == len(result)
    for sentence in sentences:
        assert any(sentence in chunk for chunk in result)
    for chunk in result:
        assert len(chunk.split()) <= most or chunk in sentences
        assert chunk in " ".join(sentences)
