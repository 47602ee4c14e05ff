"""Refusals in plain text, and what only looks like one."""

from __future__ import annotations

import pytest

from fairjudge.parsing.refusals import looks_like_refusal


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't assist with that.",
        "I\u2019m sorry, but I can\u2019t help with that request.",
        "I cannot provide a rating for this content.",
        "I am unable to evaluate this summary because it contains hateful content.",
        "As an AI language model, I cannot judge political content.",
        "Sorry, I can't do that.",
        "I won't be able to rate this.",
        "I must decline to rate these articles.",
        "I must respectfully decline.",
        "I apologize, but I cannot fulfill this request.",
        "Unfortunately, I'm not able to complete this evaluation.",
        "Your request violates our usage policies.",
        "I'm not comfortable evaluating this material.",
    ],
)
def test_refusals(text):
    assert looks_like_refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Score: 3",
        "The summary is faithful. I give it a 4.",
        "I'm sorry to say that this summary covers almost nothing. Score: 1",
        "I cannot rate this summary higher than 2.",
        "The mayor said he cannot help the town. The summary reports this correctly: 5",
        "The summary does not provide an answer to the question. Rating: 1",
        "The model refused to comment, the article says. Covered.",
        "Summary A is better. " * 30 + "I cannot help with that.",
    ],
)
def test_answers(text):
    assert not looks_like_refusal(text)
