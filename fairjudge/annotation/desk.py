"""A single writer for all annotators: a request is applied, written to disk, and then answered.

Requests are queued. One thread takes all that wait, applies each to the board, writes their events
in one commit and one sync of the labels file, and then answers them all. So fifty annotators cost
little more than one, and no answer is confirmed before it is on disk.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeAlias, TypeVar

from fairjudge.annotation.board import Board, Event, Job, replay
from fairjudge.annotation.labels_file import (
    LabelsFile,
    LabelWriter,
    Projection,
    without_probability,
)
from fairjudge.annotation.store import Store

Result = TypeVar("Result")
_Request: TypeAlias = "tuple[Callable[[Turn], Any], Future[Any]]"


@dataclass(slots=True)
class Turn:
    """The context of a request: the board, the time, and the events that the batch records."""

    board: Board
    now: float
    events: list[Event] = field(default_factory=list)
    sessions: dict[str, str] = field(default_factory=dict)

    def record(self, event: Event) -> None:
        """Apply `event` to the board, to be written with the batch."""
        self.board.apply(event)
        self.events.append(event)


class LabelService:
    """The board of a job, its store and its labels file.

    The `store` is open, and closed by `close`; `path` is that of the labels file. Raises InputError
    or RunError if one of them cannot be used.
    """

    def __init__(self, job: Job, writer: LabelWriter, *, store: Store, path: Path) -> None:
        self.job = job
        self.items = writer.items
        self._writer = writer
        self._store = store
        self._known_records: set[str | None] = set()
        self._file = LabelsFile(
            path, is_own=lambda line: without_probability(line) in self._known_records
        )
        self._board, self._lines = self._load_store()
        self._sessions = store.sessions()
        self._broken = False
        self._lock = threading.Lock()
        self._queue: SimpleQueue[_Request | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._serve, name="labels", daemon=True)
        self._thread.start()

    def _load_store(self) -> tuple[Board, Projection]:
        """Rebuild the board and its lines, and make the labels file match the store."""
        events = list(self._store.events())
        board, lines = replay(self.job, events), Projection(self._writer, self.job.wanted)
        for event in events:
            lines.apply(event)
        label_lines = [self._writer.line(event) for event in events if event.kind == "label"]
        self._known_records.update(map(without_probability, label_lines))
        self._file.open(
            lines.lines(),
            is_partial=lambda part: any(line.startswith(part) for line in label_lines),
        )
        return board, lines

    def submit(self, act: Callable[[Turn], Result]) -> Future[Result]:
        """Queue `act`, and return a future that is set once all its events are on disk.

        `act` must not raise after it has recorded an event.
        """
        answer: Future[Result] = Future()
        self._queue.put((act, answer))
        return answer

    def read(self, function: Callable[[Board], Result]) -> Result:
        """Return the result of `function` on the current board."""
        with self._lock:
            return function(self._board)

    def annotator(self, key: str) -> str | None:
        """Return the annotator of the session `key`, or None."""
        return self._sessions.get(key)

    def names(self) -> tuple[str, ...]:
        """Return all annotators who signed in or got an item, in order of arrival."""
        assigned_names = self.read(lambda board: board.annotators())
        return tuple(dict.fromkeys((*assigned_names, *self._sessions.values())))

    def close(self) -> None:
        """Answer all queued requests, and close store and file."""
        self._queue.put(None)
        self._thread.join()
        self._file.close()
        self._store.close()

    def _serve(self) -> None:
        while True:
            batch = [self._queue.get()]
            while not self._queue.empty():
                batch.append(self._queue.get())
            self._answer([request for request in batch if request is not None])
            if None in batch:
                return

    def _answer(self, batch: Sequence[_Request]) -> None:
        results: Sequence[Any]
        try:
            if self._broken:
                self._recover()
            with self._lock:
                turn = Turn(board=self._board, now=time.time())
                results = [_result(act, turn) for act, _ in batch]
            self._store_events(turn)
        except Exception as error:  # whatever it is, every request of the batch fails
            self._broken = True
            results = [error] * len(batch)
        for (_, answer), result in zip(batch, results, strict=True):
            if isinstance(result, Exception):
                answer.set_exception(result)
            else:
                answer.set_result(result)

    def _store_events(self, turn: Turn) -> None:
        if turn.events or turn.sessions:
            self._store.append(turn.events, turn.sessions)
        self._sessions.update(turn.sessions)
        self._known_records.update(
            without_probability(self._writer.line(event))
            for event in turn.events
            if event.kind == "label"
        )
        removed_lines = [line for event in turn.events if (line := self._lines.apply(event))]
        if removed_lines:
            self._file.rewrite(self._lines.lines())
            return
        label_lines = [self._lines.line(event) for event in turn.events if event.kind == "label"]
        new_lines = [line for line in label_lines if line is not None]
        if new_lines:
            self._file.append(new_lines)

    def _recover(self) -> None:
        """Reset the board to the events in the store, after a failure to write."""
        board, lines = self._load_store()
        with self._lock:
            self._board, self._lines = board, lines
        self._broken = False


def _result(act: Callable[[Turn], Any], turn: Turn) -> Any:
    try:
        return act(turn)
    except Exception as error:  # set on the future of this request alone
        return error
