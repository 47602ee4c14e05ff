"""Content of a report page: final numbers, and records to browse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fairjudge.reports.findings import Board, page_boards
from fairjudge.scores.leaderboards import Leaderboard

UNSCORED = "without a score"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """An input file or folder with ``n`` records; ``modified`` is a date."""

    name: str
    kind: str
    n: int | None = None
    modified: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run's folder: its command, the arguments that were set, and its dates."""

    name: str
    command: str
    arguments: Mapping[str, str]
    began: str
    ended: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Calls and cost of a command; ``cost_usd`` is None if a price is unknown.

    ``tokens`` has ``input`` and ``output``, if servers reported them.
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

    ``counts`` maps a singular noun to the number judged; None without judgements. ``signatures``
    maps each signature to its number of judgements. ``browse`` is the data of the page's explorer
    (`fairjudge.analysis.browsing`); None without records. ``not_judged`` are input clusters
    without a judgement.
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
        """The leaderboards as boards, with distinguishing names and whether they are calibrated."""
        calibrated_judges = {
            (group["judge"], group["aspect"], group["protocol"])
            for panel in self.of_kind("calibrate")
            for group in panel.report["groups"]
        }
        return page_boards(self.leaderboards, calibrated_judges)

    def of_kind(self, *kinds: str) -> tuple[Panel, ...]:
        """Return the panels of these kinds, in their order."""
        return tuple(panel for panel in self.panels if panel.kind in kinds)
