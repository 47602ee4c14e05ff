"""The one progress display: on standard error, on a terminal, unless --quiet."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

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


def stages(progress: Progress, eid: str) -> Callable[[str, int], None]:
    """Return what shows a reference build's stages, one bar a stage, as they begin."""
    bars: dict[str, Advance] = {}

    def advance(stage: str, done: int) -> None:
        if stage not in bars:
            bars[stage] = counter(progress, f"{eid}: {stage}", total=None)
        bars[stage](done)

    return advance
