"""Coverage by one system in slices, such as by outlet or question type (DiverseSumm section 4.3).

From checklists, from judgements of single answers (unit ``answer:<q>.<g>``) and of single articles
(``article:<aid>``), and from judgements of balance, which name each source. Values are in [0, 1]: a
rating of 1 to 5 is (value - 1) / 4, others are as they are. In every mean the groups of a cluster
weigh the same, and so do clusters, as on leaderboards.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from fairjudge.domain import (
    Answer,
    AnswerGroup,
    Cluster,
    Judgement,
    QuestionAnswers,
    Reference,
    SourceCovered,
)
from fairjudge.judges.balance import BALANCE, balance_score, least_covered, mean_coverage
from fairjudge.protocols import PROTOCOLS
from fairjudge.scores.slice_estimates import (
    PLACES,
    QUESTION_WORDS,
    Point,
    Slices,
    WeightedCoverage,
    estimates_by_slice,
    estimates_by_weight,
)
from fairjudge.text.spellings import with_labels

COVERED_FROM = 0.5
"""Share from which on an answer counts as covered when the uncovered ones are named."""
_WHO = {"whom": "who", "whose": "who"}
_MOST_ARTICLES = 10
"""Answers held by more articles than this are one slice: a cluster of the paper has ten."""
POSITION, PLACE = "article position", "place in the prompt"
FREQUENCY = "articles that hold the answer"
ALONE = "position of the one article that holds it"
"""What is sliced by: DiverseSumm's Figures 3 and 5."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """An outlet's own answer, or the answer of a speaker that it quotes."""

    outlet: str
    speaker: str | None
    answer: str

    @property
    def name(self) -> str:
        """Return the speaker and the outlet."""
        return f"{self.speaker} in {self.outlet}" if self.speaker else self.outlet


@dataclass(frozen=True, slots=True, kw_only=True)
class UncoveredGroup:
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
class AnswerCovered:
    """How far, from 0 to 1, a summary covers an answer group; ``answer`` is its label or words."""

    eid: str
    question: str
    answer: str
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """An answer group that a summary contradicts, and the summary's words that do so."""

    eid: str
    question: str
    answer: str
    words: str
    outlets: tuple[str, ...]


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
    """``slices`` has the slices of each partition, such as ``"coverage by outlet"``.

    ``answers`` has every group that was judged.
    ``left_out`` maps a cluster to outlets without any covered answer;
    ``least_covered`` one to the sources that a balance stands on. ``n`` counts groups and articles
    with a score, ``n_sources`` the sources of balances, ``n_voices`` the answers in groups,
    ``n_unscored`` judgements without a score, ``n_unknown`` units that the references lack.
    """

    slices: Mapping[str, Slices]
    answers: tuple[AnswerCovered, ...]
    uncovered: tuple[UncoveredGroup, ...]
    contradicted: tuple[Contradiction, ...]
    left_out: Mapping[str, tuple[str, ...]]
    least_covered: Mapping[str, LeastCovered]
    n: int
    n_sources: int
    n_voices: int
    n_unscored: int
    n_unknown: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """One group or article that was judged; ``covered`` holds a group's places, None for all.

    ``contradicted_by`` has the summary's words that contradict it, ``aspect`` is what an article
    was judged for.
    """

    eid: str
    unit: str
    value: float
    covered: tuple[int, ...] | None = None
    contradicted_by: str | None = None
    aspect: str = "faithfulness"


def coverage_slices(
    judgements: Iterable[Judgement], references: Sequence[Cluster]
) -> CoverageSlices:
    """Slice one system's coverage by question, answer frequency, position, outlet and attributes.

    `judgements` are of one system by one judge. An answer stands in the slices of every article
    that gives it, with the value of that article's own wording. Positions count the cluster's
    articles from 1, as a prompt shows them; answers that one article alone holds have slices of
    their own, since one held by many is covered whatever each position is worth. ``"coverage by
    weighting"`` has the macro average (over clusters, of the mean of each) beside the micro average
    (over all items at once, as in the paper's Table 2).
    """
    judgements = tuple(judgements)
    collection = _Collection(references)
    for row in _rows(judgements, collection.by_eid, collection.counts):
        collection.add(row)
    return collection.slices(judgements)


