"""``fairjudge fairness chunk-size`` and ``oracle``: checks of the scorers themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairjudge.cli import display
from fairjudge.cli import fairness_options as fair_opt
from fairjudge.cli import options as opt


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
    from fairjudge.api import fairness_checks
    from fairjudge.datasets import read_clusters, read_summaries

    tried = _sizes(sizes)
    found = fairness_checks.chunk_size(
        read_clusters(clusters, skip_bad=skip_bad),
        read_summaries(summaries, skip_bad=skip_bad),
        scorer=scorer,
        sizes=tried,
        seed=seed,
        progress=display.shown(quiet=quiet),
    )
    display.found(found, json_file)


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
    from fairjudge.api import fairness_checks
    from fairjudge.datasets import read_clusters

    found = fairness_checks.oracle(
        read_clusters(clusters, skip_bad=skip_bad),
        attribute=attribute,
        scorer=scorer,
        documents=documents,
        bins=fair_opt.read_bins(bins),
        seed=seed,
        output=output,
        progress=display.shown(quiet=quiet),
    )
    display.found(found, json_file)


def _sizes(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise typer.BadParameter(f"expected whole numbers, not {text!r}", param_hint="--sizes")
    return tuple(sorted({int(part) for part in parts}))
