"""Does the place of an article in the prompt, or of a group in a checklist, matter? Pure.

The probe of a summary that says what one article says: it is as faithful wherever that article
stands. A judge that rates it lower when the article stands in the middle does not read the middle.
A judge that calls a group covered more often where it stands early in the list leans to what it
reads first.
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
    """Return faithfulness tasks: leads of single articles, with that article in each place.

    Up to `max_articles` articles of each cluster of three or more that are worth reading
    (`fairjudge.text.usable`), in order; their first two sentences are the summary. `InputError` if
    no cluster has three such articles.
    """
    tasks = []
    for cluster in clusters:
        articles = worth_reading(cluster.articles)
        if len(articles) < 3:
            continue
        for article in articles[:max_articles]:
            lead = " ".join(sentence_texts(article.content)[:_LEAD_SENTENCES])
            other_articles = tuple(other for other in articles if other.aid != article.aid)
            places = (0, (len(other_articles) + 1) // 2, len(other_articles))
            for place, at in zip(PLACES, places, strict=True):
                reordered = (*other_articles[:at], article, *other_articles[at:])
                tasks.append(_task(cluster.eid, f"lead of {article.aid}:{place}", lead, reordered))
    if not tasks:
        raise InputError("the order of articles matters from three on; no cluster has as many")
    return tuple(tasks)


def shuffle_tasks(
    clusters: Sequence[Cluster], summaries: Iterable[Summary], *, n_shuffles: int, seed: int
) -> tuple[JudgeTask, ...]:
    """Return faithfulness tasks of `summaries`, each with its articles in `n_shuffles` orders.

    The first order is the cluster's own; stubs are excluded.
    """
    by_eid = {cluster.eid: worth_reading(cluster.articles) for cluster in clusters}
    tasks = []
    for summary in summaries:
        articles = by_eid[summary.eid]
        if not articles or not summary.text.strip():
            continue
        for n in range(n_shuffles):
            # A generator for each, so that one summary's orders do not depend on the others.
            reordered = list(articles)
            if n:
                Random(f"{seed}/{summary.eid}/{n}").shuffle(reordered)  # noqa: S311  # no secret
            tasks.append(
                _task(summary.eid, f"{summary.system}:shuffle-{n}", summary.text, tuple(reordered))
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
    """What the order of articles does to ratings.

    ``by_place`` is the mean rating with the article first, in the middle, last;
    ``first_minus_last`` and ``ends_minus_middle`` are tested against 0.
    ``changed`` is the share of summaries whose rating is not the same in all shuffles, ``spread``
    the mean difference of highest and lowest.
    """

    by_place: dict[str, Estimate | Undefined]
    first_minus_last: Estimate | Undefined
    ends_minus_middle: Estimate | Undefined
    changed: Estimate | Undefined
    spread: Estimate | Undefined
    n_unscored: int


_Item: TypeAlias = tuple[str, ...]
"""What is judged in several places or orders; its document first."""


def order_bias(judgements: Iterable[Judgement]) -> OrderBias:
    """Measure effects of article order from the judgements of `place_tasks` and `shuffle_tasks`."""
    placed: dict[_Item, dict[str, list[float]]] = defaultdict(dict)
    shuffled: dict[_Item, list[float]] = defaultdict(list)
    n_unscored = 0
    for row in judgements:
        name, _, variant = str(row.system).rpartition(":")
        if not isinstance(row.value, int | float):
            n_unscored += 1
        elif variant.startswith("shuffle-"):
            shuffled[row.eid, name].append(float(row.value))
        elif variant in PLACES:
            placed[row.eid, name][variant] = [float(row.value)]
    whole = {item: scores for item, scores in placed.items() if len(scores) == len(PLACES)}
    return _bias(whole, shuffled, n_unscored=n_unscored)


def group_order_tasks(
    references: Sequence[Reference],
    summaries: Sequence[Summary],
    plan: JudgingPlan,
    *,
    n_orders: int,
    groups_per_call: int,
) -> tuple[JudgeTask, ...]:
    """Return checklist tasks of `summaries`, each with its groups in `n_orders` orders.

    `InputError` if no call would ask about three groups or more.
    """
    once = plan_tasks(references, summaries, plan, split_sentences=sentence_texts)
    if not any(group_places(task, groups_per_call=groups_per_call) for task in once):
        raise InputError("the order of groups matters from three per call on; no call has as many")
    return repeat_tasks(once, variants=order_names(n_orders))


def group_places(task: JudgeTask, *, groups_per_call: int) -> dict[str, str]:
    """Return in which third of its call's list each group stands, by unit.

    Groups of calls with fewer than three are left out.
    """
    blocks = CoverageForm(groups_per_call=groups_per_call).parts(task)
    return {
        group.unit: PLACES[3 * at // len(block)]
        for block in blocks
        if len(block) >= 3
        for at, group in enumerate(block)
    }


def group_order_bias(
    judgements: Iterable[Judgement], tasks: Iterable[JudgeTask], *, groups_per_call: int
) -> OrderBias:
    """Measure effects of group order from the judgements of `group_order_tasks`.

    ``by_place`` is the share covered of all groups in a place. Differences are within a group that
    stood in the places compared; ``changed`` and ``spread`` are of a group's verdicts over orders.
    """
    places = {
        (task.eid, task.systems[0], task.variant): group_places(
            task, groups_per_call=groups_per_call
        )
        for task in tasks
    }
    covered: dict[_Item, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    n_unscored = 0
    for row in judgements:
        if row.checklist is None:
            n_unscored += 1
            continue
        system = str(row.system)
        place_of = places[row.eid, system, row.variant]
        for entry in row.checklist:
            if entry.unit in place_of:
                covered[row.eid, system, entry.unit][place_of[entry.unit]].append(entry.covered)

    verdicts = {item: list(chain.from_iterable(by.values())) for item, by in covered.items()}
    return _bias(covered, verdicts, n_unscored=n_unscored)


def _bias(
    by_place: Mapping[_Item, Mapping[str, Sequence[float]]],
    repeated: Mapping[_Item, Sequence[float]],
    *,
    n_unscored: int,
) -> OrderBias:
    """Compare items' values in the places that they stood in, and their values in all orders."""

    def mean(*weights: tuple[str, float], null: float | None = None) -> Estimate | Undefined:
        """Average weighted sums of places over the items that stood in all of them."""
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
        item: max(values) - min(values) for item, values in repeated.items() if len(values) > 1
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
