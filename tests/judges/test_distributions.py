"""One distribution, whatever it came from: expected values derived by hand."""

from __future__ import annotations

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy as scipy_entropy

from fairjudge.domain import Undefined, Unscored
from fairjudge.judges.distributions import (
    ScoreDistribution,
    from_decision,
    from_masses,
    from_samples,
    from_tokens,
)
from fairjudge.ports import Completion, Distribution, TokenAlternatives
from fairjudge.scales import binary, likert, pairwise
from fairjudge.scores.aggregate import average_sides
from fairjudge.scores.juries import jury

REFUSED = Unscored(reason="refused")


def completion(*tokens: tuple[str, dict[str, float]]) -> Completion:
    result = tuple(
        TokenAlternatives(token=token, logprobs={t: log(p) for t, p in probabilities.items()})
        for token, probabilities in tokens
    )
    return Completion(text="".join(token for token, _ in tokens), tokens=result)


def test_expected_score_reports_the_off_scale_mass():
    """0.5 on 4, 0.25 on 5, 0.15 on "The", 0.1 unlisted: (0.5*4 + 0.25*5) / 0.75 = 13/3."""
    reply = completion(
        ("Verdict", {"Verdict": 1.0}),
        (":", {":": 1.0}),
        (" 4", {" 4": 0.5, " 5": 0.25, "The": 0.15}),
    )
    result = from_tokens(reply, likert())
    assert isinstance(result, ScoreDistribution)
    assert result.expected == pytest.approx(13 / 3)
    assert result.off_scale == pytest.approx(0.25)
    assert result.mode == 4.0
    assert result.entropy == pytest.approx(scipy_entropy([2 / 3, 1 / 3]))


def test_token_probabilities_of_one_answer_add_up():
    """ " 4", "4" and "four" all mean 4: mass 0.4 + 0.2 + 0.1 against 0.3 on 2."""
    reply = completion(
        ("Score: ", {"Score: ": 1.0}), ("4", {"4": 0.4, " 4": 0.2, "four": 0.1, "2": 0.3})
    )
    result = from_tokens(reply, likert())
    assert result.probabilities["4"] == pytest.approx(0.7)
    assert result.expected == pytest.approx(0.7 * 4 + 0.3 * 2)


def test_probabilities_are_read_at_the_verdict_token():
    reply = completion(
        ("It covers ", {"It covers ": 1.0}),
        ("3", {"3": 0.9, "2": 0.1}),
        (" facts. Score: ", {" facts. Score: ": 1.0}),
        ("2", {"2": 0.8, "1": 0.2}),
        ("/5", {"/5": 1.0}),
    )
    assert from_tokens(reply, likert()).probabilities["2"] == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("tokens_begin", "text_begins"), [("", ""), ("\n\n", ""), ("", "\n\n"), (" ", "\n\n")]
)
def test_whitespace_mismatch_does_not_change_verdict(tokens_begin, text_begins):
    reply = completion(
        (tokens_begin + "5", {"5": 1.0}),
        (" of 9 facts. Score: ", {" of 9 facts. Score: ": 1.0}),
        ("2", {"2": 0.8, "1": 0.2}),
        ("/", {"/": 1.0}),
        ("5", {"5": 1.0}),
    )
    text = text_begins + "5 of 9 facts. Score: 2/5"
    result = from_tokens(Completion(text=text, tokens=reply.tokens), likert())
    assert result.probabilities["2"] == pytest.approx(0.8)


@pytest.mark.parametrize(
    "reply",
    [
        Completion(text="4"),
        completion(("no", {"no": 1.0}), (" idea", {" idea": 1.0})),
        Completion(text="Score: 4", tokens=(TokenAlternatives(token="5", logprobs={}),)),
    ],
)
def test_no_token_probabilities_give_no_distribution(reply):
    assert isinstance(from_tokens(reply, likert()), Undefined)


def test_answers_sharing_a_first_token_give_no_distribution():
    reply = completion(("10", {"10": 1.0}))
    assert isinstance(from_tokens(reply, likert([""] * 10)), Undefined)


