"""Who labels what next: the state of a labelling job, made of its events alone.

Plain values and dictionaries; no clock, file or lock. The same events always make the same board,
so that the store can rebuild it after any end of the process.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from fairjudge.domain import Order, Value

EventKind: TypeAlias = Literal["assign", "label", "skip", "undo"]

LEASE_SECONDS = 1800.0
"""After this long without a word from its holder, an item may go to somebody else."""
CONTROL_EVERY = 10
_ROUNDING = 1e-9
"""One item of every so many that an annotator gets is a control, while there are any."""
MAX_SKIPS = 2
"""An item that so many people skipped is offered no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened; ``item`` counts the items of the job from 0.

    ``reason`` is why it was
    skipped; ``shown`` says which side of a pair stood first. ``at`` is in seconds since 1970.
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
    """What is to be labelled, by how many.

    ``blocks`` hold item numbers in the order in which they are offered; a block goes to one person
    at a time. ``wanted`` is how many people an item needs, 0 for one that was not drawn.
    ``controls`` map items to known values: everybody gets them, beside the rest. With `qualify`
    they come first, and only who answers that share of them as known gets more.
    """

    blocks: tuple[tuple[int, ...], ...]
    wanted: tuple[int, ...]
    controls: Mapping[int, Value] = field(default_factory=dict)
    seed: int = 0
    qualify: float | None = None

    @property
    def n_wanted(self) -> int:
        """Return how many labels the whole job takes, controls aside."""
        return sum(self.wanted)


@dataclass(slots=True)
class _Person:
    history: list[int] = field(default_factory=list)
    done: dict[int, Event] = field(default_factory=dict)
    block: int = -1
    seen_at: float = 0.0


