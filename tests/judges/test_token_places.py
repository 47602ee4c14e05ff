"""Tokens aligned with the text from its end: places worked out by hand."""

from __future__ import annotations

import pytest

from fairjudge.judges.distributions import spans_from_end


def texts_at(tokens, text):
    """Return the texts at the spans, in the order of the tokens."""
    return [text[start:end] for _, start, end in reversed(list(spans_from_end(tokens, text)))]


def test_tokens_that_join_to_the_text_all_have_positions():
    assert list(spans_from_end(["Score", ": ", "4"], "Score: 4")) == [
        (2, 7, 8),
        (1, 5, 7),
        (0, 0, 5),
    ]


@pytest.mark.parametrize(
    "end",
    [
        "<|im_end|>", "</s>", "<eos>", "<|eot_id|>", "<end_of_turn>", "<|return|>", "[EOS]", "",
        "<｜end▁of▁sentence｜>", "\n", "<|END_OF_TURN_TOKEN|>", "<seed:eos>",
    ],
)  # fmt: skip
def test_end_token_missing_from_the_text_is_ignored(end):
    assert texts_at(["Score: ", "4", end], "Score: 4") == ["Score: ", "4"]


def test_end_token_present_in_the_text_is_matched():
    assert texts_at(["4", "</s>"], "4</s>") == ["4", "</s>"]


@pytest.mark.parametrize(
    ("tokens", "text", "texts"),
    [
        (["ok ", "\\xf0\\x9f\\x98", "\\x80", " 4"], "ok 😀 4", ["ok ", " 4"]),
        (["ok ", "\ufffd", "\ufffd", " 4"], "ok 😀 4", ["ok ", " 4"]),
        (["4", " ", "<0xF0>", "<0x9F>", "<0x98>", "<0x80>"], "4 😀", ["4", " "]),
        (["4", "é", "\ufffd", "\ufffd"], "4é😀", ["4", "é"]),  # the fewest characters that fit
        (["4", "\ufffd", "\ufffd", "\ufffd", "."], "4😀😀.", ["4", "."]),
        (["\ufffd", "4"], "𠮷4", ["4"]),
    ],
)
def test_partial_character_tokens_match_their_characters(tokens, text, texts):
    assert texts_at(tokens, text) == texts


def test_reasoning_tokens_before_the_text_are_skipped():
    tokens = ["<think>", "maybe 3", "</think>", "Score: ", "4"]
    assert texts_at(tokens, "Score: 4") == ["Score: ", "4"]


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        (["Score: ", "5"], "Score: 4"),
        (["4", " or so"], "4"),
        (["4", "\ufffd"], "4"),  # no character that could be it
        (["token_id:90", "token_id:19"], '{"verdict":"4"}'),
        ([], "4"),
    ],
)
def test_tokens_missing_from_the_text_have_no_position(tokens, text):
    assert texts_at(tokens, text) == []
