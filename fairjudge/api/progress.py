"""Progress bars on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from fairjudge.engine.progress import BuildProgress
from fairjudge.text.printable import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

    from fairjudge.options.models import Model

Advance = Callable[[int], None]
"""Called with the number of steps just completed."""


class Bars(BuildProgress):
    """One bar per kind of work; for a build, one for all clusters and one per stage in progress.

    Without a display, shows nothing.
    """

    def __init__(self, display: Progress | None = None) -> None:
        from rich.progress import Progress

        self._display = Progress(disable=True) if display is None else display
        self._clusters: TaskID | None = None
        self._stages: dict[str, dict[str, TaskID]] = {}
        self._retries: Advance | None = None

    @property
    def console(self) -> Console:
        """The console for text above the bars."""
        return self._display.console

    def counter(self, noun: str) -> Callable[[int | None], Advance]:
        """Return a function that starts a bar with a total and returns its `Advance`."""

        def begin(total: int | None) -> Advance:
            bar = self._display.add_task(printable(noun), total=total)
            return lambda n_done: self._display.update(bar, advance=n_done)

        return begin

    def with_retry_bar(self, model: Model) -> Model:
        """Return `model` with a progress bar of its retries, which starts at the first one."""
        callback = model.on_retry

        def count_retry(kind: str) -> None:
            self._retries = self._retries or self.counter("retries")(None)
            self._retries(1)
            if callback is not None:
                callback(kind)

        return replace(model, on_retry=count_retry).with_budget(model.budget)

    def begin(self, n_clusters: int) -> None:
        """See `BuildProgress`."""
        if n_clusters > 1:
            self._clusters = self._display.add_task("clusters", total=n_clusters)

    def stages(self, eid: str) -> Callable[[str, int], None]:
        """See `BuildProgress`."""
        bars = self._stages[eid] = {}

        def advance(stage: str, n_done: int) -> None:
            if stage not in bars:
                bars[stage] = self._display.add_task(printable(f"{eid}: {stage}"), total=None)
            self._display.update(bars[stage], advance=n_done)

        return advance

    def end(self, eid: str) -> None:
        """See `BuildProgress`."""
        if self._clusters is None:
            return
        self._display.update(self._clusters, advance=1)
        for bar in self._stages.pop(eid, {}).values():
            self._display.remove_task(bar)


@contextmanager
def bars(is_shown: bool | None) -> Iterator[Bars]:  # noqa: FBT001  # as `Model.progress` says it
    """Show bars while the block runs: always, never, or if None only on a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    with Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True, force_terminal=is_shown),
        disable=not (sys.stderr.isatty() if is_shown is None else is_shown),
        transient=True,
    ) as display:
        yield Bars(display)
