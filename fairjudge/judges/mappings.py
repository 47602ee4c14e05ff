"""From a support in [0, 1] to a verdict on each protocol's scale.

The mappings are fixed and monotone: they add no information, and a calibrator
(`fairjudge.calibration`) is the way to people's own scale. Judgements made by them are
``scored_by: embedding``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fairjudge.domain import ProtocolName, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportMapping:
    """How support becomes a verdict.

    Parameters
    ----------
    binary_threshold
        Support from which on the verdict is 1 (yes).
    pairwise_margin
        Difference of support below which a pair is a tie.

    Raises
    ------
    ValueError
        If either is outside [0, 1].
    """

    name: str
    binary_threshold: float
    pairwise_margin: float

    def __post_init__(self) -> None:
        for value in (self.binary_threshold, self.pairwise_margin):
            if not 0 <= value <= 1:
                raise ValueError(f"expected a share from 0 to 1, got {value!r}")

    def likert(self, support: float) -> float:
        """Return a rating from 1 to 5, linear in support and not rounded, so that order stays."""
        return 1 + 4 * _checked(support)

    def binary(self, support: float) -> Literal[0, 1]:
        """Return 1 where the support reaches the threshold, else 0."""
        return 1 if _checked(support) >= self.binary_threshold else 0

    def pairwise(self, support_a: float, support_b: float) -> Verdict:
        """Return who has more support, or a tie within the margin; no order can matter here."""
        difference = _checked(support_a) - _checked(support_b)
        if abs(difference) < self.pairwise_margin or difference == 0:
            return "tie"
        return "a" if difference > 0 else "b"

    def value(self, protocol: ProtocolName, *supports: float) -> float | Verdict:
        """Return the value of a judgement under `protocol`: one support, or two for pairwise.

        Raises
        ------
        ValueError
            If the number of supports does not fit, or one is outside [0, 1].
        """
        if protocol == "checklist":
            raise ValueError("a checklist is made of many supports, not of one")
        wanted = 2 if protocol == "pairwise" else 1
        if len(supports) != wanted:
            raise ValueError(f"{protocol} takes {wanted} supports, got {len(supports)}")
        if protocol == "pairwise":
            return self.pairwise(supports[0], supports[1])
        return self.likert(supports[0]) if protocol == "likert" else float(self.binary(supports[0]))


TRAINED_MAPPING = SupportMapping(name="trained-v2", binary_threshold=0.5, pairwise_margin=0.05)
"""Set in advance: half support is yes, and a twentieth of the range is too close to call."""


def _checked(support: float) -> float:
    if not 0 <= support <= 1:
        raise ValueError(f"expected a support from 0 to 1, got {support!r}")
    return support
