"""Measure the support of summaries by documents, with an entailment model or embeddings.

p(d, s) is the largest score of any chunk of the document (coverage fairness, equation 2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairjudge.domain import Cluster, Summary
from fairjudge.fairness.support import Support
from fairjudge.ports import Embedder, EntailmentModel
from fairjudge.text.chunks import CHUNK_WORDS, chunks
from fairjudge.text.sentences import sentence_texts

Units: TypeAlias = Mapping[tuple[str, str], Sequence[str]]
"""Atomic units of summaries by (eid, system), to be used instead of sentences."""
_FloatArray: TypeAlias = NDArray[np.float64]

_CLUSTERS_PER_BLOCK = 50
_ENTAILS = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """One cluster: its chunks, the index of each chunk's document, and its summaries' units."""

    cluster: Cluster
    chunks: tuple[str, ...]
    owners: NDArray[np.intp]
    summaries: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def units(self) -> tuple[str, ...]:
        """The distinct units of all summaries."""
        return tuple(dict.fromkeys(unit for _, units in self.summaries for unit in units))


def embedding_supports(
    clusters: Sequence[Cluster],
    summaries: Sequence[Summary],
    *,
    embedder: Embedder,
    max_words: int = CHUNK_WORDS,
    units: Units | None = None,
    on_cluster: Callable[[int], None] = lambda _: None,
) -> Iterator[Support]:
    """Yield each summary's support by cosine similarity, in [-1, 1] (no entailment probability).

    Results are in the order of clusters. A summary without `units` is split into sentences; the
    support by a document without text is 0. `on_cluster` is called with the number of newly
    finished clusters.
    """
    jobs = list(_jobs(clusters, summaries, max_words, units))
    for start in range(0, len(jobs), _CLUSTERS_PER_BLOCK):
        block = jobs[start : start + _CLUSTERS_PER_BLOCK]
        texts = list(dict.fromkeys(t for job in block for t in (*job.chunks, *job.units)))
        row_of = {text: index for index, text in enumerate(texts)}
        vectors = embedder.embed(texts).astype(np.float64) if texts else np.zeros((0, 1))
        for job in block:
            chunk_rows = vectors[[row_of[text] for text in job.chunks]]
            scores = chunk_rows @ vectors[[row_of[text] for text in job.units]].T
            yield from _supports(job, np.clip(scores, -1.0, 1.0), kind="similarity")
        on_cluster(len(block))


def entailment_supports(
    clusters: Sequence[Cluster],
    summaries: Sequence[Summary],
    *,
    model: EntailmentModel,
    max_words: int = CHUNK_WORDS,
    units: Units | None = None,
    between_units: bool = False,
    on_cluster: Callable[[int], None] = lambda _: None,
) -> Iterator[Support]:
    """Yield each summary's support by entailment probability, with its arg-max variant.

    With `between_units` the units are also scored against each other, for merging in the variant
    ``"released"``; otherwise as `embedding_supports`.
    """
    for job in _jobs(clusters, summaries, max_words, units):
        summary_units = job.units
        pairs = [(chunk, unit) for chunk in job.chunks for unit in summary_units]
        labels = _classify(model, pairs).reshape(len(job.chunks), len(summary_units), 3)
        probabilities = labels[:, :, _ENTAILS]
        arg_max = np.where(labels.argmax(axis=2) == _ENTAILS, probabilities, 0.0)
        unit_scores = _score_between_units(model, summary_units) if between_units else None
        yield from _supports(job, probabilities, arg_max=arg_max, between=unit_scores)
        on_cluster(1)


def _jobs(
    clusters: Sequence[Cluster],
    summaries: Sequence[Summary],
    max_words: int,
    units: Units | None,
) -> Iterator[_Job]:
    by_eid: dict[str, list[Summary]] = {}
    for summary in summaries:
        by_eid.setdefault(summary.eid, []).append(summary)
    for cluster in clusters:
        owners: list[int] = []
        all_chunks: list[str] = []
        for index, article in enumerate(cluster.articles):
            article_chunks = chunks(sentence_texts(article.content), max_words=max_words)
            all_chunks.extend(article_chunks)
            owners.extend([index] * len(article_chunks))
        yield _Job(
            cluster=cluster,
            chunks=tuple(all_chunks),
            owners=np.array(owners, dtype=np.intp),
            summaries=tuple(
                (summary.system, _units_of(summary, units))
                for summary in by_eid.get(cluster.eid, ())
            ),
        )


def _units_of(summary: Summary, units: Units | None) -> tuple[str, ...]:
    given_units = None if units is None else units.get((summary.eid, summary.system))
    return sentence_texts(summary.text) if given_units is None else tuple(given_units)


def _classify(model: EntailmentModel, pairs: Sequence[tuple[str, str]]) -> _FloatArray:
    if not pairs:
        return np.zeros((0, 3))
    return np.asarray(model.classify(pairs), dtype=np.float64)


def _score_between_units(model: EntailmentModel, units: Sequence[str]) -> _FloatArray:
    pairs = [(premise, hypothesis) for premise in units for hypothesis in units]
    return _classify(model, pairs)[:, _ENTAILS].reshape(len(units), len(units))


def _supports(
    job: _Job,
    scores: _FloatArray,
    *,
    arg_max: _FloatArray | None = None,
    between: _FloatArray | None = None,
    kind: Literal["entailment", "similarity"] = "entailment",
) -> Iterator[Support]:
    """Yield the support of each summary from scores of shape (n_chunks, n_distinct_units)."""
    column_of = {unit: index for index, unit in enumerate(job.units)}
    n_documents = len(job.cluster.articles)
    documents = _by_document(scores, job.owners, n_documents)
    arg_max_by_document = (
        None if arg_max is None else _by_document(arg_max, job.owners, n_documents)
    )
    for system, units in job.summaries:
        columns = [column_of[unit] for unit in units]
        yield Support(
            eid=job.cluster.eid,
            system=system,
            aids=tuple(article.aid for article in job.cluster.articles),
            units=units,
            probabilities=documents[:, columns],
            arg_max=None if arg_max_by_document is None else arg_max_by_document[:, columns],
            between_units=None if between is None else between[np.ix_(columns, columns)],
            kind=kind,
        )


def _by_document(scores: _FloatArray, owners: NDArray[np.intp], n_documents: int) -> _FloatArray:
    """Return the largest score of each document's chunks; 0 for a document without chunks."""
    best = np.full((n_documents, scores.shape[1]), -np.inf)
    np.maximum.at(best, owners, scores)
    return np.where(np.isneginf(best), 0.0, best)
