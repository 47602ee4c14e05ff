"""Simulated coverage of the stability audit's intervals, and the audit of recorded judges.

    python benchmarks/stability_coverage.py [--datasets 1000] [--json [FILE]]

Simulated: judgements of 60 documents with 4 correlated items each, with one or three prompts and
two or three repeats. Nominal 95 % intervals should cover 93 to 97 %. Truths of flip rates come from
a population of 20,000 documents.

Recorded: SummEval's judge with three prompts (reasons and a score, a letter, stars), the second of
which has repeats; and one judge with four prompts, whose records are copies of each other.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from typing import Any

import numpy as np
from _data import DATA, RECORDED_JUDGES, read_rows
from _figures import holds, percent
from _machine import describe_machine, write_results
from _parallel import simulation_parser
from _summeval import JUDGES, recorded_verdicts

from fairjudge.auditing.stability import stability_report
from fairjudge.calibration.stability import RepeatedJudgements, Stability, stability
from fairjudge.domain import Estimate, Judgement

LEVELS = np.array([-1.0, 0.0, 1.0])


def draw(
    rng: np.random.Generator, n_documents: int, *, n_variants: int, n_repeats: int
) -> RepeatedJudgements:
    """Draw variances of 1.0 (items), 0.3 (items by prompts) and 0.5 (repeats), rounded to 0.5."""
    n_items = 4 * n_documents
    documents = np.arange(n_items) // 4
    quality = np.sqrt(0.4) * rng.normal(size=n_documents)[documents]
    quality = quality + np.sqrt(0.6) * rng.normal(size=n_items)
    i, v, _ = np.meshgrid(range(n_items), range(n_variants), range(n_repeats), indexing="ij")
    own = np.sqrt(0.3) * rng.normal(size=(n_items, n_variants))
    levels = 0.5 * LEVELS[:n_variants] if n_variants > 1 else np.zeros(1)
    values = quality[i] + levels[v] + own[i, v] + np.sqrt(0.5) * rng.normal(size=i.shape)
    return RepeatedJudgements(
        values=np.round(2 * values.ravel()) / 2,
        items=i.ravel().tolist(),
        variants=v.ravel().tolist(),
        documents=documents[i.ravel()].tolist(),
    )


def figures(
    judgements: RepeatedJudgements, rng: np.random.Generator, n_resamples: int
) -> dict[str, Estimate]:
    """Return every measure that has a value."""
    result = stability(judgements, rng=rng, n_resamples=n_resamples)
    assert isinstance(result, Stability)
    estimates = {
        "flips": result.flips,
        "flips between prompts": result.flips_between_variants,
        "unanimous": result.unanimous,
        "spread": result.spread,
        **{f"share of {name}": share for name, share in result.shares.items()},
    }
    return {
        name: estimate for name, estimate in estimates.items() if isinstance(estimate, Estimate)
    }


def simulate(n_datasets: int, n_variants: int, n_repeats: int) -> dict[str, Any]:
    """Return the coverage of every measure."""
    shape = {"n_variants": n_variants, "n_repeats": n_repeats}
    population = draw(np.random.default_rng(99), 20_000, **shape)
    truth = {
        name: estimate.value
        for name, estimate in figures(population, np.random.default_rng(0), 2).items()
    }
    hits: dict[str, list[bool]] = defaultdict(list)
    for seed in range(n_datasets):
        rng = np.random.default_rng([seed, n_variants, n_repeats])
        for name, estimate in figures(draw(rng, 60, **shape), rng, 500).items():
            hits[name].append(holds(estimate, truth[name]))
    return {
        **shape,
        "coverage": {name: percent(figure_hits) for name, figure_hits in hits.items()},
        "true": truth,
    }


def summeval() -> list[dict[str, Any]]:
    """Return the audit of SummEval's judge with three prompts."""
    names = ("eid", "system", "aspect", "judge")
    rows = [
        Judgement.model_validate(
            {**{name: record[name] for name in names}, **verdict}
            | {"protocol": "likert", "variant": prompt}
        )
        for prompt in JUDGES
        for record, verdict in recorded_verdicts(prompt)
    ]
    repeats = [row for row in rows if row.variant == "mcq"]
    groups = stability_report(rows)["groups"]
    return groups + [
        {**group, "only": "mcq"}
        for group in stability_report(repeats)["groups"]
        if not group["why"]
    ]


def variants() -> list[dict[str, Any]]:
    """Return the audit of the judge that was recorded with four prompts."""
    rows = [
        Judgement(
            eid=record["item_id"],
            system_a="A",
            system_b="B",
            order="ab",
            aspect="correctness",
            protocol="pairwise",
            judge="deepseek-r1-distill-qwen-14b",
            value=record["parsed_verdict"].lower(),
            variant=record["prompt_variant"],
        )
        for path in sorted((RECORDED_JUDGES / "variants").glob("*.jsonl.gz"))
        for record in read_rows(path)
        if record["prompt_order"] == "original"
    ]
    return list(stability_report(rows)["groups"])


def main() -> int:
    """Run all simulations and audits."""
    options = simulation_parser(__doc__, "stability_coverage", datasets=1000).parse_args()
    recorded = [*summeval(), *variants()] if DATA.is_dir() else []
    for group in recorded:
        print(
            group["judge"], group["aspect"], group["variants"], group["alike"], group["n_unscored"]
        )
        for name in ("flips", "unanimous", "spread", "flips_between_variants"):
            print(f"  {name}: {group[name].get('value')}")
        print("  ", {name: share.get("value") for name, share in group["shares"].items()})
    simulated = []
    for n_variants, n_repeats in ((1, 2), (1, 3), (3, 1), (3, 3)):
        simulated.append(simulate(options.datasets, n_variants, n_repeats))
        print(*simulated[-1].values(), flush=True)
    results = {"machine": describe_machine(), "simulated": simulated, "recorded": recorded}
    write_results(options.json, results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
