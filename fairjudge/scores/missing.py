"""Which items have no score, and why: counted in one place for terminal, file, page and Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from fairjudge.parsing.outcomes import RETRYABLE
from fairjudge.scores.ratings import Rated

Kind: TypeAlias = Literal["failed", "refused", "not applicable"]
NOT_APPLICABLE = "not applicable"
"""The reason of items that were never asked about: their cluster has no question, or no text."""
_KINDS: Mapping[str, Kind] = {
    "refused": "refused",
    "empty_input": "not applicable",
    NOT_APPLICABLE: "not applicable",
}
"""The kinds of reasons; all others are failures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """Items without a score.

    ``n_items`` counts all items, also those without a row; ``reasons`` those without a score by
    reason. ``n_again`` failed in a way that another try may mend: a server's failure, or a budget
    that was spent.
    """

    n_items: int
    reasons: Mapping[str, int]
    n_again: int = 0

    def of_kind(self, kind: Kind) -> int:
        """Return how many are of a kind."""
        return sum(n for reason, n in self.reasons.items() if _KINDS.get(reason, "failed") == kind)

    @property
    def n_lost(self) -> int:
        """How many were to be judged and have no score: failed, refused, or an empty summary."""
        return self.n - self.reasons.get(NOT_APPLICABLE, 0)

    @property
    def n_judged(self) -> int:
        """How many were to be judged: all but those of clusters without a question or text."""
        return self.n_items - self.reasons.get(NOT_APPLICABLE, 0)

    @property
    def n(self) -> int:
        """Number of items without a score."""
        return sum(self.reasons.values())

    def in_words(self) -> str:
        """Return ``"16 without a score (14 unparseable, 2 not applicable)"``, "" for none."""
        counts = ", ".join(f"{n} {reason}" for reason, n in self.reasons.items())
        return f"{self.n} without a score ({counts})" if self.n else ""

    def to_json(self) -> dict[str, Any]:
        """Return the counts by kind and by reason."""
        return {
            "n_items": self.n_items,
            "failed": self.of_kind("failed"),
            "refused": self.of_kind("refused"),
            "not_applicable": self.of_kind("not applicable"),
            "asked_again": self.n_again,
            "reasons": dict(self.reasons),
        }


def missing_of(rows: Iterable[Rated], *, n_not_applicable: int = 0) -> Missing:
    """Count the items of `rows` without a score; `n_not_applicable` more items have no row."""
    every = [row.unscored for row in rows]
    reasons: Counter[str] = Counter(reason for reason in every if reason is not None)
    if n_not_applicable:
        reasons[NOT_APPLICABLE] += n_not_applicable
    return Missing(
        n_items=len(every) + n_not_applicable,
        reasons=dict(reasons.most_common()),
        n_again=sum(reason in RETRYABLE for reason in every),
    )


def without_probabilities(rows: Iterable[Rated]) -> dict[str, int]:
    """Count, by reason, values that do not use the requested token probabilities."""
    reasons = (row.without_probabilities for row in rows if row.unscored is None)
    return dict(Counter(why for why in reasons if why is not None).most_common())
