"""Checks of fairness scorers: `fairjudge.fairness.chunk_size` and ``.oracle``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from fairjudge.api.fairness_options import Bins, Clusters
from fairjudge.api.findings import Findings
from fairjudge.api.progress import bars
from fairjudge.datasets import read_clusters, read_summaries
from fairjudge.errors import ConfigurationError
from fairjudge.options.checking import checks_arguments
from fairjudge.options.declaring import Opt, Seed

SIZES = (0, 50, 100, 200, 400)
"""Default chunk sizes to try, in words; 0 for single sentences."""


def read_sizes(text: str) -> tuple[int, ...]:
    """Parse sizes such as ``0,50,100``.

    Raises
    ------
    ValueError
        If a size is not a whole number.
    """
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise ValueError(f"expected whole numbers, not {text!r}")
    return tuple(sorted({int(part) for part in parts}))


@checks_arguments
def chunk_size(
    clusters: Annotated[
        object, Opt("Clusters of the summaries.", argument=True, reader=read_clusters)
    ],
    summaries: Annotated[
        object,
        Opt("Summaries known to be faithful.", reader=read_summaries),
    ],
    *,
    scorer: Annotated[
        str, Opt("Scorer: entailment[:MODEL] as in the paper, or embedding[:MODEL].")
    ] = "entailment",
    sizes: Annotated[
        Sequence[int],
        Opt("Chunk sizes to try, in words, comma-separated; 0: sentences.", parse=read_sizes),
    ] = SIZES,
    seed: Seed = 0,
    progress: bool | None = None,
) -> Findings:
    """Choose the chunk size with which a scorer best finds the sources of summary sentences.

    Source: Li et al. 2025 (coverage fairness), appendix A.2 (Table 7).

    Parameters
    ----------
    clusters, summaries
        Clusters, and summaries known to be faithful to them: paths, or lists.
    scorer : str
        ``"entailment[:MODEL]"`` as in the paper, or ``"embedding[:MODEL]"``.
    sizes : sequence of int
        Chunk sizes to try, in words; 0 for single sentences.
    seed : int
        Random seed of the bootstrap.
    progress : bool, optional
        Show progress bars; by default only on a terminal.

    Returns
    -------
    Findings
        ``["best"]``, for ``max_words`` of `coverage`; ``["identified"]``, the share (0 to 1) of
        sentences that some document supports, by size.

    Raises
    ------
    FairJudgeError
        If an argument is invalid.

    Examples
    --------
    >>> import fairjudge as fj
    >>> fj.fairness.chunk_size("clusters.jsonl", "s.jsonl", sizes=[0, 50])  # doctest: +SKIP
    """
    from fairjudge.analysis.fairness import parse_scorer
    from fairjudge.analysis.supporting import SUPPORT_SCORERS
    from fairjudge.run.fairness_checks import tune_chunk_size

    chosen = parse_scorer(scorer, SUPPORT_SCORERS)
    if not sizes or min(sizes) < 0:
        raise ConfigurationError(f"sizes: expected numbers of words, 0 or more, got {sizes!r}")
    with bars(progress) as progress_bars:
        result = tune_chunk_size(
            read_clusters(clusters),
            read_summaries(summaries),
            scorer=chosen,
            sizes=sorted(set(sizes)),
            seed=seed,
            progress=progress_bars.counter("scoring clusters"),
        )
    return Findings("fairness chunk-size", result)


@checks_arguments
def oracle(
    clusters: Clusters,
    *,
    attribute: Annotated[str, Opt("Name of the articles' attribute.")],
    scorer: Annotated[
        str,
        Opt(
            "Scorer to check: unigrams, bert_score[:MODEL], bart_score[:MODEL] (BUR, UER, AUC, "
            "SOF); embedding[:MODEL] or entailment[:MODEL] (Equal Coverage, Coverage Parity)."
        ),
    ] = "unigrams",
    documents: Annotated[int, Opt("Number of documents per pseudo-summary.", ge=1)] = 5,
    bins: Bins = (),
    seed: Seed = 0,
    output: Annotated[
        str | Path | None, Opt("Write the pseudo-summaries to this file.", short="-o")
    ] = None,
    progress: bool | None = None,
) -> Findings:
    """Check that a scorer detects planted unfairness.

    Pseudo-summaries made of documents of one value ("biased") must score far worse than ones with
    the shares of the source ("balanced"; FairSumm, appendix C).

    Parameters
    ----------
    clusters
        Clusters whose articles have attributes: a path, or a list.
    attribute : str
        Name of the articles' attribute.
    scorer : str
        ``"unigrams"``, ``"bert_score[:MODEL]"``, ``"bart_score[:MODEL]"`` (BUR, UER, AUC, SOF);
        ``"embedding[:MODEL]"`` or ``"entailment[:MODEL]"`` (Equal Coverage, Coverage Parity).
    documents : int
        Number of documents per pseudo-summary.
    bins : sequence of float
        Increasing cut points that group a numeric attribute.
    seed : int
        Random seed of the pseudo-summaries and the bootstrap.
    output : path, optional
        Write the pseudo-summaries to this file.
    progress : bool, optional
        Show progress bars; by default only on a terminal.

    Returns
    -------
    Findings
        ``["measures"]`` has each measure for both kinds of pseudo-summaries and the difference, in
        the unit of the measure.

    Raises
    ------
    FairJudgeError
        If an argument is invalid, or no cluster has documents of two values.

    Examples
    --------
    >>> import fairjudge as fj
    >>> fj.fairness.oracle("clusters.jsonl", attribute="sentiment")  # doctest: +SKIP
    """
    from fairjudge.analysis.fairness import parse_scorer
    from fairjudge.run.fairness_checks import ORACLE_SCORERS, check_oracle

    chosen = parse_scorer(scorer, ORACLE_SCORERS)
    with bars(progress) as progress_bars:
        result = check_oracle(
            read_clusters(clusters),
            attribute=attribute,
            bins=tuple(bins),
            scorer=chosen,
            n_documents=documents,
            seed=seed,
            output=None if output is None else Path(output),
            progress=progress_bars.counter("scoring sets"),
        )
    return Findings("fairness oracle", result)
