"""Whatever a judge writes, reading it never fails, never leaves the scale, and stays quick."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairjudge.domain import Unscored
from fairjudge.parsing import locate_verdict, read_verdict
from fairjudge.parsing.refusals import looks_like_refusal
from fairjudge.scales import binary, likert, options, pairwise, stars

SCALES = [likert(), likert(fractions=False), binary(), options("ABCDE"), pairwise(), stars(3)]
PIECES = [
    "Score", "Verdict", ":", " ", "\n", "4", "5", "3.5", "/5", "8/10", "**", "[[", "]]", "A", "B",
    "Summary 1", "is better", "tie", "yes", "no", "<think>", "</think>", '"', "'", "{", "}",
    '"verdict"', "```json", "actually, ", "I'd give it a ", "out of", "★", "☆", "-", ",", "or",
    "score of", "٤", "４", "not", "if", ".", "(", ")", "\\boxed{", "> ", "four", "½",
]  # fmt: skip
replies = st.one_of(
    st.text(max_size=200), st.lists(st.sampled_from(PIECES), max_size=25).map("".join)
)


def allowed(value, scale):
    values = [level.value for level in scale.levels]
    return value in values or (scale.fractions and values[0] < value < values[-1])


@given(replies, st.sampled_from(SCALES))
def test_parsed_value_is_on_the_scale_or_unscored(reply, scale):
    records = read_verdict(reply, scale)
    if isinstance(records, Unscored):
        assert records.raw == reply
        assert records.reason in {"unparseable", "off_scale", "refused"}
    else:
        assert allowed(records, scale)


@given(replies, st.sampled_from(SCALES), st.sampled_from([" ", "\n", "  \n\n"]))
def test_surrounding_whitespace_is_ignored(reply, scale, space):
    plain, other = read_verdict(reply, scale), read_verdict(f"{space}{reply}{space}", scale)
    if isinstance(plain, Unscored):
        assert isinstance(other, Unscored)
        assert plain.reason == other.reason
    else:
        assert plain == other


@given(replies, st.sampled_from(SCALES))
def test_matched_span_is_inside_the_reply(reply, scale):
    result = locate_verdict(reply, scale)
    if not isinstance(result, Unscored):
        assert 0 <= result.start < result.end <= len(reply)


@given(st.sampled_from([1, 2, 3, 4, 5]), st.text(alphabet="abc xyz,;", max_size=80))
def test_plain_final_verdict_is_always_read(score, words):
    assert read_verdict(f"{words}\nVerdict: {score}", likert()) == score


SLOW = [
    "4", " ", "\n", "{", '{"a":', "'", '"', "Score: ", "score of ", "I'd give ", "1, ", "★",
    "<think>",
    "</think>", "[[", "(", "not ", "a ", "Summary 1 ", "is better ", "> ", "- ", "=", "actually, ",
    "3 or ", "x", "If ", "would be a ", "Score for a b c d ", "1.", "\\boxed{", "`", "*", "，", "٤",
    "Summary 1 is better. ", "4/5 ", "four ", "'a ", "neither is ", "Score (", "more ",
]  # fmt: skip


@pytest.mark.large
@pytest.mark.parametrize("piece", SLOW)
@pytest.mark.parametrize("scale", [likert(), pairwise(), options("ABCDE")], ids=lambda s: s.name)
def test_any_100_kilobyte_reply_is_handled(piece, scale):
    """A quadratic pattern would take minutes here; benchmarks/reading_speed.py has the times."""
    text = piece * (100_000 // len(piece))
    records = read_verdict(text, scale)
    assert not isinstance(records, Unscored) or records.raw == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'm sorry, but I can't help with that.", True),
        ("I cannot provide a rating for this content.", True),
        ("As a language model, I am unable to judge.", True),
        ("As an AI, I can't judge.", True),
        ('The summary says "I\'m sorry, but I cannot answer" and is thus useless.', False),
        ("The minister said he was sorry.", False),
        ("The summary cannot be rated highly.", False),
        ("I'm sorry to say that the summary is poor.", False),
        ("", False),
    ],
)
def test_refusals_are_distinguished_from_answers(text, expected):
    assert looks_like_refusal(text) is expected
