"""Plan the tasks of a judge from references, summaries and a protocol.

Covers every row of DiverseSumm's table of protocols (section 4.2, Table 5), for both aspects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, get_args

from fairjudge.domain import (
    Article,
    Aspect,
    Cluster,
    JudgeTask,
    ProtocolName,
    QuestionAnswers,
    Reference,
    Summary,
)
from fairjudge.errors import ConfigurationError
from fairjudge.judges.asking import ASPECTS, Preset, ReferenceUnit, TextUnit
from fairjudge.judges.balance import BALANCE
from fairjudge.protocols import PROTOCOLS
from fairjudge.text.usable import worth_reading

SentenceSplitter: TypeAlias = Callable[[str], Sequence[str]]

_EVIDENCE: Mapping[str, tuple[ReferenceUnit, ...]] = {
    "faithfulness": ("articles", "article"),
    "coverage": ("qa_pairs", "qa_pair"),
    BALANCE: ("articles",),
}
"""The reference units of aspects, the default first; other built-in aspects use all articles.

Custom criteria may use `_ALL_UNITS`.
"""
_ALL_UNITS: tuple[ReferenceUnit, ...] = ("articles", "article", "qa_pairs", "qa_pair")
_CHECKLIST_COMBINATIONS = frozenset({("coverage", "qa_pairs"), ("faithfulness", "articles")})
"""The combinations of aspect and reference unit that have a checklist."""

_PRESETS: Mapping[Preset, Mapping[str, tuple[ProtocolName, ReferenceUnit, TextUnit]]] = {
    "recommended": {
        "faithfulness": ("pairwise", "article", "summary"),
        "coverage": ("checklist", "qa_pairs", "summary"),
    },
    "paper": {
        "faithfulness": ("pairwise", "article", "summary"),
        "coverage": ("likert", "qa_pairs", "summary"),
    },
    "budget": {
        "faithfulness": ("likert", "article", "summary"),
        "coverage": ("likert", "qa_pairs", "summary"),
    },
    "granular": {
        "faithfulness": ("likert", "articles", "sentence"),
        "coverage": ("binary", "qa_pair", "summary"),
    },
}
"""DiverseSumm's recommendations (Table 5): the best and second-best protocol of each aspect.

``"recommended"`` replaces its row for coverage by the checklist, which quotes its evidence.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingPlan:
    """The protocol, evidence and text unit of a run: one row of the table of protocols.

    `resolve_plan` fills in defaults and rejects invalid combinations.
    """

    aspect: Aspect
    protocol: ProtocolName
    reference_unit: ReferenceUnit
    text_unit: TextUnit

    @property
    def needs_questions(self) -> bool:
        """Whether summaries are judged against questions and answers, not against articles."""
        return self.reference_unit in {"qa_pairs", "qa_pair"}


def resolve_plan(
    aspect: Aspect,
    *,
    protocol: ProtocolName | None = None,
    reference_unit: ReferenceUnit | None = None,
    text_unit: TextUnit | None = None,
    preset: Preset | None = None,
    own_prompt: bool = False,
) -> JudgingPlan:
    """Return the plan for these options; explicit ones override the preset.

    With `own_prompt` a rated built-in aspect (such as coherence) may use any reference unit.

    Raises `ConfigurationError` if no protocol follows from the arguments, or the combination is
    not in the table.
    """
    base = _PRESETS[preset].get(aspect) if preset else None
    if protocol is None and base is None and aspect != BALANCE:
        raise ConfigurationError(
            f"aspect {aspect!r} needs --protocol {'|'.join(get_args(ProtocolName))}"
            + (", since no preset contains it" if preset else " or --preset")
        )
    only_articles = aspect in ASPECTS and not own_prompt
    units = _EVIDENCE.get(aspect, ("articles",) if only_articles else _ALL_UNITS)
    plan = JudgingPlan(
        aspect=aspect,
        protocol=protocol or (base[0] if base else "likert"),
        reference_unit=reference_unit or (base[1] if base else units[0]),
        text_unit=text_unit or (base[2] if base else "summary"),
    )
    if plan.reference_unit not in units:
        advice = "; 'fairjudge build' makes QA pairs from articles" if aspect == "coverage" else ""
        raise ConfigurationError(
            f"{aspect} is judged against {' or '.join(units)}, not {plan.reference_unit!r} "
            f"(--reference-unit){advice}"
        )
    combination = (plan.aspect, plan.reference_unit)
    if PROTOCOLS[plan.protocol].itemized and combination not in _CHECKLIST_COMBINATIONS:
        raise ConfigurationError(
            "a checklist requires coverage against all QA pairs (qa_pairs) or faithfulness against "
            "all articles (articles)"
        )
    if plan.text_unit == "sentence" and (
        not PROTOCOLS[plan.protocol].judges_parts or plan.reference_unit != "articles"
    ):
        raise ConfigurationError(
            "single sentences are judged by likert or binary against all articles "
            f"(--reference-unit articles), not {plan.protocol} against {plan.reference_unit}"
        )
    if PROTOCOLS[plan.protocol].paired and plan.reference_unit == "qa_pair":
        raise ConfigurationError(
            f"{plan.protocol} coverage is judged against all QA pairs (qa_pairs)"
        )
    return plan


