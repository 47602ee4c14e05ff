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
"""A pairwise verdict in terms of ``system_a`` and ``system_b``, in either order of the prompt."""
SWAPPED: dict[Verdict, Verdict] = {"a": "b", "b": "a", "tie": "tie"}
"""Each verdict with the two summaries exchanged."""
Order: TypeAlias = Literal["ab", "ba"]
"""Which system's summary the prompt shows first; for a ranking, ``"ba"`` reverses the list."""
UnscoredReason: TypeAlias = Literal[
    "unparseable",
    "off_scale",
    "refused",
    "backend",
    "budget",
    "empty_input",
    "too_long",
]
"""The reasons in `UNSCORED_REASONS`, which describes each."""
MissingKind: TypeAlias = Literal["failed", "refused", "not applicable"]
ScoredBy: TypeAlias = Literal["llm", "decision", "entailment", "embedding", "code"]
"""``"code"``: a rule without a model; occurs only in judgements imported from other tools."""
StatementVerdict: TypeAlias = Literal["supported", "contradicted", "absent"]
"""Whether articles support a statement, contradict it, or do not mention it."""
Stance: TypeAlias = Literal["endorses", "reports", "disputes"]
"""Whether an article agrees with an answer that it quotes, only reports it, or disputes it."""
QuestionKind: TypeAlias = Literal["rivals", "facets"]
"""Whether some answers to a question exclude each other, or all can be true together."""
Importance: TypeAlias = Literal["vital", "okay"]
"""Whether a good summary must contain an answer, or may contain it (AutoNuggetizer)."""
GROUP_LISTS = ("group_labels", "group_sources", "group_weights", "group_importance")
"""The fields of a question, besides the answers, that have one entry per answer group."""
_FIRST_INEXACT_NUMBER = 2.0**53
"""From 2^53 on, floats skip whole numbers, so that an id may have lost digits."""
_MAX_REPR_CHARACTERS = 60
AttributeValue: TypeAlias = str | int | float | bool | None