class Board:
    """The state of a job. `apply` takes events in; everything else only looks."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self._people: dict[str, _Person] = {}
        self._holders: dict[int, dict[str, Event | None]] = {}
        self._skips: dict[int, set[str]] = {}
        self._block_of = {item: b for b, block in enumerate(job.blocks) for item in block}
        self._first_open = 0
        self._n_labelled = 0

    def apply(self, event: Event) -> None:
        """Take one event in."""
        before = self._counted(event.item)
        self._take_in(event)
        self._n_labelled += self._counted(event.item) - before

    def _take_in(self, event: Event) -> None:
        person = self._people.setdefault(event.annotator, _Person())
        person.seen_at = max(person.seen_at, event.at)
        holders = self._holders.setdefault(event.item, {})
        if event.kind == "assign":
            person.history.append(event.item)
            person.block = self._block_of.get(event.item, person.block)
            holders[event.annotator] = None
            return
        person.done.pop(event.item, None)  # the latest answer stands last, to be undone first
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
        """Return everybody who got an item, in order of arrival."""
        return tuple(self._people)

    def _person(self, annotator: str) -> _Person:
        return self._people.get(annotator) or _Person()

    def history(self, annotator: str) -> tuple[int, ...]:
        """Return the items that `annotator` got, in order."""
        return tuple(self._person(annotator).history)

    def done(self, annotator: str) -> Mapping[int, Event]:
        """Return the labels and skips of `annotator` that stand, the latest last."""
        return self._person(annotator).done

    def standing(self, kind: EventKind) -> Iterator[Event]:
        """Yield every label, or every skip, that stands; controls included."""
        for person in self._people.values():
            yield from (event for event in person.done.values() if event.kind == kind)

    def n_labelled(self) -> int:
        """Return how many labels stand, of those that the job wants."""
        return self._n_labelled

    def progress(self) -> tuple[int, int]:
        """Return how much is done, and of how much, controls included for all who came.

        This is what annotators see: a count that stood still would give a control away.
        """
        controls = self.job.controls
        answered = sum(item in person.done for person in self._people.values() for item in controls)
        return (
            self._n_labelled + answered,
            self.job.n_wanted + len(controls) * max(1, len(self._people)),
        )

    def _counted(self, item: int) -> int:
        return min(self.job.wanted[item], self._n_labels(item))

    def _n_labels(self, item: int) -> int:
        return sum(event is not None for event in self._holders.get(item, {}).values())

    def current(self, annotator: str) -> int | None:
        """Return the first item that `annotator` got and has not dealt with, or None."""
        person = self._person(annotator)
        return next((item for item in person.history if item not in person.done), None)

    def choose(self, annotator: str, *, now: float) -> int | None:
        """Return an item for `annotator` to be assigned next, or None where nothing is left."""
        person = self._person(annotator)
        if self.job.qualify is not None:
            control = self._next_control(annotator, person)
            if control is not None or not self.qualified(annotator):
                return control
        group, place = divmod(len(person.history), CONTROL_EVERY)
        if place == self._drawn(annotator, "place", group) % CONTROL_EVERY:
            control = self._next_control(annotator, person)
            if control is not None:
                return control
        found = self._next_open(annotator, person, now)
        return self._next_control(annotator, person) if found is None else found

    def qualified(self, annotator: str) -> bool:
        """Whether `annotator` may get more than the controls; those skipped count as wrong."""
        least, known = self.job.qualify, self.job.controls
        if least is None:
            return True
        done = self.done(annotator)
        right = sum(item in done and done[item].value == value for item, value in known.items())
        return right >= least * len(known) - _ROUNDING

    def _next_control(self, annotator: str, person: _Person) -> int | None:
        got = set(person.history)
        left = [item for item in self.job.controls if item not in got]
        return min(left, key=lambda item: self._drawn(annotator, "control", item), default=None)

    def _drawn(self, *parts: object) -> int:
        """Return a number that depends on the seed and `parts` alone."""
        said = repr((self.job.seed, *parts)).encode()
        return int.from_bytes(hashlib.sha256(said).digest()[:8])

    def first_shown(self, annotator: str, item: int) -> Order:
        """Return which side of a pair stands first for `annotator`, drawn once for all."""
        return "ab" if self._drawn(annotator, "order", item) % 2 else "ba"

    def _next_open(self, annotator: str, person: _Person, now: float) -> int | None:
        if 0 <= person.block < len(self.job.blocks):
            found = self._open_in(person.block, annotator, now)
            if found is not None:
                return found
        busy = {
            other.block
            for name, other in self._people.items()
            if name != annotator and now - other.seen_at < LEASE_SECONDS
        }
        later: int | None = None
        for block in self._unfinished():
            found = self._open_in(block, annotator, now)
            if found is not None and block not in busy:
                return found
            later = found if later is None else later
        return later

    def _unfinished(self) -> Iterator[int]:
        """Yield the blocks that still want labels, and remember where they begin."""
        blocks = self.job.blocks
        while self._first_open < len(blocks) and all(map(self._is_full, blocks[self._first_open])):
            self._first_open += 1
        yield from range(self._first_open, len(blocks))

    def _is_full(self, item: int) -> bool:
        return self._n_labels(item) >= self.job.wanted[item] or self._given_up(item)

    def _given_up(self, item: int) -> bool:
        return len(self._skips.get(item, ())) >= MAX_SKIPS

    def _open_in(self, block: int, annotator: str, now: float) -> int | None:
        return next(
            (item for item in self.job.blocks[block] if self._is_open(item, annotator, now)), None
        )

    def _is_open(self, item: int, annotator: str, now: float) -> bool:
        holders = self._holders.get(item, {})
        if annotator in holders or annotator in self._skips.get(item, ()):
            return False
        taken = sum(
            event is not None or now - self._people[name].seen_at < LEASE_SECONDS
            for name, event in holders.items()
        )
        return taken < self.job.wanted[item] and not self._given_up(item)


def replay(job: Job, events: Iterable[Event]) -> Board:
    """Return the board that `events` make."""
    board = Board(job)
    for event in events:
        board.apply(event)
    return board
