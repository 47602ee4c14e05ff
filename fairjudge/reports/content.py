"""What a report page shows: finished numbers, and records to look through."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fairjudge.reports.findings import Board, boards_beside
from fairjudge.scores.leaderboards import Leaderboard

UNSCORED = "without a score"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file or folder that was read, with ``n`` records; ``modified`` is a date."""

    name: str
    kind: str
    n: int | None = None
    modified: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run's folder: its command with all set arguments, and its dates."""

    name: str
    command: str
    arguments: Mapping[str, str]
    began: str
    ended: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a command asked of a model; ``cost_usd`` is None where a price is not known.

    ``tokens`` has ``input`` and ``output``, as far as servers counted them.
    """

    source: str
    n_calls: int
    n_cached: int
    cost_usd: float | None
    when: str = ""
    tokens: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """The JSON of one command, such as ``"audit position"``, and the file that it comes from."""

    kind: str
    source: str
    report: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """A whole page.

    ``counts`` says how much was judged, by a singular noun; None where nothing was.
    ``signatures`` maps each to its number of judgements. ``browse`` is what the page's script looks
    through (`fairjudge.analysis.browsing`); None where there are no records. ``not_judged`` are
    clusters that were given and have no judgement.
    """

    title: str
    counts: Mapping[str, int] | None = None
    sources: tuple[Source, ...] = ()
    runs: tuple[Run, ...] = ()
    costs: tuple[Cost, ...] = ()
    signatures: Mapping[str, int] = field(default_factory=dict)
    leaderboards: tuple[Leaderboard, ...] = ()
    panels: tuple[Panel, ...] = ()
    browse: Mapping[str, Any] | None = None
    notes: tuple[str, ...] = ()
    not_judged: tuple[str, ...] = ()

    @property
    def boards(self) -> list[Board]:
        """Findings of each leaderboard, given the other leaderboards and the calibration."""
        calibrated = {
            (group["judge"], group["aspect"], group["protocol"])
            for panel in self.of_kind("calibrate")
            for group in panel.report["groups"]
        }
        return boards_beside(self.leaderboards, calibrated)

    def of_kind(self, *kinds: str) -> tuple[Panel, ...]:
        """Return the panels of these kinds, in the order in which they came."""
        return tuple(panel for panel in self.panels if panel.kind in kinds)
