"""Who is covered (DiverseSumm section 4.3): coverage and faithfulness by what was to be covered.

From judgements of single answers (unit ``answer:<q>.<g>``) and single articles (``article:<aid>``).
Values are brought to [0, 1]: a rating of 1 to 5 as (value - 1) / 4, a binary one as it is.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fairjudge.domain import Answer, Estimate, Judgement, Reference, Undefined
from fairjudge.stats.clustered import clustered_mean

COVERED_FROM = 0.5
"""Share from which on an answer counts as covered when the uncovered ones are named."""
_QUESTION_WORDS = ("what", "who", "when", "where", "why", "how")
_WHO = {"whom": "who", "whose": "who"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """The mean of what has something in common, in [0, 1], over all systems and clusters."""

    name: str
    mean: Estimate | Undefined
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Uncovered:
    """An answer group that one system's summary leaves out, and the outlets that gave it."""

    eid: str
    system: str
    question: str
    answer: str
    outlets: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WhoIsCovered:
    """``slices`` maps what was sliced by (such as ``"question word"``) to its slices.

    ``left_out`` maps (eid, system) to outlets none of whose answers is covered. ``n_unscored``
    counts judgements without a score, ``n_unknown`` those of units that the references lack.
    """

    slices: Mapping[str, tuple[Slice, ...]]
    uncovered: tuple[Uncovered, ...]
    left_out: Mapping[tuple[str, str], tuple[str, ...]]
    n: int
    n_unscored: int
    n_unknown: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Point:
    eid: str
    system: str
    value: float
    kind: str
    names: Mapping[str, tuple[str, ...]]


def who_is_covered(
    judgements: Iterable[Judgement], references: Sequence[Reference], *, level: float = 0.95
) -> WhoIsCovered:
    """Slice coverage by question word, answer frequency, article position, outlet and attributes.

    An answer stands in the slices of every article that gives it. Positions are those of the
    cluster's articles: first, middle and last third; answers count at their earliest article.
    """
    by_eid = {reference.eid: reference for reference in references}
    points: list[_Point] = []
    uncovered: list[Uncovered] = []
    heard: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    n_unscored = n_unknown = 0
    for row in judgements:
        found = None if row.eid not in by_eid else _find(row.unit, by_eid[row.eid])
        if found is None or row.system is None:
            n_unknown += row.unit.startswith(("answer:", "article:"))
        elif row.value is None or isinstance(row.value, str):
            n_unscored += 1
        else:
            reference = by_eid[row.eid]
            value = (row.value - 1) / 4 if row.protocol == "likert" else row.value
            points.append(_point(row, value, found, reference))
            if isinstance(found, _Group):
                outlets = _outlets(found.answers, reference)
                for outlet in outlets:
                    before = heard[row.eid, row.system].get(outlet, 0.0)
                    heard[row.eid, row.system][outlet] = max(before, value)
                if value < COVERED_FROM:
                    uncovered.append(_uncovered(row, found, outlets))
    return WhoIsCovered(
        slices=dict(_slices(points, level)),
        uncovered=tuple(uncovered),
        left_out={
            item: tuple(sorted(outlet for outlet, best in outlets.items() if best < COVERED_FROM))
            for item, outlets in heard.items()
            if min(outlets.values(), default=1.0) < COVERED_FROM
        },
        n=len(points),
        n_unscored=n_unscored,
        n_unknown=n_unknown,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    question: str
    answers: tuple[Answer, ...]


def _find(unit: str, reference: Reference) -> _Group | str | None:
    """Return the answer group or the article id that `unit` names, None if there is none."""
    kind, _, rest = unit.partition(":")
    if kind == "article":
        return rest if any(a.aid == rest for a in reference.articles) else None
    place = re.fullmatch(r"(\d+)\.(\d+)", rest) if kind == "answer" else None
    if place is None:
        return None
    q, g = int(place[1]), int(place[2])
    questions = reference.question_answers
    if q >= len(questions) or g >= len(questions[q].answer_groups):
        return None
    return _Group(question=questions[q].question, answers=questions[q].answer_groups[g])


def _point(row: Judgement, value: float, found: _Group | str, reference: Reference) -> _Point:
    places = {article.aid: n for n, article in enumerate(reference.articles)}
    aids = [found] if isinstance(found, str) else list(dict.fromkeys(a.aid for a in found.answers))
    known = [aid for aid in aids if aid in places]
    names: dict[str, tuple[str, ...]] = {
        "article position": _third(min(places[aid] for aid in known), len(places)) if known else (),
        "outlet": tuple(dict.fromkeys(_outlet(aid, reference) for aid in known)),
    }
    for aid in known:
        for name, given in reference.articles[places[aid]].attributes.items():
            key = f"attribute {name}"
            names[key] = tuple(dict.fromkeys((*names.get(key, ()), str(given))))
    if isinstance(found, _Group):
        names["question word"] = (question_word(found.question),)
        names["articles that hold the answer"] = (_frequency(len(aids)),)
    kind = "faithfulness" if isinstance(found, str) else "coverage"
    return _Point(
        eid=row.eid,
        system=str(row.system),
        value=value,
        kind=kind,
        names={"system": (str(row.system),), **names},
    )


def question_word(question: str) -> str:
    """Return what, who, when, where, why, how, or other: the first of them in the question.

    "whom" and "whose" count as who, as "which" counts as other.
    """
    for said in re.findall(r"[a-z]+", question.lower()):
        word = _WHO.get(said, said)
        if word in _QUESTION_WORDS:
            return word
    return "other"


def _frequency(n: int) -> str:
    return str(n) if n < 4 else "4 or more"


def _third(place: int, n: int) -> tuple[str, ...]:
    return (("first third", "middle third", "last third")[min(2, 3 * place // n)],)


def _outlet(aid: str, reference: Reference) -> str:
    article = next(article for article in reference.articles if article.aid == aid)
    return article.domain or article.title or aid


def _outlets(answers: Sequence[Answer], reference: Reference) -> tuple[str, ...]:
    known = {article.aid for article in reference.articles}
    aids = dict.fromkeys(answer.aid for answer in answers if answer.aid in known)
    return tuple(dict.fromkeys(_outlet(aid, reference) for aid in aids))


def _uncovered(row: Judgement, found: _Group, outlets: tuple[str, ...]) -> Uncovered:
    return Uncovered(
        eid=row.eid,
        system=str(row.system),
        question=found.question,
        answer=found.answers[0].answer if found.answers else "",
        outlets=outlets,
    )


def _slices(points: Sequence[_Point], level: float) -> Iterator[tuple[str, tuple[Slice, ...]]]:
    cells: dict[str, dict[str, list[_Point]]] = defaultdict(lambda: defaultdict(list))
    for point in points:
        for by, names in point.names.items():
            for name in names:
                cells[f"{point.kind} by {by}"][name].append(point)
    for by, groups in cells.items():
        slices = [
            Slice(
                name=name,
                mean=clustered_mean([p.value for p in some], [p.eid for p in some], level=level),
                n=len(some),
            )
            for name, some in groups.items()
        ]
        yield by, tuple(sorted(slices, key=lambda one: (_order(one.name), one.name)))


def _order(name: str) -> int:
    known = ("first third", "middle third", "last third", *_QUESTION_WORDS, "other")
    return known.index(name) if name in known else len(known)
