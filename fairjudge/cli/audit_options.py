"""Options and steps that the audits share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from fairjudge.api.audit import RUN
from fairjudge.cli import display
from fairjudge.options.declaring import Opt
from fairjudge.options.models import Model

if TYPE_CHECKING:
    from fairjudge.domain import Judgement, ProtocolName
    from fairjudge.run.collecting import AuditInput

Judgements: TypeAlias = Annotated[
    Path | None,
    Opt("Stored judgements; without them they are collected first.", argument=True),
]
References: TypeAlias = Annotated[
    Path | None, Opt("To collect judgements: references or plain clusters.")
]
Summaries: TypeAlias = Annotated[Path | None, Opt("To collect judgements: summaries.")]
Protocol: TypeAlias = Annotated[
    Literal["likert", "binary", "pairwise"],
    Opt("To collect judgements: the protocol."),
]
Run: TypeAlias = Annotated[Path | None, RUN]


def material(
    judgements: Path | None,
    *,
    references: Path | None,
    summaries: Path | None,
    run: Path | None,
    skip_bad: bool,
) -> AuditInput:
    """Check that there is either something stored or something to judge."""
    from fairjudge.run.collecting import AuditInput

    if (references is None) != (summaries is None):
        raise typer.BadParameter("--references and --summaries go together")
    if (judgements is None) == (references is None) and not (judgements is None and run):
        raise typer.BadParameter(
            "give a file of judgements, or --references and --summaries to collect them"
        )
    return AuditInput(
        judgements=judgements,
        references=references,
        summaries=summaries,
        run=run,
        skip_bad=skip_bad,
    )


def rows(
    inputs: AuditInput,
    *,
    aspect: str,
    protocol: ProtocolName,
    model: Model,
    quiet: bool,
    probes: tuple[str, ...] = (),
) -> tuple[Judgement, ...]:
    """Return the judgements, read or collected."""
    from fairjudge.run.collecting import collect

    with display.bars(quiet=quiet) as progress_bars:
        return collect(
            inputs,
            aspect=aspect,
            protocol=protocol,
            probes=probes,
            model=progress_bars.with_retry_bar(model),
            progress=progress_bars.counter("judging"),
        )


def finish(judged: Sequence[Judgement], *, protocol: str | None, limit: float) -> None:
    """End with exit code 3 where too many judgements have no score."""
    from fairjudge.scores.missing import missing_of

    counted = [row for row in judged if protocol in {None, row.protocol}]
    display.finish_judging(missing_of(counted), limit=limit, noun=("judgement",))
