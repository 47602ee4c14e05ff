"""Calls and costs of runs, including resumed ones, in total and per item."""

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
"""Name of the rows with the calls and costs of each time that a run was started or resumed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Calls and cost of a judge over its whole run, even if resumed.

    ``n_items`` is the number of summaries that it scored, alone, in pairs or in parts.
    """

    judge: str
    spent: RunCost
    n_items: int

    @property
    def usd_per_item(self) -> float | None:
        """US dollars per item.

        None if a price or a token count is unknown, or if replies came from the cache, paid for by
        an earlier run.
        """
        cost = self.spent.cost_usd
        is_unknown = cost is None or self.spent.n_cached or not self.n_items
        return None if cost is None or is_unknown else cost / self.n_items

    def to_json(self) -> dict[str, Any]:
        """Return the counts, the total cost and the cost per item."""
        counts = {"judge": self.judge, "n_items": self.n_items}
        return {**counts, **self.spent.to_json(), "usd_per_item": self.usd_per_item}


def sum_costs(rows: Iterable[Mapping[str, Any]]) -> RunCost | None:
    """Sum the `SPENT` rows of a run; None if no language model was called."""
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
    """Sum the calls and costs of the runs in `folders`, including those of killed processes."""
    costs = []
    for folder in folders:
        costs += [sum_costs(run_rows(path)) for path in sorted(folder.rglob(f"{SPENT}.jsonl"))]
        for path in sorted(folder.rglob(FILE)):
            if (spending := read_spending(path)) is not None and spending.n_calls:
                costs.append(run_cost(spending))
    return total_cost(costs)
