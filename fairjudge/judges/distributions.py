"""Distributions over the answers of a scale, from every kind of source.

Token probabilities, n samples and the answer of a decision model become a `ScoreDistribution`, from
which all statistics are computed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from fairjudge.domain import JudgeTask, Undefined, Unscored, Verdict
from fairjudge.parsing import locate_verdict
from fairjudge.parsing.outcomes import is_cut_off
from fairjudge.ports import Completion, Distribution, TokenAlternatives
from fairjudge.scales import Position, Scale, to_verdict

_UNKNOWN_LOGPROB = -9999.0
"""The log-probability that servers return for a token outside their list of alternatives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreDistribution:
    """Probabilities of the answers of a scale, in its order; they sum to 1.

    ``expected`` is the mean value in the scale's unit, None for pairs, whose answers are not
    numeric; ``mode`` is the most likely value, the median of equally likely numbers, or "tie" for
    equally likely positions. ``entropy`` is in nats, from 0 (certain) to log(number of answers).
    ``off_scale`` is the share of the observed mass, in [0, 1], that is on no answer; it was removed
    before normalisation.
    """

    probabilities: Mapping[str, float]
    expected: float | None
    mode: float | Position
    entropy: float
    off_scale: float


def from_masses(
    masses: Mapping[str, float], scale: Scale, *, off_scale: float = 0.0
) -> ScoreDistribution | Undefined:
    """Normalise the `masses` of a scale's answers; every source uses this function.

    Masses are nonnegative; missing answers have mass 0. `off_scale` is the mass on no answer, in
    the same unit. ``Undefined`` if all masses are 0.
    """
    on_scale = math.fsum(masses.get(answer, 0.0) for answer in scale.answers)
    if not on_scale > 0.0:
        return Undefined(why="no probability on any answer of the scale")
    shares = {answer: masses.get(answer, 0.0) / on_scale for answer in scale.answers}
    weighted_values = [
        shares[level.answer] * level.value
        for level in scale.levels
        if isinstance(level.value, int | float)
    ]
    return ScoreDistribution(
        probabilities=shares,
        expected=math.fsum(weighted_values) if weighted_values else None,
        mode=_mode(shares, scale),
        # Rounding could make it slightly negative.
        entropy=max(0.0, -math.fsum(p * math.log(p) for p in shares.values() if p > 0.0)),
        off_scale=off_scale / (off_scale + on_scale),
    )


def from_samples(
    verdicts: Sequence[float | Position | Unscored], scale: Scale
) -> ScoreDistribution | Undefined:
    """Return the distribution of n samples of one prompt.

    A value between two levels (3.5) is divided between both so that the mean does not change.
    Unscored samples are off the scale.
    """
    masses = dict.fromkeys(scale.answers, 0.0)
    off_scale = 0.0
    for verdict in verdicts:
        shares = {} if isinstance(verdict, Unscored) else _shares_of(verdict, scale)
        off_scale += 0.0 if shares else 1.0
        for answer, share in shares.items():
            masses[answer] += share
    return from_masses(masses, scale, off_scale=off_scale)


def from_decision(answer: Distribution, scale: Scale) -> ScoreDistribution | Undefined:
    """Return the distribution of a decision model's answer; unknown options are off the scale."""
    masses = {option: p for option, p in answer.probabilities.items() if option in scale.answers}
    off_scale = math.fsum(p for o, p in answer.probabilities.items() if o not in masses)
    return from_masses(masses, scale, off_scale=off_scale)


def from_tokens(
    completion: Completion, scale: Scale, *, aspect: str = ""
) -> ScoreDistribution | Undefined:
    """Return the distribution from the alternatives of the token with the verdict.

    Alternatives that are no answer, and mass that the server did not list, are off the scale.
    ``Undefined`` if there are no token probabilities, the reply has no verdict, the verdict's token
    cannot be located, or a single token does not identify an answer ("1" is a prefix of "10").
    """
    if completion.tokens is None:
        return Undefined(why="the backend gave no token probabilities")
    if not scale.has_distinct_first_tokens:
        return Undefined(why=f"one token does not tell the answers of {scale.name!r} apart")
    verdict_span = locate_verdict(
        completion.text, scale, aspect=aspect, cut_off=is_cut_off(completion)
    )
    if isinstance(verdict_span, Unscored):
        return Undefined(why=f"no verdict to look at: {verdict_span.detail}")
    token = _verdict_token(
        completion.tokens, completion.text, verdict_span.start, verdict_span.end, scale
    )
    if isinstance(token, Undefined):
        return token
    masses = dict.fromkeys(scale.answers, 0.0)
    total = 0.0
    for alternative, logprob in token.logprobs.items():
        probability = math.exp(min(logprob, 0.0))
        total += probability
        if (answer := scale.answer_of_token(alternative)) is not None:
            masses[answer] += probability
    off_scale = max(1.0, total) - math.fsum(masses.values())
    return from_masses(masses, scale, off_scale=max(0.0, off_scale))


