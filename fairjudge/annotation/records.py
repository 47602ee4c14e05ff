"""From events to the label records of docs/formats.md."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fairjudge.annotation.board import Event
from fairjudge.annotation.items import Item
from fairjudge.domain import replace_lone_surrogates


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelWriter:
    """Turns an event to a line of the labels file.

    ``probabilities`` is the chance that each item had of being drawn, where it was drawn;
    ``adjudicated`` says that items were chosen by how far judge and people are apart.
    """

    items: Sequence[Item]
    probabilities: Sequence[float] | None = None
    adjudicated: bool = False

    def record(self, event: Event) -> dict[str, Any]:
        """Return the label record of an event of kind "label"."""
        item = self.items[event.item]
        names = ("system",) if len(item.systems) == 1 else ("system_a", "system_b")
        value = event.value
        out: dict[str, Any] = {
            "eid": item.eid,
            **dict(zip(names, item.systems, strict=True)),
            "aspect": item.aspect,
            "annotator": event.annotator,
            "value": int(value) if isinstance(value, float) and value.is_integer() else value,
            "unit": item.unit,
        }
        if event.shown is not None:
            out["order"] = event.shown
        if event.note:
            out["note"] = event.note
        if self.probabilities is not None:
            out["probability"] = self.probabilities[event.item]
        if self.adjudicated:
            out["adjudicated"] = True
        return out

    def line(self, event: Event) -> bytes:
        """Return the record as a line of JSON."""
        text = json.dumps(self.record(event), ensure_ascii=False, allow_nan=False)
        return f"{replace_lone_surrogates(text)}\n".encode()


def without_chance(line: bytes) -> str | None:
    """Return what a line says beside its probability, in one form; None where it is no record."""
    try:
        row = json.loads(line)
        row.pop("probability", None)
        return json.dumps(row, sort_keys=True)
    except (ValueError, AttributeError, TypeError, RecursionError):
        return None


class Projection:
    """The lines of the labels that stand, in the order in which they were given.

    Controls are left out: they test annotators, not judges. So are items that an earlier, larger
    draw had and this one has not.
    """

    def __init__(self, writer: LabelWriter, wanted: Sequence[int]) -> None:
        self._writer = writer
        self._wanted = wanted
        self._lines: dict[tuple[str, int], bytes] = {}

    def apply(self, event: Event) -> bytes | None:
        """Take one event in; return the line that it takes out of the file, if it does."""
        if event.kind == "assign":
            return None
        key = event.annotator, event.item
        before = self._lines.pop(key, None)
        if event.kind == "label" and self._wanted[event.item]:
            self._lines[key] = self._writer.line(event)
        return before

    def line(self, event: Event) -> bytes | None:
        """Return the line that stands for an event's annotator and item."""
        return self._lines.get((event.annotator, event.item))

    def lines(self) -> list[bytes]:
        """Return all lines."""
        return list(self._lines.values())
