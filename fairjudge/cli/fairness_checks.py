"""``fairjudge fairness chunk-size`` and ``oracle``: checks of the scorers themselves."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairjudge.cli import display
from fairjudge.cli import fairness_options as fair_opt
from fairjudge.cli import options as opt

if TYPE_CHECKING:
    from fairjudge.fairness.chunk_size import ChunkSizes
    from fairjudge.run.fairness_checks import ChunkReport, OracleReport


def chunk_size(
    clusters: Annotated[Path, typer.Argument(help="Clusters that were summarized.")],
    *,
    summaries: Annotated[
        Path, typer.Option(help="Summaries that can be trusted to say what the sources say.")
    ],
    scorer: Annotated[
        str, typer.Option(help="entailment[:MODEL] as in the paper, or embedding[:MODEL].")
    ] = "entailment",
    sizes: Annotated[
        str, typer.Option(help="Words of a chunk to try; 0 for single sentences.")
    ] = "0,50,100,200,400",
    seed: opt.Seed = 0,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
    quiet: opt.Quiet = False,
) -> None:
    """Choose the chunk size with which a scorer best finds where summary sentences are from.

    Shown is the share of sentences that some document supports (coverage fairness, Table 7);
    'fairness coverage --max-words' takes the best.

        fairjudge fairness chunk-size clusters.jsonl --summaries s.jsonl --sizes 0,50,100
    """
    from fairjudge.analysis.fairness import parse_scorer
    from fairjudge.analysis.supporting import SUPPORT_SCORERS
    from fairjudge.api.findings import Findings
    from fairjudge.run.fairness_checks import tune_chunk_size

    chosen = parse_scorer(scorer, SUPPORT_SCORERS)
    tried = _sizes(sizes)
    with display.bars(quiet=quiet) as shown:
        chunk_report = tune_chunk_size(
            clusters,
            summaries,
            scorer=chosen,
            sizes=tried,
            seed=seed,
            skip_bad=skip_bad,
            progress=shown.counter("scoring clusters"),
        )
    display.found(Findings("fairness chunk-size", _chunk_json(chunk_report)), json_file)


def oracle(
    clusters: Annotated[Path, typer.Argument(help="Clusters whose articles carry attributes.")],
    *,
    attribute: Annotated[str, typer.Option(help="Name of the articles' attribute.")],
    scorer: Annotated[
        str,
        typer.Option(
            help="What is checked: unigrams, bert_score[:MODEL], bart_score[:MODEL] (BUR to SOF); "
            "embedding[:MODEL] or entailment[:MODEL] (Equal Coverage, Coverage Parity)."
        ),
    ] = "unigrams",
    documents: Annotated[
        int, typer.Option(min=1, help="Documents that make up a pseudo-summary.")
    ] = 5,
    bins: fair_opt.Bins = None,
    seed: opt.Seed = 0,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Keep the pseudo-summaries here.")
    ] = None,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
    quiet: opt.Quiet = False,
) -> None:
    """Check that a scorer sees unfairness that was planted.

    Pseudo-summaries of one value's documents ('biased') must score far worse than ones that keep
    the source's shares ('balanced'; FairSumm, appendix C).

        fairjudge fairness oracle clusters.jsonl --attribute sentiment --documents 4
    """
    from fairjudge.analysis.fairness import parse_scorer
    from fairjudge.api.findings import Findings
    from fairjudge.run.fairness_checks import ORACLE_SCORERS, check_oracle

    with display.bars(quiet=quiet) as shown:
        oracle_report = check_oracle(
            clusters,
            attribute=attribute,
            bins=fair_opt.read_bins(bins),
            scorer=parse_scorer(scorer, ORACLE_SCORERS),
            n_documents=documents,
            seed=seed,
            output=output,
            skip_bad=skip_bad,
            progress=shown.counter("scoring sets"),
        )
    display.found(Findings("fairness oracle", _oracle_json(oracle_report)), json_file)


def _sizes(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise typer.BadParameter(f"expected whole numbers, not {text!r}", param_hint="--sizes")
    return tuple(sorted({int(part) for part in parts}))


def _chunk_json(found: ChunkReport) -> dict[str, Any]:
    return {
        "n": found.n_clusters,
        **_sizes_json(found.together),
        "systems": {system: _sizes_json(result) for system, result in found.by_system.items()},
        "notes": list(found.notes),
        "signature": found.signature,
    }


def _sizes_json(found: ChunkSizes) -> dict[str, Any]:
    from fairjudge.domain import Estimate
    from fairjudge.records.results import COUNT_ONLY, figure

    return {
        "best": found.best,
        "identified": [
            {"max_words": size}
            | figure(share, keep=COUNT_ONLY)
            | {"excluded": share.n_excluded if isinstance(share, Estimate) else None}
            for size, share in found.identified.items()
        ],
    }


def _oracle_json(found: OracleReport) -> dict[str, Any]:
    from fairjudge.cli.fairness_changes import change_json

    return {
        "n": found.n_sets,
        "excluded": sum(found.excluded.values()),
        "excluded_by_reason": dict(found.excluded),
        "documents": found.n_documents,
        "measures": {
            change.measure.key: {"balanced": row.pop("baseline"), "biased": row.pop("value"), **row}
            for change in found.comparison.changes
            for row in [change_json(change)]
        },
        "family": {"tests": found.comparison.family, "over": "all measures here"},
        "notes": list(found.notes),
        "signature": found.signature,
    }