def _rows(
    judgements: Iterable[Judgement], by_eid: Mapping[str, Cluster], counts: Counter[str]
) -> Iterator[_Row]:
    """Yield the single groups and articles; count unscored ones and unknown clusters."""
    for judgement in judgements:
        listed = PROTOCOLS[judgement.protocol].itemized and judgement.aspect == "coverage"
        single = judgement.unit.startswith(("answer:", "article:"))
        if judgement.system is None or not (listed or single or judgement.aspect == BALANCE):
            continue
        if judgement.eid not in by_eid:
            counts["unknown"] += 1
        elif judgement.value is None or isinstance(judgement.value, str):
            counts["unscored"] += 1
        elif listed:
            for entry in judgement.checklist or ():
                yield _Row(
                    eid=judgement.eid,
                    unit=entry.unit,
                    value=entry.covered,
                    covered=entry.answers,
                    contradicted_by=(entry.quote or "") if entry.contradicted else None,
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


@dataclass(frozen=True, slots=True)
class _Group:
    """An answer group, its question, and the number of the question in the reference."""

    question: QuestionAnswers
    number: int
    content: AnswerGroup

    @property
    def in_words(self) -> str:
        """The group's label, else its first answer."""
        return self.content.label or next((a.answer for a in self.content.answers), "")


def _find(unit: str, reference: Cluster) -> _Group | str | None:
    """Return the answer group or the article id that `unit` names, None if there is none."""
    kind, _, name = unit.partition(":")
    if kind == "article":
        return name if any(a.aid == name for a in reference.articles) else None
    place = re.fullmatch(r"(\d+)\.(\d+)", name) if kind == "answer" else None
    if place is None:
        return None
    q, g = int(place[1]), int(place[2])
    questions = reference.question_answers if isinstance(reference, Reference) else ()
    if q >= len(questions) or g >= len(questions[q].answer_groups):
        return None
    return _Group(questions[q], q, questions[q].groups()[g])


class _Collection:
    """What the judgements of one system say of answer groups and articles, row by row."""

    def __init__(self, references: Sequence[Cluster]) -> None:
        self.by_eid = {reference.eid: reference for reference in with_labels(references)}
        self.counts: Counter[str] = Counter()
        self._points: list[Point] = []
        self._answers: list[AnswerCovered] = []
        self._uncovered: list[UncoveredGroup] = []
        self._contradicted: list[Contradiction] = []
        self._weighted: list[WeightedCoverage] = []
        self._best_by_outlet: dict[str, dict[str, float]] = defaultdict(dict)

    def add(self, row: _Row) -> None:
        """Add the answer group or the article that `row` judges."""
        reference = self.by_eid[row.eid]
        group = _find(row.unit, reference)
        if group is None:
            self.counts["unknown"] += 1
            return
        self.counts["sources" if row.aspect == BALANCE else "known"] += 1
        if isinstance(group, str):
            self._points += _points(row, row.aspect, (), {group: row.value}, reference)
        else:
            self._add_group(row, group, reference)

    def _add_group(self, row: _Row, group: _Group, reference: Cluster) -> None:
        self.counts["voices"] += len(group.content.answers)
        question, values = group.question.question, _values(row, group.content.answers)
        self._answers.append(
            AnswerCovered(eid=row.eid, question=question, answer=group.in_words, value=row.value)
        )
        self._weighted.append(
            WeightedCoverage(
                eid=row.eid,
                value=row.value,
                weight=group.content.weight,
                importance=group.content.importance,
                question=group.number,
                aggregator=(group.question.model_extra or {}).get("aggregator_type"),
            )
        )
        self._points += _points(
            row, "coverage", self._names(row.eid, group, len(values)), values, reference
        )
        best = self._best_by_outlet[row.eid]
        for aid in values:
            outlet = _outlet(aid, reference)
            best[outlet] = max(best.get(outlet, 0.0), row.value)
        if row.contradicted_by is not None:
            contradiction = _contradiction(row.contradicted_by, row.eid, group, reference)
            self._contradicted.append(contradiction)
        missed = _uncovered(row, group, reference)
        if missed is not None:
            self._uncovered.append(missed)

    def _names(self, eid: str, group: _Group, n_articles: int) -> Iterator[tuple[str, str]]:
        """Yield the slices that the group stands in as a whole."""
        question, kind = group.question.question, group.question.kind
        yield "question word", question_word(question)
        yield FREQUENCY, _frequency(n_articles)
        yield "question", f"{eid}: {question}" if len(self.by_eid) > 1 else question
        if kind:
            yield "kind of question", kind

    def slices(self, judgements: Iterable[Judgement]) -> CoverageSlices:
        """Return the slices of all rows, with the sources of the balances in `judgements`."""
        silent = {
            eid: tuple(sorted(outlet for outlet, value in best.items() if value <= 0))
            for eid, best in self._best_by_outlet.items()
        }
        return CoverageSlices(
            slices={
                **dict(estimates_by_slice(self._points)),
                **estimates_by_weight(self._weighted),
            },
            answers=tuple(self._answers),
            uncovered=tuple(self._uncovered),
            contradicted=tuple(self._contradicted),
            left_out={eid: outlets for eid, outlets in silent.items() if outlets},
            least_covered={
                judgement.eid: _least_covered(judgement.sources, self.by_eid[judgement.eid])
                for judgement in judgements
                if judgement.sources and judgement.eid in self.by_eid
            },
            n=self.counts["known"],
            n_sources=self.counts["sources"],
            n_voices=self.counts["voices"],
            n_unscored=self.counts["unscored"],
            n_unknown=self.counts["unknown"],
        )


def _values(row: _Row, answers: Sequence[Answer]) -> dict[str, float]:
    """Return how far each article's own wording is covered: the mean over its answers."""
    values_by_article: dict[str, list[float]] = defaultdict(list)
    for place, answer in enumerate(answers):
        credited = row.covered is None or place in row.covered
        values_by_article[answer.aid].append(row.value if credited else 0.0)
    return {aid: fmean(values) for aid, values in values_by_article.items()}


def _points(
    row: _Row,
    kind: str,
    names: Iterable[tuple[str, str]],
    values: Mapping[str, float],
    reference: Cluster,
) -> Iterator[Point]:
    """Yield the point of the unit as a whole, then one for every name that its articles bear."""
    places = {article.aid: n for n, article in enumerate(reference.articles)}
    known_aids = [aid for aid in values if aid in places]
    slices = tuple((f"{kind} by {by}", name) for by, name in names)
    yield Point(eid=row.eid, value=row.value, slices=slices, whole=kind)
    borne: dict[tuple[str, str], list[float]] = defaultdict(list)
    for aid in known_aids:
        article = reference.articles[places[aid]]
        borne[f"{kind} by {POSITION}", str(places[aid] + 1)].append(values[aid])
        borne[f"{kind} by {PLACE}", _place(places[aid], len(places))].append(values[aid])
        if len(values) == 1 and kind == "coverage":
            borne[f"{kind} by {ALONE}", str(places[aid] + 1)].append(values[aid])
        borne[f"{kind} by outlet", _outlet(aid, reference)].append(values[aid])
        for name, attribute in article.attributes.items():
            borne[f"{kind} by attribute {name}", str(attribute)].append(values[aid])
    for slice_name, slice_values in borne.items():
        yield Point(eid=row.eid, value=fmean(slice_values), slices=(slice_name,))


def _frequency(n_articles: int) -> str:
    more = f"more than {_MOST_ARTICLES}"
    return str(n_articles) if n_articles <= _MOST_ARTICLES else more


def _place(place: int, n_articles: int) -> str:
    return PLACES[0] if place == 0 else PLACES[2] if place == n_articles - 1 else PLACES[1]


def question_word(question: str) -> str:
    """Return what, who, when, where, why, how, or other: the first of them in the question.

    "whom" and "whose" count as who, as "which" counts as other.
    """
    words = (_WHO.get(word, word) for word in re.findall(r"[a-z]+", question.lower()))
    return next((word for word in words if word in QUESTION_WORDS), "other")


def _least_covered(sources: Sequence[SourceCovered], reference: Cluster) -> LeastCovered:
    return LeastCovered(
        value=balance_score(sources),
        mean=mean_coverage(sources),
        sources={
            _outlet(source.aid, reference): source.covered for source in least_covered(sources)
        },
    )


def _outlet(aid: str, reference: Cluster) -> str:
    article = next((article for article in reference.articles if article.aid == aid), None)
    return aid if article is None else article.domain or article.title or aid


def _uncovered(row: _Row, group: _Group, reference: Cluster) -> UncoveredGroup | None:
    """Return the voices whose own wording is not covered, or None where unknown."""
    answers, covered = group.content.answers, row.covered
    if covered is None:
        covered = tuple(range(len(answers))) if row.value >= COVERED_FROM else ()
    voices = [
        Voice(outlet=_outlet(answer.aid, reference), speaker=answer.speaker, answer=answer.answer)
        for place, answer in enumerate(answers)
        if place not in covered
    ]
    if not voices:
        return None
    return UncoveredGroup(
        eid=row.eid,
        question=group.question.question,
        label=group.content.label,
        value=row.value,
        voices=tuple(dict.fromkeys(voices)),
    )


def _contradiction(words: str, eid: str, group: _Group, reference: Cluster) -> Contradiction:
    outlets = dict.fromkeys(_outlet(answer.aid, reference) for answer in group.content.answers)
    return Contradiction(
        eid=eid,
        question=group.question.question,
        answer=group.in_words,
        words=words,
        outlets=tuple(outlets),
    )
