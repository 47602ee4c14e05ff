"""Simulated coverage of the ranking's intervals, and the ranking by SummEval's judge.

    python benchmarks/ranking_coverage.py [--datasets 2000] [--json FILE] [--processes N]

Judgements are drawn from the model with random effects of documents on a system's strength and on
the position effect, so that rows of a document are dependent. Whole rankings, two per document, are
drawn likewise. Nominal 95 % intervals should cover 93 to 97 %; the simultaneous intervals of ranks
should cover all systems' ranks in at least 95 %.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from _figures import collect_hits, holds, percent_interval
from _machine import describe_machine, write_results
from _parallel import Runner, add_options, open_runner, run_serially, simulation_parser
from _summeval import SUMMEVAL

from fairjudge.analysis.ranking import ranking_report
from fairjudge.calibration.paired_comparisons import Comparisons
from fairjudge.calibration.plackett_luce import Rankings, rank_by_rankings
from fairjudge.calibration.ranking import Ranking, rank_systems
from fairjudge.datasets import read_replies
from fairjudge.domain import Estimate
from fairjudge.importing import import_replies
from fairjudge.scales import pairwise

STRENGTHS = np.array([0.9, 0.5, 0.5, 0.0, -0.7, -1.2])


def draw(
    rng: np.random.Generator, n_documents: int, *, position: float, ties: bool, clustered: bool
) -> Comparisons:
    """Draw each document's 15 pairs in both orders."""
    k = STRENGTHS.size
    pairs = np.array([(i, j) for i in range(k) for j in range(i + 1, k)])
    rows = np.tile(np.repeat(pairs, 2, axis=0), (n_documents, 1))
    documents = np.repeat(np.arange(n_documents), 2 * len(pairs))
    positions = np.tile([1.0, -1.0], rows.shape[0] // 2)
    system_effects = (0.5 if clustered else 0.0) * rng.normal(size=(n_documents, k))
    position_effects = (0.3 if clustered else 0.0) * rng.normal(size=n_documents)
    strength = STRENGTHS[rows] + system_effects[documents[:, None], rows]
    d = strength[:, 0] - strength[:, 1] + (position + position_effects[documents]) * positions
    tie = np.full(d.size, -0.7 if ties else -np.inf)
    weights = np.exp(np.column_stack([d / 2, -d / 2, tie]))
    weights /= weights.sum(axis=1, keepdims=True)
    uniform = rng.random(d.size)
    a, b = weights[:, 0], weights[:, :2].sum(axis=1)
    return Comparisons(
        wins=np.where(uniform < a, 1.0, np.where(uniform < b, 0.0, 0.5)),
        system_a=tuple(f"s{i}" for i in rows[:, 0]),
        system_b=tuple(f"s{i}" for i in rows[:, 1]),
        positions=positions,
        documents=tuple(documents.tolist()),
    )


def truth(*, position: float, ties: bool, clustered: bool) -> dict[str, float]:
    """Return the estimates on very many documents; random effects shrink the strengths."""
    if not clustered:
        return {f"s{i}": s - STRENGTHS.mean() for i, s in enumerate(STRENGTHS)} | {
            "position": position
        }
    ranking = rank_systems(
        draw(np.random.default_rng(99), 6000, position=position, ties=ties, clustered=True),
        rng=np.random.default_rng(0),
    )
    assert isinstance(ranking, Ranking)
    return _values(ranking)


def _values(ranking: Ranking) -> dict[str, float]:
    strengths_by_name = {system.system: system.strength.value for system in ranking.systems}
    assert isinstance(ranking.position_effect, Estimate)
    return strengths_by_name | {"position": ranking.position_effect.value}


def simulate(
    n_datasets: int, n_documents: int, *, runner: Runner = run_serially, **settings: bool | float
) -> dict[str, object]:
    """Return the coverage of strengths, of the position effect and of all ranks jointly."""
    true = truth(**settings)  # type: ignore[arg-type]
    function = partial(hits_of, n_documents=n_documents, true=true, settings=settings)
    name = f"ranking, {n_documents} documents, " + ", ".join(
        f"{name} {value}" for name, value in settings.items()
    )
    shares = _percentages(runner(name, function, n_datasets))
    return {"n_documents": n_documents, **settings, **shares}


def _percentages(data_sets: Iterable[Mapping[str, list[bool]]]) -> dict[str, list[float]]:
    """Return, for each measure, the share of hits in percent with its interval."""
    return {
        figure: [round(value, 1) for value in percent_interval(sum(hits), len(hits))]
        for figure, hits in collect_hits(data_sets).items()
    }


def hits_of(
    seed: int, n_documents: int, true: Mapping[str, float], settings: Mapping[str, Any]
) -> dict[str, list[bool]]:
    """Return which intervals of one data set cover the truth."""
    rng = np.random.default_rng([seed, n_documents])
    ranking = rank_systems(draw(rng, n_documents, **settings), rng=rng)
    assert isinstance(ranking, Ranking)
    effect = ranking.position_effect
    assert isinstance(effect, Estimate)
    return {**_system_hits(ranking, true), "position_effect": [holds(effect, true["position"])]}


def _system_hits(ranking: Ranking, true: Mapping[str, float]) -> dict[str, list[bool]]:
    rank_hits = [
        system.best_rank is not None
        and system.worst_rank is not None
        and system.best_rank <= 1 + int(np.sum(s < STRENGTHS))
        and system.worst_rank >= STRENGTHS.size - int(np.sum(s > STRENGTHS))
        for system in ranking.systems
        for s in (STRENGTHS[int(system.system[1:])],)
    ]
    strengths = [holds(system.strength, true[system.system]) for system in ranking.systems]
    return {"strengths": strengths, "ranks": [all(rank_hits)]}


def draw_rankings(rng: np.random.Generator, n_documents: int) -> Rankings:
    """Draw two rankings per document, from strengths that differ by document."""
    documents = np.repeat(np.arange(n_documents), 2)
    system_effects = 0.5 * rng.normal(size=(n_documents, STRENGTHS.size))[documents]
    # Sorting by strength plus Gumbel noise samples the Plackett-Luce model (Yellott 1977).
    order = np.argsort(
        -(STRENGTHS + system_effects + rng.gumbel(size=system_effects.shape)), axis=1
    )
    return Rankings(
        rankings=tuple(tuple(f"s{i}" for i in ranking) for ranking in order.tolist()),
        documents=tuple(documents.tolist()),
    )


def simulate_rankings(
    n_datasets: int, n_documents: int, *, runner: Runner = run_serially
) -> dict[str, object]:
    """Return the coverage of strengths and of all ranks jointly, from whole rankings."""
    population = draw_rankings(np.random.default_rng(99), 6000)
    population_ranking = rank_by_rankings(population, rng=np.random.default_rng(0), n_resamples=2)
    assert isinstance(population_ranking, Ranking)
    true = {system.system: system.strength.value for system in population_ranking.systems}
    function = partial(rankings_hits, n_documents=n_documents, true=true)
    data_sets = runner(f"whole rankings, {n_documents} documents", function, n_datasets)
    return {"n_documents": n_documents, **_percentages(data_sets)}


def rankings_hits(seed: int, n_documents: int, true: Mapping[str, float]) -> dict[str, list[bool]]:
    """Return which intervals of one data set of rankings cover the truth."""
    rng = np.random.default_rng([seed, n_documents])
    ranking = rank_by_rankings(draw_rankings(rng, n_documents), rng=rng)
    assert isinstance(ranking, Ranking)
    return _system_hits(ranking, true)


def summeval(aspect: str) -> dict[str, object]:
    """Rank SummEval's systems by the recorded judge."""
    path = SUMMEVAL / f"pairwise_gpt-3.5_{aspect}.jsonl"
    rows = [row.to_json() for row in read_replies(path)]
    imported = import_replies(rows, scale=pairwise("ABC"), path=path)
    (group,) = ranking_report(imported.judgements, level=0.95, seed=0)["groups"]
    return dict(group)


def main() -> int:
    """Run all simulations, then rank SummEval's systems."""
    parser = simulation_parser(__doc__, "ranking_coverage")
    add_options(parser)
    options = parser.parse_args()
    rows = []
    with open_runner(options) as runner:
        for n_documents, clustered, (ties, position) in product(
            (20, 60), (False, True), ((False, 0.0), (True, 0.4))
        ):
            row = simulate(
                options.datasets,
                n_documents,
                clustered=clustered,
                ties=ties,
                position=position,
                runner=runner,
            )
            rows.append(row)
            print(row, flush=True)
        rankings = [simulate_rankings(options.datasets, n, runner=runner) for n in (20, 60)]
        print(*rankings, sep="\n", flush=True)
    groups = [summeval(aspect) for aspect in ("relevance", "consistency")]
    for group in groups:
        for system in group["systems"]:  # type: ignore[attr-defined]
            ranks = (system[name] for name in ("rank", "best_rank", "worst_rank"))
            means = (round(system[name]["value"], 2) for name in ("strength", "win_rate"))
            print(*ranks, system["system"], "", *means)
        print(group["position_effect"])
    print(describe_machine())
    write_results(
        options.json,
        {
            "machine": describe_machine(),
            "simulated": rows,
            "rankings": rankings,
            "summeval": groups,
        },
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
