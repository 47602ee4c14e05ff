"""The steps of reference building without a model (DiverseSumm, section 3.1).

All functions are pure and deterministic; articles are identified by ``aid``.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, count
from statistics import median_low
from typing import Any, TypeAlias

from fairjudge.domain import GROUP_LISTS, Answer, Article, GroupSources, QuestionAnswers
from fairjudge.references.ports import Grouping
from fairjudge.text.counting import percentage, pluralize
from fairjudge.text.scripts import count_words
from fairjudge.text.tokens import words

Place: TypeAlias = tuple[str, int]
"""An article's ``aid`` and the index of one of its paragraphs."""

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
    """Conditions for a valid question: minimum share of sources, in (0, 1], and answer groups.

    These are DiverseSumm's. Discord Questions has two further filters, off with None: the largest
    group has at most the share ``max_largest_share`` of the answers (there 0.5), and less than the
    share ``max_source_overlap`` of its answering paragraphs (there 0.8) answer another question.
    """

    min_source_share: float = 0.3
    min_groups: int = 2
    max_largest_share: float | None = None
    max_source_overlap: float | None = None

    def least_sources(self, n: int) -> int:
        """Return the minimum number of `n` sources that must answer a question."""
        return math.ceil(round(self.min_source_share * n, 6))


LEAST_SOURCES = 2
"""Minimum number of sources: a question answered by one shows no difference between sources."""
MAX_QUESTIONS, MIN_QUESTIONS, WORDS_PER_QUESTION = 12, 4, 60


