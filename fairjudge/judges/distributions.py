"""One distribution over a scale's answers, whatever it came from.

Token probabilities, n samples, a decision model's answer and a single verdict all become a
`ScoreDistribution`; every statistic on them starts there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from fairjudge.domain import JudgeTask, Undefined, Unscored, Verdict
from fairjudge.judges.token_places import spans_from_end
from fairjudge.parsing import locate_verdict
from fairjudge.parsing.outcomes import is_cut_off
from fairjudge.ports import Completion, Distribution, TokenAlternatives
from fairjudge.scales import Position, Scale, to_verdict

_UNKNOWN_LOGPROB = -9999.0
"""What servers write for a token that is not among those whose probability they know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreDistribution:
    """Probabilities of a scale's answers, in its order; they sum to 1.

    ``expected`` is the mean value in the scale's unit, None for a pair, whose answers are worth no
    numbers; ``mode`` the likeliest value, of equally likely ones the middle of them for numbers
    and "tie" for positions. ``entropy`` is in nats: 0 for certainty, log(number of answers) for
    none. ``off_scale`` is the share of the observed mass, in [0, 1], that stood for no answer and
    was left out before normalising.
    """

    probabilities: Mapping[str, float]
    expected: float | None
    mode: float | Position
    entropy: float
    off_scale: float


def from_masses(
    masses: Mapping[str, float], scale: Scale, *, off_scale: float = 0.0
) -> ScoreDistribution | Undefined:
    """Normalise the `masses` of a scale's answers; the code path that every source ends in.

    Masses are 0 or more; answers that are missing have none. `off_scale` is the mass of what was
    no answer, in the same unit. ``Undefined`` where no answer has any mass.
    """
    on_scale = math.fsum(masses.get(answer, 0.0) for answer in scale.answers)
    if not on_scale > 0.0:
        return Undefined(why="no probability on any answer of the scale")
    shares = {answer: masses.get(answer, 0.0) / on_scale for answer in scale.answers}
    worth = [
        shares[level.answer] * level.value
        for level in scale.levels
        if isinstance(level.value, int | float)
    ]
    return ScoreDistribution(
        probabilities=shares,
        expected=math.fsum(worth) if worth else None,
        mode=_mode(shares, scale),
        # below 0 by rounding alone
        entropy=max(0.0, -math.fsum(p * math.log(p) for p in shares.values() if p > 0.0)),
        off_scale=off_scale / (off_scale + on_scale),
    )


def from_samples(
    verdicts: Sequence[float | Position | Unscored], scale: Scale
) -> ScoreDistribution | Undefined:
    """Count n samples of one prompt.

    A value between two levels (3.5) lies on both in proportion, which keeps its mean. Unscored
    samples are off the scale.
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
    """Take a decision model's distribution; options that the scale lacks are off the scale."""
    masses = {option: p for option, p in answer.probabilities.items() if option in scale.answers}
    off_scale = math.fsum(p for o, p in answer.probabilities.items() if o not in masses)
    return from_masses(masses, scale, off_scale=off_scale)


def from_tokens(
    completion: Completion, scale: Scale, *, aspect: str = ""
) -> ScoreDistribution | Undefined:
    """Read the probabilities at the token in which the verdict stands.

    Of the alternatives that the server gave there, those that stand for no answer, and the mass
    that it did not list, are off the scale. ``Undefined`` where there are no token probabilities,
    the reply has no verdict, no token can be told to stand there, or one answer begins with
    another ("1" and "10"), so that one token does not tell them apart.
    """
    if completion.tokens is None:
        return Undefined(why="the backend gave no token probabilities")
    if not scale.token_readable:
        return Undefined(why=f"one token does not tell the answers of {scale.name!r} apart")
    reading = locate_verdict(completion.text, scale, aspect=aspect, cut_off=is_cut_off(completion))
    if isinstance(reading, Unscored):
        return Undefined(why=f"no verdict to look at: {reading.detail}")
    token = _verdict_token(completion.tokens, completion.text, reading.start, reading.end, scale)
    if isinstance(token, Undefined):
        return token
    masses = dict.fromkeys(scale.answers, 0.0)
    listed = 0.0
    for alternative, logprob in token.logprobs.items():
        probability = math.exp(min(logprob, 0.0))
        listed += probability
        if (answer := scale.answer_of_token(alternative)) is not None:
            masses[answer] += probability
    off_scale = max(1.0, listed) - math.fsum(masses.values())
    return from_masses(masses, scale, off_scale=max(0.0, off_scale))


def _mode(shares: Mapping[str, float], scale: Scale) -> float | Position:
    best = max(shares.values())
    top = [lv.value for lv in scale.levels if math.isclose(shares[lv.answer], best, abs_tol=1e-12)]
    numbers = [value for value in top if isinstance(value, int | float)]
    if numbers:
        return (numbers[(len(numbers) - 1) // 2] + numbers[len(numbers) // 2]) / 2
    positions = [value for value in top if isinstance(value, str)]
    return positions[0] if len(positions) == 1 else "tie"


def _shares_of(verdict: float | Position, scale: Scale) -> dict[str, float]:
    exact = [level.answer for level in scale.levels if level.value == verdict]
    if exact:
        return {exact[0]: 1.0}
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
    """Return the first token within the verdict that stands for an answer ("2" of "Summary 2").

    Only what stands after the verdict need add up to the text, not what was before it.
    """
    found: TokenAlternatives | None = None
    reached = False
    for index, first, after in spans_from_end([one.token for one in tokens], text):
        reached = first <= start
        if first < end and after > start and scale.answer_of_token(tokens[index].token) is not None:
            found = tokens[index]
        if reached:
            break
    if found is None:
        why = (
            "no token stands at the verdict" if reached else "the tokens do not add up to the text"
        )
        return Undefined(why=why)
    if found.logprobs.get(found.token, 0.0) <= _UNKNOWN_LOGPROB:
        return Undefined(why="the verdict's own token has no probability")
    return found


def graded_fields(found: ScoreDistribution, scale: Scale, task: JudgeTask) -> dict[str, Any]:
    """Return ``value``, ``probabilities`` and what a judgement keeps beside them.

    Numbers: the value is the mean over the distribution, with ``expected`` the same and ``mode``
    the likeliest level. Pairs: the value is the likeliest verdict, and probabilities are in terms
    of a, b and tie, whatever stood first. ``entropy`` is in nats, ``off_scale`` a share.
    """
    fields: dict[str, Any] = {
        "entropy": round(found.entropy, 6),
        "off_scale": round(found.off_scale, 6),
    }
    if scale.kind != "pair":
        return fields | {
            "value": found.expected,
            "probabilities": dict(found.probabilities),
            "expected": found.expected,
            "mode": found.mode,
        }
    order = task.order or "ab"
    sides: dict[Verdict, float] = {"a": 0.0, "b": 0.0, "tie": 0.0}
    for level in scale.levels:
        if isinstance(level.value, str):
            sides[to_verdict(level.value, order)] += found.probabilities[level.answer]
    value = to_verdict(found.mode, order) if isinstance(found.mode, str) else found.mode
    return fields | {"value": value, "probabilities": sides}
