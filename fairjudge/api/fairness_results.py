"""Results of the fairness measures, as tables and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairjudge.api.results import CommandResult
from fairjudge.api.tables import Table
from fairjudge.domain import Undefined

if TYPE_CHECKING:
    from fairjudge.fairness.coverage_report import CoverageReport, SystemCoverage
    from fairjudge.fairness.measures import FairnessMeasures
    from fairjudge.fairness.proportional import Proportional
    from fairjudge.fairness.proportional_report import ProportionalReport
    from fairjudge.fairness.support import Support
    from fairjudge.records.matching import Match


@dataclass(frozen=True, repr=False)
class CoverageFairness(CommandResult):
    """Equal Coverage and Coverage Parity of each system; ``report`` has all results.

    ``supports`` has the support of each summary by documents. Source: Li et al. 2025, equations 1
    to 5.
    """

    report: CoverageReport
    supports: Sequence[Support]
    joins: Sequence[Match[tuple[str, str]]] = ()
    kind = "fairness coverage"

    def save_supports(self, path: str | Path) -> None:
        """Write the supports to a .jsonl file, for ``scorer="matrix:FILE"``."""
        from fairjudge.analysis.support_files import write_supports

        write_supports(path, self.supports)

    def table(self) -> Table:
        """Return the measures of each system by key, with their intervals.

        These are the measures shown of `fairjudge.fairness.coverage_measures.COVERAGE`, such as
        ``equal_coverage``, ``r_ec``, ``r_ec_strict`` (R_EC as published) and ``coverage_parity``.
        """
        from fairjudge.fairness.coverage_measures import COVERAGE

        rows = tuple(
            {
                "system": system,
                "n": len(system_report.samples),
                **_with_intervals(COVERAGE, system_report),
            }
            for system, system_report in self.report.systems.items()
        )
        return Table(rows, self.tables()[0])

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``fairjudge fairness coverage --json``."""
        from fairjudge.fairness.to_json import coverage_json
        from fairjudge.reports.kinds import with_findings

        return with_findings(self.kind, coverage_json(self.report) | _joins_json(self.joins))


@dataclass(frozen=True, repr=False)
class ProportionalFairness(CommandResult):
    """BUR, UER, AUC and SOF of each system, in [0, 1]; ``report`` has all results.

    Source: Zhang et al. 2024 (FairSumm), section 3.
    """

    report: ProportionalReport
    joins: Sequence[Match[tuple[str, str]]] = ()
    kind = "fairness proportional"

    def table(self) -> Table:
        """Return the measures of each system by key, as shares with their intervals.

        These are the measures shown of `fairjudge.fairness.proportional.PROPORTIONAL`, such as
        ``bur``, ``uer``, ``auc`` and ``sof``.
        """
        from fairjudge.fairness.proportional import PROPORTIONAL

        rows = tuple(
            {"system": system, **_with_intervals(PROPORTIONAL, system_report.measures)}
            for system, system_report in self.report.systems.items()
        )
        return Table(rows, self.tables()[0])

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``fairjudge fairness proportional --json``."""
        from fairjudge.fairness.to_json import proportional_json
        from fairjudge.reports.kinds import with_findings

        return with_findings(self.kind, proportional_json(self.report) | _joins_json(self.joins))


def _joins_json(joins: Sequence[Match[tuple[str, str]]]) -> dict[str, Any]:
    return {"joins": [join.to_json() for join in joins]} if joins else {}


def _with_intervals(
    measures: FairnessMeasures[Any, Any, Any], result: SystemCoverage | Proportional | Undefined
) -> dict[str, Any]:
    """Return each displayed measure with its ``_low`` and ``_high``; None if undefined."""
    fields = {"": "value", "_low": "low", "_high": "high"}
    estimates = {} if isinstance(result, Undefined) else result.estimates
    return {
        measure.key + suffix: getattr(estimates.get(measure.key), name, None)
        for measure in measures.shown
        for suffix, name in fields.items()
    }
