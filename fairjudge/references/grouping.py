"""Sorting the answers to questions of a story by a model: one call, parts where there are many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fairjudge.domain import Answer, Article, Unscored
from fairjudge.parsing import read_object
from fairjudge.parsing.outcomes import RETRYABLE
from fairjudge.prompting import Fenced, json_object, load_template
from fairjudge.references.asker import INTEGERS, Asker
from fairjudge.references.ports import Asked, Consolidator, Grouping
from fairjudge.text.scripts import count_words, first_words

MAX_ANSWERS = 60
"""More answers are sorted in parts: the first makes groups, the others add to them."""
MAX_LABEL_WORDS = 16
_LIMIT = 6000
_GROUP = json_object({"answers": INTEGERS, "label": {"type": "string"}, "disputed_by": INTEGERS})
"""A label is written after the answers that it must be true of."""
_SCHEMA = json_object(
    {
        "sorted": {
            "type": "array",
            "items": json_object(
                {
                    "question": {"type": "integer"},
                    "groups": {"type": "array", "items": _GROUP},
                    "rivals": {"type": "array", "items": INTEGERS},
                    "invalid": INTEGERS,
                }
            ),
        }
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Answers by position that say the same, what they say, and those that dispute it."""

    label: str
    members: tuple[int, ...]
    disputed: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sorted:
    """What a reply makes of the answers to one question; ``rivals`` are pairs of ``groups``."""

    groups: tuple[Group, ...] = ()
    rivals: frozenset[tuple[int, int]] = frozenset()
    invalid: frozenset[int] = field(default_factory=frozenset)


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmGrouper:
    """Asks for groups of answers with a label each, for rivals, and which answers are invalid.

    With ``keep_invalid`` these stay where the groups have them, as consolidation alone wants it.
    What cannot be read is asked for once more; then, where several questions were asked together,
    each alone; then `fallback` groups, or each answer stands alone where there is none.
    """

    asker: Asker
    fallback: Consolidator | None = None
    batch_size: int = MAX_ANSWERS
    keep_invalid: bool = False

    async def group(
        self, asked: Sequence[Asked], questions: Sequence[str], articles: Sequence[Article]
    ) -> tuple[Grouping | Unscored, ...]:
        """See `fairjudge.references.ports.Grouper`."""
        if len(asked) > 1 and sum(len(one.answers) for one in asked) <= self.batch_size:
            found = await self._sort(asked, questions, articles)
            if not isinstance(found, Unscored):
                return tuple(
                    self._grouping(
                        _joined(Sorted(), found[one.index], range(len(one.answers))), one.answers
                    )
                    for one in asked
                )
            if found.reason in RETRYABLE:
                return (found,) * len(asked)
        return tuple([await self._alone(one, questions, articles) for one in asked])

    async def _alone(
        self, asked: Asked, questions: Sequence[str], articles: Sequence[Article]
    ) -> Grouping | Unscored:
        n, so_far = len(asked.answers), Sorted()
        n_parts = max(1, -(-n // self.batch_size))
        for part in range(n_parts):
            places = range(part * n // n_parts, (part + 1) * n // n_parts)
            some = replace(asked, answers=tuple(asked.answers[place] for place in places))
            labels = [group.label for group in so_far.groups]
            found = await self._sort([some], questions, articles, labels=labels)
            if isinstance(found, Unscored):
                return await self._without(found, questions[asked.index], asked.answers, articles)
            so_far = _joined(so_far, found[asked.index], places)
        return self._grouping(so_far, asked.answers)

    async def _sort(
        self,
        asked: Sequence[Asked],
        questions: Sequence[str],
        articles: Sequence[Article],
        *,
        labels: Sequence[str] = (),
    ) -> Mapping[int, Sorted] | Unscored:
        outlets = {article.aid: article.domain or article.aid for article in articles}
        numbered = "\n".join(f"{n}. {question}" for n, question in enumerate(questions, 1))
        return await self.asker.ask(
            load_template("reference", "groups"),
            {
                "questions": Fenced("questions", (numbered,)),
                "answers": _answers(asked, outlets, labels),
                "label_words": str(MAX_LABEL_WORDS),
            },
            schema=_SCHEMA,
            read=lambda text, _: read_sorted(
                text, sizes={one.index: len(one.answers) for one in asked}
            ),
            usual_limit=_LIMIT,
        )

    async def _without(
        self, why: Unscored, question: str, answers: Sequence[Answer], articles: Sequence[Article]
    ) -> Grouping | Unscored:
        """Group by other means than the model's, and say so."""
        if why.reason in RETRYABLE:
            return why  # nothing takes the place of a reply that may still come
        if self.fallback is None:
            alone = tuple((n,) for n in range(len(answers)))
            problem = f"each answer stands alone, not by the model: {_why(why)}"
            return Grouping(groups=alone, problem=problem, reason=why.reason)
        found = await self.fallback.group(question, answers, articles)
        if isinstance(found, Unscored):
            return found
        problem = f"by embeddings, not by the model: {_why(why)}"
        return Grouping(groups=found, problem=problem, reason=why.reason)

    def _grouping(self, found: Sorted, answers: Sequence[Answer]) -> Grouping:
        """Return the groups, largest first, without invalid answers."""
        left_out = frozenset() if self.keep_invalid else found.invalid
        alone = found.invalid.difference(*(group.members for group in found.groups))
        kept_alone = sorted(alone) if self.keep_invalid else []
        groups = [
            *(_without_members(group, left_out) for group in found.groups),
            *(Group(label="", members=(place,)) for place in kept_alone),
        ]
        order = [n for n, group in enumerate(groups) if group.members]
        order.sort(key=lambda n: (-len(groups[n].members), groups[n].members, n))
        place = {old: new for new, old in enumerate(order)}
        pairs = (sorted((place[a], place[b])) for a, b in found.rivals if {a, b} <= place.keys())
        return Grouping(
            groups=tuple(groups[n].members for n in order),
            labels=tuple(_label(groups[n], answers) for n in order),
            disputed=tuple(groups[n].disputed for n in order),
            rivals=tuple(sorted((a, b) for a, b in pairs)),
            invalid=left_out,
        )


def _without_members(group: Group, left_out: frozenset[int]) -> Group:
    members = tuple(n for n in group.members if n not in left_out)
    disputed = tuple(n for n in group.disputed if n not in left_out)
    return replace(group, members=members, disputed=disputed)


_STANCES = {"reports": "reported", "disputes": "disputed", "endorses": "endorsed"}


def answer_line(answer: Answer, *, outlet: str) -> str:
    """Return one answer as the prompt shows it: outlet, speaker, stance, words and gloss."""
    voice = [outlet, answer.speaker or "", _STANCES.get(answer.stance or "", "")]
    if answer.speaker is None and answer.stance in {None, "endorses"}:
        voice = [outlet]
    gloss = f" [{answer.gloss}]" if answer.gloss else ""
    held = f"({', '.join(filter(None, voice))}) " if any(voice) else ""
    return " ".join(f"{held}{answer.answer}{gloss}".split())


def _answers(asked: Sequence[Asked], outlets: Mapping[str, str], labels: Sequence[str]) -> Fenced:
    """Return a fence a question with its answers, numbered through all of them.

    No answer can pass for two, for its line holds no break. `labels` are of groups that earlier
    answers to the same question made.
    """
    texts, titles, number = [], [], 0
    for one in asked:
        lines = []
        for answer in one.answers:
            number += 1
            lines.append(f"{number}. {answer_line(answer, outlet=outlets.get(answer.aid, ''))}")
        texts.append("\n".join(lines))
        titles.append(f"to question {one.index + 1}")
    if labels:
        texts.append("\n".join(f"- {label}" for label in labels))
        titles.append(
            "labels of groups that other answers to it made: what says the same joins one by its "
            "label, word for word; these groups need not be listed"
        )
    return Fenced("answers", tuple(texts), tuple(titles))


def read_sorted(text: str, *, sizes: Mapping[int, int]) -> dict[int, Sorted] | Unscored:
    """Return what a reply makes of the answers to each question; `sizes` says how many it has.

    Answers are numbered from 1 through all questions, in the order of `sizes`, and are returned by
    their position among those to their question. An answer that stands nowhere, or under another
    question, makes a reply unparseable, as does a question that is missing.
    """
    value = read_object(text, "sorted") or {}
    rows = value.get("sorted")
    by_number = {
        row.get("question"): row
        for row in (rows if isinstance(rows, list) else [])
        if isinstance(row, dict)
    }
    found, first = {}, 1
    for index, size in sizes.items():
        one = _sorted(by_number.get(index + 1), range(first, first + size))
        if one is None:
            detail = "the groups do not hold each answer"
            return Unscored(reason="unparseable", detail=detail, raw=text)
        found[index] = one
        first += size
    return found


def _sorted(row: Any, offered: range) -> Sorted | None:
    if not isinstance(row, dict) or not isinstance(row.get("groups"), list):
        return None
    groups: list[Group] = []
    for one in row["groups"]:
        if not isinstance(one, dict):
            return None
        members = _positions(one.get("answers"), offered)
        disputed = _positions(one.get("disputed_by", []), offered)
        if members is None or disputed is None:
            return None
        label = " ".join(one["label"].split()) if isinstance(one.get("label"), str) else ""
        rest = tuple(n for n in disputed if n not in members)
        groups.append(Group(label=label, members=members, disputed=rest))
    invalid = _positions(row.get("invalid", []), offered)
    if invalid is None:
        return None
    placed = {n for group in groups for n in (*group.members, *group.disputed)}
    if placed.union(invalid) != set(range(len(offered))):
        return None
    pairs = _pairs(row.get("rivals", []), len(groups))
    return Sorted(groups=tuple(groups), rivals=pairs, invalid=frozenset(invalid))


def _positions(numbers: Any, offered: range) -> tuple[int, ...] | None:
    """Return numbers that were offered by their position, ascending; None for anything else."""
    if not isinstance(numbers, list):
        return None
    if not all(type(number) is int and number in offered for number in numbers):
        return None
    return tuple(sorted({offered.index(number) for number in numbers}))


def _pairs(value: Any, n: int) -> frozenset[tuple[int, int]]:
    """Return the pairs of different groups (numbered from 1) that `value` holds."""
    pairs = set()
    for pair in value if isinstance(value, list) else []:
        numbers = pair if isinstance(pair, list) else []
        if len(numbers) == 2 and all(type(one) is int and 1 <= one <= n for one in numbers):
            a, b = sorted(number - 1 for number in numbers)
            pairs |= {(a, b)} if a != b else set()
    return frozenset(pairs)


def _joined(so_far: Sorted, found: Sorted, places: range) -> Sorted:
    """Add the groups of a part, whose answers stand at `places`; one label is one group."""
    groups = list(so_far.groups)
    known = {group.label.casefold(): n for n, group in enumerate(groups) if group.label}
    at: list[int] = []
    for group in found.groups:
        members = tuple(places[n] for n in group.members)
        disputed = tuple(places[n] for n in group.disputed)
        n = known.get(group.label.casefold(), len(groups))
        if n == len(groups):
            groups.append(Group(label=group.label, members=members, disputed=disputed))
            if group.label:
                known[group.label.casefold()] = n
        else:
            old = groups[n]
            groups[n] = replace(
                old,
                members=tuple(sorted({*old.members, *members})),
                disputed=tuple(sorted({*old.disputed, *disputed} - {*old.members, *members})),
            )
        at.append(n)
    pairs = {tuple(sorted((at[a], at[b]))) for a, b in found.rivals}
    rivals = so_far.rivals.union((a, b) for a, b in pairs if a != b)
    invalid = so_far.invalid.union(places[n] for n in found.invalid)
    return Sorted(groups=tuple(groups), rivals=rivals, invalid=invalid)


def _label(group: Group, answers: Sequence[Answer]) -> str:
    """Return the model's label, or the shortest answer's words where it gave none; cut if long."""
    text = group.label or min((answers[n].answer for n in group.members), key=len)
    return first_words(text, MAX_LABEL_WORDS) + (
        "\u2026" if count_words(text) > MAX_LABEL_WORDS else ""
    )


def _why(why: Unscored) -> str:
    return f"{why.reason}: {why.detail}"
