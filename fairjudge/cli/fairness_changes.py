"""``fairjudge fairness compare``: what each variant of a summarizer did to fairness."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairjudge.cli import display
from fairjudge.cli import options as opt

if TYPE_CHECKING:
    from fairjudge.analysis.fairness_changes import ChangeReport
    from fairjudge.fairness.comparison import Change


def compare(
    reports: Annotated[
        list[Path],
        typer.Argument(
            help="JSON of 'fairness coverage', of 'fairness proportional', or one of each."
        ),
    ],
    *,
    baseline: Annotated[
        str, typer.Option(help="The system that all others are compared with, by name.")
    ],
    resamples: opt.Resamples = 2000,
    seed: opt.Seed = 0,
    json_file: opt.Json = None,
) -> None:
    r"""Tell what each variant did to every fairness measure, beside a baseline.

    Systems are compared on the samples that both have, by bootstrap over these samples. A
    difference below 0 is fairer. P-values are corrected over all variants and measures shown.

        fairjudge summarize clusters.jsonl -o s.jsonl --backend openai:gpt-4o-mini \
            --sweep temperature=0.5,1 --sweep sentences=1,5 --sweep fair=party

        fairjudge fairness coverage clusters.jsonl --summaries s.jsonl --attribute party \
            --json coverage.json

        fairjudge fairness compare coverage.json --baseline gpt-4o-mini-direct
    """
    from fairjudge.analysis.fairness_changes import changes_of_files
    from fairjudge.api.findings import Findings

    change_report = changes_of_files(reports, baseline=baseline, seed=seed, n_resamples=resamples)
    figures = _json(change_report, seed=seed, resamples=resamples)
    display.found(Findings("fairness compare", figures), json_file)


def _json(found: ChangeReport, *, seed: int, resamples: int) -> dict[str, Any]:
    from fairjudge.records.signature import signature

    systems: dict[str, dict[str, Any]] = {}
    for change in found.comparison.changes:
        systems.setdefault(change.variant_name, {})[change.measure.key] = change_json(change)
    return {
        "baseline": found.comparison.baseline,
        "family": {"tests": found.comparison.family, "over": "all systems and measures here"},
        "systems": systems,
        "excluded": found.excluded,
        "notes": list(found.notes),
        "signatures": dict(found.signatures),
        "signature": signature(
            {
                "measure": "change",
                "baseline": found.comparison.baseline,
                "resamples": resamples,
                "seed": seed,
            }
        ),
    }


def change_json(change: Change) -> dict[str, Any]:
    """Return one measure as JSON, in the unit of its own report."""
    from fairjudge.records.results import COUNT_ONLY, figure

    scale = change.measure.times
    return {
        "n": change.n,
        "n_unpaired": change.n_unpaired,
        "baseline": None if change.baseline is None else change.baseline * scale,
        "value": None if change.variant is None else change.variant * scale,
        "difference": figure(change.difference, times=scale, keep=COUNT_ONLY)
        | {"p_holm": change.p_holm, "q_value": change.q_value},
        "relative": change.relative,
    }
