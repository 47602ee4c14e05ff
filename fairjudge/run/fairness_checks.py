"""Checks of scorers: the best chunk size, and whether they detect planted unfairness."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from fairjudge.analysis.fairness import ScorerChoice
from fairjudge.analysis.fairness_changes import change_json, rows_of_report
from fairjudge.analysis.supporting import SUPPORT_SCORERS, Progress, load_support_scorer
from fairjudge.analysis.value_scores import value_scores_of
from fairjudge.datasets import Loaded, match_summaries, write_records
from fairjudge.domain import Cluster, Estimate, Summary
from fairjudge.engine.runs import bad_lines
from fairjudge.errors import InputError
from fairjudge.fairness.comparison import compare_with_baseline, family_size
from fairjudge.fairness.coverage_report import CoverageOptions, report_coverage
from fairjudge.fairness.proportional_report import ProportionalOptions, report_proportional
from fairjudge.fairness.scorer_checks import compare_chunk_sizes, pseudo_summaries
from fairjudge.fairness.support import Support
from fairjudge.fairness.to_json import coverage_json, proportional_json
from fairjudge.fairness.values import LabelledCorpus, label_corpus
from fairjudge.records.results import COUNT_ONLY, Json, figure
from fairjudge.records.signature import signature
from fairjudge.stats.resampling import Resampling
from fairjudge.text.chunks import CHUNK_WORDS

ORACLE_SCORERS = ("unigrams", "bert_score", "bart_score", *SUPPORT_SCORERS)


def tune_chunk_size(
    sources: Loaded[Cluster],
    summaries: Loaded[Summary],
    *,
    scorer: ScorerChoice,
    sizes: Sequence[int],
    seed: int,
    progress: Progress,
) -> Json:
    """Return the JSON of ``fairness chunk-size``.

    It has the share of summary sentences that some document supports, for each chunk size, over
    all summaries and by system.
    """
    texts = match_summaries(summaries, sources)
    model = load_support_scorer(scorer.name, scorer.argument)
    eids = {summary.eid for summary in texts}
    clusters: list[Cluster] = [cluster for cluster in sources if cluster.eid in eids]
    count = progress(len(clusters) * len(sizes))
    by_size: dict[int, list[Support]] = {
        size: list(model.supports(clusters, texts.records, max_words=size, on_cluster=count))
        for size in sizes
    }
    systems = sorted({summary.system for summary in texts})

    def compare(system: str | None) -> Json:
        resampling = Resampling(rng=np.random.default_rng(seed))
        supports_by_size = {
            size: [support for support in supports if system in {None, support.system}]
            for size, supports in by_size.items()
        }
        comparison = compare_chunk_sizes(supports_by_size, resampling=resampling)
        return {
            "best": comparison.best,
            "identified": [
                {"max_words": size}
                | figure(share, keep=COUNT_ONLY)
                | {"excluded": share.n_excluded if isinstance(share, Estimate) else None}
                for size, share in comparison.identified.items()
            ],
        }

    notes = list(bad_lines(sources, texts))
    if scorer.name == "embedding":
        notes.append("similarities have no labels: a sentence counts if its score exceeds 0.5")
    return {
        "n": len(clusters),
        **compare(None),
        "systems": {system: compare(system) for system in systems},
        "notes": notes,
        "signature": signature(
            {"measure": "chunk-size", "scorer": f"{scorer.name}:{model.fingerprint}", "seed": seed}
        ),
    }


def check_oracle(
    sources: Loaded[Cluster],
    *,
    attribute: str,
    bins: tuple[float, ...],
    scorer: ScorerChoice,
    n_documents: int,
    seed: int,
    output: Path | None,
    progress: Progress,
) -> Json:
    """Return the JSON of ``fairness oracle``.

    It compares pseudo-summaries of documents of one value with ones that keep the source shares.
    """
    corpus = label_corpus(sources.records, attribute=attribute, bins=bins)
    pseudo = pseudo_summaries(corpus, n_documents=n_documents, rng=np.random.default_rng(seed))
    if not pseudo:
        raise InputError(f"no set has documents of two values of {attribute!r}", path=sources.path)
    if output is not None:
        write_records(output, pseudo)
    usable = replace(corpus, sets=tuple(s for s in corpus.sets if s.exclusion is None))
    report = _measure(usable, sources.records, pseudo, scorer=scorer, seed=seed, progress=progress)
    excluded = Counter(s.exclusion for s in corpus.sets if s.exclusion is not None)
    changes = compare_with_baseline([rows_of_report(report)], baseline="balanced", seed=seed)
    return {
        "n": len(corpus.sets) - excluded.total(),
        "excluded": excluded.total(),
        "excluded_by_reason": dict(sorted(excluded.items())),
        "documents": n_documents,
        "measures": {
            change.measure.key: {"balanced": row.pop("baseline"), "biased": row.pop("value"), **row}
            for change in changes
            for row in [change_json(change)]
        },
        "family": {"tests": family_size(changes), "over": "all measures here"},
        "notes": [*bad_lines(sources), *report["notes"]],
        "signature": report["signature"],
    }


def _measure(
    corpus: LabelledCorpus,
    sources: Sequence[Cluster],
    summaries: Sequence[Summary],
    *,
    scorer: ScorerChoice,
    seed: int,
    progress: Progress,
) -> Json:
    """Return the JSON of the measures that use `scorer`."""
    if scorer.name not in SUPPORT_SCORERS:
        scores, name = value_scores_of(corpus, summaries, scorer, progress)
        shares = ProportionalOptions(scorer=name, seed=seed)
        return proportional_json(
            report_proportional(corpus, summaries, options=shares, scores=scores)
        )
    model = load_support_scorer(scorer.name, scorer.argument)
    eids = {summary.eid for summary in summaries}
    clusters = [cluster for cluster in sources if cluster.eid in eids]
    supports = model.supports(
        clusters, summaries, max_words=CHUNK_WORDS, on_cluster=progress(len(clusters))
    )
    options = CoverageOptions(scorer=f"{scorer.name}:{model.fingerprint}", seed=seed)
    return coverage_json(report_coverage(corpus, summaries, list(supports), options=options))
