"""The steps of reference building that need no model (DiverseSumm, section 3.1).

All functions are pure and deterministic; articles are named by ``aid``.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from statistics import median_low
from typing import Any, TypeAlias

from fairjudge.domain import GROUP_LISTS, Answer, Article, GroupSources, QuestionAnswers
from fairjudge.references.ports import Grouping
from fairjudge.text.counting import pluralize
from fairjudge.text.scripts import count_words
from fairjudge.text.tokens import words

Place: TypeAlias = tuple[str, int]
"""An article's ``aid``, and which of its paragraphs, from 0."""

_BLANK_LINES = re.compile(r"\n\s*\n")

_LIGHT_WORDS = frozenset(
    """a an the of to in on for by is are was were be been do does did has have had will would can
    could should according""".split()  # noqa: SIM905  # a list this long reads worse
)

_ASKS = {"who": "who", "whom": "who", "whose": "who", "which": "what"} | {
    word: word for word in ("what", "when", "where", "why", "how")
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Validity:
    """When a question stays: enough of the sources, in (0, 1], and answer groups (DiverseSumm).

    Discord Questions has two filters more, which None leaves out: the largest group holds at most
    ``max_largest_share`` of the answers (there 0.5), and less than ``max_source_overlap`` of the
    paragraphs that answer it (there 0.8) answer another question.
    """

    min_source_share: float = 0.3
    min_groups: int = 2
    max_largest_share: float | None = None
    max_source_overlap: float | None = None

    def least_sources(self, n: int) -> int:
        """Return how many of `n` sources must answer a question, rounded up."""
        return math.ceil(round(self.min_source_share * n, 6))


LEAST_SOURCES = 2
"""A question that one source answers in two ways shows no difference between sources."""
MAX_QUESTIONS, MIN_QUESTIONS, WORDS_PER_QUESTION = 12, 4, 60


def least_sources(validity: Validity, n: int) -> int:
    """Return how many of `n` sources must answer a question that is to show differences."""
    return max(LEAST_SOURCES, validity.least_sources(n))


def how_many_questions(articles: Iterable[Article]) -> int:
    """Return how many questions the words of `articles` may bear, headlines included."""
    n_words = sum(count_words(f"{article.title} {article.content}") for article in articles)
    return min(MAX_QUESTIONS, max(MIN_QUESTIONS, n_words // WORDS_PER_QUESTION))


def in_parts(articles: Sequence[Article], n_parts: int) -> tuple[tuple[Article, ...], ...]:
    """Deal `articles` by turns into parts of two or more, `n_parts` where there are enough."""
    n = max(1, min(n_parts, len(articles) // 2))
    return tuple(tuple(articles[part::n]) for part in range(n))


def answering_aids(question: QuestionAnswers) -> frozenset[str]:
    """Return the articles that answer `question`."""
    return frozenset(answer.aid for group in question.answer_groups for answer in group)


def why_invalid(
    question: QuestionAnswers, *, n_sources: int, validity: Validity, at_least: int = 0
) -> str | None:
    """Return why `question` does not stay among `n_sources` articles, or None if it does."""
    n_answering = len(answering_aids(question))
    n_groups = len(question.answer_groups)
    if n_answering < validity.least_sources(n_sources):
        share = f"{n_answering} of {n_sources} sources"
        return f"answered by {share}, fewer than {validity.min_source_share:.0%}"
    if n_answering < at_least:
        return f"answered by {pluralize(n_answering, 'source')}, fewer than {at_least}"
    if n_groups < validity.min_groups:
        return f"{pluralize(n_groups, 'answer group')}, fewer than {validity.min_groups}"
    if validity.max_largest_share is not None:
        sizes = [len(group) for group in question.answer_groups]
        if max(sizes) > validity.max_largest_share * sum(sizes):
            n_answers = pluralize(sum(sizes), "answer")
            return f"one group holds {max(sizes)} of {n_answers}: too much consensus"
    return None


def split_valid(
    questions: Iterable[QuestionAnswers],
    n_sources: int,
    validity: Validity,
    *,
    at_least: int = 0,
) -> tuple[list[QuestionAnswers], list[dict[str, str]]]:
    """Return the questions that stay among `n_sources` articles, and why each other does not.

    Fewer than `at_least` sources are too few, whatever share of all they are.
    """
    kept, dropped = [], []
    for question in questions:
        why = why_invalid(question, n_sources=n_sources, validity=validity, at_least=at_least)
        if why is None:
            kept.append(question)
        else:
            dropped.append({"question": question.question, "why": why})
    return kept, dropped


def median_cluster_question(questions: Sequence[QuestionAnswers]) -> QuestionAnswers | None:
    """Return the question with the median number of answer groups (the first one with it).

    With an even count the lower median is taken. Questions without answers are excluded.
    """
    answered = [question for question in questions if question.answer_groups]
    if not answered:
        return None
    middle = median_low(len(question.answer_groups) for question in answered)
    return next(question for question in answered if len(question.answer_groups) == middle)


def medium_length_article(articles: Iterable[Article]) -> Article:
    """Return the article of median length in words (lower median; ties by order given)."""
    by_length = sorted(articles, key=lambda article: count_words(article.content))
    return by_length[(len(by_length) - 1) // 2]


def representative_articles(
    question: QuestionAnswers, articles: Sequence[Article], *, limit: int = 5
) -> tuple[Article, ...]:
    """Return the medium-length article of each of the `limit` largest answer groups.

    Groups whose medium-length article was taken before add nothing. Ties in size keep their order.
    """
    by_aid = {article.aid: article for article in articles}
    groups = sorted(question.answer_groups, key=lambda group: -len(group))[:limit]
    chosen: dict[str, Article] = {}
    for group in groups:
        members = [by_aid[aid] for aid in dict.fromkeys(answer.aid for answer in group)]
        article = medium_length_article(members)
        chosen.setdefault(article.aid, article)
    return tuple(chosen.values())


def down_select(
    questions: Sequence[QuestionAnswers], articles: Sequence[Article], *, limit: int
) -> tuple[tuple[Article, ...], tuple[QuestionAnswers, ...]]:
    """Keep the `limit` articles that answer most questions, and only their answers.

    Ties go by cluster order; the articles kept stay in cluster order. Groups and questions left
    without answers are gone.
    """
    counts = {article.aid: 0 for article in articles}
    for question in questions:
        for aid in answering_aids(question):
            counts[aid] += 1
    ranked = sorted(articles, key=lambda article: -counts[article.aid])[:limit]
    kept = {article.aid for article in ranked}
    restricted = (
        keep_answers(question, lambda answer: answer.aid in kept) for question in questions
    )
    return (
        tuple(article for article in articles if article.aid in kept),
        tuple(question for question in restricted if question.answer_groups),
    )


def drop_near_duplicates(questions: Sequence[str]) -> tuple[str, ...]:
    """Keep the first of questions that share at least 0.75 of their words (Jaccard).

    Articles and auxiliaries do not count: they change while the question stays, as "what" and
    "which" do. Questions of which one asks what and the other who, why, when, where or how are
    never the same.
    """
    kept: list[tuple[str, frozenset[str]]] = []
    for question in questions:
        asked = frozenset(words(question)) - _LIGHT_WORDS
        if not any(_same_question(asked, other) for _, other in kept):
            kept.append((question, asked))
    return tuple(question for question, _ in kept)


def _same_question(a: frozenset[str], b: frozenset[str]) -> bool:
    asks = [{_ASKS[word] for word in some if word in _ASKS} for some in (a, b)]
    if all(asks) and asks[0] != asks[1]:
        return False
    a, b = a - _ASKS.keys(), b - _ASKS.keys()
    return len(a & b) >= 0.75 * len(a | b)


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


def keep_answers(question: QuestionAnswers, keep: Callable[[Answer], bool]) -> QuestionAnswers:
    """Return `question` with the answers that `keep` accepts; groups left empty are gone."""
    groups = [tuple(filter(keep, group)) for group in question.answer_groups]
    left = [place for place, group in enumerate(groups) if group]
    update: dict[str, object] = {"answer_groups": tuple(groups[place] for place in left)}
    for name in GROUP_LISTS:
        given = getattr(question, name)
        if given is not None:
            update[name] = tuple(given[place] for place in left)
    if question.group_sources is not None:
        update["group_sources"] = tuple(
            _still_there(question.group_sources[place], groups[place]) for place in left
        )
    return question.model_copy(update=update | _rivals_among(question, left))


def _still_there(sources: GroupSources, answers: Sequence[Answer]) -> GroupSources:
    left = {answer.aid for answer in answers}
    support = tuple(aid for aid in sources.support if aid in left)
    return sources.model_copy(update={"support": support})


def _rivals_among(question: QuestionAnswers, left: Sequence[int]) -> dict[str, object]:
    """Return the pairs of rivals by their new places, and the kind that follows from them."""
    if question.rivals is None:
        return {}
    place = {old: new for new, old in enumerate(left)}
    pairs = tuple((place[a], place[b]) for a, b in question.rivals if a in place and b in place)
    return {"rivals": pairs, "kind": "rivals" if pairs else "facets"}


def drop_positions(question: QuestionAnswers, positions: Iterable[int]) -> QuestionAnswers:
    """Return `question` without the answers at `positions`, counted through all groups."""
    dropped = frozenset(positions)
    counter = count()
    return keep_answers(question, lambda _: next(counter) not in dropped)


def grouped(
    question: str,
    answers: Sequence[Answer],
    groups: Sequence[Sequence[int]],
    labels: Sequence[str] | None = None,
) -> QuestionAnswers:
    """Return `question` with `answers` arranged by `groups` of indices, each with its label."""
    labelled = {} if labels is None else {"group_labels": tuple(labels)}
    return QuestionAnswers(
        question=question,
        answer_groups=tuple(tuple(answers[i] for i in group) for group in groups),
        **labelled,
    )


def sorted_out(question: str, answers: Sequence[Answer], found: Grouping) -> QuestionAnswers:
    """Return `question` with its groups, and with what is known of each.

    An answer in a group says what the group says: one that disputes X and stands under not-X
    endorses not-X. So ``disputes`` is left to the sources that a group has against it. Words that
    name X only to dispute it are left out of not-X where their article says not-X in others.
    """
    against = found.disputed or ((),) * len(found.groups)
    naming = {n for some in against for n in some if answers[n].stance == "disputes"}
    kept = [
        one.model_copy(update={"stance": "endorses"}) if one.stance == "disputes" else one
        for one in answers
    ]
    groups, sources = [], []
    for members, opposed in zip(found.groups, against, strict=True):
        plain = {answers[n].aid for n in members if n not in naming}
        groups.append([n for n in members if n not in naming or answers[n].aid not in plain])
        support = dict.fromkeys(answers[n].aid for n in members)
        dispute = dict.fromkeys(answers[n].aid for n in opposed if answers[n].aid not in support)
        sources.append(GroupSources(support=tuple(support), dispute=tuple(dispute)))
    known: dict[str, Any] = {"group_sources": tuple(sources)}
    if found.rivals is not None:
        known |= {"kind": "rivals" if found.rivals else "facets", "rivals": found.rivals}
    whole = grouped(question, kept, groups, found.labels)
    return QuestionAnswers.model_validate(whole.to_json() | known)


def with_missed(question: QuestionAnswers, group: int, answer: Answer) -> QuestionAnswers:
    """Return `question` with one more answer in a group, or one more article against it."""
    groups = [list(some) for some in question.answer_groups]
    sources = [facts.model_dump() for facts in question.group_sources or ()]
    side = "dispute" if answer.stance == "disputes" else "support"
    if side == "support":
        groups[group].append(answer)
    if sources and answer.aid not in sources[group][side]:
        sources[group][side] = (*sources[group][side], answer.aid)
    update = {"answer_groups": groups, **({"group_sources": sources} if sources else {})}
    return QuestionAnswers.model_validate(question.to_json() | update)


def with_weights(question: QuestionAnswers) -> QuestionAnswers:
    """Return `question` with the number of supporting articles as the weight of each group."""
    weights = tuple(len(group.supported_by) for group in question.groups())
    return question.model_copy(update={"group_weights": weights})
