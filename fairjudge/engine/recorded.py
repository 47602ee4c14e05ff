"""A run's judgements: their ratings in memory, they themselves in the run's rows."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import overload

from fairjudge.domain import Judgement, JudgeTask
from fairjudge.parsing.outcomes import RETRYABLE
from fairjudge.records.folder import RunStore, rejecting_foreign_rows
from fairjudge.scores.aggregate import with_pair_verdicts
from fairjudge.scores.ratings import Rating, pairs_of, rating_of

ROWS = "judgements"
_BATCH = 256
"""Least judgements that are read together."""
_NOWHERE = -1


class RecordedJudgements(Sequence[Judgement]):
    """A run's judgements in the order of its tasks, read from its rows whenever they are asked for.

    Both orders of a pair bear what they say together. The run need not be open. `places` say where
    each judgement stands in its rows, `starts` which is the first of each batch that is read
    together; a pair is never split.
    """

    def __init__(self, run: RunStore, places: array[int], starts: Sequence[int]) -> None:
        self._run = run
        self._places = places
        self._starts = starts

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[Judgement]:
        for start, stop in zip(self._starts, [*self._starts[1:], len(self)], strict=True):
            yield from self._read(start, stop)

    @overload
    def __getitem__(self, place: int) -> Judgement: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Judgement]: ...
    def __getitem__(self, place: int | slice) -> Judgement | Sequence[Judgement]:
        if isinstance(place, slice):
            return tuple(self)[place]
        number = range(len(self))[place]
        start = max(start for start in self._starts if start <= number)
        stop = min((one for one in self._starts if one > number), default=len(self))
        return self._read(start, stop)[number - start]

    def _read(self, start: int, stop: int) -> Sequence[Judgement]:
        with rejecting_foreign_rows(self._run):
            rows = self._run.rows_at(ROWS, self._places[start:stop])
            return with_pair_verdicts([_judgement(row) for row in rows])


class JudgementBook:
    """Which of all `tasks` of an open run are judged, and where its rows say how.

    `run` is read once, here; what earlier starts recorded twice counts as it was recorded last.
    """

    def __init__(self, run: RunStore, tasks: Sequence[JudgeTask]) -> None:
        self.run = run
        self.tasks = tasks
        self._places = array("q", [_NOWHERE]) * len(tasks)
        self._ratings: list[Rating | None] = [None] * len(tasks)
        self.n_done = 0
        with rejecting_foreign_rows(run):
            positions: dict[str, int] | None = None
            for place, row in run.rows_with_offsets(ROWS):
                positions = positions or {task.id: at for at, task in enumerate(tasks)}
                if (position := positions.get(row["task"])) is not None:
                    self._note(position, place, _judgement(row))

    def __len__(self) -> int:
        return len(self.tasks)

    @property
    def ratings(self) -> tuple[Rating, ...]:
        """What was judged so far, in the order of tasks; rankings as their pairs."""
        rated = (rating for rating in self._ratings if rating is not None)
        return tuple(pair for rating in rated for pair in pairs_of(rating))

    @property
    def n_retryable(self) -> int:
        """How many tasks have no score for a reason that another try may not have."""
        return sum(_is_retryable(rating) for rating in self._ratings)

    @property
    def is_finished(self) -> bool:
        """Whether nothing is left to ask of anybody."""
        return self.n_done == len(self) and not self.n_retryable

    def is_done(self, position: int) -> bool:
        """Say whether the task at `position` is judged."""
        return self._places[position] != _NOWHERE

    def record(self, position: int, judgement: Judgement) -> None:
        """Keep the judgement of the task at `position` for good."""
        row = {"task": self.tasks[position].id, "judgement": judgement.to_json()}
        self._note(position, self.run.append(ROWS, row), judgement)

    def reopen_retryable(self) -> None:
        """Take the tasks that another try may score for not judged."""
        for position, rating in enumerate(self._ratings):
            if _is_retryable(rating):
                self._places[position] = _NOWHERE
                self._ratings[position] = None
                self.n_done -= 1

    def judgements(self) -> RecordedJudgements:
        """Return all judgements, once every task is done."""
        starts = [0] if len(self) else []
        for at, task in enumerate(self.tasks):
            if at - starts[-1] >= _BATCH and task.eid != self.tasks[at - 1].eid:
                starts.append(at)
        return RecordedJudgements(self.run, self._places, starts)

    def _note(self, position: int, place: int, judgement: Judgement) -> None:
        self.n_done += not self.is_done(position)
        self._places[position] = place
        self._ratings[position] = rating_of(judgement)


def _judgement(row: dict[str, object]) -> Judgement:
    return Judgement.model_validate(row["judgement"])


def _is_retryable(rating: Rating | None) -> bool:
    return rating is not None and rating.unscored in RETRYABLE
