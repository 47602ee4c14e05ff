"""The one progress display: on standard error, on a terminal, unless --quiet."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

from fairjudge.run.progress import BuildProgress
from fairjudge.text.printable import printable

Advance = Callable[[int], None]


@contextmanager
def display(*, quiet: bool) -> Iterator[Progress]:
    """Show progress bars while the block runs."""
    shown = not quiet and sys.stderr.isatty()
    console = Console(stderr=True)
    with Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        disable=not shown,
        transient=True,
    ) as progress:
        yield progress


def counter(progress: Progress, description: str, *, total: int | None) -> Advance:
    """Add a bar and return what advances it."""
    bar = progress.add_task(printable(description), total=total)
    return lambda done: progress.update(bar, advance=done)


def retries(progress: Progress) -> Callable[[str], None]:
    """Return what counts retries in a bar of their own, from the first one on."""
    bars: list[Advance] = []

    def advance(_kind: str) -> None:
        if not bars:
            bars.append(counter(progress, "retries", total=None))
        bars[0](1)

    return advance


class BuildBars(BuildProgress):
    """How many clusters are built, and the stages of those under way, one bar a stage."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._all: TaskID | None = None
        self._bars: dict[str, dict[str, TaskID]] = {}

    def begin(self, n_clusters: int) -> None:
        """See `BuildProgress`."""
        if n_clusters > 1:
            self._all = self._progress.add_task("clusters", total=n_clusters)

    def stages(self, eid: str) -> Callable[[str, int], None]:
        """See `BuildProgress`."""
        bars = self._bars[eid] = {}

        def advance(stage: str, done: int) -> None:
            if stage not in bars:
                bars[stage] = self._progress.add_task(printable(f"{eid}: {stage}"), total=None)
            self._progress.update(bars[stage], advance=done)

        return advance

    def end(self, eid: str) -> None:
        """See `BuildProgress`."""
        if self._all is None:
            return
        self._progress.update(self._all, advance=1)
        for bar in self._bars.pop(eid, {}).values():
            self._progress.remove_task(bar)
