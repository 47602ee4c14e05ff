"""Group the answers to the questions of a story with a model, in parts if there are many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from fairjudge.domain import Answer, Article, Unscored
from fairjudge.parsing import read_object
from fairjudge.parsing.outcomes import RETRYABLE
from fairjudge.prompting import (
    INTEGER,
    INTEGERS,
    STRING,
    Fenced,
    json_array,
    json_object,
    load_template,
)
from fairjudge.references.asker import ModelStep
from fairjudge.references.ports import AnswerSet, Consolidator, Grouping
from fairjudge.text.scripts import count_words, first_words
from fairjudge.text.tokens import words

Claim: TypeAlias = tuple[bool, tuple[str, ...]]
"""Whether a label is negative, and its words without denials, hedges and function words."""

_WEAK_DENIALS = frozenset({"doubtful", "unlikely", "questionable"})
_DENIALS = _WEAK_DENIALS | {"not", "no", "never", "false", "untrue"}
_HEDGES = frozenset(
    {"probably", "probable", "likely", "apparently", "presumably", "reportedly", "generally"}
)
_FRAME = frozenset(
    """it is are was were be that a an the do does did true so""".split()  # noqa: SIM905  # shorter
)


def claim_of(label: str) -> Claim:
    """Return the claim of `label`, regardless of its strength.

    Two denials ("It is doubtful that X was not seen") may cancel out, so such labels are unchanged.
    """
    label_words = _words(label)
    if sum(word in _DENIALS for word in label_words) > 1:
        return False, tuple(label_words)
    content_words = (word for word in label_words if word not in _DENIALS | _HEDGES | _FRAME)
    return not _DENIALS.isdisjoint(label_words), tuple(content_words)


def weaker_label(first: str, second: str) -> str:
    """Return the weaker of two labels: `second` if only it is hedged, else `first`."""
    return second if _is_hedged(second) and not _is_hedged(first) else first


def _is_hedged(label: str) -> bool:
    return not (_WEAK_DENIALS | _HEDGES).isdisjoint(_words(label))


def _words(label: str) -> list[str]:
    return list(words(label.replace("\u2019", "'").replace("n't", " not")))


MAX_ANSWERS = 60
"""Maximum number of answers per call; later parts extend the groups of earlier parts."""
MAX_LABEL_WORDS = 16
_LIMIT = 6000
_GROUP = json_object({"answers": INTEGERS, "label": STRING, "disputed_by": INTEGERS})
"""The label follows the answers, so that the model knows the group's members when writing it."""
_QUESTION_GROUPS = json_object(
    {
        "question": INTEGER,
        "groups": json_array(_GROUP),
        "rivals": json_array(INTEGERS),
        "invalid": INTEGERS,
    }
)
_SCHEMA = json_object({"sorted": json_array(_QUESTION_GROUPS)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Answers (by index) with the same meaning, their label, and the answers that dispute it."""

    label: str
    members: tuple[int, ...]
    disputed: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupedAnswers:
    """The groups of answers to one question; ``rivals`` are pairs of indices of ``groups``."""

    groups: tuple[Group, ...] = ()
    rivals: frozenset[tuple[int, int]] = frozenset()
    invalid: frozenset[int] = field(default_factory=frozenset)


@dataclass(frozen=True, kw_only=True)
class LlmGrouper(ModelStep):
    """A `Grouper` that asks a model for labelled groups, rivals and invalid answers.

    An unparseable reply is requested once more; then several questions are sent one by one; then
    `fallback` groups the answers, or if it is None each answer is a separate group.
    """

    fallback: Consolidator | None = None
    batch_size: int = MAX_ANSWERS

    async def group(
        self,
        answer_sets: Sequence[AnswerSet],
        questions: Sequence[str],
        articles: Sequence[Article],
    ) -> tuple[Grouping | Unscored, ...]:
        """See `fairjudge.references.ports.Grouper`."""
        n_answers = sum(len(answer_set.answers) for answer_set in answer_sets)
        if len(answer_sets) > 1 and n_answers <= self.batch_size:
            by_question = await self._request_groups(answer_sets, questions, articles)
            if not isinstance(by_question, Unscored):
                return tuple(
                    self._to_grouping(
                        _merge(
                            GroupedAnswers(),
                            by_question[answer_set.index],
                            range(len(answer_set.answers)),
                        ),
                        answer_set.answers,
                    )
                    for answer_set in answer_sets
                )
            if by_question.reason in RETRYABLE:
                return (by_question,) * len(answer_sets)
        return tuple(
            [await self._group_alone(answer_set, questions, articles) for answer_set in answer_sets]
        )

    async def _group_alone(
        self, answer_set: AnswerSet, questions: Sequence[str], articles: Sequence[Article]
    ) -> Grouping | Unscored:
        n, grouped_answers = len(answer_set.answers), GroupedAnswers()
        n_parts = max(1, -(-n // self.batch_size))
        for part in range(n_parts):
            indices = range(part * n // n_parts, (part + 1) * n // n_parts)
            subset = replace(
                answer_set, answers=tuple(answer_set.answers[index] for index in indices)
            )
            labels = [group.label for group in grouped_answers.groups]
            by_question = await self._request_groups([subset], questions, articles, labels=labels)
            if isinstance(by_question, Unscored):
                return await self._group_without_model(
                    by_question, questions[answer_set.index], answer_set.answers, articles
                )
            grouped_answers = _merge(grouped_answers, by_question[answer_set.index], indices)
        return self._to_grouping(grouped_answers, answer_set.answers)

    async def _request_groups(
        self,
        answer_sets: Sequence[AnswerSet],
        questions: Sequence[str],
        articles: Sequence[Article],
        *,
        labels: Sequence[str] = (),
    ) -> Mapping[int, GroupedAnswers] | Unscored:
        outlets = {article.aid: article.domain or article.aid for article in articles}
        question_lines = "\n".join(f"{n}. {question}" for n, question in enumerate(questions, 1))
        return await self.asker.ask(
            load_template("reference", "groups"),
            {
                "questions": Fenced("questions", (question_lines,)),
                "answers": _fence_answers(answer_sets, outlets, labels),
                "label_words": str(MAX_LABEL_WORDS),
            },
            schema=_SCHEMA,
            parse=lambda text, _: read_groupings(
                text,
                sizes={answer_set.index: len(answer_set.answers) for answer_set in answer_sets},
            ),
            default_limit=_LIMIT,
        )

    async def _group_without_model(
        self,
        failure: Unscored,
        question: str,
        answers: Sequence[Answer],
        articles: Sequence[Article],
    ) -> Grouping | Unscored:
        """Group without the model, and report the reason."""
        if failure.reason in RETRYABLE:
            return failure  # the next run may still receive a reply
        if self.fallback is None:
            singletons = tuple((n,) for n in range(len(answers)))
            problem = f"each answer stands alone, not by the model: {_description(failure)}"
            return Grouping(groups=singletons, problem=problem, reason=failure.reason)
        groups = await self.fallback.group(question, answers, articles)
        if isinstance(groups, Unscored):
            return groups
        problem = f"by embeddings, not by the model: {_description(failure)}"
        return Grouping(groups=groups, problem=problem, reason=failure.reason)

    def _to_grouping(self, sorted_answers: GroupedAnswers, answers: Sequence[Answer]) -> Grouping:
        """Return the groups, largest first, without invalid answers."""
        groups = [_valid_only(group, sorted_answers.invalid) for group in sorted_answers.groups]
        order = [n for n, group in enumerate(groups) if group.members]
        order.sort(key=lambda n: (-len(groups[n].members), groups[n].members, n))
        new_index = {old: new for new, old in enumerate(order)}
        pairs = (
            sorted((new_index[a], new_index[b]))
            for a, b in sorted_answers.rivals
            if {a, b} <= new_index.keys()
        )
        return Grouping(
            groups=tuple(groups[n].members for n in order),
            labels=tuple(_label(groups[n], answers) for n in order),
            disputed=tuple(groups[n].disputed for n in order),
            rivals=tuple(sorted((a, b) for a, b in pairs)),
            invalid=sorted_answers.invalid,
        )


def _valid_only(group: Group, invalid: frozenset[int]) -> Group:
    members = tuple(n for n in group.members if n not in invalid)
    disputed = tuple(n for n in group.disputed if n not in invalid)
    return replace(group, members=members, disputed=disputed)


_STANCES = {"reports": "reported", "disputes": "disputed", "endorses": "endorsed"}


def answer_line(answer: Answer, *, outlet: str) -> str:
    """Return the line of an answer in the prompt: outlet, speaker, stance, words and gloss."""
    voice = [outlet, answer.speaker or "", _STANCES.get(answer.stance or "", "")]
    if answer.speaker is None and answer.stance in {None, "endorses"}:
        voice = [outlet]
    gloss = f" [{answer.gloss}]" if answer.gloss else ""
    prefix = f"({', '.join(filter(None, voice))}) " if any(voice) else ""
    return " ".join(f"{prefix}{answer.answer}{gloss}".split())


def _fence_answers(
    answer_sets: Sequence[AnswerSet], outlets: Mapping[str, str], labels: Sequence[str]
) -> Fenced:
    """Return the fenced answers, one text per question, numbered consecutively.

    Lines have no line breaks, so that an answer cannot imitate two. `labels` are the labels of
    groups of earlier answers to the same question.
    """
    texts, titles, number = [], [], 0
    for answer_set in answer_sets:
        lines = []
        for answer in answer_set.answers:
            number += 1
            lines.append(f"{number}. {answer_line(answer, outlet=outlets.get(answer.aid, ''))}")
        texts.append("\n".join(lines))
        titles.append(f"to question {answer_set.index + 1}")
    if labels:
        texts.append("\n".join(f"- {label}" for label in labels))
        titles.append(
            "labels of groups that other answers to it made: what says the same joins one by its "
            "label, word for word; these groups need not be listed"
        )
    return Fenced("answers", tuple(texts), tuple(titles))


def read_groupings(text: str, *, sizes: Mapping[int, int]) -> dict[int, GroupedAnswers] | Unscored:
    """Return the groups in a reply by question; `sizes` are the numbers of answers per question.

    In the reply, answers are numbered from 1 over all questions, in the order of `sizes`; in the
    result they are indices within their question. A reply is unparseable if an answer is missing
    or in another question, or if a question is missing.
    """
    value = read_object(text, "sorted") or {}
    rows = value.get("sorted")
    by_number = {
        row.get("question"): row
        for row in (rows if isinstance(rows, list) else [])
        if isinstance(row, dict)
    }
    by_question, first = {}, 1
    for index, size in sizes.items():
        grouped_answers = _read_question_groups(
            by_number.get(index + 1), range(first, first + size)
        )
        if grouped_answers is None:
            detail = "the groups do not hold each answer"
            return Unscored(reason="unparseable", detail=detail, raw=text)
        by_question[index] = grouped_answers
        first += size
    return by_question


def _read_question_groups(row: Any, numbers: range) -> GroupedAnswers | None:
    if not isinstance(row, dict) or not isinstance(row.get("groups"), list):
        return None
    groups: list[Group] = []
    for entry in row["groups"]:
        if not isinstance(entry, dict):
            return None
        members = _indices_in(entry.get("answers"), numbers)
        disputed = _indices_in(entry.get("disputed_by", []), numbers)
        if members is None or disputed is None:
            return None
        label = " ".join(entry["label"].split()) if isinstance(entry.get("label"), str) else ""
        opponents = tuple(n for n in disputed if n not in members)
        groups.append(Group(label=label, members=members, disputed=opponents))
    invalid = _indices_in(row.get("invalid", []), numbers)
    if invalid is None:
        return None
    indices = {n for group in groups for n in (*group.members, *group.disputed)}
    if indices.union(invalid) != set(range(len(numbers))):
        return None
    pairs = _pairs(row.get("rivals", []), len(groups))
    return GroupedAnswers(groups=tuple(groups), rivals=pairs, invalid=frozenset(invalid))


def _indices_in(values: Any, numbers: range) -> tuple[int, ...] | None:
    """Return the indices of `values` in `numbers`, ascending; None if one is not in it."""
    if not isinstance(values, list):
        return None
    if not all(type(value) is int and value in numbers for value in values):
        return None
    return tuple(sorted({numbers.index(value) for value in values}))


def _pairs(value: Any, n: int) -> frozenset[tuple[int, int]]:
    """Return the pairs of different groups in `value`, as indices; invalid items are skipped."""
    pairs = set()
    for pair in value if isinstance(value, list) else []:
        numbers = pair if isinstance(pair, list) else []
        if len(numbers) == 2 and all(
            type(number) is int and 1 <= number <= n for number in numbers
        ):
            a, b = sorted(number - 1 for number in numbers)
            pairs |= {(a, b)} if a != b else set()
    return frozenset(pairs)


def _merge(
    grouped_answers: GroupedAnswers, addition: GroupedAnswers, indices: range
) -> GroupedAnswers:
    """Return `grouped_answers` merged with those of another batch: equal labels are one group.

    `indices` are the indices of the part's answers among all answers.
    """
    groups = list(grouped_answers.groups)
    by_claim = {claim_of(group.label): n for n, group in enumerate(groups) if group.label}
    group_indices: list[int] = []
    for group in addition.groups:
        members = tuple(indices[n] for n in group.members)
        disputed = tuple(indices[n] for n in group.disputed)
        n = by_claim.get(claim_of(group.label), len(groups)) if group.label else len(groups)
        if n == len(groups):
            groups.append(Group(label=group.label, members=members, disputed=disputed))
            if group.label:
                by_claim[claim_of(group.label)] = n
        else:
            old = groups[n]
            groups[n] = replace(
                old,
                label=weaker_label(old.label, group.label),
                members=tuple(sorted({*old.members, *members})),
                disputed=tuple(sorted({*old.disputed, *disputed} - {*old.members, *members})),
            )
        group_indices.append(n)
    pairs = {tuple(sorted((group_indices[a], group_indices[b]))) for a, b in addition.rivals}
    rivals = grouped_answers.rivals.union((a, b) for a, b in pairs if a != b)
    invalid = grouped_answers.invalid.union(indices[n] for n in addition.invalid)
    return GroupedAnswers(groups=tuple(groups), rivals=rivals, invalid=invalid)


def _label(group: Group, answers: Sequence[Answer]) -> str:
    """Return the model's label, or else the shortest answer; truncated to `MAX_LABEL_WORDS`."""
    text = group.label or min((answers[n].answer for n in group.members), key=len)
    return first_words(text, MAX_LABEL_WORDS) + (
        "\u2026" if count_words(text) > MAX_LABEL_WORDS else ""
    )


def _description(failure: Unscored) -> str:
    return f"{failure.reason}: {failure.detail}"
