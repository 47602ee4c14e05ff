"""Questions that the same passages answer count as one (Discord Questions, Laban et al. 2022)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from fairjudge.domain import Answer, Article, QuestionAnswers
from fairjudge.text.tokens import words

Place: TypeAlias = tuple[str, int]
"""An article's ``aid``, and which of its paragraphs, from 0."""

_BLANK_LINES = re.compile(r"\n\s*\n")


def drop_same_sources(
    questions: Sequence[QuestionAnswers], articles: Sequence[Article], *, max_contained: float
) -> tuple[list[QuestionAnswers], list[QuestionAnswers]]:
    """Split `questions` into those kept and those whose paragraphs an earlier one has.

    As in the authors' code, questions with most answers come first, and one goes where at least
    `max_contained` (there 0.8) of the paragraphs that answer it answer one question kept before it.
    Those kept stay in the order given.
    """
    paragraphs = {article.aid: _paragraphs(article) for article in articles}
    places = [answering_paragraphs(question, paragraphs) for question in questions]
    n_answers = [sum(map(len, question.answer_groups)) for question in questions]
    kept: list[int] = []
    for row in sorted(range(len(questions)), key=lambda row: -n_answers[row]):
        if all(containment(places[row], places[other]) < max_contained for other in kept):
            kept.append(row)
    return (
        [question for row, question in enumerate(questions) if row in kept],
        [question for row, question in enumerate(questions) if row not in kept],
    )


def containment(places: frozenset[Place], other: frozenset[Place]) -> float:
    """Return the share of `places` that `other` has too, in [0, 1]; 0 for no places."""
    return len(places & other) / len(places) if places else 0.0


def answering_paragraphs(
    question: QuestionAnswers, paragraphs: Mapping[str, Sequence[Counter[str]]]
) -> frozenset[Place]:
    """Return the paragraphs that answer `question`: for each answer the one most like it.

    `paragraphs` has each article's, as counts of their words. An answer's paragraph is the one that
    shares most words with it, the first of a tie; a quote's own paragraph has them all.
    """
    answers = (answer for group in question.answer_groups for answer in group)
    return frozenset((a.aid, _place(a, paragraphs.get(a.aid, ()))) for a in answers)


def _place(answer: Answer, paragraphs: Sequence[Counter[str]]) -> int:
    wanted = Counter(words(answer.answer))
    shared = [(wanted & paragraph).total() for paragraph in paragraphs]
    return shared.index(max(shared)) if shared else 0


def _paragraphs(article: Article) -> list[Counter[str]]:
    return [Counter(words(piece)) for piece in _BLANK_LINES.split(article.content) if piece.strip()]
