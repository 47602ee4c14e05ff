"""Fairness measures of values: `fairjudge.fairness.coverage` and ``.proportionality``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairjudge.api.judging import JudgeResult
from fairjudge.api.showing import pages, texts
from fairjudge.api.tables import Table, with_interval
from fairjudge.datasets import check_summaries, read_clusters, read_summaries
from fairjudge.datasets._problems import describe
from fairjudge.domain import Undefined
from fairjudge.errors import ConfigurationError
from fairjudge.fairness.values import label_corpus
from fairjudge.options.models import Model, as_model
from fairjudge.reports.fairness_tables import coverage_tables, proportional_tables
from fairjudge.reports.measured_findings import with_findings

if TYPE_CHECKING:
    from fairjudge.datasets import Loaded
    from fairjudge.domain import Cluster, Judgement, Reference, Summary
    from fairjudge.fairness.coverage_report import CoverageReport
    from fairjudge.fairness.proportional_report import ProportionalReport
    from fairjudge.fairness.support import Support


@dataclass(frozen=True, repr=False)
class CoverageFairness:
    """Equal Coverage and Coverage Parity of each system; ``report`` has every figure.

    Source: Li et al. 2025, equations 1 to 5.
    """

    report: CoverageReport

    def table(self) -> Table:
        """Return ``equal_coverage``, ``r_ec`` and ``coverage_parity`` of each system; 0 is fair."""
        from fairjudge.fairness.coverage_parity import CoverageParity

        rows = tuple(
            {
                "system": system,
                "n": found.equal.n,
                **with_interval("equal_coverage", found.equal.mean),
                **with_interval("r_ec", found.equal.unfair_share),
                **with_interval(
                    "coverage_parity",
                    found.parity.value
                    if isinstance(found.parity, CoverageParity)
                    else found.parity,
                ),
            }
            for system, found in self.report.systems.items()
        )
        return Table(rows, coverage_tables(self.to_dict())[0])

    def to_dict(self) -> dict[str, Any]:
        """Return what ``fairjudge fairness coverage --json`` writes."""
        from fairjudge.fairness.coverage_json import coverage_json

        return with_findings("fairness coverage", coverage_json(self.report))

    def __repr__(self) -> str:
        return texts(coverage_tables(self.to_dict()))

    def _repr_html_(self) -> str:
        return pages(coverage_tables(self.to_dict()))


@dataclass(frozen=True, repr=False)
class ProportionalFairness:
    """BUR, UER, AUC and SOF of each system, in [0, 1]; ``report`` has every figure.

    Source: Zhang et al. 2024 (FairSumm), section 3.
    """

    report: ProportionalReport

    def table(self) -> Table:
        """Return ``bur``, ``uer``, ``auc`` and ``sof`` of each system, as shares; 0 is fair."""
        rows = tuple(
            {"system": system}
            | {
                key: value
                for name in ("bur", "uer", "auc", "sof")
                for key, value in with_interval(name, _measure(found.measures, name)).items()
            }
            for system, found in self.report.systems.items()
        )
        return Table(rows, proportional_tables(self.to_dict())[0])

    def to_dict(self) -> dict[str, Any]:
        """Return what ``fairjudge fairness proportional --json`` writes."""
        from fairjudge.fairness.proportional_json import proportional_json

        return with_findings("fairness proportional", proportional_json(self.report))

    def __repr__(self) -> str:
        return texts(proportional_tables(self.to_dict()))

    def _repr_html_(self) -> str:
        return pages(proportional_tables(self.to_dict()))


def coverage(
    clusters: object,
    summaries: object,
    *,
    attribute: str,
    scorer: JudgeResult | Sequence[Any] | Model | str = "local",
    bins: Sequence[float] = (),
    max_words: int = 100,
    seed: int = 0,
) -> CoverageFairness:
    """Measure whether summaries cover documents of every value of `attribute` alike.

    Parameters
    ----------
    clusters, summaries
        Paths, or lists of records or dicts; articles carry ``attributes``.
    attribute
        Such as ``"party"``.
    scorer
        What says how far an article is covered: a `JudgeResult` of checklists (the mean over the
        article's own answers; articles that answer nothing take no part), judgements of single
        articles (``reference_unit="article"``), or a local `Model`, whose embeddings compare the
        article with the summary's sentences.
    bins
        Increasing cut points that group a numeric attribute.
    max_words
        Words of a chunk of an article, for a local scorer.
    seed
        Of all resampling.

    Raises
    ------
    FairJudgeError
        If an argument cannot be used.

    Examples
    --------
    >>> import fairjudge as fj
    >>> found = fj.fairness.coverage(
    ...     "clusters.json", "summaries.jsonl", attribute="outlet_type", scorer="local"
    ... )
    >>> [row["system"] for row in found.table()]
    ['one-sided', 'thorough', 'unfaithful']
    """
    from fairjudge.analysis.supporting import model_supports
    from fairjudge.api.progress import bars
    from fairjudge.datasets import read_judgements
    from fairjudge.fairness.coverage_report import CoverageOptions, report_coverage

    sources, written = _checked(clusters, summaries, attribute)
    if isinstance(scorer, Model | str):
        model = as_model(scorer, argument="scorer")
        corpus = label_corpus(sources.records, attribute=attribute, bins=tuple(bins))
        with bars(model.progress) as shown:
            supports, name = model_supports(
                corpus,
                sources,
                written.records,
                name="embedding",
                model=model.local(),
                max_words=max_words,
                progress=shown.counter("scoring"),
            )
    else:
        rows = read_judgements(scorer, argument="scorer").records
        references = scorer.references if isinstance(scorer, JudgeResult) else ()
        labelled, supports = _judged(sources.records, rows, references)
        corpus = label_corpus(labelled, attribute=attribute, bins=tuple(bins))
        name = "judgements:" + "+".join(sorted({row.judge for row in rows}))
    options = CoverageOptions(seed=seed, scorer=name)
    return CoverageFairness(report_coverage(corpus, written.records, supports, options=options))


def _judged(
    clusters: Sequence[Cluster], rows: Sequence[Judgement], references: Sequence[Reference]
) -> tuple[Sequence[Cluster], list[Support]]:
    from fairjudge.fairness.verdicts import (
        answering,
        supports_from_checklists,
        supports_from_judgements,
    )

    if references and any(row.checklist for row in rows):
        return answering(clusters, references), supports_from_checklists(references, rows)
    return clusters, supports_from_judgements(clusters, rows)


def proportionality(
    clusters: object,
    summaries: object,
    *,
    attribute: str,
    bins: Sequence[float] = (),
    seed: int = 0,
) -> ProportionalFairness:
    """Measure whether each value of `attribute` has its share of the summaries' words.

    Parameters
    ----------
    clusters, summaries, attribute, bins, seed
        As in `coverage`.

    Raises
    ------
    FairJudgeError
        If an argument cannot be used.

    Examples
    --------
    >>> import fairjudge as fj
    >>> found = fj.fairness.proportionality(
    ...     "clusters.json", "summaries.jsonl", attribute="outlet_type"
    ... )
    >>> 0 <= found.table()[0]["bur"] <= 1
    True
    """
    from fairjudge.fairness.proportional_report import ProportionalOptions, report_proportional

    sources, written = _checked(clusters, summaries, attribute)
    corpus = label_corpus(sources.records, attribute=attribute, bins=tuple(bins))
    options = ProportionalOptions(seed=seed)
    return ProportionalFairness(report_proportional(corpus, written.records, options=options))


def _checked(
    clusters: object, summaries: object, attribute: object
) -> tuple[Loaded[Cluster], Loaded[Summary]]:
    if not isinstance(attribute, str):
        raise ConfigurationError(f"attribute: expected text, found {describe(attribute)}")
    sources, written = read_clusters(clusters), read_summaries(summaries)
    check_summaries(written, sources)
    return sources, written


def _measure(measures: object, name: str) -> object:
    return measures if isinstance(measures, Undefined) else getattr(measures, name)
