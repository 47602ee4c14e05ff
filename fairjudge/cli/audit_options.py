"""Inputs of audits (stored or newly collected judgements), and their exit code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from fairjudge.api.audit import RUN
from fairjudge.cli import display
from fairjudge.cli import options as opt
from fairjudge.cli.reporting import Reporting
from fairjudge.options.declaring import Opt
from fairjudge.options.models import Model

if TYPE_CHECKING:
    from fairjudge.domain import Judgement, ProtocolName

Protocol: TypeAlias = Annotated[
    Literal["likert", "binary", "pairwise"],
    Opt("To collect judgements: format of the verdicts."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """Stored judgements, or the references and summaries to collect them."""

    judgements: Annotated[
        Path | None,
        Opt("Stored judgements (.jsonl); omit to collect them first.", argument=True),
    ] = None
    references: Annotated[Path | None, Opt("To collect judgements: references or clusters.")] = None
    summaries: Annotated[Path | None, Opt("To collect judgements: summaries (.jsonl).")] = None
    run: Annotated[Path | None, RUN] = None

    def rows(
        self,
        *,
        aspect: str,
        protocol: ProtocolName,
        model: Model,
        reporting: Reporting,
        probes: tuple[str, ...] = (),
    ) -> tuple[Judgement, ...]:
        """Read or collect the judgements, and return them.

        Raises
        ------
        typer.BadParameter
            If there are both stored judgements and summaries to judge, or neither.
        """
        from fairjudge.run.collecting import collect

        if (self.references is None) != (self.summaries is None):
            raise typer.BadParameter("--references and --summaries require each other")
        is_stored = self.judgements is not None
        if is_stored == (self.references is not None) and (is_stored or not self.run):
            raise typer.BadParameter(
                "pass a file of judgements, or --references and --summaries to collect them"
            )
        with display.bars(quiet=reporting.quiet) as progress_bars:
            return collect(
                judgements=self.judgements,
                references=self.references,
                summaries=self.summaries,
                run=self.run,
                skip_bad=reporting.skip_bad,
                aspect=aspect,
                protocol=protocol,
                probes=probes,
                model=progress_bars.with_retry_bar(model),
                progress=progress_bars.counter("judging"),
            )


inputs = opt.options_of(Inputs)


def finish(judgements: Sequence[Judgement], *, protocol: str | None, limit: float) -> None:
    """Exit with code 3 if more than the share `limit` of the judgements has no score."""
    from fairjudge.scores.missing import count_missing

    rows = [row for row in judgements if protocol in {None, row.protocol}]
    display.finish_judging(count_missing(rows), limit=limit, noun=("judgement",))
