"""Supports computed from a judge's verdicts on each article or answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean
from types import MappingProxyType

import numpy as np

from fairjudge.domain import ChecklistEntry, Cluster, Judgement, Reference
from fairjudge.errors import InputError
from fairjudge.fairness.support import Support
from fairjudge.protocols import PROTOCOLS
from fairjudge.text.usable import worth_reading

RANGES: Mapping[str, tuple[float, float]] = MappingProxyType(
    {name: protocol.score_range for name, protocol in PROTOCOLS.items() if protocol.judges_parts}
)
"""The minimum and maximum of each protocol's scale, which are mapped to 0 and 1."""
_PREFIX = "article:"
_UNIT = "the whole summary"
_ANSWERS = "the answers of the reference"


def supports_from_judgements(
    clusters: Sequence[Cluster], judgements: Sequence[Judgement]
) -> list[Support]:
    """Convert verdicts on (article, summary) pairs to supports with one unit, the summary.

    There is one support per summary for which every article (except stubs) has a value; the other
    summaries stay unscored. Judgements whose unit is not ``article:<aid>`` or whose protocol is
    not in `RANGES` are ignored.

    Raises
    ------
    InputError
        No verdict is about an article, or a value lies outside its scale.
    """
    by_summary: dict[tuple[str, str], dict[str, float]] = {}
    for judgement in judgements:
        value = _verdict(judgement)
        if value is not None and judgement.system is not None:
            aid = judgement.unit.removeprefix(_PREFIX)
            by_summary.setdefault((judgement.eid, judgement.system), {})[aid] = value
    if not by_summary:
        raise InputError(
            "no verdict is about a single article: judge coverage with protocol 'checklist', or "
            "with reference unit 'article'"
        )
    supports = []
    by_eid = {cluster.eid: cluster for cluster in clusters}
    for (eid, system), values in by_summary.items():
        articles = worth_reading(by_eid[eid].articles) if eid in by_eid else ()
        aids = [article.aid for article in articles]
        if aids and all(aid in values for aid in aids):
            supports.append(_support(eid, system, {aid: values[aid] for aid in aids}, _UNIT))
    return supports


def supports_from_checklists(
    references: Sequence[Reference], judgements: Sequence[Judgement]
) -> list[Support]:
    """Convert checklists to supports with one unit: the mean coverage of each article's answers.

    The value of an answer is its group's ``covered`` if its wording is credited, else 0; groups
    have equal weight. Articles without answers are excluded, as in `clusters_with_answers`.
    """
    by_eid = {reference.eid: reference for reference in references}
    supports = []
    for judgement in judgements:
        reference = by_eid.get(judgement.eid)
        if reference is None or judgement.system is None or not judgement.checklist:
            continue
        values = _by_article(reference, judgement.checklist)
        means = {aid: fmean(values[aid]) for aid in _answering_aids(reference) if aid in values}
        supports.append(_support(judgement.eid, judgement.system, means, _ANSWERS))
    return supports


def _support(eid: str, system: str, values: Mapping[str, float], unit: str) -> Support:
    """Return the support of a one-unit summary, from one value in [0, 1] per article."""
    return Support(
        eid=eid,
        system=system,
        aids=tuple(values),
        units=(unit,),
        probabilities=np.array([[value] for value in values.values()]),
        kind="verdict",
    )


def without_stubs(clusters: Sequence[Cluster]) -> list[Cluster]:
    """Return the clusters without stubs, which are not judged."""
    return [
        cluster.model_copy(update={"articles": tuple(worth_reading(cluster.articles))})
        for cluster in clusters
    ]


def clusters_with_answers(
    clusters: Sequence[Cluster], references: Sequence[Reference]
) -> list[Cluster]:
    """Return the clusters that have a reference, without articles that answer no question."""
    aids_by_eid = {reference.eid: _answering_aids(reference) for reference in references}
    return [
        cluster.model_copy(
            update={
                "articles": tuple(a for a in cluster.articles if a.aid in aids_by_eid[cluster.eid])
            }
        )
        for cluster in clusters
        if aids_by_eid.get(cluster.eid)
    ]


def _answering_aids(reference: Reference) -> list[str]:
    """Return the ids of the articles that answer some question, in the cluster's order."""
    answering_aids = {
        answer.aid
        for question in reference.question_answers
        for group in question.answer_groups
        for answer in group
    }
    return [article.aid for article in reference.articles if article.aid in answering_aids]


def _by_article(
    reference: Reference, checklist: Sequence[ChecklistEntry]
) -> dict[str, list[float]]:
    """Return the coverage of each article's answers, one number per answer group it is in."""
    by_article: dict[str, list[float]] = defaultdict(list)
    for entry in checklist:
        question, group = map(int, entry.unit.removeprefix("answer:").split("."))
        answers = reference.question_answers[question].answer_groups[group]
        values_by_aid: dict[str, list[float]] = defaultdict(list)
        for index, answer in enumerate(answers):
            is_credited = entry.answers is None or index in entry.answers
            values_by_aid[answer.aid].append(entry.covered if is_credited else 0.0)
        for aid, values in values_by_aid.items():
            by_article[aid].append(fmean(values))
    return by_article


def _verdict(judgement: Judgement) -> float | None:
    """Return a verdict on an article, scaled to [0, 1], or None if it is not one."""
    value = judgement.value
    if not judgement.unit.startswith(_PREFIX) or not isinstance(value, float | int):
        return None
    if judgement.protocol not in RANGES:
        return None
    low, high = RANGES[judgement.protocol]
    if not low <= value <= high:
        raise InputError(
            f"value {value!r} of {judgement.eid!r} is outside the {judgement.protocol} scale "
            f"from {low:g} to {high:g}",
            field="value",
        )
    return (value - low) / (high - low)
