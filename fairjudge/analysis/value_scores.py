"""Neural scores of summaries against the text of each attribute value (FairSumm, section 3.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fairjudge.analysis.fairness import ScorerChoice
from fairjudge.analysis.supporting import Progress
from fairjudge.domain import Summary
from fairjudge.fairness.proportional_report import ValueScores
from fairjudge.fairness.values import LabelledCorpus, LabelledSet

_SETS_PER_BLOCK = 16


class PairScorer(Protocol):
    """Scores summaries against sources; higher is better supported."""

    fingerprint: str

    def score(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return the scores of (source, summary) pairs, shape (n,)."""


def value_scores_of(
    corpus: LabelledCorpus, summaries: Sequence[Summary], scorer: ScorerChoice, progress: Progress
) -> tuple[ValueScores | None, str]:
    """Score summaries against the text of each value with a model; None for unigrams.

    Also returns the name of the scorer, for signatures. The default model is the paper's.
    """
    if scorer.name == "unigrams":
        return None, "unigrams"
    if scorer.name == "bert_score":
        from fairjudge.scorers.bert_score import load_bert_score

        model: PairScorer = load_bert_score(scorer.argument)
    else:
        from fairjudge.scorers.bart_score import load_bart_score

        model = load_bart_score(scorer.argument)
    scores = value_scores(corpus, summaries, scorer=model, on_set=progress(len(corpus.sets)))
    return scores, f"{scorer.name}:{model.fingerprint}"


def value_scores(
    corpus: LabelledCorpus,
    summaries: Sequence[Summary],
    *,
    scorer: PairScorer,
    on_set: Callable[[int], None] = lambda _: None,
) -> dict[tuple[str, str], dict[str, float]]:
    """Score every summary against each value's documents, joined in their order.

    Empty summaries and values without text are skipped.
    """
    by_eid: dict[str, list[Summary]] = {}
    for summary in summaries:
        if summary.text.strip():
            by_eid.setdefault(summary.eid, []).append(summary)
    scores_by_summary: dict[tuple[str, str], dict[str, float]] = {}
    for start in range(0, len(corpus.sets), _SETS_PER_BLOCK):
        block = corpus.sets[start : start + _SETS_PER_BLOCK]
        pairs = [
            (labelled_set.eid, summary, value, text)
            for labelled_set in block
            for value, text in _texts(labelled_set).items()
            for summary in by_eid.get(labelled_set.eid, ())
        ]
        scores = scorer.score([(text, summary.text) for _, summary, _, text in pairs])
        for (eid, summary, value, _), score in zip(pairs, scores, strict=True):
            scores_by_summary.setdefault((eid, summary.system), {})[value] = float(score)
        on_set(len(block))
    return scores_by_summary


def _texts(labelled_set: LabelledSet) -> dict[str, str]:
    texts_by_value: dict[str, list[str]] = {}
    for text, label in zip(labelled_set.texts, labelled_set.labels, strict=True):
        if label is not None and text.strip():
            texts_by_value.setdefault(label, []).append(text)
    return {value: "\n".join(texts) for value, texts in texts_by_value.items()}
