"""Coverage by one system, in slices (DiverseSumm section 4.3): shares by what was to be covered.

From checklists, from judgements of single answers (unit ``answer:<q>.<g>``) and of single articles
(``article:<aid>``), and from judgements of balance, which name each source. Values are in [0, 1]: a
rating of 1 to 5 is (value - 1) / 4, others are as they are. In every mean the groups of a cluster
weigh the same, and so do clusters, as on leaderboards.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TypeAlias

from fairjudge.domain import (
    Answer,
    Cluster,
    Estimate,
    Judgement,
    Reference,
    SourceCovered,
    Undefined,
)
from fairjudge.judges.balance import BALANCE, balance_of, least_covered, mean_covered
from fairjudge.protocols import PROTOCOLS
from fairjudge.scores.leaderboards import FEWEST_CLUSTERS
from fairjudge.stats.clustered import clustered_mean, within
from fairjudge.text.spellings import with_labels

COVERED_FROM = 0.5
"""Share from which on an answer counts as covered when the uncovered ones are named."""
_QUESTION_WORDS = ("what", "who", "when", "where", "why", "how")
_WHO = {"whom": "who", "whose": "who"}
_THIRDS = ("first third", "middle third", "last third")
_NAMES = (*_THIRDS, *_QUESTION_WORDS, "other")
"""Names of slices in the order in which they are shown, before all others."""


Slices: TypeAlias = Mapping[str, Estimate | Undefined]
"""The mean, in [0, 1], of values that have something in common, by what that is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """Who said something: an outlet, by itself or through a speaker; and what it said."""

    outlet: str
    speaker: str | None
    answer: str

    @property
    def name(self) -> str:
        """Return the speaker and the outlet."""
        return f"{self.speaker} in {self.outlet}" if self.speaker else self.outlet


