"""The scorers that say how far documents support summaries, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from fairjudge.fairness.support import Support

DEFAULT_ENTAILMENT = "roberta-large-mnli"
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
    """Load the model of the scorer `name`, one of `SUPPORT_SCORERS`.

    `between_units` asks an entailment model to compare units too, as variant ``"released"`` does.

    Raises
    ------
    FairJudgeError
        The model cannot be loaded.
    """
    from fairjudge.scorers.coverage import embedding_supports, entailment_supports

    if name == "embedding":
        from fairjudge.scorers.embedding import load_embedder

        embedder = load_embedder(model)
        return SupportScorer(
            supports=partial(embedding_supports, embedder=embedder),
            fingerprint=embedder.fingerprint,
        )
    from fairjudge.scorers.entailment import load_entailment

    classifier = load_entailment(model or DEFAULT_ENTAILMENT)
    return SupportScorer(
        supports=partial(entailment_supports, model=classifier, between_units=between_units),
        fingerprint=classifier.fingerprint,
    )
