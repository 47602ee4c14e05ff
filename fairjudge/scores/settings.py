"""Names for one judge's settings where its judgements differ in scale, prompt or model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from fairjudge.domain import Judgement


def told_apart(judgements: Iterable[Judgement]) -> list[Judgement]:
    """Return `judgements`, those of a judge that judged an item under several settings renamed.

    Such rows are no repeats of one another: their means would mix two scales or two prompts. The
    name then says what differs between their signatures, such as ``"gpt, scale 1-7"``. Prompt
    variants of one run stay together: they are told apart by their ``variant``.
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
    """Return names for the settings of the judges that judged one item under several."""
    by_item: dict[tuple[object, ...], set[str]] = defaultdict(set)
    signatures: dict[str, dict[str, None]] = defaultdict(dict)
    for row in rows:
        if row.signature:
            signatures[row.judge][row.signature] = None
            by_item[_item(row)].add(row.signature)
    apart = {str(item[0]) for item, signatures in by_item.items() if len(signatures) > 1}
    return {
        (judge, signature): f"{judge}, {words}"
        for judge in sorted(apart)
        for signature, words in _differences(list(signatures[judge])).items()
    }


def _item(row: Judgement) -> tuple[object, ...]:
    systems = (row.system, row.system_a, row.system_b, row.order)
    return (row.judge, row.aspect, row.protocol, row.eid, *systems, row.unit, row.variant)


def _differences(signatures: list[str]) -> Mapping[str, str]:
    """Return in words what each of several signatures has that not all of them have."""
    parts = {signature: dict.fromkeys(signature.split("|")) for signature in signatures}
    common = set.intersection(*(set(part) for part in parts.values()))
    words = {
        signature: ", ".join(
            part.replace(":", " ", 1) for part in signature_parts if part not in common
        )
        for signature, signature_parts in parts.items()
    }
    return {
        signature: description or f"settings {place}"
        for place, (signature, description) in enumerate(words.items(), start=1)
    }
