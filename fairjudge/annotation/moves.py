"""The actions of an annotator on the board: get an item, label, skip, undo."""

from __future__ import annotations

from dataclasses import dataclass

from fairjudge.annotation.board import Board, Event
from fairjudge.annotation.desk import Turn
from fairjudge.annotation.tasks import LabelTask
from fairjudge.domain import Order, Value
from fairjudge.errors import InputError
from fairjudge.scales import Level, to_verdict

SKIP_REASONS = (
    "a text is missing or broken",
    "the statement is unclear",
    "I cannot decide",
    "I know the people or the case",
    "another reason",
)
MAX_NOTE = 2000
"""Maximum length of a note, in characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListEntry:
    """An item of an annotator's list, its 1-based position, and their label or skip, if any."""

    position: int
    item: int
    shown: Order | None
    decision: Event | None

    @property
    def label(self) -> Event | None:
        """Return the annotator's current label, or None."""
        decision = self.decision
        return decision if decision is not None and decision.kind == "label" else None


def entry_at(board: Board, annotator: str, position: int, *, pair: bool) -> ListEntry | None:
    """Return the item at `position` of the annotator's list, or None if the list is shorter."""
    history = board.history(annotator)
    if not 1 <= position <= len(history):
        return None
    item = history[position - 1]
    return ListEntry(
        position=position,
        item=item,
        shown=board.display_order(annotator, item) if pair else None,
        decision=board.done(annotator).get(item),
    )


def next_position(turn: Turn, annotator: str) -> int | None:
    """Return the position of the annotator's next item, assigned if needed; None at the end."""
    board = turn.board
    current = board.current(annotator)
    if current is None:
        current = board.choose(annotator, now=turn.now)
        if current is None:
            return None
        turn.record(Event(annotator=annotator, item=current, kind="assign", at=turn.now))
    return board.history(annotator).index(current) + 1


def label(
    turn: Turn,
    annotator: str,
    position: int,
    *,
    task: LabelTask,
    level: int,
    note: str = "",
    seconds: float | None = None,
) -> int | None:
    """Label the item at `position` with the task's answer number `level`; return the next position.

    After a changed label, it is the following position. `seconds` is how long the item was open.
    Raises InputError if there is no such item or answer.
    """
    entry = _require_entry(turn.board, annotator, position, task)
    if not 0 <= level < len(task.scale.levels):
        raise InputError(f"unknown answer {level!r}", field="level")
    event = Event(
        annotator=annotator,
        item=entry.item,
        kind="label",
        at=turn.now,
        value=label_value(task.scale.levels[level], entry.shown),
        note=note.strip()[:MAX_NOTE],
        shown=entry.shown,
        seconds=seconds,
    )
    return _record_and_advance(turn, entry, event)


def skip(
    turn: Turn, annotator: str, position: int, *, task: LabelTask, reason: str, note: str = ""
) -> int | None:
    """Skip the item at `position` for one of `SKIP_REASONS`; return the next position.

    Raises InputError if there is no such item or reason.
    """
    entry = _require_entry(turn.board, annotator, position, task)
    if reason not in SKIP_REASONS:
        raise InputError(f"unknown reason {reason!r}", field="reason")
    event = Event(
        annotator=annotator,
        item=entry.item,
        kind="skip",
        at=turn.now,
        reason=reason,
        note=note.strip()[:MAX_NOTE],
    )
    return _record_and_advance(turn, entry, event)


def undo(turn: Turn, annotator: str) -> int | None:
    """Undo the annotator's latest label or skip, and return the position of that item."""
    answers = turn.board.done(annotator)
    if not answers:
        return next_position(turn, annotator)
    latest = next(reversed(list(answers)))
    turn.record(Event(annotator=annotator, item=latest, kind="undo", at=turn.now))
    return turn.board.history(annotator).index(latest) + 1


def _require_entry(board: Board, annotator: str, position: int, task: LabelTask) -> ListEntry:
    entry = entry_at(board, annotator, position, pair=task.scale.kind == "pair")
    if entry is None:
        raise InputError(f"{annotator!r} has no item {position}", field="position")
    return entry


def _record_and_advance(turn: Turn, entry: ListEntry, event: Event) -> int | None:
    """Record `event` unless it repeats the current label; return the next position."""
    if entry.decision is None:
        turn.record(event)
        return next_position(turn, event.annotator)
    former_content = (
        entry.decision.kind,
        entry.decision.value,
        entry.decision.note,
        entry.decision.reason,
    )
    if former_content != (event.kind, event.value, event.note, event.reason):
        turn.record(event)
    if entry.position < len(turn.board.history(event.annotator)):
        return entry.position + 1
    return next_position(turn, event.annotator)


def label_value(level: Level, order: Order | None) -> Value:
    """Return the value of an answer; for a pair displayed in `order`, the verdict."""
    value = level.value
    return to_verdict(value, order or "ab") if isinstance(value, str) else value
