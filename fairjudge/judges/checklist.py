"""Checklists of coverage: of each group of answers whether a summary covers it, by which words.

What a model is shown, how its reply is read and checked, and what follows from the list. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean
from typing import Any, TypeAlias

from fairjudge.domain import (
    Answer,
    Article,
    ChecklistEntry,
    JudgeTask,
    QuestionAnswers,
    Unscored,
    Verdict,
)
from fairjudge.parsing import read_entries, whole_number
from fairjudge.prompting import Fenced, json_object
from fairjudge.text.folding import folded_key
from fairjudge.text.quoting import find_quote

GROUPS_PER_CALL = 25
"""Groups of answers that one call asks about."""

LIKERT_SHARES = (0.10, 0.35, 0.65, 0.90)
"""Share covered below which a summary is rated 1, and up to which 2, 3 and 4; above, 5."""
PAIRWISE_MARGIN = 1.0
"""Lead in groups below which a pair is a tie."""

READER_VERSION = 2
"""Of what `read_block` takes; part of the signature."""
NO_ANSWERS = Unscored(reason="empty_input", detail="no reference answer")
_VERDICTS: Mapping[str, float] = {
    "covered": 1, "yes": 1, "partly": 0.5, "partially": 0.5, "no": 0, "not covered": 0,
    "contradicted": 0, "contradicts": 0,
}  # fmt: skip
_CONTRADICTED = frozenset({"contradicted", "contradicts"})

_ENTRY = json_object(
    {
        "group": {"type": "integer"},
        "quote": {"type": "string"},
        "wordings": {"type": "array", "items": {"type": "integer"}},
        "verdict": {"type": "string", "enum": ["covered", "partly", "no", "contradicted"]},
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """One group of answers to a question; ``unit`` is ``"answer:<question>.<group>"``.

    ``wordings`` holds for each different wording the places of its answers in the group;
    ``rivals`` says that some groups of its question exclude each other.
    """

    unit: str
    question: str
    answers: tuple[Answer, ...]
    label: str
    wordings: tuple[tuple[int, ...], ...]
    rivals: bool = False
    disputed_by: tuple[str, ...] = ()


def groups_of(questions: Sequence[QuestionAnswers]) -> tuple[Group, ...]:
    """Return every group that has an answer, in order."""
    return tuple(
        Group(
            unit=f"answer:{q}.{g}",
            question=question.question,
            answers=group.answers,
            label=group.label,
            wordings=_wordings(group.answers),
            rivals=question.kind == "rivals",
            disputed_by=group.disputed_by,
        )
        for q, question in enumerate(questions)
        for g, group in enumerate(question.groups())
        if group.answers
    )


def _wordings(answers: Sequence[Answer]) -> tuple[tuple[int, ...], ...]:
    """Return the places of answers that read alike, gloss and stance included, together."""
    alike: dict[tuple[object, ...], list[int]] = {}
    for place, answer in enumerate(answers):
        key = (folded_key(answer.answer), answer.gloss, answer.stance)
        alike.setdefault(key, []).append(place)
    return tuple(tuple(places) for places in alike.values())


Block: TypeAlias = tuple[Group, ...]
"""Groups that one call asks about."""


def blocks_of(groups: Sequence[Group], *, limit: int = GROUPS_PER_CALL) -> tuple[Block, ...]:
    """Return `groups` in as few blocks of at most `limit` as can be, of about the same size.

    A question's groups stay together, for they are judged beside each other: more than `limit` of
    them are a block of their own.
    """
    questions = [tuple(some) for _, some in groupby(groups, key=_question_number)]
    fewest = len(_filled(questions, limit))
    sizes = range(-(-len(groups) // max(fewest, 1)), limit)
    filled = (_filled(questions, size) for size in sizes)
    return next((found for found in filled if len(found) == fewest), _filled(questions, limit))


class CoverageForm:
    """Lists the groups of answers; see `fairjudge.judges.checklist_judge.ChecklistForm`."""

    prompt = "coverage-checklist"
    repair_prompt = "checklist-repair"
    schema: Mapping[str, Any] = json_object({"entries": {"type": "array", "items": _ENTRY}})
    nothing = NO_ANSWERS
    version: Mapping[str, int] = {"block": GROUPS_PER_CALL, "reader": READER_VERSION}

    def parts(self, task: JudgeTask) -> Sequence[Block]:
        """Return the groups in blocks; see `blocks_of`."""
        return blocks_of(groups_of(task.questions))

    def fields(self, task: JudgeTask, part: Block) -> dict[str, str | Fenced]:
        """Return what fills the prompt."""
        return {
            "groups": fence_groups(part, task.articles),
            "text": Fenced("summary", (task.texts[0],)),
            "n_groups": str(len(part)),
        }

    def repair_fields(self, part: Block) -> dict[str, str]:
        """Return what fills the prompt that asks once more."""
        return {"n_groups": str(len(part))}

    def read(
        self, task: JudgeTask, part: Block, text: str
    ) -> tuple[ChecklistEntry, ...] | Unscored:
        """See `read_block`."""
        return read_block(text, part, task.texts[0])

    def verdict(self, entries: tuple[ChecklistEntry, ...]) -> dict[str, Any]:
        """Return the share of groups covered, and the list."""
        return {"value": share_covered(entries), "checklist": entries}


def _question_number(group: Group) -> str:
    return group.unit.partition(".")[0]


def _filled(questions: Sequence[Block], limit: int) -> tuple[Block, ...]:
    """Return the groups of `questions`, in order, each block filled up to `limit`."""
    blocks: list[Block] = []
    for some in questions:
        if blocks and len(blocks[-1]) + len(some) <= limit:
            blocks[-1] += some
        else:
            blocks.append(some)
    return tuple(blocks)


def fence_groups(block: Sequence[Group], articles: Sequence[Article]) -> Fenced:
    """Return `block` fenced, a text a question; groups are numbered from 1 through the block."""
    outlets = {
        article.aid: article.domain or article.title or f"article {article.aid}"
        for article in articles
    }
    numbered = enumerate(block, 1)
    texts = (
        _question_text([*some], outlets)
        for _, some in groupby(numbered, key=lambda one: _question_number(one[1]))
    )
    return Fenced("reference", tuple(texts))


def _question_text(groups: Sequence[tuple[int, Group]], outlets: Mapping[str, str]) -> str:
    first = groups[0][1]
    question = f"Question{' (its groups are rivals)' * first.rivals}: {_line(first.question)}"
    return "\n".join([question, *_group_lines(groups, outlets)])


def _group_lines(groups: Iterable[tuple[int, Group]], outlets: Mapping[str, str]) -> Iterator[str]:
    for number, group in groups:
        label = f" ({_line(group.label)})" if group.label else ""
        against = [_outlet(aid, outlets) for aid in group.disputed_by]
        disputed = f", disputed by {'; '.join(against)}" if against else ""
        yield f"Group {number}{label}{disputed}:"
        for place, answers in enumerate(group.wordings, 1):
            first = group.answers[answers[0]]
            voices = dict.fromkeys(_voice(group.answers[at], outlets) for at in answers)
            gloss = f" [that is: {_line(first.gloss)}]" if first.gloss else ""
            yield f"  wording {place}, {'; '.join(voices)}: {_line(first.answer)}{gloss}"


def _voice(answer: Answer, outlets: Mapping[str, str]) -> str:
    outlet = _outlet(answer.aid, outlets)
    stance = f" ({answer.stance})" if answer.stance else ""
    if not answer.speaker:
        return f"{outlet}{stance}"
    return f"{_line(answer.speaker)} in {outlet}{stance}"


def _outlet(aid: str, outlets: Mapping[str, str]) -> str:
    return _line(outlets.get(aid, f"article {aid}"))


def _line(text: str) -> str:
    return " ".join(text.split())


def read_block(
    reply: str, block: Sequence[Group], text: str
) -> tuple[ChecklistEntry, ...] | Unscored:
    """Read a reply on `block`: every group's entry, or why the reply cannot be used.

    A group that is covered, even in part, or contradicted must have a quote that stands in `text`,
    the summary; the summary's own words take its place. ``detail`` holds what is wrong, in words of
    ours alone.
    """
    found = read_entries(reply)
    if isinstance(found, Unscored):
        return found
    rows: dict[int, Mapping[str, Any]] = {}
    problems: list[str] = []
    for row in found:
        number = whole_number(row.get("group")) if isinstance(row, dict) else None
        if number is None or not 1 <= number <= len(block):
            problems.append(f"an entry has no group from 1 to {len(block)}")
        elif number in rows:
            problems.append(f"group {number} has more than one entry")
        else:
            rows[number] = row
    entries = []
    for number, group in enumerate(block, 1):
        entry = _entry(rows[number], group, text) if number in rows else "has no entry"
        if isinstance(entry, ChecklistEntry):
            entries.append(entry)
        else:
            problems.append(f"group {number} {entry}")
    if problems:
        said = "; ".join(dict.fromkeys(problems))
        return Unscored(reason="unparseable", detail=said, raw=reply)
    return tuple(entries)


def _entry(row: Mapping[str, Any], group: Group, text: str) -> ChecklistEntry | str:
    """Return the entry, or what is wrong with `row`."""
    said = row.get("verdict")
    verdict = said.strip().casefold() if isinstance(said, str) else ""
    if verdict not in _VERDICTS:
        return "has no verdict that was asked for"
    covered = _VERDICTS[verdict]
    if covered == 0 and verdict not in _CONTRADICTED:
        return _not_covered(group, quote="")
    quote = row.get("quote")
    span = find_quote(quote, text) if isinstance(quote, str) else None
    if span is None:
        return "has a quote that does not stand in the summary"
    if verdict in _CONTRADICTED:
        return _not_covered(group, quote=text[span.start : span.end], contradicted=True)
    answers = _answers(row.get("wordings"), group)
    if answers is None:
        return f"names wordings other than 1 to {len(group.wordings)}"
    return credited_entry(group, covered, answers, quote=text[span.start : span.end])


def _not_covered(group: Group, *, quote: str, **more: bool) -> ChecklistEntry:
    return ChecklistEntry(unit=group.unit, covered=0, quote=quote, credited=(), answers=(), **more)


def _answers(given: object, group: Group) -> tuple[int, ...] | None:
    """Return the places of the answers of the wordings in `given`; none named means all."""
    if given is None or given == []:
        return tuple(range(len(group.answers)))
    numbers = [whole_number(one) for one in given] if isinstance(given, list) else [None]
    if not all(number is not None and 1 <= number <= len(group.wordings) for number in numbers):
        return None
    return tuple(sorted({at for n in numbers if n is not None for at in group.wordings[n - 1]}))


def credited_entry(
    group: Group,
    covered: float,
    answers: Sequence[int],
    *,
    quote: str | None,
    support: float | None = None,
) -> ChecklistEntry:
    """Return the entry of a group of which the answers at the places `answers` are covered."""
    credited = tuple(dict.fromkeys(group.answers[at].aid for at in answers))
    known = {} if support is None else {"support": support}
    return ChecklistEntry(
        unit=group.unit,
        covered=covered,
        quote=quote,
        credited=credited,
        answers=tuple(answers),
        **known,
    )


def share_covered(entries: Sequence[ChecklistEntry]) -> float:
    """Return the share of groups covered, in [0, 1]: a group in part is a half."""
    return fmean(entry.covered for entry in entries)


def likert_of(share: float) -> int:
    """Return the rating, 1 to 5, of a summary that covers `share` of the groups."""
    lowest, *rest = LIKERT_SHARES
    return 1 if share < lowest else 2 + sum(share > bound for bound in rest)


def pairwise_of(share_a: float, share_b: float, *, n_groups: int) -> Verdict:
    """Return who covers more of `n_groups`, or a tie where the lead is less than one of them."""
    lead = (share_a - share_b) * n_groups
    if abs(lead) < PAIRWISE_MARGIN - 1e-9:
        return "tie"
    return "a" if lead > 0 else "b"
