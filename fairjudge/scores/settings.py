"""Distinguish the settings of one judge whose judgements differ in scale, prompt or model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from fairjudge.domain import Judgement


def separate_settings(judgements: Iterable[Judgement]) -> list[Judgement]:
    """Return `judgements`, renaming judges that judged the same item with several settings.

    Such rows are not repeats: their means would mix two scales or two prompts. The new name
    contains the differences of the signatures, such as ``"gpt, scale 1-7"``. Prompt variants of one
    run keep their judge's name; they are distinguished by ``variant``.
    """
    rows = list(judgements)
    names = _names(rows)
    return [
        row
        if (name := names.get((row.judge, row.signature))) is None
        else row.model_copy(update={"judge": name})
        for row in rows
    ]


def _names(rows: Iterable[Judgement]) -> dict[tuple[str, str], str]:
    """Return a name per judge and signature, for judges that judged an item with several."""
    by_item: dict[tuple[object, ...], set[str]] = defaultdict(set)
    signatures: dict[str, dict[str, None]] = defaultdict(dict)
    for row in rows:
        if row.signature:
            signatures[row.judge][row.signature] = None
            by_item[_item(row)].add(row.signature)
    judges = {str(item[0]) for item, signatures in by_item.items() if len(signatures) > 1}
    return {
        (judge, signature): f"{judge}, {differences}"
        for judge in sorted(judges)
        for signature, differences in _differences(list(signatures[judge])).items()
    }


def _item(row: Judgement) -> tuple[object, ...]:
    systems = (row.system, row.system_a, row.system_b, row.order)
    return (row.judge, row.aspect, row.protocol, row.eid, *systems, row.unit, row.variant)


def _differences(signatures: list[str]) -> Mapping[str, str]:
    """Describe the parts of each signature that the signatures do not all share."""
    parts = {signature: dict.fromkeys(signature.split("|")) for signature in signatures}
    common = set.intersection(*(set(part) for part in parts.values()))
    descriptions = {
        signature: ", ".join(
            part.replace(":", " ", 1) for part in signature_parts if part not in common
        )
        for signature, signature_parts in parts.items()
    }
    return {
        signature: description or f"settings {number}"
        for number, (signature, description) in enumerate(descriptions.items(), start=1)
    }
