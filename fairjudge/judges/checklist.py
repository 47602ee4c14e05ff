"""Coverage checklists: for each group of answers, whether the summary covers it and where.

Fields of the prompt, reading and checking of replies, and verdicts from lists; without I/O.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from random import Random
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
from fairjudge.parsing import indices_in, read_entries, whole_number
from fairjudge.prompting import INTEGER, INTEGERS, STRING, Fenced, json_array, json_object
from fairjudge.scales import verdict_from_lead
from fairjudge.text.folding import folded_key
from fairjudge.text.quoting import find_quote

GROUPS_PER_CALL = 25
"""Maximum number of groups of answers per call, by default."""
LISTED, SHUFFLED = "listed", "shuffled"
"""Orders of the groups in a prompt: the reference's, and random ones, numbered from 1."""

LIKERT_SHARES = (0.10, 0.35, 0.65, 0.90)
"""Bounds of the covered share: 1 is below the first, 2, 3 and 4 are up to the next, 5 is above."""
PAIRWISE_MARGIN = 1.0
"""Minimum difference in covered groups for a win in a pair; below it is a tie."""

READER_VERSION = 2
"""Version of `read_block`; part of the signature."""
NO_ANSWERS = Unscored(reason="empty_input", detail="no reference answer")
_VERDICTS: Mapping[str, float] = {
    "covered": 1, "yes": 1, "partly": 0.5, "partially": 0.5, "no": 0, "not covered": 0,
    "contradicted": 0, "contradicts": 0,
}  # fmt: skip
_CONTRADICTED = frozenset({"contradicted", "contradicts"})

