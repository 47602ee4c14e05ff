"""``fairjudge calibrate`` and ``fairjudge apply``: how far a judge can be trusted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from fairjudge.cli import options as opt
from fairjudge.cli.terminal import say
from fairjudge.text.printable import counted

if TYPE_CHECKING:
    from fairjudge.calibration.analysis import Analysis
    from fairjudge.domain import Cluster, Judgement, Summary


def calibrate(
    judgements: Annotated[Path, typer.Argument(help="Judgements, .jsonl or .json.")],
    *,
    labels: Annotated[Path, typer.Option(help="Human labels: .jsonl, .json or .csv.")],
    annotators: Annotated[
        list[str] | None,
        typer.Option(help="Only use labels by annotators with such names, e.g. 'expert*'."),
    ] = None,
    label_scale: opt.LabelScale = None,
    method: Annotated[
        Literal["isotonic", "logistic", "linear", "ordinal"],
        typer.Option(help="Curve from the judge's score to the human score."),
    ] = "isotonic",
    summaries: Annotated[
        Path | None, typer.Option(help="Summaries, for baselines and groups by length.")
    ] = None,
    clusters: Annotated[
        Path | None, typer.Option(help="Clusters, for lead overlap and groups by outlet.")
    ] = None,
    support: Annotated[
        bool,
        typer.Option(
            "--support",
            help="Given --summaries and --clusters: support by the embedded default (extra "
            "[local], no LLM) as one more baseline; takes minutes for a hundred documents.",
        ),
    ] = False,
    family: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=PATTERN",
            help="Compare errors between families of systems too: a name and a shell pattern of "
            "system names, such as 'openai=gpt-*'. Repeatable; the first that fits counts.",
        ),
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help="Write the fitted calibrators here, as JSON.")
    ] = None,
    margin: Annotated[
        float,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Cost margin of the alternative annotator test: 0.2 for experts, 0.15 for skilled "
            "annotators, 0.1 for a crowd.",
        ),
    ] = 0.2,
    resamples: Annotated[int, typer.Option(min=100, help="Bootstrap resamples.")] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all resampling.")] = 0,
    list_unmatched: Annotated[
        bool, typer.Option("--list-unmatched", help="Name all unmatched items in the JSON.")
    ] = False,
    disagreements: Annotated[
        int,
        typer.Option(
            min=0,
            help="Items on which judge and people differ most, with both reasons, in the JSON.",
        ),
    ] = 20,
    max_unscored: opt.MaxUnscored = 0.05,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
    markdown: Annotated[
        Path | None, typer.Option(help="Write the tables as Markdown here.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="Write one self-contained page with plots here.")
    ] = None,
) -> None:
    """Measure judges against people: agreement, errors, calibration, and what labels would buy.

    fairjudge calibrate judgements.jsonl --labels labels.jsonl --annotators 'expert*'
    """
    from fairjudge.calibration.agreement import Resampling
    from fairjudge.calibration.analysis import Settings, analyse
    from fairjudge.calibration.to_json import analysis_json
    from fairjudge.cli.display import finish, say_findings, write_json
    from fairjudge.datasets import read_clusters, read_judgements, read_labels, read_summaries
    from fairjudge.reports.calibration_tables import calibration_tables
    from fairjudge.reports.disagreement_tables import disagreement_tables
    from fairjudge.reports.measured_findings import findings_of, with_findings
    from fairjudge.reports.rates_tables import rates_tables
    from fairjudge.reports.tables import print_table, to_markdown

    rows = list(read_judgements(judgements, skip_bad=skip_bad))
    settings = Settings(
        annotators=tuple(annotators or ("*",)),
        resampling=Resampling(n_resamples=resamples),
        calibrator=method,
        epsilon=margin,
        label_scale=opt.label_scale(label_scale),
        n_disagreements=disagreements,
        families=tuple(_family(text) for text in family or ()),
        seed=seed,
    )
    if support and (summaries is None or clusters is None):
        raise typer.BadParameter("--support needs --summaries and --clusters")
    written = list(read_summaries(summaries, skip_bad=skip_bad)) if summaries else []
    sources = list(read_clusters(clusters, skip_bad=skip_bad)) if clusters else []
    analysis = analyse(
        rows,
        list(read_labels(labels, skip_bad=skip_bad)),
        settings=settings,
        summaries=written,
        clusters=sources,
        support=_support(written, sources) if support else None,
    )
    signature = _signature(analysis, judgements, labels)
    report = analysis_json(analysis, signature=signature, list_all=list_unmatched)
    tables = (
        *calibration_tables(report),
        *rates_tables(report),
        *disagreement_tables(report),
    )
    if json_file != "-":
        say_findings(findings_of("calibrate", report))
        for table in tables:
            print_table(table)
    write_json(json_file, with_findings("calibrate", report))
    if markdown is not None:
        _write(markdown, "\n".join(to_markdown(table) for table in tables))
    if html is not None:
        _write(html, _page(report, rows))
    if save is not None:
        _save(analysis, save)
    n_unscored = sum(row.unscored is not None for row in rows)
    finish(n_unscored, len(rows), limit=max_unscored, what=("judgement",))


def apply(
    calibrator: Annotated[Path, typer.Argument(help="What 'calibrate --save' wrote.")],
    judgements: Annotated[Path, typer.Argument(help="Judgements to calibrate.")],
    *,
    output: opt.Output,
    skip_bad: opt.SkipBad = False,
) -> None:
    """Put calibrated scores in the place of a judge's own, which are kept as 'uncalibrated'.

    fairjudge apply calibrator.json judgements.jsonl -o calibrated.jsonl
    """
    from fairjudge.analysis.calibrating import read_calibrators
    from fairjudge.calibration.applying import apply_calibrators
    from fairjudge.datasets import read_judgements, write_records

    applied = apply_calibrators(
        read_calibrators(calibrator), list(read_judgements(judgements, skip_bad=skip_bad))
    )
    write_records(output, applied.judgements)
    said = [
        f"{counted(applied.n_calibrated, 'judgement')} calibrated",
        f"{applied.n_outside} of them outside the scores that people labelled",
        f"{applied.n_other} of another judge, aspect or protocol left as they were",
        f"{applied.n_unscored} unscored",
    ]
    say("; ".join(said), err=True)


def _family(text: str) -> tuple[str, str]:
    name, found, pattern = text.partition("=")
    if not (name and found and pattern):
        raise typer.BadParameter(f"expected NAME=PATTERN, got {text!r}", param_hint="--family")
    return name, pattern


def _support(
    summaries: Sequence[Summary], clusters: Sequence[Cluster]
) -> dict[tuple[str, str], float]:
    from fairjudge.analysis.calibrating import trained_support
    from fairjudge.scorers.embedding import load_embedder
    from fairjudge.scorers.trained_models import load_trained_models

    return trained_support(
        summaries, clusters, models=load_trained_models(), embedder=load_embedder()
    )


def _page(report: Mapping[str, Any], rows: Sequence[Judgement]) -> str:
    from fairjudge.analysis.auditing import position_report
    from fairjudge.reports.calibration_page import calibration_page

    position = (
        position_report(rows, labels=None, close_within=0.5)["groups"]
        if any(row.protocol == "pairwise" for row in rows)
        else ()
    )
    return calibration_page(report, position=position)


def _signature(analysis: Analysis, judgements: Path, labels: Path) -> dict[str, Any]:
    from fairjudge import __version__

    settings = analysis.settings
    return {
        "judgements": judgements.name,
        "labels": labels.name,
        "annotators": list(settings.annotators),
        "calibrator": settings.calibrator,
        "interval": settings.resampling.method,
        "resamples": settings.resampling.n_resamples,
        "seed": settings.seed,
        "judged_by": sorted({group.joined.judge for group in analysis.groups}),
        "version": __version__,
    }


def _save(analysis: Analysis, path: Path) -> None:
    from fairjudge.analysis.calibrating import fitted_calibrators, write_calibrators

    fitted, refused = fitted_calibrators(analysis)
    if refused:
        say("No calibrator for " + "; for ".join(refused), err=True)
    write_calibrators(path, fitted, refused=refused)


def _write(path: Path, text: str) -> None:
    from fairjudge.errors import InputError
    from fairjudge.records import write_atomically

    try:
        write_atomically(path, text)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", path=path) from None
