"""Checklists: of each group of reference answers whether a summary covers it, and by which words.

What a model is shown, how its reply is read and checked, and what follows from the list. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby, pairwise
from statistics import fmean
from typing import Any, TypeAlias

from fairjudge.domain import (
    Answer,
    Article,
    ChecklistEntry,
    Judgement,
    QuestionAnswers,
    Unscored,
    Verdict,
)
from fairjudge.judges.asking import Derived
from fairjudge.parsing import read_objects, whole_number
from fairjudge.prompting import Fenced, json_object
from fairjudge.protocols import PROTOCOLS
from fairjudge.text.folding import folded_key
from fairjudge.text.quoting import find_quote

GROUPS_PER_CALL = 25
"""Groups of answers that one call asks about."""

LIKERT_SHARES = (0.10, 0.35, 0.65, 0.90)
"""Share covered below which a summary is rated 1, and up to which 2, 3 and 4; above, 5."""
PAIRWISE_MARGIN = 0.05
"""Lead, as a share of all groups, below which a pair is a tie."""

NO_ANSWERS = Unscored(reason="empty_input", detail="no reference answer")
_VERDICTS: Mapping[str, float] = {
    "covered": 1, "yes": 1, "partly": 0.5, "partially": 0.5, "no": 0, "not covered": 0,
}  # fmt: skip

_ENTRY = json_object(
    {
        "group": {"type": "integer"},
        "quote": {"type": "string"},
        "wordings": {"type": "array", "items": {"type": "integer"}},
        "verdict": {"type": "string", "enum": ["covered", "partly", "no"]},
    }
)
SCHEMA = json_object({"entries": {"type": "array", "items": _ENTRY}})


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """One group of answers to a question; ``unit`` is ``"answer:<question>.<group>"``.

    ``wordings`` holds for each different wording the places of its answers in the group.
    """

    unit: str
    question: str
    answers: tuple[Answer, ...]
    label: str
    wordings: tuple[tuple[int, ...], ...]


def groups_of(questions: Sequence[QuestionAnswers]) -> tuple[Group, ...]:
    """Return every group that has an answer, in order."""
    return tuple(
        Group(
            unit=f"answer:{q}.{g}",
            question=question.question,
            answers=answers,
            label=question.group_labels[g] if question.group_labels else "",
            wordings=_wordings(answers),
        )
        for q, question in enumerate(questions)
        for g, answers in enumerate(question.answer_groups)
        if answers
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
    """Return `groups` in blocks of about the same size, each of `limit` at the most."""
    n_blocks = -(-len(groups) // limit)
    bounds = [round(place * len(groups) / n_blocks) for place in range(n_blocks + 1)]
    return tuple(tuple(groups[a:b]) for a, b in pairwise(bounds))


def fence_groups(block: Sequence[Group], articles: Sequence[Article]) -> Fenced:
    """Return `block` fenced, a text a question; groups are numbered from 1 through the block."""
    outlets = {
        article.aid: article.domain or article.title or f"article {article.aid}"
        for article in articles
    }
    numbered = enumerate(block, 1)
    texts = (
        "\n".join([f"Question: {_line(question)}", *_group_lines(some, outlets)])
        for question, some in groupby(numbered, key=lambda one: one[1].question)
    )
    return Fenced("reference", tuple(texts))


def _group_lines(groups: Iterator[tuple[int, Group]], outlets: Mapping[str, str]) -> Iterator[str]:
    for number, group in groups:
        yield f"Group {number}" + (f" ({_line(group.label)})" if group.label else "") + ":"
        for place, answers in enumerate(group.wordings, 1):
            first = group.answers[answers[0]]
            voices = dict.fromkeys(_voice(group.answers[at], outlets) for at in answers)
            gloss = f" [that is: {_line(first.gloss)}]" if first.gloss else ""
            yield f"  wording {place}, {'; '.join(voices)}: {_line(first.answer)}{gloss}"


def _voice(answer: Answer, outlets: Mapping[str, str]) -> str:
    outlet = _line(outlets.get(answer.aid, f"article {answer.aid}"))
    if not answer.speaker:
        return outlet
    return f"{_line(answer.speaker)} in {outlet}" + (
        ", which disputes it" if answer.stance == "disputes" else ""
    )


def _line(text: str) -> str:
    return " ".join(text.split())


def read_block(
    reply: str, block: Sequence[Group], text: str
) -> tuple[ChecklistEntry, ...] | Unscored:
    """Read a reply on `block`: every group's entry, or why the reply cannot be used.

    A group that is covered, even in part, must have a quote that stands in `text`, the summary;
    the summary's own words take its place. ``detail`` holds what is wrong, in words of ours alone.
    """
    found = _objects(reply)
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


def _objects(reply: str) -> list[Any] | Unscored:
    """Return the entries of a reply that holds them once; quoted lists beside them are suspect."""
    found = [read_object["entries"] for read_object in read_objects(reply, "entries")]
    lists = [one for one in found if isinstance(one, list)]
    if len(lists) == len(found) == 1:
        return lists[0]
    detail = "it holds several lists of entries" if lists else "it holds no list of entries"
    return Unscored(reason="unparseable", detail=detail, raw=reply)


def _entry(row: Mapping[str, Any], group: Group, text: str) -> ChecklistEntry | str:
    """Return the entry, or what is wrong with `row`."""
    said = row.get("verdict")
    covered = _VERDICTS.get(said.strip().casefold()) if isinstance(said, str) else None
    if covered is None:
        return "has no verdict that was asked for"
    if covered == 0:
        return ChecklistEntry(unit=group.unit, covered=0, quote="", credited=(), answers=())
    quote = row.get("quote")
    span = find_quote(quote, text) if isinstance(quote, str) else None
    if span is None:
        return "has a quote that does not stand in the summary"
    answers = _answers(row.get("wordings"), group)
    if answers is None:
        return f"names wordings other than 1 to {len(group.wordings)}"
    return credited_entry(group, covered, answers, quote=text[span.start : span.end])


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


def pairwise_of(share_a: float, share_b: float) -> Verdict:
    """Return who covers more, or a tie where the lead is below the margin."""
    lead = share_a - share_b
    if abs(lead) < PAIRWISE_MARGIN - 1e-9:
        return "tie"
    return "a" if lead > 0 else "b"


def derive(rows: Sequence[Judgement], protocols: Sequence[Derived]) -> tuple[Judgement, ...]:
    """Return what `rows`, checklists of one judge, say under other protocols.

    Each row says so by ``derived_from``. Pairs come in both orders, of which none was asked; a pair
    with an unscored side is unscored for that side's reason.
    """
    lists = [row for row in rows if PROTOCOLS[row.protocol].itemized and row.system is not None]
    found: list[Judgement] = []
    for row in lists if any(PROTOCOLS[name].graded for name in protocols) else ():
        value = likert_of(row.value) if isinstance(row.value, int | float) else None
        rating = {"system": row.system, "value": value, "unscored": row.unscored}
        found.append(_derived(row, "likert", rating))
    if any(PROTOCOLS[name].paired for name in protocols):
        meetings: dict[tuple[str, int | None], list[Judgement]] = {}
        for row in lists:
            meetings.setdefault((row.eid, row.repeat), []).append(row)
        pairs = (pair for some in meetings.values() for pair in combinations(some, 2))
        found += [row for a, b in pairs for row in _pair(a, b)]
    return tuple(found)


def _pair(a: Judgement, b: Judgement) -> Iterator[Judgement]:
    value: Verdict | None = None
    if isinstance(a.value, int | float) and isinstance(b.value, int | float):
        value = pairwise_of(a.value, b.value)
    unscored = a.unscored or b.unscored
    fields = {"system_a": a.system, "system_b": b.system, "value": value, "unscored": unscored}
    for order in ("ab", "ba"):
        yield _derived(a, "pairwise", {**fields, "order": order})


def _derived(row: Judgement, protocol: Derived, fields: Mapping[str, Any]) -> Judgement:
    kept = ("eid", "aspect", "unit", "judge", "scored_by", "signature", "repeat")
    known = {name: getattr(row, name) for name in kept if getattr(row, name) is not None}
    return Judgement.model_validate(
        {**known, "protocol": protocol, "derived_from": "checklist", **fields}
    )
