"""Options and steps that the audits share."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

if TYPE_CHECKING:
    from fairjudge.domain import Judgement, ProtocolName
    from fairjudge.run.collecting import AuditInput, Progress
    from fairjudge.run.models import ModelOptions

Judgements: TypeAlias = Annotated[
    Path | None,
    typer.Argument(help="Stored judgements; without them they are collected first."),
]
References: TypeAlias = Annotated[
    Path | None, typer.Option(help="To collect judgements: references or plain clusters.")
]
Summaries: TypeAlias = Annotated[
    Path | None, typer.Option(help="To collect judgements: summaries.")
]
Aspect: TypeAlias = Annotated[
    str, typer.Option(help="To collect judgements: 'coverage' or 'faithfulness'.")
]
Protocol: TypeAlias = Annotated[
    Literal["likert", "binary", "pairwise"],
    typer.Option(help="To collect judgements: how verdicts are given."),
]
Run: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="Run folder: of the judgements to be collected, or of an earlier 'fairjudge judge' "
        "whose judgements are to be audited."
    ),
]


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
    given: AuditInput,
    *,
    aspect: str,
    protocol: ProtocolName,
    model: ModelOptions,
    quiet: bool,
    probes: tuple[str, ...] = (),
) -> tuple[Judgement, ...]:
    """Return the judgements, read or collected."""
    from fairjudge.cli import progress
    from fairjudge.run.collecting import collect

    with progress.display(quiet=quiet) as shown:
        return collect(
            given,
            aspect=aspect,
            protocol=protocol,
            probes=probes,
            model=replace(model, on_retry=progress.retries(shown)),
            progress=lambda total: progress.counter(shown, "judging", total=total),
        )


def finish(judged: Sequence[Judgement], *, protocol: str | None, limit: float) -> None:
    """End with exit code 3 where too many judgements have no score."""
    from fairjudge.cli import display

    counted = [row for row in judged if protocol in {None, row.protocol}]
    n_unscored = sum(row.unscored is not None for row in counted)
    display.finish(n_unscored, len(counted), limit=limit, what=("judgement",))


def shown(
    report: Callable[[ModelOptions, Progress], Coroutine[Any, Any, dict[str, Any]]],
    *,
    model: ModelOptions,
    quiet: bool,
) -> dict[str, Any]:
    """Return what `report` makes with `model`, under a progress bar."""
    from fairjudge.cli import progress
    from fairjudge.run.running import run_to_end

    with progress.display(quiet=quiet) as bars:
        counted = replace(model, on_retry=progress.retries(bars))
        return run_to_end(
            report(counted, lambda total: progress.counter(bars, "judging", total=total))
        )