def _id_from_number(value: object) -> object:
    """Convert a whole number to an id; data frames turn some into floats (5.0 becomes "5")."""
    if isinstance(value, float) and value.is_integer() and abs(value) < _FIRST_INEXACT_NUMBER:
        return str(int(value))
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def replace_lone_surrogates(value: object) -> object:
    """Replace lone surrogates, which UTF-8 cannot encode, by U+FFFD.

    Scraped news and model replies contain them. Values of other types are returned unchanged.
    """
    if not isinstance(value, str) or value.isascii():
        return value
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _number_or_verdict(value: object) -> float | Verdict:
    """Accept a finite number or a verdict; 3 and 3.0 stay distinct, so that files stay equal."""
    if isinstance(value, str) and value in {"a", "b", "tie"}:
        return cast("Verdict", value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            finite = math.isfinite(value)
        except OverflowError:  # an integer too large for a float
            finite = False
        if finite:
            return value
    raise ValueError("expected a finite number, or 'a', 'b' or 'tie'")


Id = Annotated[str, BeforeValidator(_id_from_number), Field(min_length=1)]
"""A non-empty name. A whole JSON number is accepted too, and written back as a string."""
Text = Annotated[str, BeforeValidator(replace_lone_surrogates)]
"""Free text that can always be written as UTF-8."""
Value = Annotated[
    float | Verdict, PlainValidator(_number_or_verdict), PlainSerializer(lambda value: value)
]
"""A score, or a verdict on a pair."""


Weight = Annotated[int | float, Field(ge=0)]
"""The relative weight of an item; at least 0."""


class _ShortenedValue:
    """A value whose repr is shortened."""

    def __init__(self, value: object) -> None:
        self.value = value

    def __repr__(self) -> str:
        match self.value:
            case str() as text if len(text) > _MAX_REPR_CHARACTERS:
                return repr(text[: _MAX_REPR_CHARACTERS - 3] + "...")
            case tuple() | list() as values if len(repr(values)) > _MAX_REPR_CHARACTERS:
                return f"<list of {len(values)}>"
            case Mapping() as values if len(repr(values)) > _MAX_REPR_CHARACTERS:
                return f"<dict of {len(values)}>"
            case value:
                return repr(value)


class Record(BaseModel):
    """One line of a file. Unknown keys are preserved when it is written back."""

    model_config = ConfigDict(frozen=True, extra="allow", allow_inf_nan=False)

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """Yield the fields of the line, with long texts and lists shortened."""
        for name, value in super().__repr_args__():
            if name in self.model_fields_set and value is not None:
                yield name, _ShortenedValue(value)

    def to_json(self) -> dict[str, Any]:
        """Return the fields that were set, unknown keys included."""
        return self.model_dump(mode="json", exclude_unset=True)


class Article(Record):
    """One source document of a cluster; ``content`` may be empty, as in crawled news."""

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

    ``answer`` is a verbatim quote from the article. ``speaker`` is the person quoted, or None for
    the outlet itself or an unknown speaker. ``stance`` is the article's stance towards the answer
    group. ``gloss`` briefly explains a quote that is unclear by itself.
    """

    aid: Id
    answer: Text
    speaker: Text | None = None
    stance: Stance | None = None
    gloss: Text | None = None


class GroupSources(Record):
    """The ids of the articles that support an answer group, and of those that dispute it."""

    support: tuple[Id, ...] = ()
    dispute: tuple[Id, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerGroup:
    """A group of answers with its sources and weight; see `QuestionAnswers.groups`.

    ``supported_by`` are the ids of the articles that contain the answer, ``endorsed_by`` the subset
    that agrees with it, ``disputed_by`` the articles that reject it. ``weight`` defaults to the
    number of supporting articles.
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

    ``group_labels``, ``group_sources``, ``group_weights`` and ``group_importance`` have one entry
    per group, or are None. ``kind`` is ``"rivals"`` if some groups exclude each other, and
    ``"facets"`` if all can be true together; ``rivals`` lists the pairs of 0-based group indices
    that exclude each other.
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
    def _one_entry_per_group(self) -> Self:
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
        """Return the answer groups; fields that the file lacks are derived from the answers."""
        return tuple(map(self._group, range(len(self.answer_groups))))

    def _group(self, index: int) -> AnswerGroup:
        answers = self.answer_groups[index]
        sources = self.group_sources[index] if self.group_sources else sources_of(answers)
        endorsing_aids = {answer.aid for answer in answers if answer.stance in {None, "endorses"}}
        weight = self.group_weights[index] if self.group_weights else len(sources.support)
        return AnswerGroup(
            label=self.group_labels[index] if self.group_labels else "",
            answers=answers,
            supported_by=sources.support,
            endorsed_by=tuple(aid for aid in sources.support if aid in endorsing_aids),
            disputed_by=sources.dispute,
            weight=weight,
            importance=self.group_importance[index] if self.group_importance else None,
        )


def sources_of(answers: Sequence[Answer]) -> GroupSources:
    """Return the articles that support a group of answers and those that dispute it.

    An article with both stances counts as support. If all articles of the group dispute, they
    count as its support.
    """
    support = dict.fromkeys(answer.aid for answer in answers if answer.stance != "disputes")
    aids = dict.fromkeys(answer.aid for answer in answers)
    if not support:
        return GroupSources(support=tuple(aids))
    return GroupSources(
        support=tuple(support), dispute=tuple(aid for aid in aids if aid not in support)
    )


class Reference(Cluster):
    """A cluster with its diverse questions and answers: the published DiverseSumm record."""

    question_answers: tuple[QuestionAnswers, ...]


class Citation(Record):
    """The articles that a sentence of a summary cites; ``text`` is the verbatim sentence."""

    text: Text
    articles: tuple[Id, ...]


class Summary(Record):
    """One system's summary of one cluster; ``citations`` are the articles that it cites."""

    eid: Id
    system: Id
    text: Text
    citations: tuple[Citation, ...] | None = None


class _Target(Record):
    """The judged item: a summary, a pair of summaries, or the summaries of a ranking."""

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

    ``probability`` is the item's probability of being sampled for labelling, if items were sampled
    with unequal probabilities. ``adjudicated``: the item was selected because the judge and human
    annotators disagreed, and the annotator saw their verdicts. Such items are not a random sample,
    and all measures exclude them.
    """

    annotator: Id
    value: Value
    probability: float | None = Field(default=None, gt=0.0, le=1.0)
    adjudicated: bool = False


def _check_coverage_share(value: float) -> float:
    if value not in {0, 0.5, 1}:
        raise ValueError("expected 1, 0.5 or 0")
    return value


CoverageShare = Annotated[float, AfterValidator(_check_coverage_share)]
"""1: covered, 0.5: partly covered, 0: not covered."""


class ChecklistEntry(Record):
    """Whether a summary covers one group of answers, or contradicts it.

    ``unit`` is ``"answer:<question>.<group>"``; ``covered`` is 1, 0.5 (partly covered) or 0.
    ``quote`` is the passage of the summary that covers the group, or contradicts it if
    ``contradicted`` is set; a contradicted group is not covered. ``credited`` are the ids of the
    articles whose own wording is covered, ``answers`` the 0-based indices of the covered answers
    in the group. ``support`` is a local judge's probability.
    """

    unit: str
    covered: CoverageShare
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

    ``sentence`` is the 0-based index of the summary's sentence that contains the statement.
    ``articles`` are the ids of those that support or contradict it; ``quote`` is from the first.
    ``grave`` marks an unsupported statement that seriously misleads a reader. ``support`` is a
    local judge's probability, which does not distinguish contradicted from absent.
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
        """Return whether one of the articles `aids` supports the statement."""
        return self.verdict == "supported" and not set(aids).isdisjoint(self.articles)


class SourceCovered(Record):
    """The share of one article's statements that a summary covers, in [0, 1]."""

    aid: Id
    covered: float = Field(ge=0.0, le=1.0)


class Judgement(_Target):
    """One judge's judgement of one item, or the reason why it has no score.

    Exactly one of ``value`` and ``unscored`` is set; a ranking of ``systems`` has ``ranking``, from
    best to worst, instead of ``value``. ``probabilities`` maps each answer on the scale to its
    probability, if the judge returns probabilities. The verdicts from which the value is computed
    are in ``checklist`` for coverage, ``statements`` for faithfulness, and ``sources`` for balance.
    ``repeat`` is the 0-based number of the judgement among repeated ones with the same prompt;
    ``variant`` is the name of the prompt if several were used. ``without_probabilities`` is the
    reason why a value could not be computed from token probabilities as requested.
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

    ``systems`` and ``texts`` have one entry, two entries (a and b, in either ``order``), or one
    per summary of the cluster. Faithfulness is judged against ``articles``, coverage against
    ``questions``; the other is empty. ``unit`` is as in `Judgement`; for ``"sentence:<i>"`` the
    text is that sentence. ``repeat`` and ``variant`` are as in `Judgement`, or None if the item is
    judged once, with one prompt. With ``unscored`` no judge is called, and the item has no score
    for that reason; by default, an empty text.
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
    unscored: Unscored | None = None

    def __post_init__(self) -> None:
        if self.unscored is None and not all(map(str.strip, self.texts)):
            object.__setattr__(self, "unscored", EMPTY_SUMMARY)

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
        """Return `values`, one per system, in the order in which the prompt shows the systems."""
        return values[::-1] if self.order == "ba" else values


@dataclass(frozen=True, slots=True, kw_only=True)
class Unscored:
    """The reason why an item has no score; never a number."""

    reason: UnscoredReason
    detail: str = ""
    raw: str | None = None


EMPTY_SUMMARY = Unscored(reason="empty_input", detail="the summary is empty")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasonInfo:
    """What an `UnscoredReason` means, in the words of docs/formats.md, and how it is counted.

    Items whose reason is ``retryable`` are judged again when the run is resumed. ``label`` replaces
    the reason in sentences for readers.
    """

    description: str
    kind: MissingKind = "failed"
    retryable: bool = False
    label: str | None = None


UNSCORED_REASONS: Mapping[UnscoredReason, ReasonInfo] = {
    "unparseable": ReasonInfo(
        description="no verdict could be parsed, after one repair; the reply was empty, or "
        "truncated by the token limit"
    ),
    "off_scale": ReasonInfo(description="the verdict is not one of the offered answers"),
    "refused": ReasonInfo(
        description="the model or its provider declined: in words, by moderation (403), or by a "
        "content filter (400, or a finish reason such as `SAFETY`)",
        kind="refused",
    ),
    "backend": ReasonInfo(
        description="the server failed, after retries (by its status, or inside a reply of status "
        "200), ended the reply early, denied this one request, or required a longer wait than "
        "`--max-wait` in total",
        retryable=True,
    ),
    "budget": ReasonInfo(
        description="`--max-cost` or `--max-calls` was reached",
        retryable=True,
    ),
    "empty_input": ReasonInfo(
        description="the summary or the evidence is empty", kind="not applicable"
    ),
    "too_long": ReasonInfo(
        description="the prompt does not fit the model's context window, by the provider's error "
        "or by the prompt tokens that the server counted; not a limit on the summary",
        label="prompt too long",
    ),
}
"""The reasons for a missing score; to add one, add it here, above, and in docs/formats.md."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Undefined:
    """The reason why a statistic has no value on the data; never a number."""

    why: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Estimate:
    """A statistic with its interval.

    ``low`` and ``high`` are the bounds of the confidence interval at ``level``, computed by
    ``method`` (such as ``"percentile bootstrap over documents"``), or None without an interval.
    ``n`` is the number of units used, ``n_excluded`` the number excluded. ``p_value`` is two-sided,
    for the null hypothesis of no effect, or None without a test. ``p_floor`` is the smallest
    p-value that the resamples can yield, or None if the test is exact.
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
