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
class Place:
    """An item at a position, from 1, in an annotator's list, with their label or skip, if any."""

    position: int
    item: int
    shown: Order | None
    decision: Event | None

    @property
    def label(self) -> Event | None:
        """Return their current label, or None."""
        decision = self.decision
        return decision if decision is not None and decision.kind == "label" else None


def place_of(board: Board, annotator: str, position: int, *, pair: bool) -> Place | None:
    """Return the item at `position` of the annotator's list, or None if the list is shorter."""
    history = board.history(annotator)
    if not 1 <= position <= len(history):
        return None
    item = history[position - 1]
    return Place(
        position=position,
        item=item,
        shown=board.first_shown(annotator, item) if pair else None,
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

    After a label that is changed, the next position is the following one. `seconds` is how long the
    item was open. Raises InputError if there is no such item or answer.
    """
    place = _require_place(turn.board, annotator, position, task)
    if not 0 <= level < len(task.scale.levels):
        raise InputError(f"there is no answer {level!r}", field="level")
    event = Event(
        annotator=annotator,
        item=place.item,
        kind="label",
        at=turn.now,
        value=value_of(task.scale.levels[level], place.shown),
        note=note.strip()[:MAX_NOTE],
        shown=place.shown,
        seconds=seconds,
    )
    return _record_and_advance(turn, place, event)


def skip(
    turn: Turn, annotator: str, position: int, *, task: LabelTask, reason: str, note: str = ""
) -> int | None:
    """Skip the item at `position` for one of `SKIP_REASONS`; return the next position.

    Raises InputError if there is no such item or reason.
    """
    place = _require_place(turn.board, annotator, position, task)
    if reason not in SKIP_REASONS:
        raise InputError(f"there is no reason {reason!r}", field="reason")
    event = Event(
        annotator=annotator,
        item=place.item,
        kind="skip",
        at=turn.now,
        reason=reason,
        note=note.strip()[:MAX_NOTE],
    )
    return _record_and_advance(turn, place, event)


def undo(turn: Turn, annotator: str) -> int | None:
    """Undo the annotator's latest label or skip, and return the position of that item."""
    answers = turn.board.done(annotator)
    if not answers:
        return next_position(turn, annotator)
    latest = next(reversed(list(answers)))
    turn.record(Event(annotator=annotator, item=latest, kind="undo", at=turn.now))
    return turn.board.history(annotator).index(latest) + 1


def _require_place(board: Board, annotator: str, position: int, task: LabelTask) -> Place:
    place = place_of(board, annotator, position, pair=task.scale.kind == "pair")
    if place is None:
        raise InputError(f"{annotator!r} has no item {position}", field="position")
    return place


def _record_and_advance(turn: Turn, place: Place, event: Event) -> int | None:
    """Record `event` unless it repeats the current label; return the next position."""
    if place.decision is None:
        turn.record(event)
        return next_position(turn, event.annotator)
    before = (place.decision.kind, place.decision.value, place.decision.note, place.decision.reason)
    if before != (event.kind, event.value, event.note, event.reason):
        turn.record(event)
    if place.position < len(turn.board.history(event.annotator)):
        return place.position + 1
    return next_position(turn, event.annotator)


def value_of(level: Level, order: Order | None) -> Value:
    """Return the value of an answer; for a pair, which was shown in `order`, the verdict."""
    value = level.value
    return to_verdict(value, order or "ab") if isinstance(value, str) else value
