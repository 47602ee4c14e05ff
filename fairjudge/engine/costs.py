"""Calls and costs of runs over all their starts, in total and per item."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairjudge.backends.limiting import Tokens
from fairjudge.engine.models import RunCost, run_cost, total_cost
from fairjudge.records.folder import run_rows
from fairjudge.records.spending import FILE, read_spending

SPENT = "spent"
"""Name of the rows with the calls and costs of each start of a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Calls and cost of a judge over all starts of its run.

    ``n_items`` is the number of summaries that it scored, alone, in a pair or by parts.
    """

    judge: str
    spent: RunCost
    n_items: int

    @property
    def usd_per_item(self) -> float | None:
        """US dollars per item.

        None where it is unknown: a price or a token count is, or replies came from the cache and
        were paid for by an earlier run.
        """
        cost = self.spent.cost_usd
        unknown = cost is None or self.spent.n_cached or not self.n_items
        return None if cost is None or unknown else cost / self.n_items

    def to_json(self) -> dict[str, Any]:
        """Return the counts, the total cost and the cost per item."""
        counts = {"judge": self.judge, "n_items": self.n_items}
        return {**counts, **self.spent.to_json(), "usd_per_item": self.usd_per_item}


def cost_of_starts(rows: Iterable[Mapping[str, Any]]) -> RunCost | None:
    """Sum the `SPENT` rows of a run; None where no start called a language model."""
    return total_cost(
        RunCost(
            n_calls=row["n_calls"],
            n_cached=row["n_cached"],
            cost_usd=row["cost_usd"],
            retries=row.get("retries", {}),
            tokens=Tokens(**row.get("tokens", {})),
        )
        for row in rows
    )


def cost_in(folders: Iterable[Path]) -> RunCost | None:
    """Sum calls and costs over all starts of the runs in `folders`, killed ones included."""
    parts = []
    for folder in folders:
        parts += [cost_of_starts(run_rows(path)) for path in sorted(folder.rglob(f"{SPENT}.jsonl"))]
        for path in sorted(folder.rglob(FILE)):
            if (killed := read_spending(path)) is not None and killed.n_calls:
                parts.append(run_cost(killed))
    return total_cost(parts)
