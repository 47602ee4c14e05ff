"""What runs took, all their starts together, and what that comes to for an item."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairjudge.backends.limiting import Tokens
from fairjudge.engine.models import Spent, spent_together
from fairjudge.records.folder import kept_rows
from fairjudge.records.spending import FILE, read_spending

SPENT = "spent"
"""A run's rows of what its starts spent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a judge took over all starts of its run.

    ``n_items`` is how many summaries have a score by it, of themselves, in a pair or by parts.
    """

    judge: str
    spent: Spent
    n_items: int

    @property
    def usd_per_item(self) -> float | None:
        """US dollars an item.

        None where it is not known: a price or a count is not, or replies came from the cache, which
        somebody has paid for.
        """
        cost = self.spent.cost_usd
        unknown = cost is None or self.spent.n_cached or not self.n_items
        return None if cost is None or unknown else cost / self.n_items

    def to_json(self) -> dict[str, Any]:
        """Return the counts, the cost and the cost of an item."""
        spent = self.spent.to_json()
        return {
            "judge": self.judge,
            "n_items": self.n_items,
            **spent,
            "usd_per_item": self.usd_per_item,
        }


def cost_together(judge: str, costs: Sequence[Cost], *, n_items: int) -> Cost | None:
    """Return what the members of a jury took together; None where none asked a language model."""
    spent = spent_together(cost.spent for cost in costs)
    return None if spent is None else Cost(judge=judge, spent=spent, n_items=n_items)


def spent_by_starts(rows: Iterable[Mapping[str, Any]]) -> Spent | None:
    """Add up what starts noted of a run; None where none asked a language model."""
    return spent_together(
        Spent(
            n_calls=row["n_calls"],
            n_cached=row["n_cached"],
            cost_usd=row["cost_usd"],
            retries=row.get("retries", {}),
            tokens=Tokens(**row.get("tokens", {})),
        )
        for row in rows
    )


def spent_in(folders: Iterable[Path]) -> Spent | None:
    """Add up what all starts spent on the runs in `folders`, killed ones too."""
    found = []
    for folder in folders:
        found += [
            spent_by_starts(kept_rows(path)) for path in sorted(folder.rglob(f"{SPENT}.jsonl"))
        ]
        for path in sorted(folder.rglob(FILE)):
            if (killed := read_spending(path)) is not None and killed.n_calls:
                cost = None if killed.n_unpriced else killed.cost_usd
                found.append(Spent(n_calls=killed.n_calls, n_cached=0, cost_usd=cost))
    return spent_together(found)
