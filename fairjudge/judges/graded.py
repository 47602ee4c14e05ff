"""From a distribution over a scale's answers to the fields of a judgement, whoever gave it."""

from __future__ import annotations

from typing import Any

from fairjudge.domain import JudgeTask, Verdict
from fairjudge.judges.distributions import ScoreDistribution
from fairjudge.scales import Scale, to_verdict


def graded_fields(found: ScoreDistribution, scale: Scale, task: JudgeTask) -> dict[str, Any]:
    """Return ``value``, ``probabilities`` and what is kept beside them.

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
