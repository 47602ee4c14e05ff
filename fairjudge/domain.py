"""The values that flow through FairJudge; all frozen.

Records cross a process edge (files, see docs/formats.md): pydantic models that carry unknown keys
through unchanged. Results stay inside: slotted dataclasses.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self, TypeAlias, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    model_validator,
)

Aspect: TypeAlias = str
"""``"coverage"``, ``"faithfulness"``, ``"balance"``, or the name of a custom criterion."""
TaskName: TypeAlias = Literal[
    "answers", "coverage", "faithfulness", "preference", "rating", "values", "leaning"
]
ProtocolName: TypeAlias = Literal["likert", "binary", "pairwise", "checklist", "ranking"]
Verdict: TypeAlias = Literal["a", "b", "tie"]
SWAPPED: dict[Verdict, Verdict] = {"a": "b", "b": "a", "tie": "tie"}
"""Each verdict with the two summaries exchanged."""
"""A pairwise verdict in terms of ``system_a`` and ``system_b``, regardless of the order shown."""
Order: TypeAlias = Literal["ab", "ba"]
"""Which system's summary stood first in the prompt; of a ranking, ``"ba"`` is the list reversed."""
UnscoredReason: TypeAlias = Literal[
    "unparseable", "off_scale", "refused", "backend", "budget", "empty_input", "too_long"
]
ScoredBy: TypeAlias = Literal["llm", "decision", "entailment", "embedding", "code"]
"""``"code"``: a rule, with no model; only other tools' files have such judgements."""
StatementVerdict: TypeAlias = Literal["supported", "contradicted", "absent"]
"""Whether articles support a statement, contradict it, or say nothing about it."""
Stance: TypeAlias = Literal["endorses", "reports", "disputes"]
"""How an article stands to an answer that it quotes: as its own, as another's, or against it."""
QuestionKind: TypeAlias = Literal["rivals", "facets"]
"""Whether some answers to a question exclude each other, or all can be true together."""
Importance: TypeAlias = Literal["vital", "okay"]
"""Whether a good summary must say it, or may (AutoNuggetizer)."""
GROUP_LISTS = ("group_labels", "group_sources", "group_weights", "group_importance")
"""What a question has one entry a group of, beside the answers."""
_BEYOND_EXACT = 2.0**53
"""From here on floats do not hold every whole number: an id that large may have lost digits."""
_SHOWN_CHARACTERS = 60
AttributeValue: TypeAlias = str | int | float | bool | None


