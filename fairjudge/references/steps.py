"""The steps of reference building that need no model: METHODS section 1; DiverseSumm section 3.1.

All functions are pure and deterministic; articles are named by ``aid``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from statistics import median_low

from fairjudge.domain import Answer, Article, QuestionAnswers

_LIGHT_WORDS = frozenset(
    """a an the of to in on for by is are was were be been do does did has have had will would can
    could should what which who whom whose when where why how according""".split()  # noqa: SIM905  # a list this long reads worse
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Validity:
    """When a question stays.

    Parameters
    ----------
    min_source_share : float
        Least share of the sources that answer it, in (0, 1]; DiverseSumm: 0.3.
    min_groups : int
        Least number of answer groups; DiverseSumm: 2.
    max_largest_share : float or None
        Discord Questions' consensus filter: the largest group may hold at most this share of the
        answers (there 0.5); None leaves it out.
    max_source_overlap : float or None
        Discord Questions' other filter: two questions whose answering articles overlap by this
        much (there 0.8) count as one; None leaves it out.
    """

    min_source_share: float = 0.3
    min_groups: int = 2
    max_largest_share: float | None = None
    max_source_overlap: float | None = None


def answering_aids(question: QuestionAnswers) -> frozenset[str]:
    """Return the articles that answer `question`."""
    return frozenset(answer.aid for group in question.answer_groups for answer in group)


def why_invalid(question: QuestionAnswers, *, n_sources: int, validity: Validity) -> str | None:
    """Return why `question` does not stay among `n_sources` articles, or None if it does."""
    n_answering = len(answering_aids(question))
    n_groups = len(question.answer_groups)
    if n_answering < validity.min_source_share * n_sources:
        share = f"{n_answering} of {n_sources} sources"
        return f"answered by {share}, fewer than {validity.min_source_share:.0%}"
    if n_groups < validity.min_groups:
        return f"{n_groups} answer group{'s' * (n_groups != 1)}, fewer than {validity.min_groups}"
    if validity.max_largest_share is not None:
        sizes = [len(group) for group in question.answer_groups]
        if max(sizes) > validity.max_largest_share * sum(sizes):
            return f"one group holds {max(sizes)} of {sum(sizes)} answers: too much consensus"
    return None


def median_cluster_question(questions: Sequence[QuestionAnswers]) -> QuestionAnswers | None:
    """Return the question with the median number of answer groups (the first one with it).

    With an even count the lower median is taken. Questions without answers take no part.
    """
    answered = [question for question in questions if question.answer_groups]
    if not answered:
        return None
    middle = median_low(len(question.answer_groups) for question in answered)
    return next(question for question in answered if len(question.answer_groups) == middle)


def medium_length_article(articles: Iterable[Article]) -> Article:
    """Return the article of median length in words (lower median; ties by order given)."""
    by_length = sorted(articles, key=lambda article: len(article.content.split()))
    return by_length[(len(by_length) - 1) // 2]


def representative_articles(
    question: QuestionAnswers, articles: Sequence[Article], *, most: int = 5
) -> tuple[Article, ...]:
    """Return the medium-length article of each of the `most` largest answer groups.

    Groups whose medium-length article was taken before add nothing. Ties in size keep their order.
    """
    by_aid = {article.aid: article for article in articles}
    groups = sorted(question.answer_groups, key=lambda group: -len(group))[:most]
    chosen: dict[str, Article] = {}
    for group in groups:
        members = [by_aid[aid] for aid in dict.fromkeys(answer.aid for answer in group)]
        article = medium_length_article(members)
        chosen.setdefault(article.aid, article)
    return tuple(chosen.values())


def drop_same_sources(
    questions: Sequence[QuestionAnswers], *, max_overlap: float
) -> tuple[list[QuestionAnswers], list[QuestionAnswers]]:
    """Split `questions` into those kept and those whose sources an earlier one has.

    Questions with most answer groups come first; those kept stay in the order given.
    """
    kept: list[QuestionAnswers] = []
    for question in sorted(questions, key=lambda q: -len(q.answer_groups)):
        if all(source_overlap(question, other) < max_overlap for other in kept):
            kept.append(question)
    return [q for q in questions if q in kept], [q for q in questions if q not in kept]


def source_overlap(a: QuestionAnswers, b: QuestionAnswers) -> float:
    """Return the share of common answering articles, in [0, 1]: intersection over union.

    Discord Questions (Laban et al. 2022) counts two questions as one from 0.8 on.
    """
    first, second = answering_aids(a), answering_aids(b)
    return len(first & second) / len(first | second) if first | second else 0.0


def down_select(
    questions: Sequence[QuestionAnswers], articles: Sequence[Article], *, most: int
) -> tuple[tuple[Article, ...], tuple[QuestionAnswers, ...]]:
    """Keep the `most` articles that answer most questions, and only their answers.

    Ties go by cluster order; the articles kept stay in cluster order. Groups and questions left
    without answers are gone.
    """
    counts = {article.aid: 0 for article in articles}
    for question in questions:
        for aid in answering_aids(question):
            counts[aid] += 1
    ranked = sorted(articles, key=lambda article: -counts[article.aid])[:most]
    kept = {article.aid for article in ranked}
    restricted = (
        keep_answers(question, lambda answer: answer.aid in kept) for question in questions
    )
    return (
        tuple(article for article in articles if article.aid in kept),
        tuple(question for question in restricted if question.answer_groups),
    )


def drop_near_duplicates(questions: Sequence[str], *, threshold: float = 0.75) -> tuple[str, ...]:
    """Keep the first of questions that share at least `threshold` of their words (Jaccard).

    Question words, articles and auxiliaries do not count: they change while the question stays.
    """
    kept: list[tuple[str, frozenset[str]]] = []
    for question in questions:
        words = frozenset(re.findall(r"\w+", question.lower())) - _LIGHT_WORDS
        if all(_jaccard(words, other) < threshold for _, other in kept):
            kept.append((question, words))
    return tuple(question for question, _ in kept)


def _jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / len(a | b) if a | b else 1.0


def keep_answers(question: QuestionAnswers, keep: Callable[[Answer], bool]) -> QuestionAnswers:
    """Return `question` with the answers that `keep` accepts; groups left empty are gone."""
    groups = (tuple(filter(keep, group)) for group in question.answer_groups)
    return question.model_copy(update={"answer_groups": tuple(group for group in groups if group)})


def drop_positions(question: QuestionAnswers, positions: Iterable[int]) -> QuestionAnswers:
    """Return `question` without the answers at `positions`, counted through all groups."""
    dropped = frozenset(positions)
    counter = count()
    return keep_answers(question, lambda _: next(counter) not in dropped)


def grouped(
    question: str, answers: Sequence[Answer], groups: Sequence[Sequence[int]]
) -> QuestionAnswers:
    """Return `question` with `answers` arranged by `groups` of indices."""
    return QuestionAnswers(
        question=question,
        answer_groups=tuple(tuple(answers[i] for i in group) for group in groups),
    )