def test_unscored_samples_count_as_off_scale():
    """Of 4, 4, 5 and a refusal: 2/3 on 4, 1/3 on 5, a quarter off."""
    result = from_samples([4.0, 4.0, 5.0, REFUSED], likert())
    assert result.expected == pytest.approx(13 / 3)
    assert result.off_scale == pytest.approx(0.25)
    assert isinstance(from_samples([REFUSED], likert()), Undefined)
    assert isinstance(from_samples([], likert()), Undefined)


def test_half_point_is_split_between_neighbours():
    result = from_samples([3.5], likert())
    assert (result.probabilities["3"], result.probabilities["4"]) == (0.5, 0.5)
    assert result.expected == result.mode == 3.5


def test_single_verdict_gives_a_certain_distribution():
    result = from_samples([4.0], likert())
    assert (result.expected, result.entropy, result.off_scale) == (4.0, 0.0, 0.0)
    assert from_samples([1.0], binary()).expected == 1.0


def test_decision_model_distribution_is_used_unchanged():
    result = from_decision(
        Distribution(probabilities={"yes": 0.6, "no": 0.2, "unsure": 0.2}), binary()
    )
    assert result.expected == pytest.approx(0.75)
    assert result.off_scale == pytest.approx(0.2)


def test_orders_are_averaged_and_their_shift_is_the_position_bias():
    """a has 0.7 standing first and 0.4 standing second, b 0.5 and 0.2: both gain 0.3 in front."""
    result = average_sides({"a": 0.7, "b": 0.2, "tie": 0.1}, {"a": 0.4, "b": 0.5, "tie": 0.1})
    assert result.probabilities == pytest.approx({"a": 0.55, "b": 0.35, "tie": 0.1})
    assert result.verdict == "a"
    assert result.shift == pytest.approx(0.3)


def test_always_first_judge_has_full_shift_and_ties():
    a, b = {"a": 1.0, "b": 0.0, "tie": 0.0}, {"a": 0.0, "b": 1.0, "tie": 0.0}
    result = average_sides(a, b)
    assert (result.verdict, result.shift) == ("tie", 1.0)
    coherent = average_sides(a, a)
    assert (coherent.verdict, coherent.shift) == ("a", 0.0)


def test_pairwise_positions_have_no_expected_value():
    assert from_samples(["first"], pairwise()).expected is None


@given(st.lists(st.floats(0, 1), min_size=5, max_size=5), st.floats(0, 1))
def test_distributions_are_nonnegative_and_sum_to_one(masses, off_scale):
    scale = likert()
    result = from_masses(dict(zip(scale.answers, masses, strict=True)), scale, off_scale=off_scale)
    if isinstance(result, Undefined):
        assert sum(masses) == 0
        return
    assert sum(result.probabilities.values()) == pytest.approx(1)
    assert 1 - 1e-9 <= result.expected <= 5 + 1e-9
    assert 0 <= result.entropy <= log(5) + 1e-9
    assert 0 <= result.off_scale <= 1


def test_juries_combine_available_verdicts():
    members = {"x": 4.0, "y": 5.0, "z": 5.0, "w": REFUSED}
    assert jury(members, rule="mean").value == pytest.approx(14 / 3)
    assert jury(members, rule="median").value == 5.0
    result = jury(members, rule="majority")
    assert (result.value, result.n_scored, result.agreement) == (5.0, 3, pytest.approx(2 / 3))


def test_an_even_split_is_a_tie():
    assert jury({"x": "a", "y": "b"}).value == "tie"
    assert jury({"x": "a", "y": "a", "z": "b"}).value == "a"
    assert jury({"x": "a", "y": "tie", "z": "b"}).value == "tie"
    assert jury({"x": 1.0, "y": 2.0}, rule="majority").value == 1.5
    assert isinstance(jury({"x": REFUSED}).value, Undefined)
    with pytest.raises(ValueError, match="all numbers"):
        jury({"x": 1.0, "y": "a"})