_ENTRY = json_object(
    {
        "group": INTEGER,
        "quote": STRING,
        "wordings": INTEGERS,
        "verdict": STRING | {"enum": ["covered", "partly", "no", "contradicted"]},
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """One group of answers to a question; ``unit`` is ``"answer:<question>.<group>"``.

    ``wordings`` are, for each distinct wording, the indices of its answers; ``rivals`` is True if
    some groups of the question exclude each other.
    """

    unit: str
    question: str
    answers: tuple[Answer, ...]
    label: str
    wordings: tuple[tuple[int, ...], ...]
    rivals: bool = False
    disputed_by: tuple[str, ...] = ()


def groups_of(questions: Sequence[QuestionAnswers]) -> tuple[Group, ...]:
    """Return every group with at least one answer, in order."""
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


def order_names(n_orders: int) -> tuple[str, ...]:
    """Return the names of the reference's order of groups and of `n_orders` - 1 random orders."""
    return (LISTED, *(f"{SHUFFLED}-{number}" for number in range(1, n_orders)))


def in_order(units: Sequence[str], *, eid: str, order: str | None) -> tuple[str, ...]:
    """Return units of groups in the order with the name `order`; random orders are reproducible.

    A random order shuffles the questions, and the groups within each question.
    """
    if order is None or not order.startswith(SHUFFLED):
        return tuple(units)
    generator = Random(f"{order}/{eid}")  # noqa: S311  # no secret
    questions = [list(members) for _, members in groupby(units, key=_question_of)]
    generator.shuffle(questions)
    for question_units in questions:
        generator.shuffle(question_units)
    return tuple(unit for question_units in questions for unit in question_units)


def _wordings(answers: Sequence[Answer]) -> tuple[tuple[int, ...], ...]:
    """Return the indices of the answers, grouped by equal wording, gloss and stance."""
    by_wording: dict[tuple[object, ...], list[int]] = {}
    for index, answer in enumerate(answers):
        key = (folded_key(answer.answer), answer.gloss, answer.stance)
        by_wording.setdefault(key, []).append(index)
    return tuple(tuple(indices) for indices in by_wording.values())


Block: TypeAlias = tuple[Group, ...]
"""The groups of one call."""


def split_blocks(groups: Sequence[Group], *, limit: int = GROUPS_PER_CALL) -> tuple[Block, ...]:
    """Split `groups` into the fewest blocks of at most `limit` groups, of similar size.

    The groups of a question are never separated, since they are judged in comparison; a question
    with more than `limit` groups has a block of its own.
    """
    by_question = groupby(groups, key=lambda group: _question_of(group.unit))
    questions = [tuple(members) for _, members in by_question]
    n_blocks = len(_fill_blocks(questions, limit))
    sizes = range(-(-len(groups) // max(n_blocks, 1)), limit)
    candidates = (_fill_blocks(questions, size) for size in sizes)
    return next(
        (blocks for blocks in candidates if len(blocks) == n_blocks), _fill_blocks(questions, limit)
    )


class CoverageForm:
    """The form for groups of answers; see `fairjudge.judges.checklist_judge.ChecklistForm`."""

    prompt = "coverage-checklist"
    repair_prompt = "checklist-repair"
    schema: Mapping[str, Any] = json_object({"entries": json_array(_ENTRY)})
    no_items = NO_ANSWERS
    version: Mapping[str, int]

    def __init__(self, *, groups_per_call: int = GROUPS_PER_CALL) -> None:
        self.groups_per_call = groups_per_call
        self.version = {"block": groups_per_call, "reader": READER_VERSION}

    def parts(self, task: JudgeTask) -> Sequence[Block]:
        """Return blocks of groups, in the order given by the task's variant."""
        groups = {group.unit: group for group in groups_of(task.questions)}
        order = in_order(tuple(groups), eid=task.eid, order=task.variant)
        return split_blocks([groups[unit] for unit in order], limit=self.groups_per_call)

    def fields(self, task: JudgeTask, part: Block) -> dict[str, str | Fenced]:
        """Return the fields of the prompt."""
        return {
            "groups": fence_groups(part, task.articles),
            "text": Fenced("summary", (task.texts[0],)),
            "n_groups": str(len(part)),
        }

    def repair_fields(self, part: Block) -> dict[str, str]:
        """Return the fields of the repair prompt."""
        return {"n_groups": str(len(part))}

    def read(
        self, task: JudgeTask, part: Block, text: str
    ) -> tuple[ChecklistEntry, ...] | Unscored:
        """See `read_block`."""
        return read_block(text, part, task.texts[0])

    def verdict(self, entries: tuple[ChecklistEntry, ...]) -> dict[str, Any]:
        """Return the share of covered groups, and the checklist."""
        checklist = sorted(entries, key=lambda entry: _group_index(entry.unit))
        return {"value": share_covered(checklist), "checklist": tuple(checklist)}


def _question_of(unit: str) -> str:
    return unit.partition(".")[0]


def _group_index(unit: str) -> tuple[int, int]:
    question, _, group = unit.partition(":")[2].partition(".")
    return int(question), int(group)


def _fill_blocks(questions: Sequence[Block], limit: int) -> tuple[Block, ...]:
    """Return blocks of complete questions, in order, each with at most `limit` groups."""
    blocks: list[Block] = []
    for question in questions:
        if blocks and len(blocks[-1]) + len(question) <= limit:
            blocks[-1] += question
        else:
            blocks.append(question)
    return tuple(blocks)


def fence_groups(block: Sequence[Group], articles: Sequence[Article]) -> Fenced:
    """Return `block` fenced, one text per question; groups are numbered from 1 over the block."""
    outlets = {
        article.aid: article.domain or article.title or f"article {article.aid}"
        for article in articles
    }
    questions = groupby(enumerate(block, 1), key=lambda numbered: _question_of(numbered[1].unit))
    texts = ("\n".join(_question_lines([*groups], outlets)) for _, groups in questions)
    return Fenced("reference", tuple(texts))


def _question_lines(
    groups: Sequence[tuple[int, Group]], outlets: Mapping[str, str]
) -> Iterator[str]:
    """Yield the question of numbered `groups`, then the lines of each."""
    any_group = groups[0][1]
    rivals = " (its groups are rivals)" if any_group.rivals else ""
    yield f"Question{rivals}: {_line(any_group.question)}"
    for number, group in groups:
        label = f" ({_line(group.label)})" if group.label else ""
        outlets_against = [_outlet(aid, outlets) for aid in group.disputed_by]
        dispute = f", disputed by {'; '.join(outlets_against)}" if outlets_against else ""
        yield f"Group {number}{label}{dispute}:"
        for wording, answers in enumerate(group.wordings, 1):
            first = group.answers[answers[0]]
            voices = dict.fromkeys(_voice(group.answers[index], outlets) for index in answers)
            gloss = f" [that is: {_line(first.gloss)}]" if first.gloss else ""
            yield f"  wording {wording}, {'; '.join(voices)}: {_line(first.answer)}{gloss}"


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
    """Parse a reply on `block`: the entries of all groups, or why the reply cannot be used.

    A group that is covered, partly covered or contradicted needs a quote from the summary `text`;
    the entry contains the matching passage of the summary. The problems in ``detail`` contain no
    text of the reply, because the repair prompt uses them.
    """
    raw_entries = read_entries(reply)
    if isinstance(raw_entries, Unscored):
        return raw_entries
    rows: dict[int, Mapping[str, Any]] = {}
    problems: list[str] = []
    for row in raw_entries:
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
        detail = "; ".join(dict.fromkeys(problems))
        return Unscored(reason="unparseable", detail=detail, raw=reply)
    return tuple(entries)


def _entry(row: Mapping[str, Any], group: Group, text: str) -> ChecklistEntry | str:
    """Return the entry of `row`, or its problem."""
    verdict_text = row.get("verdict")
    verdict = verdict_text.strip().casefold() if isinstance(verdict_text, str) else ""
    if verdict not in _VERDICTS:
        return "has no verdict that was asked for"
    covered = _VERDICTS[verdict]
    if covered == 0 and verdict not in _CONTRADICTED:
        return credited_entry(group, 0, (), quote="")
    quote = row.get("quote")
    span = find_quote(quote, text) if isinstance(quote, str) else None
    if span is None:
        return "has a quote that does not stand in the summary"
    if verdict in _CONTRADICTED:
        passage = text[span.start : span.end]
        return credited_entry(group, 0, (), quote=passage, contradicted=True)
    answers = _answers(row.get("wordings"), group)
    if answers is None:
        return f"names wordings other than 1 to {len(group.wordings)}"
    return credited_entry(group, covered, answers, quote=text[span.start : span.end])


def _answers(wordings: object, group: Group) -> tuple[int, ...] | None:
    """Return the indices of the answers of numbered `wordings`; all for None or an empty list."""
    if wordings is None or wordings == []:
        return tuple(range(len(group.answers)))
    indices = indices_in(wordings, len(group.wordings))
    if indices is None:
        return None
    return tuple(sorted({answer for index in indices for answer in group.wordings[index]}))


def credited_entry(
    group: Group, covered: float, answers: Sequence[int], *, quote: str, **extra: float
) -> ChecklistEntry:
    """Return the entry of a group; `answers` are the indices of its covered answers."""
    credited = tuple(dict.fromkeys(group.answers[index].aid for index in answers))
    return ChecklistEntry(
        unit=group.unit,
        covered=covered,
        quote=quote,
        credited=credited,
        answers=tuple(answers),
        **extra,
    )


def share_covered(entries: Sequence[ChecklistEntry]) -> float:
    """Return the share of covered groups, in [0, 1]; a partly covered group counts 0.5."""
    return fmean(entry.covered for entry in entries)


def likert_of(share: float) -> int:
    """Return the rating (1 to 5) for a share of covered groups; see `LIKERT_SHARES`."""
    lowest, *higher = LIKERT_SHARES
    return 1 if share < lowest else 2 + sum(share > bound for bound in higher)


def pairwise_of(share_a: float, share_b: float, *, n_groups: int) -> Verdict:
    """Return the summary that covers more of `n_groups`; a lead of less than one group is a tie."""
    return verdict_from_lead((share_a - share_b) * n_groups, PAIRWISE_MARGIN - 1e-9)
