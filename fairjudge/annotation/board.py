"""The state of a labelling job, derived from its events alone, and the choice of the next item.

No clock, file or lock is used. The same events always yield the same board, so that it can be
rebuilt from the store however the process ended.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from fairjudge.domain import Order, Value

EventKind: TypeAlias = Literal["assign", "label", "skip", "undo"]

LEASE_SECONDS = 1800.0
"""Seconds without an event of its holder after which another annotator may get an item."""
CONTROL_EVERY = 10
"""One of this many successive items of an annotator is a control, while controls remain."""
_ROUNDING = 1e-9
MAX_SKIPS = 2
"""Number of skips after which an item is no longer assigned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """An action of an annotator on an item; ``item`` is its number in the job, from 0.

    ``at`` is in seconds since 1970, ``seconds`` is how long the item was open. ``reason`` is
    the reason of a skip; ``shown`` is the order in which a pair was shown.
    """

    annotator: str
    item: int
    kind: EventKind
    at: float
    value: Value | None = None
    note: str = ""
    reason: str = ""
    shown: Order | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The items to label, and the number of annotators per item.

    ``blocks`` hold item numbers in the order in which they are assigned; a block goes to one person
    at a time. ``wanted`` is the number of labels of each item, 0 if it was not drawn.
    ``controls`` map items to known values; every annotator gets all of them among other items.
    With ``qualify`` controls come first, and only annotators who answer at least that share of them
    correctly get other items.
    """

    blocks: tuple[tuple[int, ...], ...]
    wanted: tuple[int, ...]
    controls: Mapping[int, Value] = field(default_factory=dict)
    seed: int = 0
    qualify: float | None = None

    @property
    def n_wanted(self) -> int:
        """Return the number of labels that the whole job needs, without controls."""
        return sum(self.wanted)


@dataclass(slots=True)
class _Person:
    history: list[int] = field(default_factory=list)
    done: dict[int, Event] = field(default_factory=dict)
    block: int = -1
    seen_at: float = 0.0


class Board:
    """The state of a job; only `apply` changes it."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self._people: dict[str, _Person] = {}
        self._holders: dict[int, dict[str, Event | None]] = {}
        self._skips: dict[int, set[str]] = {}
        self._block_by_item = {item: b for b, block in enumerate(job.blocks) for item in block}
        self._first_open = 0
        self._n_labelled = 0

    def apply(self, event: Event) -> None:
        """Update the state by one event."""
        n_before = self._n_counted_labels(event.item)
        self._update(event)
        self._n_labelled += self._n_counted_labels(event.item) - n_before

    def _update(self, event: Event) -> None:
        person = self._people.setdefault(event.annotator, _Person())
        person.seen_at = max(person.seen_at, event.at)
        holders = self._holders.setdefault(event.item, {})
        if event.kind == "assign":
            person.history.append(event.item)
            person.block = self._block_by_item.get(event.item, person.block)
            holders[event.annotator] = None
            return
        person.done.pop(event.item, None)  # an answer that is repeated moves to the end
        self._skips.get(event.item, set()).discard(event.annotator)
        if event.kind == "undo":
            holders[event.annotator] = None
            self._first_open = 0
            return
        person.done[event.item] = event
        if event.kind == "label":
            holders[event.annotator] = event
        else:
            holders.pop(event.annotator, None)
            self._skips.setdefault(event.item, set()).add(event.annotator)
            self._first_open = 0

    def annotators(self) -> tuple[str, ...]:
        """Return the names of all who were assigned an item, in order of their first item."""
        return tuple(self._people)

    def _person(self, annotator: str) -> _Person:
        return self._people.get(annotator) or _Person()

    def history(self, annotator: str) -> tuple[int, ...]:
        """Return the items assigned to `annotator`, in order."""
        return tuple(self._person(annotator).history)

    def done(self, annotator: str) -> Mapping[int, Event]:
        """Return the current labels and skips of `annotator` by item, the latest last."""
        return self._person(annotator).done

    def decisions(self, kind: EventKind) -> Iterator[Event]:
        """Yield every current label, or every current skip, controls included."""
        for person in self._people.values():
            yield from (event for event in person.done.values() if event.kind == kind)

    def n_labelled(self) -> int:
        """Return the number of current labels, at most ``wanted`` for each item."""
        return self._n_labelled

    def progress(self) -> tuple[int, int]:
        """Return the numbers of current and required labels, including all controls.

        Shown to annotators: a count that did not rise after a label would reveal a control.
        """
        controls = self.job.controls
        n_answered = sum(
            item in person.done for person in self._people.values() for item in controls
        )
        return (
            self._n_labelled + n_answered,
            self.job.n_wanted + len(controls) * max(1, len(self._people)),
        )

    def _n_counted_labels(self, item: int) -> int:
        return min(self.job.wanted[item], self._n_labels(item))

    def _n_labels(self, item: int) -> int:
        return sum(event is not None for event in self._holders.get(item, {}).values())

    def current(self, annotator: str) -> int | None:
        """Return the first item assigned to `annotator` without a label or skip, or None."""
        person = self._person(annotator)
        return next((item for item in person.history if item not in person.done), None)

    def choose(self, annotator: str, *, now: float) -> int | None:
        """Return the next item to assign to `annotator` at time `now`, or None if none is left."""
        person = self._person(annotator)
        if self.job.qualify is not None:
            control = self._next_control(annotator, person)
            if control is not None or not self.is_qualified(annotator):
                return control
        group, position = divmod(len(person.history), CONTROL_EVERY)
        if position == self._pseudorandom(annotator, "place", group) % CONTROL_EVERY:
            control = self._next_control(annotator, person)
            if control is not None:
                return control
        item = self._next_open(annotator, person, now)
        return self._next_control(annotator, person) if item is None else item

    def is_qualified(self, annotator: str) -> bool:
        """Return whether `annotator` may get items other than controls; skips count as wrong."""
        min_share, control_values = self.job.qualify, self.job.controls
        if min_share is None:
            return True
        answers = self.done(annotator)
        n_correct = sum(
            item in answers and answers[item].value == value
            for item, value in control_values.items()
        )
        return n_correct >= min_share * len(control_values) - _ROUNDING

    def _next_control(self, annotator: str, person: _Person) -> int | None:
        assigned_items = set(person.history)
        controls = [item for item in self.job.controls if item not in assigned_items]
        return min(
            controls, key=lambda item: self._pseudorandom(annotator, "control", item), default=None
        )

    def _pseudorandom(self, *parts: object) -> int:
        """Return a pseudorandom number that depends only on the seed and `parts`."""
        text = repr((self.job.seed, *parts)).encode()
        return int.from_bytes(hashlib.sha256(text).digest()[:8])

    def display_order(self, annotator: str, item: int) -> Order:
        """Return the order in which `annotator` sees a pair, always the same for an item."""
        return "ab" if self._pseudorandom(annotator, "order", item) % 2 else "ba"

    def _next_open(self, annotator: str, person: _Person, now: float) -> int | None:
        if 0 <= person.block < len(self.job.blocks):
            item = self._open_in(person.block, annotator, now)
            if item is not None:
                return item
        busy_blocks = {
            annotator_state.block
            for name, annotator_state in self._people.items()
            if name != annotator and now - annotator_state.seen_at < LEASE_SECONDS
        }
        fallback: int | None = None
        for block in self._unfinished_blocks():
            item = self._open_in(block, annotator, now)
            if item is not None and block not in busy_blocks:
                return item
            fallback = item if fallback is None else fallback
        return fallback

    def _unfinished_blocks(self) -> Iterator[int]:
        """Yield block numbers, starting at the first block that is not full."""
        blocks = self.job.blocks
        while self._first_open < len(blocks) and all(map(self._is_full, blocks[self._first_open])):
            self._first_open += 1
        yield from range(self._first_open, len(blocks))

    def _is_full(self, item: int) -> bool:
        return self._n_labels(item) >= self.job.wanted[item] or self._is_abandoned(item)

    def _is_abandoned(self, item: int) -> bool:
        return len(self._skips.get(item, ())) >= MAX_SKIPS

    def _open_in(self, block: int, annotator: str, now: float) -> int | None:
        return next(
            (item for item in self.job.blocks[block] if self._is_open(item, annotator, now)), None
        )

    def _is_open(self, item: int, annotator: str, now: float) -> bool:
        holders = self._holders.get(item, {})
        if annotator in holders or annotator in self._skips.get(item, ()):
            return False
        n_held = sum(
            event is not None or now - self._people[name].seen_at < LEASE_SECONDS
            for name, event in holders.items()
        )
        return n_held < self.job.wanted[item] and not self._is_abandoned(item)


def replay(job: Job, events: Iterable[Event]) -> Board:
    """Return the board after `events`."""
    board = Board(job)
    for event in events:
        board.apply(event)
    return board
