"""Does the place of an article in the prompt, or of a group in a checklist, matter? Pure.

The probe of a summary that says what one article says: it is as faithful wherever that article
stands. A judge that rates it lower when the article stands in the middle does not read the middle.
A judge that calls a group covered more often where it stands early in the list leans to what it
reads first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean

import numpy as np

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
from fairjudge.judges.tasks import JudgingPlan, plan_tasks, repeated
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
                moved = (*other_articles[:at], article, *other_articles[at:])
                tasks.append(_task(cluster.eid, f"lead of {article.aid}:{place}", lead, moved))
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
            moved = list(articles)
            if n:
                Random(f"{seed}/{summary.eid}/{n}").shuffle(moved)  # noqa: S311  # no secret
            tasks.append(
                _task(summary.eid, f"{summary.system}:shuffle-{n}", summary.text, tuple(moved))
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


def order_bias(judgements: Iterable[Judgement]) -> OrderBias:
    """Measure effects of article order from the judgements of `place_tasks` and `shuffle_tasks`."""
    placed: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    shuffled: dict[tuple[str, str], list[float]] = defaultdict(list)
    n_unscored = 0
    for row in judgements:
        name, _, variant = str(row.system).rpartition(":")
        if not isinstance(row.value, int | float):
            n_unscored += 1
        elif variant.startswith("shuffle-"):
            shuffled[row.eid, name].append(float(row.value))
        elif variant in PLACES:
            placed[row.eid, name][variant] = float(row.value)
    whole = {item: scores for item, scores in placed.items() if len(scores) == len(PLACES)}
    documents = [eid for eid, _ in whole]
    first, middle, last = (
        np.array([scores[place] for scores in whole.values()]) for place in PLACES
    )
    spreads = [max(values) - min(values) for values in shuffled.values() if len(values) > 1]
    several = [eid for (eid, _), values in shuffled.items() if len(values) > 1]
    return OrderBias(
        by_place={
            place: clustered_mean(rated, documents)
            for place, rated in zip(PLACES, (first, middle, last), strict=True)
        },
        first_minus_last=clustered_mean(first - last, documents, null=0.0),
        ends_minus_middle=clustered_mean((first + last) / 2 - middle, documents, null=0.0),
        changed=clustered_mean([float(spread > 0.0) for spread in spreads], several),
        spread=clustered_mean(spreads, several),
        n_unscored=n_unscored,
    )


_ByPlace = Mapping[str, Sequence[float]]


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
    return repeated(once, variants=order_names(n_orders))


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
    covered: dict[tuple[str, str, str], dict[str, list[float]]] = defaultdict(
        lambda: defaultdict(list)
    )
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

    def mean(
        figure: Callable[[_ByPlace], float],
        needed: Iterable[str] = (),
        *,
        fewest: int = 1,
        null: float | None = None,
    ) -> Estimate | Undefined:
        """Average `figure` over the groups that stood in the `needed` places, by document."""
        usable = {
            key: by_place
            for key, by_place in covered.items()
            if all(place in by_place for place in needed)
            and sum(map(len, by_place.values())) >= fewest
        }
        values = [figure(by_place) for by_place in usable.values()]
        return clustered_mean(values, [eid for eid, _, _ in usable], null=null)

    def share_in(place: str) -> Estimate | Undefined:
        return mean(lambda by: fmean(by[place]), (place,))

    return OrderBias(
        by_place={place: share_in(place) for place in PLACES},
        first_minus_last=mean(
            lambda by: fmean(by["first"]) - fmean(by["last"]), ("first", "last"), null=0.0
        ),
        ends_minus_middle=mean(
            lambda by: (fmean(by["first"]) + fmean(by["last"])) / 2 - fmean(by["middle"]),
            PLACES,
            null=0.0,
        ),
        changed=mean(lambda by: float(_spread(by) > 0.0), fewest=2),
        spread=mean(_spread, fewest=2),
        n_unscored=n_unscored,
    )


def _spread(by_place: _ByPlace) -> float:
    verdicts = [verdict for group in by_place.values() for verdict in group]
    return max(verdicts) - min(verdicts)
