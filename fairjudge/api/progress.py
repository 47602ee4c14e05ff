"""Progress bars on standard error, where a terminal is there or they are asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fairjudge.run.progress import BuildProgress

if TYPE_CHECKING:
    from rich.progress import Progress

    from fairjudge.api.models import Model


class Bars(BuildProgress):
    """One bar a kind of work; without a display it takes no note."""

    def __init__(self, display: Progress | None) -> None:
        self._display = display
        self._clusters: Callable[[int], None] = lambda _done: None

    def counter(self, what: str) -> Callable[[int], Callable[[int], None]]:
        """Return what takes a total and returns what is told how many more were done."""
        display = self._display
        if display is None:
            return lambda _total: lambda _done: None

        def begin(total: int) -> Callable[[int], None]:
            bar = display.add_task(what, total=total)
            return lambda done: display.update(bar, advance=done)

        return begin

    def begin(self, n_clusters: int) -> None:
        """See `BuildProgress`."""
        self._clusters = self.counter("building")(n_clusters)

    def end(self, eid: str) -> None:  # noqa: ARG002  # all clusters share a bar
        """See `BuildProgress`."""
        self._clusters(1)


@contextmanager
def bars(model: Model) -> Iterator[Bars]:
    """Show progress while the block runs: always, never, or on a terminal, as `model` says."""
    wanted = sys.stderr.isatty() if model.progress is None else model.progress
    if not wanted:
        yield Bars(None)
        return
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True, force_terminal=model.progress)
    with Progress(console=console, transient=True) as display:
        yield Bars(display)
