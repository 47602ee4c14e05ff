"""Filtering and grouping the answers to one question by a model: one call, parts where many."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fairjudge.domain import Answer, Article, Unscored
from fairjudge.parsing import read_list, read_object
from fairjudge.parsing.outcomes import RETRYABLE
from fairjudge.prompting import Fenced, json_object, load_template
from fairjudge.references.asker import INTEGERS, Asker
from fairjudge.references.ports import Consolidator, Grouping, Groups, sort_groups
from fairjudge.text.scripts import count_words, first_words

MAX_ANSWERS = 60
"""More answers are sorted in parts: the first makes groups, the others add to them."""
MAX_LABEL_WORDS = 10
_MAX_WORDINGS = 2
_LIMIT = 4096
_NEW = json_object({"label": {"type": "string"}, "answers": INTEGERS})
_OLD_OR_NEW = json_object(
    {"group": {"type": ["integer", "null"]}, "label": {"type": "string"}, "answers": INTEGERS}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Answers by position that say the same, and what they say."""

    label: str
    members: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sorted:
    """What a reply makes of a part's answers, by their position in the part.

    ``groups`` begin with what joins each of the groups that there were.
    """

    invalid: frozenset[int]
    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmGrouper:
    """Asks for a partition of the answers, for a label a group, and which answers are invalid.

    With ``keep_invalid`` they stay where the partition has them, as consolidation alone wants it.
    A partition that cannot be read is asked for once more; then `fallback` groups, or each answer
    stands alone where there is none.
    """

    asker: Asker
    fallback: Consolidator | None = None
    batch_size: int = MAX_ANSWERS
    keep_invalid: bool = False

    async def group(
        self, question: str, answers: Sequence[Answer], articles: Sequence[Article]
    ) -> Grouping | Unscored:
        """See `fairjudge.references.ports.Grouper`."""
        outlets = {article.aid: article.domain or article.aid for article in articles}
        lines = [answer_line(answer, outlet=outlets.get(answer.aid, "")) for answer in answers]
        n_parts = -(-len(answers) // self.batch_size)
        groups: list[Group] = []
        left_out: frozenset[int] = frozenset()
        for part in range(n_parts):
            positions = range(len(answers))[
                part * len(answers) // n_parts : (part + 1) * len(answers) // n_parts
            ]
            found = await self._sort(question, [lines[p] for p in positions], groups, answers)
            if isinstance(found, Unscored):
                return await self._without(found, question, answers, articles)
            if not self.keep_invalid:
                left_out |= {positions[n] for n in found.invalid}
            groups = _rest(_added(groups, found.groups, positions), left_out)
        failed = None
        if n_parts > 1 and len(groups) > 1:
            groups, failed = await self._merged(question, groups, answers)
        return _grouping(_apart(groups, answers), left_out, answers, failed)

    async def _sort(
        self,
        question: str,
        lines: Sequence[str],
        groups: Sequence[Group],
        answers: Sequence[Answer],
    ) -> Sorted | Unscored:
        n, n_groups = len(lines), len(groups)
        return await self.asker.ask(
            load_template("reference", "groups"),
            {
                "question": Fenced("question", (question,)),
                "groups": _fence("groups", [_group_line(group, answers) for group in groups]),
                "answers": _fence("answers", lines),
                "label_words": str(MAX_LABEL_WORDS),
                "answer_format": _FURTHER if groups else _FIRST,
            },
            schema=json_object(
                {
                    "invalid": INTEGERS,
                    "groups": {"type": "array", "items": _OLD_OR_NEW if groups else _NEW},
                }
            ),
            read=lambda text, _: read_sorted(text, n=n, n_groups=n_groups),
            usual_limit=_LIMIT,
        )

    async def _merged(
        self, question: str, groups: Sequence[Group], answers: Sequence[Answer]
    ) -> tuple[list[Group], Unscored | None]:
        """Join groups of different parts that say the same; and say why not, where that fails."""
        n = len(groups)
        same = await self.asker.ask(
            load_template("reference", "merge"),
            {
                "question": Fenced("question", (question,)),
                "groups": _fence("groups", [_group_line(group, answers) for group in groups]),
                "answer_format": 'Reply with JSON alone: {"same": [[1, 4]]}, or {"same": []}.',
            },
            schema=json_object({"same": {"type": "array", "items": INTEGERS}}),
            read=lambda text, _: read_same(text, n=n),
            usual_limit=_LIMIT,
        )
        if isinstance(same, Unscored):
            return list(groups), same
        joined = {number: numbers for numbers in same for number in numbers}
        firsts = [n for n in range(len(groups)) if joined.get(n, (n,))[0] == n]
        return [_union([groups[m] for m in joined.get(n, (n,))]) for n in firsts], None

    async def _without(
        self,
        why: Unscored,
        question: str,
        answers: Sequence[Answer],
        articles: Sequence[Article],
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


_FIRST = (
    'Reply with JSON alone: {"invalid": [4], "groups": [{"label": "...", "answers": [1, 3]}, '
    '{"label": "...", "answers": [2]}]}'
)
_FURTHER = (
    "Groups found among other answers stand before these. An answer that says the same as one of "
    "them joins it by its number; others open groups of their own, whose number is null. "
    'Reply with JSON alone: {"invalid": [4], "groups": [{"group": 2, "label": "...", '
    '"answers": [1, 3]}, {"group": null, "label": "...", "answers": [2]}]}'
)
_STANCES = {"reports": "reported", "disputes": "disputed", "endorses": "endorsed"}


def answer_line(answer: Answer, *, outlet: str) -> str:
    """Return one answer as the prompt shows it: outlet, speaker, stance, words and gloss."""
    voice = [outlet, answer.speaker or "", _STANCES.get(answer.stance or "", "")]
    if answer.speaker is None and answer.stance in {None, "endorses"}:
        voice = [outlet]
    gloss = f" [{answer.gloss}]" if answer.gloss else ""
    held = f"({', '.join(filter(None, voice))}) " if any(voice) else ""
    return " ".join(f"{held}{answer.answer}{gloss}".split())


def _fence(tag: str, lines: Sequence[str]) -> Fenced:
    """Return numbered lines in one fence; no line can pass for two, for none holds a break."""
    numbered = "\n".join(f"{n}. {line}" for n, line in enumerate(lines, 1))
    return Fenced(tag, (numbered,) if lines else ())


def _group_line(group: Group, answers: Sequence[Answer]) -> str:
    wordings = dict.fromkeys(" ".join(answers[n].answer.split()) for n in group.members)
    shown = " / ".join(list(wordings)[:_MAX_WORDINGS])
    return f"{group.label}: {shown}" if group.label else shown


def read_sorted(text: str, *, n: int, n_groups: int = 0) -> Sorted | Unscored:
    """Return the groups of `n` answers (numbered from 1), and which are invalid.

    An answer in two groups or in none, or a number that was not offered, makes it unparseable. An
    invalid answer may stand in a group as well; else it is a group of its own.
    """
    value = read_object(text, "groups") or {}
    listed, invalid = value.get("groups"), frozenset(_numbers(value.get("invalid", [])))
    if isinstance(listed, list) and all(isinstance(one, dict) for one in listed):
        numbers = [_numbers(one.get("answers")) for one in listed]
        grouped = [number for some in numbers for number in some]
        if len(grouped) == len(set(grouped)) and invalid.union(grouped) == set(range(n)):
            alone = [[number] for number in sorted(invalid.difference(grouped))]
            found = _sorted([*listed, *({} for _ in alone)], [*numbers, *alone], invalid, n_groups)
            if found is not None:
                return found
    return Unscored(reason="unparseable", detail="not a partition of the answers", raw=text)


def _sorted(
    groups: Sequence[dict[str, Any]],
    numbers: Sequence[list[int]],
    invalid: frozenset[int],
    n_groups: int,
) -> Sorted | None:
    new: list[Group] = []
    joining: list[list[int]] = [[] for _ in range(n_groups)]
    for group, members in zip(groups, numbers, strict=True):
        number = group.get("group") if n_groups else None
        if number is None:
            label = group.get("label")
            label = " ".join(label.split()) if isinstance(label, str) else ""
            new.extend([Group(label=label, members=tuple(sorted(members)))] if members else [])
        elif type(number) is int and 1 <= number <= n_groups:
            joining[number - 1] += members
        else:
            return None
    old = (Group(label="", members=tuple(sorted(members))) for members in joining)
    return Sorted(invalid=invalid, groups=(*old, *new))


def _numbers(value: Any) -> list[int]:
    """Return numbers counted from 0; what is no list of numbers fits no partition."""
    if not isinstance(value, list) or not all(type(number) is int for number in value):
        return [-1]
    return [number - 1 for number in value]


def read_same(text: str, *, n: int) -> Groups | Unscored:
    """Return the sets of `n` groups (numbered from 1) that a reply calls the same, members sorted.

    A group in two sets, or a number that was not offered, makes it unparseable.
    """
    listed = read_list(text, "same")
    sets = [sorted(_numbers(one)) for one in listed or ()]
    every = [number for one in sets for number in one]
    if listed is None or len(set(every)) < len(every) or not set(every) <= set(range(n)):
        return Unscored(reason="unparseable", detail="no sets of groups", raw=text)
    return tuple(tuple(one) for one in sets if one)


def _rest(groups: Iterable[Group], left_out: frozenset[int]) -> list[Group]:
    rest = (replace(g, members=tuple(n for n in g.members if n not in left_out)) for g in groups)
    return [group for group in rest if group.members]


def _added(
    groups: Sequence[Group], found: Sequence[Group], positions: Sequence[int]
) -> list[Group]:
    placed = [replace(group, members=tuple(positions[n] for n in group.members)) for group in found]
    grown = [_union([group, more]) for group, more in zip(groups, placed, strict=False)]
    return [*grown, *placed[len(groups) :]]


def _union(groups: Sequence[Group]) -> Group:
    members = sorted(n for group in groups for n in group.members)
    return Group(label=groups[0].label, members=tuple(members))


def _apart(groups: Iterable[Group], answers: Sequence[Answer]) -> list[Group]:
    """Split each group that holds answers which articles endorse and ones that they dispute."""
    split: list[Group] = []
    for group in groups:
        disputed = tuple(n for n in group.members if answers[n].stance == "disputes")
        if not disputed or not any(answers[n].stance == "endorses" for n in group.members):
            split.append(group)
            continue
        rest = tuple(n for n in group.members if n not in disputed)
        label = f"disputed: {group.label}" if group.label else ""
        split += [Group(label=group.label, members=rest), Group(label=label, members=disputed)]
    return split


def _grouping(
    groups: Sequence[Group],
    invalid: frozenset[int],
    answers: Sequence[Answer],
    failed: Unscored | None,
) -> Grouping:
    labels = {group.members: _label(group, answers) for group in groups}
    ordered = sort_groups([group.members for group in groups])
    return Grouping(
        groups=ordered,
        labels=tuple(labels[members] for members in ordered),
        invalid=invalid,
        problem=f"groups of different parts not joined: {_why(failed)}" if failed else "",
        reason=failed.reason if failed else None,
    )


def _label(group: Group, answers: Sequence[Answer]) -> str:
    """Return at most ten words: the model's, or the shortest answer's where it gave none."""
    text = group.label or min((answers[n].answer for n in group.members), key=len)
    return first_words(text, MAX_LABEL_WORDS) + (
        "\u2026" if count_words(text) > MAX_LABEL_WORDS else ""
    )


def _why(why: Unscored) -> str:
    return f"{why.reason}: {why.detail}"