def _mode(shares: Mapping[str, float], scale: Scale) -> float | Position:
    best = max(shares.values())
    modes = [
        lv.value for lv in scale.levels if math.isclose(shares[lv.answer], best, abs_tol=1e-12)
    ]
    numbers = [value for value in modes if isinstance(value, int | float)]
    if numbers:
        return (numbers[(len(numbers) - 1) // 2] + numbers[len(numbers) // 2]) / 2
    positions = [value for value in modes if isinstance(value, str)]
    return positions[0] if len(positions) == 1 else "tie"


def _shares_of(verdict: float | Position, scale: Scale) -> dict[str, float]:
    exact_answers = [level.answer for level in scale.levels if level.value == verdict]
    if exact_answers:
        return {exact_answers[0]: 1.0}
    if isinstance(verdict, str):
        return {}
    for low, high in pairwise(scale.levels):
        if isinstance(low.value, str) or isinstance(high.value, str):
            continue
        if low.value < verdict < high.value:
            share = (verdict - low.value) / (high.value - low.value)
            return {low.answer: 1.0 - share, high.answer: share}
    return {}


def _verdict_token(
    tokens: Sequence[TokenAlternatives], text: str, start: int, end: int, scale: Scale
) -> TokenAlternatives | Undefined:
    """Return the first token within the verdict that is an answer ("2" of "Summary 2").

    Only the tokens after the verdict must match the text; earlier tokens may differ, for example
    reasoning that the text does not contain.
    """
    verdict_token: TokenAlternatives | None = None
    is_aligned = False
    for index, token_start, token_end in spans_from_end([token.token for token in tokens], text):
        is_aligned = token_start <= start
        if (
            token_start < end
            and token_end > start
            and scale.answer_of_token(tokens[index].token) is not None
        ):
            verdict_token = tokens[index]
        if is_aligned:
            break
    if verdict_token is None:
        reason = (
            "no token stands at the verdict"
            if is_aligned
            else "the tokens do not add up to the text"
        )
        return Undefined(why=reason)
    if verdict_token.logprobs.get(verdict_token.token, 0.0) <= _UNKNOWN_LOGPROB:
        return Undefined(why="the verdict's own token has no probability")
    return verdict_token


def graded_fields(
    score_distribution: ScoreDistribution, scale: Scale, task: JudgeTask
) -> dict[str, Any]:
    """Return a judgement's ``value``, ``probabilities`` and related fields.

    For numbers ``value`` and ``expected`` are the mean of the distribution, and ``mode`` is the
    most likely level. For pairs ``value`` is the most likely verdict, and the probabilities are of
    a, b and tie, whichever was shown first. ``entropy`` is in nats, ``off_scale`` a share.
    """
    fields: dict[str, Any] = {
        "entropy": round(score_distribution.entropy, 6),
        "off_scale": round(score_distribution.off_scale, 6),
    }
    if scale.kind != "pair":
        return fields | {
            "value": score_distribution.expected,
            "probabilities": dict(score_distribution.probabilities),
            "expected": score_distribution.expected,
            "mode": score_distribution.mode,
        }
    order = task.order or "ab"
    sides: dict[Verdict, float] = {"a": 0.0, "b": 0.0, "tie": 0.0}
    for level in scale.levels:
        if isinstance(level.value, str):
            sides[to_verdict(level.value, order)] += score_distribution.probabilities[level.answer]
    value = (
        to_verdict(score_distribution.mode, order)
        if isinstance(score_distribution.mode, str)
        else score_distribution.mode
    )
    return fields | {"value": value, "probabilities": sides}


_SPECIAL = re.compile(r"<[^<>\s]{1,40}>|\[/?[A-Z_]{1,20}\]|")
"""Special tokens, absent from the text: ``<|im_end|>``, ``</s>``, ``[EOS]`` or the empty token."""
_BYTES = re.compile("(?:\\\\x[0-9a-fA-F]{2}|<0x[0-9a-fA-F]{2}>|\N{REPLACEMENT CHARACTER})+")
"""Tokens with parts of a character: as escapes, as sentencepiece's bytes, or undecoded."""


def spans_from_end(tokens: Sequence[str], text: str) -> Iterator[tuple[int, int, int]]:
    """Yield ``(index, start, end)`` of tokens in `text`, the last token first.

    A server's list of tokens may differ from the text: it may begin with reasoning that the text
    does not contain, end with a special token, and contain parts of characters as escapes or
    replacement characters. Verdicts are near the end, so the alignment starts there.

    Trailing white space and special tokens are ignored. Tokens with parts of characters are
    skipped, with their characters in the text. The alignment stops at the first mismatch, since
    earlier positions are unknown.
    """
    index, end = len(tokens), len(text.rstrip())
    at_end = True
    while index:
        index -= 1
        token = tokens[index].rstrip() if at_end else tokens[index]
        if token and text.endswith(token, 0, end):
            yield index, end - len(token), end
            end -= len(token)
            at_end = False
        elif _BYTES.fullmatch(token):
            while index and _BYTES.fullmatch(tokens[index - 1]):
                index -= 1
            end = _start_of_characters(text, end, tokens[index - 1] if index else "")
            if end < 0:
                return
            at_end = False
        elif not _SPECIAL.fullmatch(token):
            return


def _start_of_characters(text: str, end: int, preceding_token: str) -> int:
    """Return the start of the run of non-ASCII characters that ends at `end`; -1 if none fits.

    The run is the shortest one that the token `preceding_token` precedes in the text.
    """
    start = end - 1
    while start >= 0 and not text[start].isascii():
        if text.endswith(preceding_token, 0, start):
            return start
        start -= 1
    return -1
