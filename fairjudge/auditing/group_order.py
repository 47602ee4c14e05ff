"""Does the place of a group in a checklist matter? The same groups in several orders. Pure.

A summary covers what it covers wherever a checklist lists it. A judge that calls a group covered
more often where it stands early in the list tires, or leans to what it reads first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean

from fairjudge.auditing.order_probes import PLACES, OrderBias
from fairjudge.domain import Estimate, Judgement, JudgeTask, Reference, Summary, Undefined
from fairjudge.errors import InputError
from fairjudge.judges.checklist import CoverageForm, order_names
from fairjudge.judges.tasks import JudgingPlan, plan_tasks, repeated
from fairjudge.stats.clustered import clustered_mean
from fairjudge.text.sentences import sentence_texts

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
    """Measure it from the judgements of `group_order_tasks`.

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