def _id_from_number(value: object) -> object:
    """Accept whole numbers as ids, also those that a data frame made floats of (5.0 is "5")."""
    if isinstance(value, float) and value.is_integer() and abs(value) < _BEYOND_EXACT:
        return str(int(value))
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def replace_lone_surrogates(value: object) -> object:
    """Put U+FFFD for halves of surrogate pairs, which no UTF-8 file can hold.

    Scraped news and model replies contain them; anything but a string is returned as it is.
    """
    if not isinstance(value, str) or value.isascii():
        return value
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _number_or_verdict(value: object) -> float | Verdict:
    """Accept a finite number or a verdict, and keep 3 apart from 3.0 so that files stay equal."""
    if isinstance(value, str) and value in {"a", "b", "tie"}:
        return cast("Verdict", value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            finite = math.isfinite(value)
        except OverflowError:  # an integer beyond every float
            finite = False
        if finite:
            return value
    raise ValueError("expected a finite number, or 'a', 'b' or 'tie'")


Id = Annotated[str, BeforeValidator(_id_from_number), Field(min_length=1)]
"""A name that is never empty. A whole JSON number is taken too, and written back as a string."""
Text = Annotated[str, BeforeValidator(replace_lone_surrogates)]
"""Free text that can always be written as UTF-8."""
Value = Annotated[
    float | Verdict, PlainValidator(_number_or_verdict), PlainSerializer(lambda value: value)
]
"""A score, or a verdict on a pair."""


Weight = Annotated[int | float, Field(ge=0)]
"""How much something counts beside others of its kind; 0 and up."""


class _Short:
    """A value as the repr of a record shows it."""

    def __init__(self, value: object) -> None:
        self.value = value

    def __repr__(self) -> str:
        match self.value:
            case str() as text if len(text) > _SHOWN_CHARACTERS:
                return repr(text[: _SHOWN_CHARACTERS - 3] + "...")
            case tuple() | list() as values if len(repr(values)) > _SHOWN_CHARACTERS:
                return f"<list of {len(values)}>"
            case Mapping() as values if len(repr(values)) > _SHOWN_CHARACTERS:
                return f"<dict of {len(values)}>"
            case value:
                return repr(value)


class Record(BaseModel):
    """A line of a file. Unknown keys are kept and written back."""

    model_config = ConfigDict(frozen=True, extra="allow", allow_inf_nan=False)

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """Show what the line has, long texts and lists by their beginning and length."""
        for name, value in super().__repr_args__():
            if name in self.model_fields_set and value is not None:
                yield name, _Short(value)

    def to_json(self) -> dict[str, Any]:
        """Return the fields that were set, unknown keys included."""
        return self.model_dump(mode="json", exclude_unset=True)


class Article(Record):
    """One source document of a cluster; ``content`` may be empty, as crawled news is."""

    aid: Id
    title: Text = ""
    url: str = ""
    domain: str = ""
    content: Text
    attributes: Mapping[str, AttributeValue] = Field(default_factory=dict)


class Cluster(Record):
    """Articles on one event (or reviews of one product)."""

    eid: Id
    articles: tuple[Article, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _aids_are_unique(self) -> Self:
        aids: set[str] = set()
        for article in self.articles:
            if article.aid in aids:
                raise ValueError(f"duplicate aid {article.aid!r} in cluster {self.eid!r}")
            aids.add(article.aid)
        return self


class Answer(Record):
    """One article's answer to a question.

    ``answer`` is the quote as it stands in the article. ``speaker`` is who holds it, None for the
    outlet's own voice or where it is not known; ``stance`` is how the article stands to what its
    group says; ``gloss`` says in a few words what the quote means where it is unclear by itself.
    """

    aid: Id
    answer: Text
    speaker: Text | None = None
    stance: Stance | None = None
    gloss: Text | None = None


class GroupSources(Record):
    """The articles that say what a group says, and those that dispute it, each by its ``aid``."""

    support: tuple[Id, ...] = ()
    dispute: tuple[Id, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerGroup:
    """A group of answers with its sources and weight; see `QuestionAnswers.groups`.

    ``supported_by`` are the articles that say it, ``endorsed_by`` those of them that say it in
    their own voice or side with it, ``disputed_by`` those that reject it. ``weight`` is how many
    support it where nothing else is given.
    """

    label: str
    answers: tuple[Answer, ...]
    supported_by: tuple[str, ...]
    endorsed_by: tuple[str, ...]
    disputed_by: tuple[str, ...]
    weight: float
    importance: Importance | None


class QuestionAnswers(Record):
    """A question with its groups of equivalent answers.

    ``group_labels``, ``group_sources``, ``group_weights`` and ``group_importance`` have one entry a
    group where they are given. ``kind`` says whether some groups exclude each other (``rivals``)
    or all can be true together (``facets``); ``rivals`` has the pairs that do, counted from 0.
    """

    question: Text
    answer_groups: tuple[tuple[Answer, ...], ...]
    group_labels: tuple[Text, ...] | None = None
    group_sources: tuple[GroupSources, ...] | None = None
    group_weights: tuple[Weight, ...] | None = None
    group_importance: tuple[Importance | None, ...] | None = None
    kind: QuestionKind | None = None
    rivals: tuple[tuple[int, int], ...] | None = None

    @model_validator(mode="after")
    def _an_entry_a_group(self) -> Self:
        n = len(self.answer_groups)
        for name in GROUP_LISTS:
            value = getattr(self, name)
            if value is not None and len(value) != n:
                raise ValueError(f"{len(value)} {name} for {n} answer_groups")
        for pair in self.rivals or ():
            if pair[0] == pair[1] or not all(0 <= group < n for group in pair):
                raise ValueError(f"rivals: {list(pair)} are not two of the {n} answer_groups")
        return self

    def groups(self) -> tuple[AnswerGroup, ...]:
        """Return the groups one by one; what a file does not say follows from its answers."""
        return tuple(map(self._group, range(len(self.answer_groups))))

    def _group(self, place: int) -> AnswerGroup:
        answers = self.answer_groups[place]
        sources = self.group_sources[place] if self.group_sources else sources_of(answers)
        endorsing = {answer.aid for answer in answers if answer.stance in {None, "endorses"}}
        weight = self.group_weights[place] if self.group_weights else len(sources.support)
        return AnswerGroup(
            label=self.group_labels[place] if self.group_labels else "",
            answers=answers,
            supported_by=sources.support,
            endorsed_by=tuple(aid for aid in sources.support if aid in endorsing),
            disputed_by=sources.dispute,
            weight=weight,
            importance=self.group_importance[place] if self.group_importance else None,
        )


def sources_of(answers: Sequence[Answer]) -> GroupSources:
    """Return the articles that support a group of answers and those that dispute it.

    An article with both stands behind it. A group that only disputing articles form says what they
    say: they are those behind it.
    """
    support = dict.fromkeys(answer.aid for answer in answers if answer.stance != "disputes")
    every = dict.fromkeys(answer.aid for answer in answers)
    if not support:
        return GroupSources(support=tuple(every))
    return GroupSources(
        support=tuple(support), dispute=tuple(aid for aid in every if aid not in support)
    )


class Reference(Cluster):
    """A cluster with its diverse questions and answers: the published DiverseSumm record."""

    question_answers: tuple[QuestionAnswers, ...]


class Citation(Record):
    """The articles that a sentence of a summary cites; ``text`` is the sentence as it stands."""

    text: Text
    articles: tuple[Id, ...]


class Summary(Record):
    """One system's summary of one cluster; ``citations`` say which articles its sentences cite."""

    eid: Id
    system: Id
    text: Text
    citations: tuple[Citation, ...] | None = None


class _Target(Record):
    """The judged item: one summary, a pair, or several in a ranking."""

    eid: Id
    system: Id | None = None
    system_a: Id | None = None
    system_b: Id | None = None
    aspect: str = Field(min_length=1)
    unit: str = "summary"

    @model_validator(mode="after")
    def _one_or_two_systems(self) -> Self:
        if getattr(self, "systems", None) is not None and self.system is self.system_a is None:
            return self
        targets = (self.system is not None, self.system_a is not None, self.system_b is not None)
        if targets not in {(True, False, False), (False, True, True)}:
            raise ValueError("expected either 'system', or both 'system_a' and 'system_b'")
        return self


class Label(_Target):
    """One annotator's label; ``value`` is a number, or a verdict for a pair.

    ``probability`` is the chance that the item had of being drawn for labelling, where items were
    drawn with unequal chances. ``adjudicated``: the item was chosen because judge and people
    disagreed on it, and what they said was seen; it is no random draw, and no measure counts it.
    """

    annotator: Id
    value: Value
    probability: float | None = Field(default=None, gt=0.0, le=1.0)
    adjudicated: bool = False


def _full_half_or_none(value: float) -> float:
    if value not in {0, 0.5, 1}:
        raise ValueError("expected 1, 0.5 or 0")
    return value


Covered = Annotated[float, AfterValidator(_full_half_or_none)]
"""1: covered, 0.5: in part, 0: not."""


class ChecklistEntry(Record):
    """Whether a summary covers one group of answers, or contradicts it.

    ``unit`` is ``"answer:<question>.<group>"``; ``covered`` is 1, 0.5 for in part, or 0; ``quote``
    holds the summary's words that cover it, or contradict it where ``contradicted`` says so, which
    is then not covered; ``credited`` names the articles whose own wording is covered; ``answers``
    counts, from 0, the answers of the group that are covered. ``support`` is a local judge's
    probability.
    """

    unit: str
    covered: Covered
    quote: Text | None = None
    credited: tuple[Id, ...] = ()
    answers: tuple[int, ...] | None = None
    support: float | None = Field(default=None, ge=0.0, le=1.0)
    contradicted: bool = False

    @model_validator(mode="after")
    def _contradicted_is_not_covered(self) -> Self:
        if self.contradicted and self.covered:
            raise ValueError(f"{self.unit!r} is contradicted, so 'covered' must be 0")
        return self


class StatementEntry(Record):
    """Whether articles support one statement of a summary.

    ``sentence`` is the number, from 0, of the summary's sentence that makes it; ``articles`` are
    those that support or contradict it, the first of which holds ``quote``; ``grave`` says of a
    statement that is not supported that it makes a reader tell the story wrongly. ``support`` is a
    local judge's probability, which cannot tell contradicted from absent.
    """

    sentence: int = Field(ge=0)
    statement: Text
    verdict: StatementVerdict
    articles: tuple[Id, ...] = ()
    quote: Text | None = None
    grave: bool = False
    support: float | None = Field(default=None, ge=0.0, le=1.0)

    @model_validator(mode="after")
    def _supported_is_not_grave(self) -> Self:
        if self.grave and self.verdict == "supported":
            raise ValueError("a statement that is supported cannot be 'grave'")
        return self

    def is_supported_by(self, aids: Iterable[str]) -> bool:
        """Say whether one of the articles `aids` supports the statement."""
        return self.verdict == "supported" and not set(aids).isdisjoint(self.articles)


class SourceCovered(Record):
    """How far a summary covers the statements of one article, in [0, 1]."""

    aid: Id
    covered: float = Field(ge=0.0, le=1.0)


class Judgement(_Target):
    """One judge's judgement of one item, or the reason why it has no score.

    Exactly one of ``value`` and ``unscored`` is set; a ranking of ``systems`` has ``ranking``, from
    the best to the worst, in the place of ``value``. ``probabilities`` maps each answer on the
    scale to its probability where the judge gives them. ``checklist`` holds what the value of that
    protocol is made of for coverage, ``statements`` for faithfulness, ``sources`` what a balance
    is. ``repeat`` numbers judgements of the same
    item from 0, under one prompt; ``variant`` names the prompt where an item was judged by several.
    ``without_probabilities`` says why a value that was to come from token probabilities does not.
    """

    systems: tuple[Id, ...] | None = Field(default=None, min_length=2)
    order: Order | None = None
    protocol: ProtocolName
    judge: str = Field(min_length=1)
    value: Value | None = None
    ranking: tuple[Id, ...] | None = None
    unscored: UnscoredReason | None = None
    raw: Text | None = None
    scored_by: ScoredBy = "llm"
    probabilities: Mapping[str, float] | None = None
    checklist: tuple[ChecklistEntry, ...] | None = None
    statements: tuple[StatementEntry, ...] | None = None
    sources: tuple[SourceCovered, ...] | None = None
    repeat: int | None = Field(default=None, ge=0)
    variant: Annotated[str, BeforeValidator(_id_from_number)] | None = None
    without_probabilities: str | None = None
    signature: str = ""

    @model_validator(mode="after")
    def _scored_or_not(self) -> Self:
        if self.systems is not None:
            return self._ranked_or_not(self.systems)
        if (self.value is None) == (self.unscored is None):
            raise ValueError("expected exactly one of 'value' and 'unscored'")
        return self

    def _ranked_or_not(self, systems: tuple[str, ...]) -> Self:
        if self.value is not None or (self.ranking is None) == (self.unscored is None):
            raise ValueError("expected exactly one of 'ranking' and 'unscored', and no 'value'")
        if len(set(systems)) < len(systems):
            raise ValueError("'systems' names a system twice")
        if self.ranking is not None and sorted(self.ranking) != sorted(systems):
            raise ValueError("'ranking' must hold each of 'systems' once")
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeTask:
    """One judging task: the item, the material to judge it against, and the protocol.

    ``systems`` and ``texts`` hold one entry, or two in terms of a and b whatever ``order`` asks, or
    all of a cluster.
    Faithfulness stands on ``articles``, coverage on ``questions``; the other is empty. ``unit``
    is as in `Judgement`; for ``"sentence:<i>"`` the text is that sentence. ``repeat`` and
    ``variant`` are as in `Judgement`: None where the item is asked about once, by one prompt.
    """

    eid: str
    systems: tuple[str, ...]
    texts: tuple[str, ...]
    aspect: Aspect
    protocol: ProtocolName
    unit: str
    order: Order | None = None
    articles: tuple[Article, ...] = ()
    questions: tuple[QuestionAnswers, ...] = ()
    repeat: int | None = None
    variant: str | None = None

    @property
    def id(self) -> str:
        """Return a key that is unique within a run."""
        parts: tuple[str | int | None, ...] = (
            self.eid, *self.systems, self.aspect, self.protocol, self.unit, self.order
        )  # fmt: skip
        if self.repeat is not None or self.variant is not None:
            parts = (*parts, self.repeat, self.variant)
        return json.dumps(parts, ensure_ascii=False)

    def in_prompt_order(self, values: tuple[str, ...]) -> tuple[str, ...]:
        """Return `values`, one for each system, in the order in which a prompt shows them."""
        return values[::-1] if self.order == "ba" else values


@dataclass(frozen=True, slots=True, kw_only=True)
class Unscored:
    """The reason why there is no score; never a number."""

    reason: UnscoredReason
    detail: str = ""
    raw: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Undefined:
    """A statistic has no value on these data, and this is why. Never a number."""

    why: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Estimate:
    """A statistic with its interval.

    ``low`` and ``high`` bound the ``level`` confidence interval made by ``method`` (such as
    ``"percentile bootstrap over documents"``), or are None where there is none. ``n`` counts the
    units that the statistic stands on, ``n_excluded`` those left out, ``p_value`` is two-sided
    against no effect where the statistic has such a test, and ``p_floor`` the smallest p-value that
    its resamples can give; None where the test is exact.
    """

    value: float
    n: int
    low: float | None = None
    high: float | None = None
    level: float = 0.95
    method: str = ""
    n_excluded: int = 0
    p_value: float | None = None
    p_floor: float | None = None

    def __repr__(self) -> str:
        has_interval = self.low is not None and self.high is not None
        interval = f" [{self.low:.4g}, {self.high:.4g}]" if has_interval else ""
        excluded = f", n_excluded={self.n_excluded}" if self.n_excluded else ""
        sign = "=" if self.p_floor is None or self.p_value != self.p_floor else "<="
        p_value = "" if self.p_value is None else f", p{sign}{self.p_value:.3g}"
        return f"Estimate({self.value:.4g}{interval}, n={self.n}{excluded}{p_value})"
