"""Report the progress of runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[int], Callable[[int], None]]
"""Called with the total of steps; returns `advance`, called with how many more were done."""


def no_progress(_total: int) -> Callable[[int], None]:
    """Show nothing, as a `Progress`."""
    return lambda _done: None


class BuildProgress:
    """Called as a build advances. Base class; does nothing."""

    def begin(self, n_clusters: int) -> None:
        """Begin a build of `n_clusters` clusters."""

    def stages(self, eid: str) -> Callable[[str, int], None]:  # noqa: ARG002  # for others
        """Begin a cluster; return what to call with a stage and its newly done steps."""
        return lambda _stage, _done: None

    def end(self, eid: str) -> None:
        """End a cluster, which may have been built by an earlier start of the run."""


SILENT = BuildProgress()
