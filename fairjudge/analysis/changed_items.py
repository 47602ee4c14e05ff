"""The judgements of the items that differ most between two runs, for a page to open."""

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
    """Return a comparison whose items have addresses, and the judgements that a page opens.

    Judges are named with their run. There is nothing to open where nothing differs.
    """
    items = {
        (group["aspect"], group["protocol"], _key(change))
        for group in report["groups"]
        for change in group["largest"]
    }
    runs = {"first": tuple(first)}
    runs["second"] = harmonize_ids(second, runs["first"])
    own = [(run, row) for run, records in runs.items() for row in records if _item(row) in items]
    inputs = Inputs(
        judgements=[
            row.model_copy(update={"judge": f"{row.judge} ({run} run)"}) for run, row in own
        ],
        addresses=addresses([row for _, row in own]),
    )
    return with_addresses(report, inputs), browse_data(inputs, [])


def with_addresses(report: Json, inputs: Inputs) -> dict[str, Any]:
    """Return a comparison whose items have the address of a judgement of `inputs`, if any.

    It is one of the first run where `inputs` have it.
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
                # the name itself, or with the runs or settings that distinguish it
                if judge == name or judge.startswith((f"{name} (", f"{name}, "))
            ]
            yield {**change, "address": candidates[0]} if candidates else dict(change)

    return {**group, "largest": list(items())}


def _item(row: Judgement) -> _Item:
    return row.aspect, row.protocol, item_key(row)[0]


def _key(item: Json) -> ItemKey:
    return item["eid"], item["system"], item.get("system_b", ""), item["unit"]
