"""A run's judgements: ratings in memory, complete judgements read from the run's rows."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import overload

from fairjudge.domain import Judgement, JudgeTask
from fairjudge.parsing.outcomes import RETRYABLE
from fairjudge.records.folder import RunStore, reject_foreign_rows
from fairjudge.scores.aggregate import with_pair_verdicts
from fairjudge.scores.ratings import Rating, rating_of, split_ranking

ROWS = "judgements"
_BATCH = 256
"""Minimum number of judgements that are read together."""
_NO_ROW = -1


class RecordedJudgements(Sequence[Judgement]):
    """A run's judgements in the order of its tasks, read from its rows at every access.

    Both orders of a pair have their joint verdict. The run need not be open. `row_positions` are
    the positions of the judgements' rows, `starts` the index of the first judgement of each batch
    that is read together; a pair is never split between batches.
    """

    def __init__(self, run: RunStore, row_positions: array[int], starts: Sequence[int]) -> None:
        self._run = run
        self._row_positions = row_positions
        self._starts = starts

    def __len__(self) -> int:
        return len(self._row_positions)

    def __iter__(self) -> Iterator[Judgement]:
        for start, stop in zip(self._starts, [*self._starts[1:], len(self)], strict=True):
            yield from self._read_batch(start, stop)

    @overload
    def __getitem__(self, index: int) -> Judgement: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Judgement]: ...
    def __getitem__(self, index: int | slice) -> Judgement | Sequence[Judgement]:
        if isinstance(index, slice):
            return tuple(self)[index]
        number = range(len(self))[index]
        start = max(start for start in self._starts if start <= number)
        stop = min((start for start in self._starts if start > number), default=len(self))
        return self._read_batch(start, stop)[number - start]

    def _read_batch(self, start: int, stop: int) -> Sequence[Judgement]:
        with reject_foreign_rows(self._run):
            rows = self._run.rows_at(ROWS, self._row_positions[start:stop])
            return with_pair_verdicts([_judgement(row) for row in rows])


class JudgementBook:
    """The finished and the pending `tasks` of an open run, with the positions of their rows.

    `run` is read once; if a task was recorded several times, its last row counts.
    """

    def __init__(self, run: RunStore, tasks: Sequence[JudgeTask]) -> None:
        self.run = run
        self.tasks = tasks
        self._row_positions = array("q", [_NO_ROW]) * len(tasks)
        self._ratings: list[Rating | None] = [None] * len(tasks)
        self.n_done = 0
        with reject_foreign_rows(run):
            positions: dict[str, int] | None = None
            for row_position, row in run.rows_with_offsets(ROWS):
                positions = positions or {task.id: n for n, task in enumerate(tasks)}
                if (position := positions.get(row["task"])) is not None:
                    self._note(position, row_position, _judgement(row))

    def __len__(self) -> int:
        return len(self.tasks)

    @property
    def ratings(self) -> tuple[Rating, ...]:
        """The ratings so far, in the order of tasks; rankings are split into pairs."""
        ratings = (rating for rating in self._ratings if rating is not None)
        return tuple(pair for rating in ratings for pair in split_ranking(rating))

    @property
    def n_retryable(self) -> int:
        """Number of unscored tasks that another attempt may score."""
        return sum(_is_retryable(rating) for rating in self._ratings)

    @property
    def is_finished(self) -> bool:
        """Whether all tasks are judged and none should be retried."""
        return self.n_done == len(self) and not self.n_retryable

    def is_done(self, position: int) -> bool:
        """Return whether the task at `position` is judged."""
        return self._row_positions[position] != _NO_ROW

    def record(self, position: int, judgement: Judgement) -> None:
        """Append the judgement of the task at `position` to the run."""
        row = {"task": self.tasks[position].id, "judgement": judgement.to_json()}
        self._note(position, self.run.append(ROWS, row), judgement)

    def reopen_retryable(self) -> None:
        """Mark the tasks that another attempt may score as pending."""
        for position, rating in enumerate(self._ratings):
            if _is_retryable(rating):
                self._row_positions[position] = _NO_ROW
                self._ratings[position] = None
                self.n_done -= 1

    def judgements(self) -> RecordedJudgements:
        """Return all judgements; no task may be pending."""
        starts = [0] if len(self) else []
        for index, task in enumerate(self.tasks):
            if index - starts[-1] >= _BATCH and task.eid != self.tasks[index - 1].eid:
                starts.append(index)
        return RecordedJudgements(self.run, self._row_positions, starts)

    def _note(self, position: int, row_position: int, judgement: Judgement) -> None:
        self.n_done += not self.is_done(position)
        self._row_positions[position] = row_position
        self._ratings[position] = rating_of(judgement)


def _judgement(row: dict[str, object]) -> Judgement:
    return Judgement.model_validate(row["judgement"])


def _is_retryable(rating: Rating | None) -> bool:
    return rating is not None and rating.unscored in RETRYABLE
