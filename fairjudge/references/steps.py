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

_FUNCTION_WORDS = frozenset(
    """a an the of to in on for by is are was were be been do does did has have had will would can
    could should according""".split()  # noqa: SIM905  # a list this long reads worse
)

_QUESTION_WORDS = {"who": "who", "whom": "who", "whose": "who", "which": "what"} | {
    word: word for word in ("what", "when", "where", "why", "how")
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Validity:
    """Conditions for a valid question: minimum share of sources, in (0, 1], and answer groups.

    The defaults are DiverseSumm's. Discord Questions has two further filters, disabled if None: the
    largest group has at most the share ``max_largest_share`` of the answers (there 0.5), and less
    than the share ``max_source_overlap`` of the answering paragraphs (there 0.8) answer another
    question.
    """

    min_source_share: float = 0.3
    min_groups: int = 2
    max_largest_share: float | None = None
    max_source_overlap: float | None = None

    def min_sources(self, n: int) -> int:
        """Return the minimum number of `n` sources that must answer a question."""
        return math.ceil(round(self.min_source_share * n, 6))


MIN_SOURCES = 2
"""Minimum number of sources per question: a single source shows no differences."""
MAX_QUESTIONS, MIN_QUESTIONS, WORDS_PER_QUESTION = 12, 4, 60


def question_count(articles: Iterable[Article]) -> int:
    """Return the number of questions for the length of `articles`, including headlines."""
    n_words = sum(count_words(f"{article.title} {article.content}") for article in articles)
    return min(MAX_QUESTIONS, max(MIN_QUESTIONS, n_words // WORDS_PER_QUESTION))


def split_articles(articles: Sequence[Article], n_parts: int) -> tuple[tuple[Article, ...], ...]:
    """Distribute `articles` in turn over at most `n_parts` parts of two or more articles."""
    n = max(1, min(n_parts, len(articles) // 2))
    return tuple(tuple(articles[part::n]) for part in range(n))


def answering_aids(question: QuestionAnswers) -> frozenset[str]:
    """Return the ids of the articles that answer `question`."""
    return frozenset(answer.aid for group in question.answer_groups for answer in group)


def invalid_reason(
    question: QuestionAnswers, *, n_sources: int, validity: Validity, min_sources: int = 0
) -> str | None:
    """Return the reason why `question` is invalid for `n_sources` articles, None if it is valid."""
    n_answering = len(answering_aids(question))
    n_groups = len(question.answer_groups)
    if n_answering < validity.min_sources(n_sources):
        share = f"{n_answering} of {n_sources} sources"
        return f"answered by {share}, fewer than {percentage(validity.min_source_share)}"
    if n_answering < min_sources:
        return f"answered by {pluralize(n_answering, 'source')}, fewer than {min_sources}"
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
    min_sources: int = 0,
) -> tuple[list[QuestionAnswers], list[dict[str, str]]]:
    """Return the valid questions for `n_sources` articles, and invalid ones with the reason.

    A question needs at least `min_sources` sources, whatever their share.
    """
    valid, invalid = [], []
    for question in questions:
        reason = invalid_reason(
            question, n_sources=n_sources, validity=validity, min_sources=min_sources
        )
        if reason is None:
            valid.append(question)
        else:
            invalid.append({"question": question.question, "why": reason})
    return valid, invalid


def median_cluster_question(questions: Sequence[QuestionAnswers]) -> QuestionAnswers | None:
    """Return the first question with the median number of answer groups.

    For an even number of questions the lower median is used. Questions without answers are ignored.
    """
    questions_with_answers = [question for question in questions if question.answer_groups]
    if not questions_with_answers:
        return None
    median = median_low(len(question.answer_groups) for question in questions_with_answers)
    return next(
        question for question in questions_with_answers if len(question.answer_groups) == median
    )


def medium_length_article(articles: Iterable[Article]) -> Article:
    """Return the article of median length in words (lower median; the first of a tie)."""
    by_length = sorted(articles, key=lambda article: count_words(article.content))
    return by_length[(len(by_length) - 1) // 2]


def representative_articles(
    question: QuestionAnswers, articles: Sequence[Article], *, limit: int = 5
) -> tuple[Article, ...]:
    """Return the medium-length article of each of the `limit` largest answer groups.

    An article of several groups is returned once. Groups of equal size keep their order.
    """
    by_aid = {article.aid: article for article in articles}
    groups = sorted(question.answer_groups, key=lambda group: -len(group))[:limit]
    articles_by_aid: dict[str, Article] = {}
    for group in groups:
        members = [by_aid[aid] for aid in dict.fromkeys(answer.aid for answer in group)]
        article = medium_length_article(members)
        articles_by_aid.setdefault(article.aid, article)
    return tuple(articles_by_aid.values())


def down_select(
    questions: Sequence[QuestionAnswers], articles: Sequence[Article], *, limit: int
) -> tuple[tuple[Article, ...], tuple[QuestionAnswers, ...]]:
    """Return the `limit` articles that answer most questions, and the questions with their answers.

    Ties are broken by cluster order; the result is in cluster order. Groups and questions without
    answers are dropped.
    """
    counts = Counter(aid for question in questions for aid in answering_aids(question))
    ranking = sorted(articles, key=lambda article: -counts[article.aid])[:limit]
    kept_aids = {article.aid for article in ranking}
    restricted_questions = (
        keep_answers(question, lambda answer: answer.aid in kept_aids) for question in questions
    )
    return (
        tuple(article for article in articles if article.aid in kept_aids),
        tuple(question for question in restricted_questions if question.answer_groups),
    )


def drop_near_duplicates(questions: Sequence[str]) -> tuple[str, ...]:
    """Return the questions without near-duplicates: word overlap (Jaccard) of at least 0.75.

    The first of each set is kept. Articles and auxiliaries are ignored, and "what" equals "which".
    Questions with different question words (what, who, why, when, where, how) are never duplicates.
    """
    distinct: list[tuple[str, frozenset[str]]] = []
    for question in questions:
        content_words = frozenset(words(question)) - _FUNCTION_WORDS
        if not any(_same_question(content_words, other_words) for _, other_words in distinct):
            distinct.append((question, content_words))
    return tuple(question for question, _ in distinct)


def _same_question(a: frozenset[str], b: frozenset[str]) -> bool:
    question_words = [
        {_QUESTION_WORDS[word] for word in content_words if word in _QUESTION_WORDS}
        for content_words in (a, b)
    ]
    if all(question_words) and question_words[0] != question_words[1]:
        return False
    a, b = a - _QUESTION_WORDS.keys(), b - _QUESTION_WORDS.keys()
    return len(a & b) >= 0.75 * len(a | b)


def drop_same_sources(
    questions: Sequence[QuestionAnswers], articles: Sequence[Article], *, max_contained: float
) -> tuple[list[QuestionAnswers], list[QuestionAnswers]]:
    """Split `questions` into those to keep and those with the answering paragraphs of another.

    As in the authors' code, questions with most answers have priority, and a question is dropped if
    at least the share `max_contained` (there 0.8) of its answering paragraphs answer a question of
    higher priority. Both results are in the original order.
    """
    paragraphs = {article.aid: _paragraphs(article) for article in articles}
    paragraphs_by_question = [answering_paragraphs(question, paragraphs) for question in questions]
    distinct: list[int] = []
    for row in _most_answers_first(questions):
        if all(
            containment(paragraphs_by_question[row], paragraphs_by_question[earlier_row])
            < max_contained
            for earlier_row in distinct
        ):
            distinct.append(row)
    return _partition(questions, set(distinct))


def drop_surplus_facets(
    questions: Sequence[QuestionAnswers], *, target: int
) -> tuple[list[QuestionAnswers], list[QuestionAnswers]]:
    """Split `questions` into those to keep and surplus questions whose answers do not conflict.

    Questions without rivals for most groups are used only to reach `target` questions, those with
    most answers first. Both results are in the original order.
    """
    facets = [row for row in _most_answers_first(questions) if _is_mostly_facets(questions[row])]
    n_wanted = max(0, target - (len(questions) - len(facets)))
    return _partition(questions, set(range(len(questions))).difference(facets[n_wanted:]))


def _most_answers_first(questions: Sequence[QuestionAnswers]) -> list[int]:
    n_answers = [sum(map(len, question.answer_groups)) for question in questions]
    return sorted(range(len(questions)), key=lambda row: -n_answers[row])


def _partition(
    questions: Sequence[QuestionAnswers], kept_rows: set[int]
) -> tuple[list[QuestionAnswers], list[QuestionAnswers]]:
    """Return the questions in `kept_rows` and the remaining questions, both in order."""
    parts: tuple[list[QuestionAnswers], list[QuestionAnswers]] = ([], [])
    for row, question in enumerate(questions):
        parts[row not in kept_rows].append(question)
    return parts


def _is_mostly_facets(question: QuestionAnswers) -> bool:
    """Return whether fewer than half of the groups have a rival; False if unknown."""
    if question.rivals is None:
        return question.kind == "facets"
    return 2 * len(set(chain(*question.rivals))) < len(question.answer_groups)


def containment(places: frozenset[Place], other_places: frozenset[Place]) -> float:
    """Return the share of `places` in `other_places`, in [0, 1]; 0 if `places` is empty."""
    return len(places & other_places) / len(places) if places else 0.0


def answering_paragraphs(
    question: QuestionAnswers, paragraphs: Mapping[str, Sequence[Counter[str]]]
) -> frozenset[Place]:
    """Return the paragraphs that answer `question`: for each answer the most similar paragraph.

    `paragraphs` are the word counts of each article's paragraphs. The most similar paragraph has
    the most common words; it is the first of a tie.
    """
    answers = (answer for group in question.answer_groups for answer in group)
    return frozenset((a.aid, _closest_paragraph(a, paragraphs.get(a.aid, ()))) for a in answers)


def _closest_paragraph(answer: Answer, paragraphs: Sequence[Counter[str]]) -> int:
    answer_words = Counter(words(answer.answer))
    n_common = [(answer_words & paragraph).total() for paragraph in paragraphs]
    return n_common.index(max(n_common)) if n_common else 0


def _paragraphs(article: Article) -> list[Counter[str]]:
    return [Counter(words(piece)) for piece in _BLANK_LINES.split(article.content) if piece.strip()]


def keep_answers(question: QuestionAnswers, keep: Callable[[Answer], bool]) -> QuestionAnswers:
    """Return `question` with the answers for which `keep` is true, without empty groups."""
    groups = [tuple(filter(keep, group)) for group in question.answer_groups]
    non_empty = [index for index, group in enumerate(groups) if group]
    update: dict[str, object] = {"answer_groups": tuple(groups[index] for index in non_empty)}
    for name in GROUP_LISTS:
        values = getattr(question, name)
        if values is not None:
            update[name] = tuple(values[index] for index in non_empty)
    if question.group_sources is not None:
        update["group_sources"] = tuple(
            _restrict_sources(question.group_sources[index], groups[index]) for index in non_empty
        )
    return question.model_copy(update=update | _rivals_among(question, non_empty))


def _restrict_sources(sources: GroupSources, answers: Sequence[Answer]) -> GroupSources:
    aids = {answer.aid for answer in answers}
    support = tuple(aid for aid in sources.support if aid in aids)
    return sources.model_copy(update={"support": support})


def _rivals_among(question: QuestionAnswers, indices: Sequence[int]) -> dict[str, object]:
    """Return the pairs of rivals by their new indices, and the resulting kind."""
    if question.rivals is None:
        return {}
    new_index = {old: new for new, old in enumerate(indices)}
    pairs = tuple(
        (new_index[a], new_index[b])
        for a, b in question.rivals
        if a in new_index and b in new_index
    )
    return {"rivals": pairs, "kind": "rivals" if pairs else "facets"}


def drop_positions(question: QuestionAnswers, positions: Iterable[int]) -> QuestionAnswers:
    """Return `question` without the answers at `positions`, which are indices over all groups."""
    excluded = frozenset(positions)
    counter = count()
    return keep_answers(question, lambda _: next(counter) not in excluded)


def drop_unsupported(
    question: QuestionAnswers, places: Collection[tuple[int, int]]
) -> tuple[QuestionAnswers, dict[int, int]]:
    """Return `question` without the answers at `places`, and a map from old to new group indices.

    A place is a group index and an index in the group. Groups without remaining answers are
    omitted.
    """
    sizes = [len(group) for group in question.answer_groups]
    offsets = list(accumulate(sizes, initial=0))
    n_dropped = Counter(group for group, _ in places)
    remainder = drop_positions(question, (offsets[group] + position for group, position in places))
    remaining_groups = [group for group, size in enumerate(sizes) if size > n_dropped[group]]
    return remainder, {group: new for new, group in enumerate(remaining_groups)}


def with_answers(
    question: str,
    answers: Sequence[Answer],
    groups: Sequence[Sequence[int]],
    labels: Sequence[str] | None = None,
) -> QuestionAnswers:
    """Return `question` with `answers` arranged in `groups` of indices, with their labels."""
    fields = {} if labels is None else {"group_labels": tuple(labels)}
    return QuestionAnswers(
        question=question,
        answer_groups=tuple(tuple(answers[i] for i in group) for group in groups),
        **fields,
    )


def with_grouping(question: str, answers: Sequence[Answer], grouping: Grouping) -> QuestionAnswers:
    """Return `question` with its groups, their labels, sources and rivals.

    An answer in a group supports it: an answer that disputes X and is in the group not-X endorses
    not-X. The stance ``disputes`` is therefore replaced, and the source is in ``dispute`` of the
    group X. A passage that only reports the disputed claim ("a video claims to show X") is dropped
    from not-X if the article supports not-X by another passage.
    """
    disputes = grouping.disputed or ((),) * len(grouping.groups)
    disputing_indices = {n for n, answer in enumerate(answers) if answer.stance == "disputes"}
    group_answers = [
        answer.model_copy(update={"stance": "endorses"}) if answer.stance == "disputes" else answer
        for answer in answers
    ]
    groups, sources = [], []
    for members, dispute_members in zip(grouping.groups, disputes, strict=True):
        supporting_aids = {answers[n].aid for n in members if n not in disputing_indices}
        groups.append(
            [
                n
                for n in members
                if n not in disputing_indices or answers[n].aid not in supporting_aids
            ]
        )
        support = dict.fromkeys(answers[n].aid for n in members)
        dispute = dict.fromkeys(
            answers[n].aid for n in dispute_members if answers[n].aid not in support
        )
        sources.append(GroupSources(support=tuple(support), dispute=tuple(dispute)))
    facts: dict[str, Any] = {"group_sources": tuple(sources)}
    if grouping.rivals is not None:
        facts |= {"kind": "rivals" if grouping.rivals else "facets", "rivals": grouping.rivals}
    result = with_answers(question, group_answers, groups, grouping.labels)
    return QuestionAnswers.model_validate(result.to_json() | facts)


def add_missed_answer(question: QuestionAnswers, group: int, answer: Answer) -> QuestionAnswers:
    """Return `question` with another answer in a group, or another article that disputes it."""
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
