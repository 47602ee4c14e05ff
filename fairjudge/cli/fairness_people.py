"""``fairjudge fairness people`` and ``temperature``: measures and scorers beside people."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from fairjudge.cli import display
from fairjudge.cli import fairness_options as fair_opt
from fairjudge.cli import options as opt


def people(
    coverage: Annotated[Path, typer.Argument(help="JSON of 'fairness coverage'.")],
    shares: Annotated[Path, typer.Argument(help="JSON of 'fairness proportional'.")],
    *,
    leanings: Annotated[
        Path,
        typer.Option(
            help="Which value each summary leans to, by people: eid, system, leaning (a value, or "
            "fair), annotator; the majority counts."
        ),
    ],
    seed: opt.Seed = 0,
    json_file: opt.Json = None,
) -> None:
    """Tell which measures are nearer to people's view of fairness.

    Over summaries Equal Coverage against Proportional Representation, over resampled groups of
    them Coverage Parity against SOF (coverage fairness, section 5.4).

        fairjudge fairness people coverage.json shares.json --leanings leanings.jsonl
    """
    from fairjudge.api import fairness_people

    found = fairness_people.people(coverage, shares, leanings=leanings, seed=seed)
    display.found(found, json_file)


def temperature(
    clusters: fair_opt.Clusters,
    *,
    summaries: fair_opt.Summaries,
    attribute: fair_opt.Attribute,
    scorer: Annotated[
        str,
        typer.Option(
            help="bert_score[:MODEL], bart_score[:MODEL], or matrix:FILE (given scores by value)."
        ),
    ],
    human: Annotated[
        Path, typer.Option(help="Shares or facts by people, as for 'proportional --human'.")
    ],
    temperatures: Annotated[
        str, typer.Option(help="What to try.")
    ] = "0.01,0.02,0.05,0.1,0.2,0.5,1",
    correlation: Annotated[
        Literal["pearson", "spearman", "kendall"], typer.Option(help="What is estimated.")
    ] = "pearson",
    seed: opt.Seed = 0,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
    quiet: opt.Quiet = False,
) -> None:
    r"""Choose the softmax temperature at which a scorer's shares go with people's.

    'fairness proportional --temperature' takes the best (FairSumm, section 6.4, Figure 3).

        fairjudge fairness temperature clusters.jsonl --summaries s.jsonl \
            --attribute sentiment --scorer bert_score --human shares.jsonl
    """
    from fairjudge.api import fairness_people
    from fairjudge.datasets import read_clusters, read_summaries

    try:
        tried = [float(one) for one in temperatures.split(",")]
    except ValueError:
        raise typer.BadParameter(f"expected numbers with commas, got {temperatures!r}") from None
    found = fairness_people.temperature(
        read_clusters(clusters, skip_bad=skip_bad),
        read_summaries(summaries, skip_bad=skip_bad),
        attribute=attribute,
        scorer=scorer,
        human=human,
        temperatures=tried,
        correlation=correlation,
        seed=seed,
        progress=display.shown(quiet=quiet),
    )
    display.found(found, json_file)