@dataclass(frozen=True, slots=True, kw_only=True)
class Uncovered:
    """Voices of an answer group that a summary leaves out.

    ``label`` says in a few words what the group says, where the reference has labels. ``value`` is
    how far the group as a whole is covered.
    """

    eid: str
    question: str
    label: str
    value: float
    voices: tuple[Voice, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeastCovered:
    """The sources that a summary covers least, by outlet, the least first.

    ``value`` is the mean of their shares, ``mean`` that of all sources.
    """

    value: float
    mean: float
    sources: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageSlices:
    """``slices`` maps what was sliced by (such as ``"coverage by outlet"``) to its slices.

    ``left_out`` maps a cluster to outlets none of whose answers is covered, in whatever words;
    ``least_covered`` one to the sources that a balance stands on. ``n`` counts groups and articles
    with a score, ``n_sources`` the sources of balances, ``n_voices`` the answers in groups,
    ``n_unscored`` judgements without a score, ``n_unknown`` units that the references lack.
    """

    slices: Mapping[str, Slices]
    uncovered: tuple[Uncovered, ...]
    left_out: Mapping[str, tuple[str, ...]]
    least_covered: Mapping[str, LeastCovered]
    n: int
    n_sources: int
    n_voices: int
    n_unscored: int
    n_unknown: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Point:
    """A value, and the slices that it stands in."""

    eid: str
    value: float
    slices: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """One group or article that was judged; ``covered`` holds a group's places, None for all.

    ``aspect`` is what an article was judged for.
    """

    eid: str
    unit: str
    value: float
    covered: tuple[int, ...] | None = None
    aspect: str = "faithfulness"


def coverage_slices(
    judgements: Iterable[Judgement], references: Sequence[Cluster], *, level: float = 0.95
) -> CoverageSlices:
    """Slice one system's coverage by question, answer frequency, position, outlet and attributes.

    `judgements` are of one system by one judge. An answer stands in the slices of every article
    that gives it, with the value of that article's own wording. Positions are those of the
    cluster's articles: first, middle and last third; answers count at their earliest article.
    """
    by_eid = {reference.eid: reference for reference in with_labels(references)}
    judgements = tuple(judgements)
    counts: Counter[str] = Counter()
    points: list[_Point] = []
    uncovered: list[Uncovered] = []
    heard: dict[str, dict[str, float]] = defaultdict(dict)
    for row in _rows(judgements, by_eid, counts):
        reference = by_eid[row.eid]
        found = _find(row.unit, reference)
        if found is None:
            counts["unknown"] += 1
            continue
        counts["sources" if row.aspect == BALANCE else "known"] += 1
        if isinstance(found, str):
            points += _points(row, row.aspect, (), {found: row.value}, reference)
            continue
        counts["voices"] += len(found.answers)
        values = _values(row, found)
        names = (
            ("question word", question_word(found.question)),
            ("articles that hold the answer", str(len(values)) if len(values) < 4 else "4 or more"),
            ("question", f"{row.eid}: {found.question}" if len(by_eid) > 1 else found.question),
        )
        points += _points(row, "coverage", names, values, reference)
        for aid in values:
            outlet = _outlet(aid, reference)
            heard[row.eid][outlet] = max(heard[row.eid].get(outlet, 0.0), row.value)
        missed = _uncovered(row, found, reference)
        if missed is not None:
            uncovered.append(missed)
    silent = {
        eid: [name for name, best in some.items() if best <= 0] for eid, some in heard.items()
    }
    return CoverageSlices(
        slices=dict(_slices(points, level)),
        uncovered=tuple(uncovered),
        left_out={eid: tuple(sorted(some)) for eid, some in silent.items() if some},
        least_covered={
            judgement.eid: _least_covered(judgement.sources, by_eid[judgement.eid])
            for judgement in judgements
            if judgement.sources and judgement.eid in by_eid
        },
        n=counts["known"],
        n_sources=counts["sources"],
        n_voices=counts["voices"],
        n_unscored=counts["unscored"],
        n_unknown=counts["unknown"],
    )


def _rows(
    judgements: Iterable[Judgement], by_eid: Mapping[str, Cluster], counts: Counter[str]
) -> Iterator[_Row]:
    """Yield the single groups and articles; count what is unscored, and of unknown clusters."""
    for judgement in judgements:
        listed = PROTOCOLS[judgement.protocol].itemized
        single = judgement.unit.startswith(("answer:", "article:"))
        if judgement.system is None or not (listed or single or judgement.aspect == BALANCE):
            continue
        if judgement.eid not in by_eid:
            counts["unknown"] += 1
        elif judgement.value is None or isinstance(judgement.value, str):
            counts["unscored"] += 1
        elif listed:
            for each in judgement.checklist or ():
                yield _Row(
                    eid=judgement.eid, unit=each.unit, value=each.covered, covered=each.answers
                )
        elif judgement.sources:
            for source in judgement.sources:
                unit = f"article:{source.aid}"
                yield _Row(eid=judgement.eid, unit=unit, value=source.covered, aspect=BALANCE)
        elif single:
            value = (
                (judgement.value - 1) / 4
                if PROTOCOLS[judgement.protocol].graded
                else judgement.value
            )
            yield _Row(eid=judgement.eid, unit=judgement.unit, value=value)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    question: str
    label: str
    answers: tuple[Answer, ...]


def _find(unit: str, reference: Cluster) -> _Group | str | None:
    """Return the answer group or the article id that `unit` names, None if there is none."""
    kind, _, rest = unit.partition(":")
    if kind == "article":
        return rest if any(a.aid == rest for a in reference.articles) else None
    place = re.fullmatch(r"(\d+)\.(\d+)", rest) if kind == "answer" else None
    if place is None:
        return None
    q, g = int(place[1]), int(place[2])
    questions = reference.question_answers if isinstance(reference, Reference) else ()
    if q >= len(questions) or g >= len(questions[q].answer_groups):
        return None
    asked = questions[q]
    label = asked.group_labels[g] if asked.group_labels else ""
    return _Group(question=asked.question, label=label, answers=asked.answer_groups[g])


def _values(row: _Row, group: _Group) -> dict[str, float]:
    """Return how far each article's own wording is covered: the mean over its answers."""
    found: dict[str, list[float]] = defaultdict(list)
    for place, answer in enumerate(group.answers):
        credited = row.covered is None or place in row.covered
        found[answer.aid].append(row.value if credited else 0.0)
    return {aid: fmean(values) for aid, values in found.items()}


def _points(
    row: _Row,
    kind: str,
    names: Sequence[tuple[str, str]],
    values: Mapping[str, float],
    reference: Cluster,
) -> Iterator[_Point]:
    """Yield the point of the unit as a whole, then one for every name that its articles bear."""
    places = {article.aid: n for n, article in enumerate(reference.articles)}
    known = [aid for aid in values if aid in places]
    if known:
        third = min(2, 3 * min(places[aid] for aid in known) // len(places))
        names = (*names, ("article position", _THIRDS[third]))
    slices = tuple((f"{kind} by {by}", name) for by, name in names)
    yield _Point(eid=row.eid, value=row.value, slices=slices)
    borne: dict[tuple[str, str], list[float]] = defaultdict(list)
    for aid in known:
        article = reference.articles[places[aid]]
        borne[f"{kind} by outlet", _outlet(aid, reference)].append(values[aid])
        for name, attribute in article.attributes.items():
            borne[f"{kind} by attribute {name}", str(attribute)].append(values[aid])
    for one, some in borne.items():
        yield _Point(eid=row.eid, value=fmean(some), slices=(one,))


def question_word(question: str) -> str:
    """Return what, who, when, where, why, how, or other: the first of them in the question.

    "whom" and "whose" count as who, as "which" counts as other.
    """
    words = (_WHO.get(word, word) for word in re.findall(r"[a-z]+", question.lower()))
    return next((word for word in words if word in _QUESTION_WORDS), "other")


def _least_covered(sources: Sequence[SourceCovered], reference: Cluster) -> LeastCovered:
    return LeastCovered(
        value=balance_of(sources),
        mean=mean_covered(sources),
        sources={_outlet(one.aid, reference): one.covered for one in least_covered(sources)},
    )


def _outlet(aid: str, reference: Cluster) -> str:
    article = next((one for one in reference.articles if one.aid == aid), None)
    return aid if article is None else article.domain or article.title or aid


def _uncovered(row: _Row, group: _Group, reference: Cluster) -> Uncovered | None:
    """Return the voices whose own wording is not covered, or None."""
    covered = row.covered
    if covered is None:
        covered = tuple(range(len(group.answers))) if row.value >= COVERED_FROM else ()
    voices = [
        Voice(outlet=_outlet(one.aid, reference), speaker=one.speaker, answer=one.answer)
        for place, one in enumerate(group.answers)
        if place not in covered
    ]
    if not voices:
        return None
    return Uncovered(
        eid=row.eid,
        question=group.question,
        label=group.label,
        value=row.value,
        voices=tuple(dict.fromkeys(voices)),
    )


def _slices(points: Sequence[_Point], level: float) -> Iterator[tuple[str, Slices]]:
    cells: dict[str, dict[str, list[_Point]]] = defaultdict(lambda: defaultdict(list))
    for point in points:
        for by, name in point.slices:
            cells[by][name].append(point)
    for by, groups in cells.items():
        # questions stay in the reference's order
        names = list(groups) if by == "coverage by question" else sorted(groups, key=_order)
        yield by, {name: _mean(groups[name], level) for name in names}


def _mean(points: Sequence[_Point], level: float) -> Estimate | Undefined:
    """Return the mean over clusters of the mean in each; an interval in [0, 1] of enough."""
    by_eid: dict[str, list[float]] = defaultdict(list)
    for point in points:
        by_eid[point.eid].append(point.value)
    estimate = clustered_mean([fmean(some) for some in by_eid.values()], list(by_eid), level=level)
    if isinstance(estimate, Estimate) and len(by_eid) < FEWEST_CLUSTERS:
        why = f"no interval: fewer than {FEWEST_CLUSTERS} clusters"
        return replace(estimate, low=None, high=None, method=why)
    return within(estimate, 0.0, 1.0)


def _order(name: str) -> tuple[int, str]:
    return _NAMES.index(name) if name in _NAMES else len(_NAMES), name
