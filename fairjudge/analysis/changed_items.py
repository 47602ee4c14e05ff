"""The judgements of the items that differ most between two runs, to display on a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from fairjudge.analysis.browsing import addresses, browse_data
from fairjudge.analysis.report_inputs import Inputs
from fairjudge.calibration.labels import ItemKey, item_key
from fairjudge.domain import Judgement
from fairjudge.records.matching import harmonize_ids

Json: TypeAlias = Mapping[str, Any]
_Item: TypeAlias = tuple[str, str, ItemKey]
"""Aspect, protocol and item."""


def with_judgements(
    report: Json, first: Iterable[Judgement], second: Iterable[Judgement]
) -> tuple[Json, Json | None]:
    """Return a comparison with addresses of its items, and the judgements to display.

    The names of judges include the run. If nothing differs there are no judgements to display.
    """
    items = {
        (group["aspect"], group["protocol"], _key(change))
        for group in report["groups"]
        for change in group["largest"]
    }
    runs = {"first": tuple(first)}
    runs["second"] = harmonize_ids(second, runs["first"])
    rows_of_items = [
        (run, row) for run, records in runs.items() for row in records if _item(row) in items
    ]
    inputs = Inputs(
        judgements=[
            row.model_copy(update={"judge": f"{row.judge} ({run} run)"})
            for run, row in rows_of_items
        ],
        addresses=addresses([row for _, row in rows_of_items]),
    )
    return with_addresses(report, inputs), browse_data(inputs, [])


def with_addresses(report: Json, inputs: Inputs) -> dict[str, Any]:
    """Return a comparison whose items have the address of their judgement in `inputs`, if any.

    A judgement of the first run has priority.
    """
    address_by_judge: dict[_Item, dict[str, str]] = {}
    for row, address in zip(inputs.judgements, inputs.addresses, strict=True):
        address_by_judge.setdefault(_item(row), {}).setdefault(row.judge, address)
    return {
        **report,
        "groups": [_with_addresses(group, address_by_judge) for group in report["groups"]],
    }


def _with_addresses(
    group: Json, address_by_judge: Mapping[_Item, Mapping[str, str]]
) -> dict[str, Any]:
    def items() -> Iterator[dict[str, Any]]:
        for change in group["largest"]:
            by_judge = address_by_judge.get((group["aspect"], group["protocol"], _key(change)), {})
            candidates = [
                address
                for name in dict.fromkeys((group["first"], group["second"]))
                for judge, address in by_judge.items()
                # equal names, or with a suffix for the run or the settings
                if judge == name or judge.startswith((f"{name} (", f"{name}, "))
            ]
            yield {**change, "address": candidates[0]} if candidates else dict(change)

    return {**group, "largest": list(items())}


def _item(row: Judgement) -> _Item:
    return row.aspect, row.protocol, item_key(row)[0]


def _key(item: Json) -> ItemKey:
    return item["eid"], item["system"], item.get("system_b", ""), item["unit"]
