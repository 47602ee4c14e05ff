"""Lexical signals; every expected number is counted by hand in a comment."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairjudge.text.signals import (
    Passage,
    Words,
    align,
    compare,
    names_in,
    repeated_share,
    runs,
    unmatched_names,
    words,
)

TOKENS = st.lists(st.sampled_from("abcd"), max_size=12)


def passage(text: str, *, near: str = "", source: tuple[str, ...] = ()) -> Passage:
    return Passage(
        words=words(text),
        near=frozenset(words(f"{text} {near}").stems),
        names=names_in(source or (text,)),
    )


def test_tokenised_and_running_text_give_the_same_words():
    running = words("Townsend didn't score; Burnley\u2019s 1,200 fans can't wait.")
    tokenised = words("townsend did n't score ; burnley 's 1,200 fans ca n't wait .")
    assert running == tokenised
    assert running.tokens == (
        "townsend", "did", "n't", "score", "burnley", "1200", "fans", "ca", "n't", "wait",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("the 83rd minute", {"83"}),
        ("12 people, or twelve", {"12"}),
        ("$2.6m", {"2.6"}),
        ("1,200 and 1200", {"1200"}),
        ("one of them", set()),  # a pronoun more often than a number
        ("", set()),
    ],
)
def test_numbers_are_written_one_way(text, numbers):
    assert words(text).numbers == numbers


def test_a_magnitude_is_read_after_a_number_only():
    assert words("$2.6m and 3bn for m").tokens == (
        "2.6", "million", "and", "3", "billion", "for", "m",
    )  # fmt: skip


def test_names_are_words_capitalised_inside_sentences():
    text = ("Yesterday Mara Voss met the mayor.", "Rain fell on voss and Port Ellery.")
    # Yesterday and Rain stand first; voss is capitalised once and lower-cased once: a draw is out
    assert names_in(text) == {"mara", "port", "ellery"}
    assert names_in(["mara voss met the mayor of port ellery ."]) == frozenset()


def test_align_keeps_order_and_runs_are_contiguous_on_both_sides():
    # "a b c d" in "a b x c d": two runs of two
    pairs = align(tuple("abcd"), tuple("abxcd"))
    assert pairs == ((0, 0), (1, 1), (2, 3), (3, 4))
    assert runs(pairs) == (2, 2)
    assert align((), ("a",)) == ()
    assert runs(()) == ()


@given(TOKENS, TOKENS)
def test_alignment_is_a_strictly_increasing_matching(left, right):
    pairs = align(left, right)
    assert all(left[i] == right[j] for i, j in pairs)
    assert all(a < c and b < d for (a, b), (c, d) in pairwise(pairs))
    assert len(pairs) == len(align(right, left))
    assert sum(runs(pairs)) == len(pairs)


@given(TOKENS)
def test_a_text_aligns_with_itself_in_one_run(tokens):
    assert runs(align(tokens, tokens)) == ((len(tokens),) if tokens else ())


def test_verbatim_sentence_has_nothing_against_it():
    text = "Mayor Mara Voss opened 3 bridges on Tuesday."
    found = compare(words(text), passage(text))
    assert (found.in_order, found.contiguity, found.repeated) == (1, 1, 0)
    assert (found.numbers, found.names, found.negated) == ((), (), ())


def test_who_did_what_to_whom_lowers_words_in_order():
    source = passage("The council sued the company")
    # "the company sued the council": of its five words three stand in order (the, sued, the)
    assert compare(words("The company sued the council"), source).in_order == pytest.approx(3 / 5)


def test_wrong_number_swapped_name_and_negation_are_named():
    text = "In May the minister said Voss will not sign the 40 million deal"
    source = ("Reporters saw that Voss and Okafor met.", text)
    evidence = passage(text, source=source)
    wrong = compare(words("the minister said okafor will sign the 50 million deal"), evidence)
    assert wrong.numbers == ("50",)
    assert wrong.names == ("okafor",)
    assert wrong.negated == ("sign",)


def test_a_name_near_the_passage_is_matched():
    # "he" in the passage is named in the sentence before
    evidence = passage(
        "He resigned", near="Okafor met us", source=("It said Okafor met us.", "He resigned")
    )
    assert unmatched_names(words("Okafor resigned"), evidence) == ()


def test_names_unknown_to_the_source_are_found_by_the_summary_casing():
    found = compare(
        words("minister Lindqvist resigned"),
        passage("the minister resigned"),
        own_names=names_in(["The minister Lindqvist resigned"]),
    )
    assert found.names == ("lindqvist",)


def test_repetition_counts_beyond_the_source():
    # content: swansea host swansea saturday; one of four said once too often
    sentence = words("swansea host swansea on saturday")
    assert repeated_share(sentence, words("leicester host swansea")) == pytest.approx(1 / 4)
    # the source says it twice itself
    assert repeated_share(sentence, words("swansea at swansea")) == 0


def test_empty_texts_share_nothing_and_miss_nothing():
    empty = Words(tokens=(), stems=())
    found = compare(empty, passage("Some text."))
    assert (found.in_order, found.contiguity, found.repeated) == (0, 0, 0)
    assert (found.numbers, found.names, found.negated) == ((), (), ())
    assert compare(words("Some text."), passage("")).in_order == 0


@given(st.text(max_size=60), st.text(max_size=60))
def test_shares_stay_in_range_on_any_text(left, right):
    found = compare(words(left), passage(right), own_names=names_in([left]))
    assert 0 <= found.in_order <= 1
    assert 0 <= found.contiguity <= 1
    assert 0 <= found.repeated <= 1
