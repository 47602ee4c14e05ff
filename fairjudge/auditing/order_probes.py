"""Probes of order: the position of an article in the prompt, or of a group in a checklist. Pure.

A summary of a single article is equally faithful wherever the article is in the prompt. A judge
that rates it lower if the article is in the middle neglects the middle of its prompt. A judge that
more often rates a group as covered if it is early in the list favours the beginning of its prompt.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from random import Random
from statistics import fmean
from typing import TypeAlias

from fairjudge.domain import (
    Article,
    Cluster,
    Estimate,
    Judgement,
    JudgeTask,
    Reference,
    Summary,
    Undefined,
)
from fairjudge.errors import InputError
from fairjudge.judges.checklist import CoverageForm, order_names
from fairjudge.judges.tasks import JudgingPlan, plan_tasks, repeat_tasks
from fairjudge.stats.clustered import clustered_mean
from fairjudge.text.sentences import sentence_texts
from fairjudge.text.usable import worth_reading

_LEAD_SENTENCES = 2

PLACES = ("first", "middle", "last")


def place_tasks(clusters: Sequence[Cluster], *, max_articles: int) -> tuple[JudgeTask, ...]:
    """Return faithfulness tasks on leads of single articles, with the article in each position.

    Uses up to `max_articles` articles, in order, of each cluster with at least three usable
    articles (`fairjudge.text.usable`); their first two sentences are the summary. Raises
    `InputError` if no cluster has three such articles.
    """
    tasks = []
    for cluster in clusters:
        articles = worth_reading(cluster.articles)
        if len(articles) < 3:
            continue
        for article in articles[:max_articles]:
            lead = " ".join(sentence_texts(article.content)[:_LEAD_SENTENCES])
            other_articles = tuple(
                other_article for other_article in articles if other_article.aid != article.aid
            )
            places = (0, (len(other_articles) + 1) // 2, len(other_articles))
            for place, index in zip(PLACES, places, strict=True):
                ordered_articles = (*other_articles[:index], article, *other_articles[index:])
                tasks.append(
                    _task(cluster.eid, f"lead of {article.aid}:{place}", lead, ordered_articles)
                )
    if not tasks:
        raise InputError("an audit of article order needs a cluster with three or more articles")
    return tuple(tasks)


def shuffle_tasks(
    clusters: Sequence[Cluster], summaries: Iterable[Summary], *, n_shuffles: int, seed: int
) -> tuple[JudgeTask, ...]:
    """Return faithfulness tasks of `summaries`, each with its articles in `n_shuffles` orders.

    The first order is that of the cluster; stubs are excluded.
    """
    by_eid = {cluster.eid: worth_reading(cluster.articles) for cluster in clusters}
    tasks = []
    for summary in summaries:
        articles = by_eid[summary.eid]
        if not articles or not summary.text.strip():
            continue
        for n in range(n_shuffles):
            # One generator per summary and order, so that orders of summaries are independent.
            ordered_articles = list(articles)
            if n:
                Random(f"{seed}/{summary.eid}/{n}").shuffle(ordered_articles)  # noqa: S311  # no secret
            tasks.append(
                _task(
                    summary.eid,
                    f"{summary.system}:shuffle-{n}",
                    summary.text,
                    tuple(ordered_articles),
                )
            )
    return tuple(tasks)


def _task(eid: str, system: str, text: str, articles: tuple[Article, ...]) -> JudgeTask:
    return JudgeTask(
        eid=eid,
        systems=(system,),
        texts=(text,),
        aspect="faithfulness",
        protocol="likert",
        unit="summary",
        articles=articles,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderBias:
    """The effect of the order of articles or groups on ratings.

    ``by_place`` is the mean rating by position of the article: first, middle or last;
    ``first_minus_last`` and ``ends_minus_middle`` are tested against 0. ``changed`` is the share of
    summaries whose rating differs between shuffles, ``spread`` the mean difference between their
    maximum and minimum rating.
    """

    by_place: dict[str, Estimate | Undefined]
    first_minus_last: Estimate | Undefined
    ends_minus_middle: Estimate | Undefined
    changed: Estimate | Undefined
    spread: Estimate | Undefined
    n_unscored: int


_Item: TypeAlias = tuple[str, ...]
"""The key of an item judged in several positions or orders; its document first."""


def order_bias(judgements: Iterable[Judgement]) -> OrderBias:
    """Measure effects of article order from the judgements of `place_tasks` and `shuffle_tasks`."""
    values_by_place: dict[_Item, dict[str, list[float]]] = defaultdict(dict)
    values_by_order: dict[_Item, list[float]] = defaultdict(list)
    n_unscored = 0
    for row in judgements:
        name, _, variant = str(row.system).rpartition(":")
        if not isinstance(row.value, int | float):
            n_unscored += 1
        elif variant.startswith("shuffle-"):
            values_by_order[row.eid, name].append(float(row.value))
        elif variant in PLACES:
            values_by_place[row.eid, name][variant] = [float(row.value)]
    complete_items = {
        item: scores for item, scores in values_by_place.items() if len(scores) == len(PLACES)
    }
    return _bias(complete_items, values_by_order, n_unscored=n_unscored)


def group_order_tasks(
    references: Sequence[Reference],
    summaries: Sequence[Summary],
    plan: JudgingPlan,
    *,
    n_orders: int,
    groups_per_call: int,
) -> tuple[JudgeTask, ...]:
    """Return checklist tasks of `summaries`, each with its groups in `n_orders` orders.

    Raises `InputError` if no call has three or more groups.
    """
    tasks = plan_tasks(references, summaries, plan, split_sentences=sentence_texts)
    if not any(group_places(task, groups_per_call=groups_per_call) for task in tasks):
        raise InputError("an audit of group order needs three or more groups in a call")
    return repeat_tasks(tasks, variants=order_names(n_orders))


def group_places(task: JudgeTask, *, groups_per_call: int) -> dict[str, str]:
    """Return the third of its call's list in which each group is, by unit.

    Groups of calls with fewer than three groups are omitted.
    """
    blocks = CoverageForm(groups_per_call=groups_per_call).parts(task)
    return {
        group.unit: PLACES[3 * index // len(block)]
        for block in blocks
        if len(block) >= 3
        for index, group in enumerate(block)
    }


def group_order_bias(
    judgements: Iterable[Judgement], tasks: Iterable[JudgeTask], *, groups_per_call: int
) -> OrderBias:
    """Measure effects of group order from the judgements of `group_order_tasks`.

    ``by_place`` is the covered share of all groups in a position. Differences are within groups
    that were in the compared positions; ``changed`` and ``spread`` are over orders of a group.
    """
    places = {
        (task.eid, task.systems[0], task.variant): group_places(
            task, groups_per_call=groups_per_call
        )
        for task in tasks
    }
    values_by_place: dict[_Item, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    n_unscored = 0
    for row in judgements:
        if row.checklist is None:
            n_unscored += 1
            continue
        system = str(row.system)
        unit_places = places[row.eid, system, row.variant]
        for entry in row.checklist:
            if entry.unit in unit_places:
                values_by_place[row.eid, system, entry.unit][unit_places[entry.unit]].append(
                    entry.covered
                )

    verdicts = {
        item: list(chain.from_iterable(values_of_item.values()))
        for item, values_of_item in values_by_place.items()
    }
    return _bias(values_by_place, verdicts, n_unscored=n_unscored)


def _bias(
    by_place: Mapping[_Item, Mapping[str, Sequence[float]]],
    values_by_order: Mapping[_Item, Sequence[float]],
    *,
    n_unscored: int,
) -> OrderBias:
    """Compare items' values at each position, and their values over all orders."""

    def mean(*weights: tuple[str, float], null: float | None = None) -> Estimate | Undefined:
        """Average weighted sums over positions, for items with values at all these positions."""
        usable = {
            item: places
            for item, places in by_place.items()
            if all(place in places for place, _ in weights)
        }
        values = [
            sum(weight * fmean(places[place]) for place, weight in weights)
            for places in usable.values()
        ]
        return clustered_mean(values, [item[0] for item in usable], null=null)

    spreads = {
        item: max(values) - min(values)
        for item, values in values_by_order.items()
        if len(values) > 1
    }
    documents = [item[0] for item in spreads]
    return OrderBias(
        by_place={place: mean((place, 1.0)) for place in PLACES},
        first_minus_last=mean(("first", 1.0), ("last", -1.0), null=0.0),
        ends_minus_middle=mean(("first", 0.5), ("last", 0.5), ("middle", -1.0), null=0.0),
        changed=clustered_mean([float(spread > 0.0) for spread in spreads.values()], documents),
        spread=clustered_mean(list(spreads.values()), documents),
        n_unscored=n_unscored,
    )