def plan_tasks(
    clusters: Sequence[Cluster],
    summaries: Sequence[Summary],
    plan: JudgingPlan,
    *,
    split_sentences: SentenceSplitter,
) -> tuple[JudgeTask, ...]:
    """Return all tasks, in the order of clusters, then summaries, then units.

    Every summary must belong to one of the clusters. Articles without news
    (`fairjudge.text.usable.worth_reading`) are excluded. Pairs are all pairs of systems of a
    cluster, in order of appearance, each in both orders; a ranking includes all systems.
    """
    by_eid: dict[str, list[Summary]] = {}
    for summary in summaries:
        by_eid.setdefault(summary.eid, []).append(summary)
    return tuple(
        task
        for cluster in clusters
        for task in _cluster_tasks(cluster, by_eid.get(cluster.eid, []), plan, split_sentences)
    )


def repeat_tasks(
    tasks: Iterable[JudgeTask], *, repeats: int = 1, variants: Sequence[str] = ()
) -> tuple[JudgeTask, ...]:
    """Return every task once per repeat and prompt; the copies of a task are adjacent.

    ``variants`` are names of prompts; with fewer than two, tasks have no variant.
    """
    numbers: Sequence[int | None] = range(repeats) if repeats > 1 else (None,)
    names: Sequence[str | None] = tuple(variants) if len(variants) > 1 else (None,)
    if len(numbers) == len(names) == 1:
        return tuple(tasks)
    return tuple(
        replace(task, repeat=number, variant=name)
        for task in tasks
        for name in names
        for number in numbers
    )


def _cluster_tasks(
    cluster: Cluster,
    summaries: Sequence[Summary],
    plan: JudgingPlan,
    split_sentences: SentenceSplitter,
) -> Iterator[JudgeTask]:
    evidence = tuple(_evidence(cluster, plan))
    protocol = PROTOCOLS[plan.protocol]
    for side in protocol.sides(summaries):
        for unit, articles, questions in evidence:
            for text_unit, texts in _texts(side, plan.text_unit, split_sentences):
                for order in protocol.orders:
                    yield JudgeTask(
                        eid=cluster.eid,
                        systems=tuple(summary.system for summary in side),
                        texts=texts,
                        aspect=plan.aspect,
                        protocol=plan.protocol,
                        unit=text_unit or unit,
                        order=order,
                        articles=articles,
                        questions=questions,
                    )


def _evidence(
    cluster: Cluster, plan: JudgingPlan
) -> Iterator[tuple[str, tuple[Article, ...], tuple[QuestionAnswers, ...]]]:
    """Yield (unit, articles, questions) for each piece of evidence of `cluster`."""
    articles = worth_reading(cluster.articles)
    questions = cluster.question_answers if isinstance(cluster, Reference) else ()
    # A checklist contains the outlets of all articles, stubs included.
    outlet_articles = cluster.articles if PROTOCOLS[plan.protocol].itemized else ()
    match plan.reference_unit:
        case "articles":
            if articles:
                yield "summary", articles, ()
        case "article":
            for article in articles:
                yield f"article:{article.aid}", (article,), ()
        case "qa_pairs":
            if questions:
                yield "summary", outlet_articles, questions
        case "qa_pair":
            for q, question in enumerate(questions):
                for g, group in enumerate(question.answer_groups):
                    single = question.model_copy(update={"answer_groups": (group,)})
                    yield f"answer:{q}.{g}", (), (single,)


def _texts(
    side: Sequence[Summary], text_unit: TextUnit, split_sentences: SentenceSplitter
) -> Iterator[tuple[str | None, tuple[str, ...]]]:
    """Yield (unit or None for the whole summary, texts)."""
    texts = tuple(summary.text for summary in side)
    sentences = split_sentences(texts[0]) if text_unit == "sentence" else ()
    if not sentences:  # a summary without sentences is judged as a whole
        yield None, texts
    for i, sentence in enumerate(sentences):
        yield f"sentence:{i}", (sentence,)
