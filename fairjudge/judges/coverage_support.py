"""Support of reference answers by a summary, from embeddings and word overlap: no LLM.

An answer is as covered as by the run of one to three summary sentences that covers it best; a
group of equivalent answers as its best covered answer; a question as the mean of its groups. There
are no people's coverage labels to fit on: the weights were set in advance and the intercept on the
bundled example (117 answers, labelled by construction; area under the ROC curve 0.87, plain cosine
0.73). An answer repeated word for word has support 0.99, one with nothing in common about 0.1;
numbers that are not the answer's, or a negation on one side, leave even a word-for-word answer
below half. Calibrate before reading the level.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from fairjudge.domain import QuestionAnswers
from fairjudge.judges.support import SourceIndex, SourcePassage, index_sources, logistic
from fairjudge.protocols import Embedder
from fairjudge.text.signals import (
    Passage,
    Words,
    align,
    names_in,
    negated_on_one_side,
    unmatched_names,
    words,
)

INTERCEPT = -2.6
WEIGHTS: Mapping[str, float] = MappingProxyType(
    {"cosine": 5.4, "recall": 2.5, "numbers": -6.0, "names": -3.0, "negation": -6.0}
)
"""Log-odds; ``numbers`` and ``names`` multiply the share missing, ``negation`` is 0 or 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSupport:
    """How far a summary covers one answer.

    ``support``, ``recall`` (share of the answer's content words) are in [0, 1]. ``passage`` counts
    summary sentences. ``missing`` lists the numbers and names that the passage lacks and the words
    negated on one side only.
    """

    support: float
    passage: SourcePassage
    cosine: float
    recall: float
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageSupport:
    """How far a summary covers the answers of a cluster's questions.

    ``answers[q][g]`` holds the answers of group ``g`` of question ``q``, in the order given.
    """

    answers: tuple[tuple[tuple[AnswerSupport, ...], ...], ...]

    @property
    def groups(self) -> tuple[tuple[float, ...], ...]:
        """Support of each group: that of its best covered answer, in [0, 1]."""
        return tuple(
            tuple(max(answer.support for answer in group) for group in question)
            for question in self.answers
        )

    @property
    def questions(self) -> tuple[float, ...]:
        """Support of each question: the mean of its groups."""
        return tuple(sum(groups) / len(groups) for groups in self.groups)

    @property
    def summary(self) -> float:
        """Mean over all groups of all questions: each different answer counts once."""
        every = [support for groups in self.groups for support in groups]
        return sum(every) / len(every)


def answer_support(
    answers: Sequence[str], summary: SourceIndex, *, embedder: Embedder
) -> tuple[AnswerSupport, ...]:
    """Return the support of each answer by a summary, in the order given; empty for none.

    Parameters
    ----------
    answers
        Texts of the answers; names are learnt from the casing of all of them.
    summary
        The summary's sentences as one article: ``index_sources([sentences], embedder=embedder)``.
    embedder
        The same as the one that made the index.
    """
    if not answers:
        return ()
    cosines = embedder.embed(answers) @ summary.vectors.T
    own_names = names_in(answers)
    return tuple(
        max(
            (
                _weigh(words(answer), float(cosine), passage, place, own_names)
                for cosine, passage, place in zip(
                    row, summary.passages, summary.places, strict=True
                )
            ),
            key=lambda found: found.support,
        )
        for answer, row in zip(answers, cosines, strict=True)
    )


def coverage_support(
    questions: Sequence[QuestionAnswers], sentences: Sequence[str], *, embedder: Embedder
) -> CoverageSupport:
    """Return how far a summary, given as its sentences, covers the answers to `questions`.

    Raises
    ------
    ValueError
        If the summary has no sentence, there is no question, or a question or group is empty.
    """
    if not questions or not all(q.answer_groups and all(q.answer_groups) for q in questions):
        raise ValueError("expected questions that each have answer groups with answers")
    index = index_sources([sentences], embedder=embedder)
    flat = [a.answer for q in questions for group in q.answer_groups for a in group]
    supports = iter(answer_support(flat, index, embedder=embedder))
    return CoverageSupport(
        answers=tuple(
            tuple(tuple(next(supports) for _ in group) for group in question.answer_groups)
            for question in questions
        )
    )


def _weigh(
    answer: Words,
    cosine: float,
    passage: Passage,
    place: SourcePassage,
    own_names: frozenset[str],
) -> AnswerSupport:
    content, known = frozenset(answer.content), frozenset(passage.words.stems)
    numbers = tuple(sorted(answer.numbers - passage.words.numbers))
    named = tuple(dict.fromkeys(token for token in answer.tokens if token in own_names))
    names = unmatched_names(answer, passage, own_names=own_names)
    negated = negated_on_one_side(answer, passage.words, align(answer.stems, passage.words.stems))
    values = {
        "cosine": cosine,
        "recall": len(content & known) / max(len(content), 1),
        "numbers": len(numbers) / max(len(answer.numbers), 1),
        "names": len(names) / max(len(named), 1),
        "negation": float(bool(negated)),
    }
    log_odds = INTERCEPT + sum(weight * values[name] for name, weight in WEIGHTS.items())
    return AnswerSupport(
        support=logistic(log_odds),
        passage=place,
        cosine=cosine,
        recall=values["recall"],
        missing=(*numbers, *names, *negated),
    )
