"""The scorers that say how far documents support summaries, by name."""

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
"""Takes a total and returns what counts towards it."""
Units: TypeAlias = Mapping[tuple[str, str], tuple[str, ...]]
"""The content units of summaries, by eid and system."""

SUPPORT_SCORERS = ("embedding", "entailment")


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportScorer:
    """A loaded embedding or entailment model.

    ``supports`` takes clusters, summaries, ``max_words`` and ``on_cluster``, and yields the support
    of every summary (see `fairjudge.scorers.coverage`); ``fingerprint`` says which model it is.
    """

    supports: Callable[..., Iterator[Support]]
    fingerprint: str


def load_support_scorer(
    name: str, model: str | None, *, between_units: bool = False
) -> SupportScorer:
    """Load the model of the scorer `name`, one of `SUPPORT_SCORERS`, or its packaged one.

    `between_units` asks an entailment model to compare units too, as variant ``"released"`` does.
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
    """Return the supports of the sets of `corpus` that can be measured, and what made them.

    `max_words` are those of a chunk of a document, 0 for single sentences; `units` is what
    summaries are cut into, their sentences where None; the rest is as in `load_support_scorer`.
    """
    measurable = {labelled.eid for labelled in corpus.sets if labelled.exclusion is None}
    sources = [cluster for cluster in clusters if cluster.eid in measurable]
    scorer = load_support_scorer(name, model, between_units=between_units)
    supports = scorer.supports(
        sources, summaries, max_words=max_words, units=units, on_cluster=progress(len(sources))
    )
    made_by = f"{name}:{scorer.fingerprint}+chunks{max_words}"
    return list(supports), made_by if units is None else f"{made_by}+units"
