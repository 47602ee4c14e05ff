"""How runs tell how far they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[int], Callable[[int], None]]
"""Called with how much there is to do; returns what is told how many more were done."""


def untold(_total: int) -> Callable[[int], None]:
    """Take no note: the `Progress` of whoever shows none."""
    return lambda _done: None


class BuildProgress:
    """Told how far a build is; by itself it takes no note."""

    def begin(self, n_clusters: int) -> None:
        """Begin a build of so many clusters."""

    def stages(self, eid: str) -> Callable[[str, int], None]:  # noqa: ARG002  # for others
        """Begin a cluster; return what is told of each stage how many steps were done."""
        return lambda _stage, _done: None

    def end(self, eid: str) -> None:
        """End a cluster, which may have been built by an earlier start of the run."""


SILENT = BuildProgress()
