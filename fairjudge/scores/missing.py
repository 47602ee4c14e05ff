"""Count items without a score by reason, for the terminal, files, pages and Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fairjudge.domain import UNSCORED_REASONS, MissingKind
from fairjudge.parsing.outcomes import RETRYABLE
from fairjudge.scores.ratings import ScoreRow

NOT_APPLICABLE = "not applicable"
"""The reason of items that were not judged: their cluster has no question, or no text."""
_KINDS: Mapping[str, MissingKind] = {
    **{reason: info.kind for reason, info in UNSCORED_REASONS.items()},
    NOT_APPLICABLE: "not applicable",
}
"""The kinds of reasons; all others are failures."""
_LABELS: Mapping[str, str] = {
    reason: info.label for reason, info in UNSCORED_REASONS.items() if info.label is not None
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """Items without a score.

    ``n_items`` counts all items, also those without a row; ``reasons`` counts items without a score
    by reason. ``n_again`` items failed for a temporary reason (a server failure or an exhausted
    budget) and may succeed on a rerun.
    """

    n_items: int
    reasons: Mapping[str, int]
    n_again: int = 0

    def count(self, kind: MissingKind) -> int:
        """Return the number of items without a score of `kind`."""
        return sum(n for reason, n in self.reasons.items() if _KINDS.get(reason, "failed") == kind)

    @property
    def n_lost(self) -> int:
        """Number of judged items without a score: failed, refused, or an empty summary."""
        return self.n - self.reasons.get(NOT_APPLICABLE, 0)

    @property
    def n_judged(self) -> int:
        """Number of items to judge: all except those of clusters without a question or text."""
        return self.n_items - self.reasons.get(NOT_APPLICABLE, 0)

    @property
    def n(self) -> int:
        """Number of items without a score."""
        return sum(self.reasons.values())

    def in_words(self) -> str:
        """Return ``"16 without a score (14 unparseable, 2 not applicable)"``, "" for none."""
        counts = reason_counts(self.reasons)
        return f"{self.n} without a score ({counts})" if self.n else ""

    def to_json(self) -> dict[str, Any]:
        """Return the counts by kind and by reason."""
        return {
            "n_items": self.n_items,
            "failed": self.count("failed"),
            "refused": self.count("refused"),
            "not_applicable": self.count("not applicable"),
            "asked_again": self.n_again,
            "reasons": dict(self.reasons),
        }


def reason_counts(reasons: Mapping[str, int]) -> str:
    """Return ``"14 unparseable, 2 prompt too long"`` for counts by reason."""
    return ", ".join(f"{n} {_LABELS.get(reason, reason)}" for reason, n in reasons.items())


def count_missing(rows: Iterable[ScoreRow], *, n_not_applicable: int = 0) -> Missing:
    """Count the items of `rows` without a score, plus `n_not_applicable` items without a row."""
    outcomes = [row.unscored for row in rows]
    reasons: Counter[str] = Counter(reason for reason in outcomes if reason is not None)
    if n_not_applicable:
        reasons[NOT_APPLICABLE] += n_not_applicable
    return Missing(
        n_items=len(outcomes) + n_not_applicable,
        reasons=dict(reasons.most_common()),
        n_again=sum(reason in RETRYABLE for reason in outcomes),
    )


def without_probabilities(rows: Iterable[ScoreRow]) -> dict[str, int]:
    """Count, by reason, values that do not use the requested token probabilities."""
    reasons = (row.without_probabilities for row in rows if row.unscored is None)
    return dict(Counter(reason for reason in reasons if reason is not None).most_common())
