"""Scorers of the support of summaries by documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from fairjudge.domain import Cluster, Summary
from fairjudge.fairness.support import Support
from fairjudge.fairness.values import LabelledCorpus
from fairjudge.ports import EntailmentModel

Progress: TypeAlias = Callable[[int], Callable[[int], None]]
"""Maps a total to a function that advances the progress."""
Units: TypeAlias = Mapping[tuple[str, str], tuple[str, ...]]
"""The content units of summaries, by eid and system."""

SUPPORT_SCORERS = ("embedding", "entailment")


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportScorer:
    """A loaded embedding or entailment model.

    ``supports`` takes clusters, summaries, ``max_words`` and ``on_cluster``, and yields the support
    of every summary (see `fairjudge.scorers.coverage`); ``fingerprint`` identifies the model.
    """

    supports: Callable[..., Iterator[Support]]
    fingerprint: str


def load_support_scorer(
    name: str, model: str | None, *, between_units: bool = False
) -> SupportScorer:
    """Load the scorer `name`, one of `SUPPORT_SCORERS`, with `model` or the packaged model.

    With `between_units` an entailment model also compares units, for variant ``"released"``.
    Raises FairJudgeError if the model cannot be loaded.
    """
    from fairjudge.scorers.coverage import embedding_supports, entailment_supports

    if name == "embedding":
        from fairjudge.scorers.embedding import load_embedder

        embedder = load_embedder(model)
        return SupportScorer(
            supports=partial(embedding_supports, embedder=embedder),
            fingerprint=embedder.fingerprint,
        )
    classifier = _entailment(model)
    return SupportScorer(
        supports=partial(entailment_supports, model=classifier, between_units=between_units),
        fingerprint=classifier.fingerprint,
    )


def _entailment(model: str | None) -> EntailmentModel:
    if model:
        from fairjudge.scorers.entailment import load_entailment

        return load_entailment(model)
    from fairjudge.scorers.trained_entailment import load_trained_entailment

    return load_trained_entailment()


def model_supports(
    corpus: LabelledCorpus,
    clusters: Iterable[Cluster],
    summaries: Sequence[Summary],
    *,
    name: str,
    model: str | None,
    max_words: int,
    progress: Progress,
    units: Units | None = None,
    between_units: bool = False,
) -> tuple[list[Support], str]:
    """Return the supports of the measurable sets of `corpus`, and the name of their scorer.

    `max_words` is the maximum words per chunk of a document, 0 for single sentences. `units` are
    the units of the summaries, their sentences by default. The rest is as in `load_support_scorer`.
    """
    measurable_eids = {
        labelled_set.eid for labelled_set in corpus.sets if labelled_set.exclusion is None
    }
    sources = [cluster for cluster in clusters if cluster.eid in measurable_eids]
    scorer = load_support_scorer(name, model, between_units=between_units)
    supports = scorer.supports(
        sources, summaries, max_words=max_words, units=units, on_cluster=progress(len(sources))
    )
    scorer_name = f"{name}:{scorer.fingerprint}+chunks{max_words}"
    return list(supports), scorer_name if units is None else f"{scorer_name}+units"
