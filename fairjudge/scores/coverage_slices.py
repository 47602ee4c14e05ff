"""One system's coverage by slice, such as outlet or question type (DiverseSumm section 4.3).

From checklists, from judgements of single answers (unit ``answer:<q>.<g>``) and of single articles
(``article:<aid>``), and from judgements of balance, which list all sources. Values are in [0, 1]; a
rating of 1 to 5 is rescaled to (value - 1) / 4. In every mean the groups of a cluster have equal
weight, and so do clusters, as on leaderboards.
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
from fairjudge.judges.balance import BALANCE, balance_score, least_covered_sources, mean_coverage
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
"""Minimum share for an answer to count as covered in lists of uncovered answers."""
_WHO = {"whom": "who", "whose": "who"}
_MAX_ARTICLES = 10
"""Answers given by more articles than this form one slice; the paper's clusters have ten."""
POSITION, PLACE = "article position", "place in the prompt"
FREQUENCY = "articles that hold the answer"
ALONE = "position of the one article that holds it"
"""Names of partitions, of DiverseSumm's Figures 3 and 5."""


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
    """Voices of an answer group that a summary omits.

    ``label`` is a short label of the group, if the reference has labels. ``value`` is the coverage
    of the group as a whole.
    """

    eid: str
    question: str
    label: str
    value: float
    voices: tuple[Voice, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerCovered:
    """The coverage of an answer group, in [0, 1]; ``answer`` is its label or first answer."""

    eid: str
    question: str
    answer: str
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """An answer group that a summary contradicts, and the contradicting words of the summary."""

    eid: str
    question: str
    answer: str
    words: str
    outlets: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeastCovered:
    """The sources that a summary covers least, by outlet, the least covered first.

    ``value`` is the mean coverage of these sources, ``mean`` that of all sources.
    """

    value: float
    mean: float
    sources: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageSlices:
    """One system's coverage; ``slices`` is by partition, such as ``"coverage by outlet"``.

    ``answers`` are all judged groups. ``left_out`` maps a cluster to the outlets without any
    covered answer, ``least_covered`` to the sources from which its balance is computed. ``n``
    counts groups and articles with a score, ``n_sources`` the sources of balances, ``n_voices`` the
    answers in groups, ``n_unscored`` judgements without a score, and ``n_unknown`` units that are
    not in the references.
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
    """A judged group or article; ``covered`` are the indices of covered answers, None for all.

    ``contradicted_by`` are the contradicting words of the summary, ``aspect`` is the aspect for
    which an article was judged.
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

    `judgements` are of one system by one judge. An answer is in the slices of every article that
    gives it, with the value of that article's wording. Positions are the 1-based indices of the
    articles in the prompt. Answers of a single article also have separate slices, since an answer
    of many articles can be covered whatever the effect of each position. ``"coverage by
    weighting"`` has the macro average (over clusters) and the micro average (over all items, as in
    the paper's Table 2).
    """
    judgements = tuple(judgements)
    collection = _Collection(references)
    for row in _rows(judgements, collection.by_eid, collection.counts):
        collection.add(row)
    return collection.slices(judgements)


def _rows(
    judgements: Iterable[Judgement], by_eid: Mapping[str, Cluster], counts: Counter[str]
) -> Iterator[_Row]:
    """Yield the judged groups and articles; count unscored judgements and unknown clusters."""
    for judgement in judgements:
        is_checklist = PROTOCOLS[judgement.protocol].itemized and judgement.aspect == "coverage"
        is_single = judgement.unit.startswith(("answer:", "article:"))
        if judgement.system is None or not (
            is_checklist or is_single or judgement.aspect == BALANCE
        ):
            continue
        if judgement.eid not in by_eid:
            counts["unknown"] += 1
        elif judgement.value is None or isinstance(judgement.value, str):
            counts["unscored"] += 1
        elif is_checklist:
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
        elif is_single:
            value = (
                (judgement.value - 1) / 4
                if PROTOCOLS[judgement.protocol].graded
                else judgement.value
            )
            yield _Row(eid=judgement.eid, unit=judgement.unit, value=value)


@dataclass(frozen=True, slots=True)
class _Group:
    """An answer group, its question, and the index of the question in the reference."""

    question: QuestionAnswers
    number: int
    content: AnswerGroup

    @property
    def text(self) -> str:
        """The group's label, else its first answer."""
        return self.content.label or next((a.answer for a in self.content.answers), "")


def _find(unit: str, reference: Cluster) -> _Group | str | None:
    """Return the answer group or the article id of `unit`, None if the reference has none."""
    kind, _, name = unit.partition(":")
    if kind == "article":
        return name if any(a.aid == name for a in reference.articles) else None
    match = re.fullmatch(r"(\d+)\.(\d+)", name) if kind == "answer" else None
    if match is None:
        return None
    q, g = int(match[1]), int(match[2])
    questions = reference.question_answers if isinstance(reference, Reference) else ()
    if q >= len(questions) or g >= len(questions[q].answer_groups):
        return None
    return _Group(questions[q], q, questions[q].groups()[g])


class _Collection:
    """Collects the results of one system on answer groups and articles, row by row."""

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
            AnswerCovered(eid=row.eid, question=question, answer=group.text, value=row.value)
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
        uncovered = _uncovered_group(row, group, reference)
        if uncovered is not None:
            self._uncovered.append(uncovered)

    def _names(self, eid: str, group: _Group, n_articles: int) -> Iterator[tuple[str, str]]:
        """Yield the slices that contain the group as a whole."""
        question, kind = group.question.question, group.question.kind
        yield "question word", question_word(question)
        yield FREQUENCY, _frequency_label(n_articles)
        yield "question", f"{eid}: {question}" if len(self.by_eid) > 1 else question
        if kind:
            yield "kind of question", kind

    def slices(self, judgements: Iterable[Judgement]) -> CoverageSlices:
        """Return the slices of all rows, with the sources of the balances in `judgements`."""
        uncovered_outlets = {
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
            left_out={eid: outlets for eid, outlets in uncovered_outlets.items() if outlets},
            least_covered={
                judgement.eid: _to_least_covered(judgement.sources, self.by_eid[judgement.eid])
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
    """Return the coverage of each article's wording: the mean over its answers."""
    values_by_article: dict[str, list[float]] = defaultdict(list)
    for index, answer in enumerate(answers):
        is_covered = row.covered is None or index in row.covered
        values_by_article[answer.aid].append(row.value if is_covered else 0.0)
    return {aid: fmean(values) for aid, values in values_by_article.items()}


def _points(
    row: _Row,
    kind: str,
    names: Iterable[tuple[str, str]],
    values: Mapping[str, float],
    reference: Cluster,
) -> Iterator[Point]:
    """Yield the point of the unit as a whole, then one per slice of its articles."""
    positions = {article.aid: n for n, article in enumerate(reference.articles)}
    aids = [aid for aid in values if aid in positions]
    slices = tuple((f"{kind} by {by}", name) for by, name in names)
    yield Point(eid=row.eid, value=row.value, slices=slices, kind=kind)
    values_by_slice: dict[tuple[str, str], list[float]] = defaultdict(list)
    for aid in aids:
        article = reference.articles[positions[aid]]
        values_by_slice[f"{kind} by {POSITION}", str(positions[aid] + 1)].append(values[aid])
        values_by_slice[f"{kind} by {PLACE}", _place_label(positions[aid], len(positions))].append(
            values[aid]
        )
        if len(values) == 1 and kind == "coverage":
            values_by_slice[f"{kind} by {ALONE}", str(positions[aid] + 1)].append(values[aid])
        values_by_slice[f"{kind} by outlet", _outlet(aid, reference)].append(values[aid])
        for name, attribute in article.attributes.items():
            values_by_slice[f"{kind} by attribute {name}", str(attribute)].append(values[aid])
    for slice_name, slice_values in values_by_slice.items():
        yield Point(eid=row.eid, value=fmean(slice_values), slices=(slice_name,))


def _frequency_label(n_articles: int) -> str:
    top_label = f"more than {_MAX_ARTICLES}"
    return str(n_articles) if n_articles <= _MAX_ARTICLES else top_label


def _place_label(position: int, n_articles: int) -> str:
    return PLACES[0] if position == 0 else PLACES[2] if position == n_articles - 1 else PLACES[1]


def question_word(question: str) -> str:
    """Return the first question word of `question`: what, who, when, where, why, how, or other.

    "whom" and "whose" count as who, "which" as other.
    """
    words = (_WHO.get(word, word) for word in re.findall(r"[a-z]+", question.lower()))
    return next((word for word in words if word in QUESTION_WORDS), "other")


def _to_least_covered(sources: Sequence[SourceCovered], reference: Cluster) -> LeastCovered:
    return LeastCovered(
        value=balance_score(sources),
        mean=mean_coverage(sources),
        sources={
            _outlet(source.aid, reference): source.covered
            for source in least_covered_sources(sources)
        },
    )


def _outlet(aid: str, reference: Cluster) -> str:
    article = next((article for article in reference.articles if article.aid == aid), None)
    return aid if article is None else article.domain or article.title or aid


def _uncovered_group(row: _Row, group: _Group, reference: Cluster) -> UncoveredGroup | None:
    """Return the voices whose wording is not covered, None if there are none."""
    answers, indices = group.content.answers, row.covered
    if indices is None:
        indices = tuple(range(len(answers))) if row.value >= COVERED_FROM else ()
    voices = [
        Voice(outlet=_outlet(answer.aid, reference), speaker=answer.speaker, answer=answer.answer)
        for index, answer in enumerate(answers)
        if index not in indices
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
        answer=group.text,
        words=words,
        outlets=tuple(outlets),
    )