def how_many_questions(articles: Iterable[Article]) -> int:
    """Return the number of questions for the length of `articles`, headlines included."""
    n_words = sum(count_words(f"{article.title} {article.content}") for article in articles)
    return min(MAX_QUESTIONS, max(MIN_QUESTIONS, n_words // WORDS_PER_QUESTION))


def in_parts(articles: Sequence[Article], n_parts: int) -> tuple[tuple[Article, ...], ...]:
    """Distribute `articles` in turn over `n_parts` parts, or fewer so that each has two or more."""
    n = max(1, min(n_parts, len(articles) // 2))
    return tuple(tuple(articles[part::n]) for part in range(n))


def answering_aids(question: QuestionAnswers) -> frozenset[str]:
    """Return the ids of the articles that answer `question`."""
    return frozenset(answer.aid for group in question.answer_groups for answer in group)


def why_invalid(
    question: QuestionAnswers, *, n_sources: int, validity: Validity, at_least: int = 0
) -> str | None:
    """Return why `question` is invalid for `n_sources` articles, or None if it is valid."""
    n_answering = len(answering_aids(question))
    n_groups = len(question.answer_groups)
    if n_answering < validity.least_sources(n_sources):
        share = f"{n_answering} of {n_sources} sources"
        return f"answered by {share}, fewer than {percentage(validity.min_source_share)}"
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
    """Return the valid questions for `n_sources` articles, and the dropped ones with the reason.

    A question needs `at_least` sources, whatever their share.
    """
    valid, dropped = [], []
    for question in questions:
        why = why_invalid(question, n_sources=n_sources, validity=validity, at_least=at_least)
        if why is None:
            valid.append(question)
        else:
            dropped.append({"question": question.question, "why": why})
    return valid, dropped


def median_cluster_question(questions: Sequence[QuestionAnswers]) -> QuestionAnswers | None:
    """Return the first question with the median number of answer groups.

    For an even count it is the lower median. Questions without answers are excluded.
    """
    answered = [question for question in questions if question.answer_groups]
    if not answered:
        return None
    middle = median_low(len(question.answer_groups) for question in answered)
    return next(question for question in answered if len(question.answer_groups) == middle)


def medium_length_article(articles: Iterable[Article]) -> Article:
    """Return the article of median length in words (lower median; ties in the given order)."""
    by_length = sorted(articles, key=lambda article: count_words(article.content))
    return by_length[(len(by_length) - 1) // 2]


def representative_articles(
    question: QuestionAnswers, articles: Sequence[Article], *, limit: int = 5
) -> tuple[Article, ...]:
    """Return the medium-length article of each of the `limit` largest answer groups.

    Groups with the same medium-length article contribute it once. Ties in size keep their order.
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
    """Return the `limit` articles that answer most questions, and the questions with their answers.

    Ties are broken by cluster order; the result is in cluster order. Groups and questions without
    answers are dropped.
    """
    counts = Counter(aid for question in questions for aid in answering_aids(question))
    ranked = sorted(articles, key=lambda article: -counts[article.aid])[:limit]
    kept_aids = {article.aid for article in ranked}
    restricted = (
        keep_answers(question, lambda answer: answer.aid in kept_aids) for question in questions
    )
    return (
        tuple(article for article in articles if article.aid in kept_aids),
        tuple(question for question in restricted if question.answer_groups),
    )


def drop_near_duplicates(questions: Sequence[str]) -> tuple[str, ...]:
    """Return the questions without near-duplicates: word overlap (Jaccard) of at least 0.75.

    The first of each set is kept. Articles and auxiliaries are ignored, and "what" equals "which".
    Questions with different question words (what, who, why, when, where, how) are never duplicates.
    """
    distinct: list[tuple[str, frozenset[str]]] = []
    for question in questions:
        content_words = frozenset(words(question)) - _LIGHT_WORDS
        if not any(_same_question(content_words, other) for _, other in distinct):
            distinct.append((question, content_words))
    return tuple(question for question, _ in distinct)


def _same_question(a: frozenset[str], b: frozenset[str]) -> bool:
    asks = [{_ASKS[word] for word in question_words if word in _ASKS} for question_words in (a, b)]
    if all(asks) and asks[0] != asks[1]:
        return False
    a, b = a - _ASKS.keys(), b - _ASKS.keys()
    return len(a & b) >= 0.75 * len(a | b)


def drop_same_sources(
    questions: Sequence[QuestionAnswers], articles: Sequence[Article], *, max_contained: float
) -> tuple[list[QuestionAnswers], list[QuestionAnswers]]:
    """Split `questions` into those to keep and those answered by the paragraphs of another one.

    As in the authors' code, questions with most answers have priority, and one is dropped if at
    least the share `max_contained` (there 0.8) of its answering paragraphs answer a question of
    higher priority. Both results keep the given order.
    """
    paragraphs = {article.aid: _paragraphs(article) for article in articles}
    places = [answering_paragraphs(question, paragraphs) for question in questions]
    distinct: list[int] = []
    for row in _most_answers_first(questions):
        if all(containment(places[row], places[other]) < max_contained for other in distinct):
            distinct.append(row)
    return _split(questions, set(distinct))


def drop_surplus_facets(
    questions: Sequence[QuestionAnswers], *, target: int
) -> tuple[list[QuestionAnswers], list[QuestionAnswers]]:
    """Split `questions` into those to keep and those to drop because their answers can be true.

    Questions on which most groups have no rival only fill up to `target` questions, those with most
    answers first. Both results keep the given order.
    """
    facets = [row for row in _most_answers_first(questions) if _mostly_facets(questions[row])]
    n_wanted = max(0, target - (len(questions) - len(facets)))
    return _split(questions, set(range(len(questions))).difference(facets[n_wanted:]))


def _most_answers_first(questions: Sequence[QuestionAnswers]) -> list[int]:
    n_answers = [sum(map(len, question.answer_groups)) for question in questions]
    return sorted(range(len(questions)), key=lambda row: -n_answers[row])


def _split(
    questions: Sequence[QuestionAnswers], kept_rows: set[int]
) -> tuple[list[QuestionAnswers], list[QuestionAnswers]]:
    """Return the questions in `kept_rows` and the others, both in order."""
    parts: tuple[list[QuestionAnswers], list[QuestionAnswers]] = ([], [])
    for row, question in enumerate(questions):
        parts[row not in kept_rows].append(question)
    return parts


def _mostly_facets(question: QuestionAnswers) -> bool:
    """Return whether fewer than half of the groups have a rival; False where that is not known."""
    if question.rivals is None:
        return question.kind == "facets"
    return 2 * len(set(chain(*question.rivals))) < len(question.answer_groups)


def containment(places: frozenset[Place], other: frozenset[Place]) -> float:
    """Return the share of `places` that are in `other`, in [0, 1]; 0 if `places` is empty."""
    return len(places & other) / len(places) if places else 0.0


def answering_paragraphs(
    question: QuestionAnswers, paragraphs: Mapping[str, Sequence[Counter[str]]]
) -> frozenset[Place]:
    """Return the paragraphs that answer `question`: for each answer the most similar one.

    `paragraphs` has the word counts of each article's paragraphs. An answer's paragraph is the one
    with most common words, the first of a tie.
    """
    answers = (answer for group in question.answer_groups for answer in group)
    return frozenset((a.aid, _place(a, paragraphs.get(a.aid, ()))) for a in answers)


def _place(answer: Answer, paragraphs: Sequence[Counter[str]]) -> int:
    answer_words = Counter(words(answer.answer))
    shared = [(answer_words & paragraph).total() for paragraph in paragraphs]
    return shared.index(max(shared)) if shared else 0


def _paragraphs(article: Article) -> list[Counter[str]]:
    return [Counter(words(piece)) for piece in _BLANK_LINES.split(article.content) if piece.strip()]


def keep_answers(question: QuestionAnswers, keep: Callable[[Answer], bool]) -> QuestionAnswers:
    """Return `question` with the answers that `keep` accepts, without empty groups."""
    groups = [tuple(filter(keep, group)) for group in question.answer_groups]
    non_empty = [place for place, group in enumerate(groups) if group]
    update: dict[str, object] = {"answer_groups": tuple(groups[place] for place in non_empty)}
    for name in GROUP_LISTS:
        values = getattr(question, name)
        if values is not None:
            update[name] = tuple(values[place] for place in non_empty)
    if question.group_sources is not None:
        update["group_sources"] = tuple(
            _still_there(question.group_sources[place], groups[place]) for place in non_empty
        )
    return question.model_copy(update=update | _rivals_among(question, non_empty))


def _still_there(sources: GroupSources, answers: Sequence[Answer]) -> GroupSources:
    aids = {answer.aid for answer in answers}
    support = tuple(aid for aid in sources.support if aid in aids)
    return sources.model_copy(update={"support": support})


def _rivals_among(question: QuestionAnswers, places: Sequence[int]) -> dict[str, object]:
    """Return the pairs of rivals by their new indices, and the resulting kind."""
    if question.rivals is None:
        return {}
    place = {old: new for new, old in enumerate(places)}
    pairs = tuple((place[a], place[b]) for a, b in question.rivals if a in place and b in place)
    return {"rivals": pairs, "kind": "rivals" if pairs else "facets"}


def drop_positions(question: QuestionAnswers, positions: Iterable[int]) -> QuestionAnswers:
    """Return `question` without the answers at `positions`, counted over all groups."""
    dropped = frozenset(positions)
    counter = count()
    return keep_answers(question, lambda _: next(counter) not in dropped)


def without_unsupported(
    question: QuestionAnswers, places: Collection[tuple[int, int]]
) -> tuple[QuestionAnswers, dict[int, int]]:
    """Return `question` without the answers at `places`, and its groups' new indices by the old.

    A place is a group and a position in it. A group that loses all its answers is left out.
    """
    sizes = [len(group) for group in question.answer_groups]
    first = list(accumulate(sizes, initial=0))
    n_dropped = Counter(group for group, _ in places)
    remainder = drop_positions(question, (first[group] + position for group, position in places))
    old = [group for group, size in enumerate(sizes) if size > n_dropped[group]]
    return remainder, {group: new for new, group in enumerate(old)}


def grouped(
    question: str,
    answers: Sequence[Answer],
    groups: Sequence[Sequence[int]],
    labels: Sequence[str] | None = None,
) -> QuestionAnswers:
    """Return `question` with `answers` arranged in `groups` of indices, with their labels."""
    labelled = {} if labels is None else {"group_labels": tuple(labels)}
    return QuestionAnswers(
        question=question,
        answer_groups=tuple(tuple(answers[i] for i in group) for group in groups),
        **labelled,
    )


def sorted_out(question: str, answers: Sequence[Answer], grouping: Grouping) -> QuestionAnswers:
    """Return `question` with its groups, their labels, sources and rivals.

    An answer in a group supports it: one that disputes X and is in the group not-X endorses not-X.
    The stance ``disputes`` is therefore replaced, and the group X has the source in ``dispute``. A
    passage that an article gives only to dispute it ("a video claims to show X") is dropped from
    not-X if the article supports not-X by another passage.
    """
    against = grouping.disputed or ((),) * len(grouping.groups)
    naming = {n for n, answer in enumerate(answers) if answer.stance == "disputes"}
    group_answers = [
        answer.model_copy(update={"stance": "endorses"}) if answer.stance == "disputes" else answer
        for answer in answers
    ]
    groups, sources = [], []
    for members, opposed in zip(grouping.groups, against, strict=True):
        plain = {answers[n].aid for n in members if n not in naming}
        groups.append([n for n in members if n not in naming or answers[n].aid not in plain])
        support = dict.fromkeys(answers[n].aid for n in members)
        dispute = dict.fromkeys(answers[n].aid for n in opposed if answers[n].aid not in support)
        sources.append(GroupSources(support=tuple(support), dispute=tuple(dispute)))
    facts: dict[str, Any] = {"group_sources": tuple(sources)}
    if grouping.rivals is not None:
        facts |= {"kind": "rivals" if grouping.rivals else "facets", "rivals": grouping.rivals}
    whole = grouped(question, group_answers, groups, grouping.labels)
    return QuestionAnswers.model_validate(whole.to_json() | facts)


def with_missed(question: QuestionAnswers, group: int, answer: Answer) -> QuestionAnswers:
    """Return `question` with a further answer in a group, or a further article that disputes it."""
    groups = [list(members) for members in question.answer_groups]
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
