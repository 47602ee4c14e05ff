"""Juries fitted on labels: what they gain on recorded judges, and whether their intervals hold.

    python benchmarks/juries.py                                  SummEval's recorded judges
    python benchmarks/juries.py --judgements A B C --labels L    any others, such as six judges
    python benchmarks/juries.py --datasets 2000 --json           coverage, in simulation, too

``--page FILE`` writes what is printed as Markdown; ``--summaries`` and ``--clusters`` give other
judges their baselines; ``--no-local`` leaves the local judge out of SummEval's jury.

Recorded: gpt-3.5 by three prompts (reasons and a score, a letter, stars) and the packaged local
judge on SummEval's 1,200 summaries, against the mean of three experts. Simulated: judges whose
errors share a part, documents alike within themselves; nominal 95 % intervals should cover 93 to
97 %. ``--only TEXT`` runs the simulations whose name has it, and takes others from the JSON file. Truths of a jury's distance are those on documents that no data set has.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from _machine import describe_machine
from _summeval import DATA, JUDGES, spearman

import fairjudge as fj
from fairjudge.analysis.calibrating import trained_support
from fairjudge.calibration.agreement import FEWEST_ITEMS, Resampling
from fairjudge.calibration.baseline_gains import ConstantAnswer, baseline_gain
from fairjudge.calibration.items import Joined, join
from fairjudge.calibration.judge_ranking import JudgeRanking, rank_by_judges
from fairjudge.calibration.juries import JuryItems
from fairjudge.calibration.jury_assessment import JuryFigures, jury_figures
from fairjudge.calibration.paired_comparisons import Comparisons
from fairjudge.datasets import read_clusters, read_summaries
from fairjudge.domain import Estimate, Judgement, Label, Unscored
from fairjudge.parsing import read_verdict
from fairjudge.reports.calibration_tables import gains_tables
from fairjudge.reports.decision_tables import group_title
from fairjudge.reports.jury_tables import jury_findings, jury_tables
from fairjudge.reports.tables import TextTable, columns, to_markdown
from fairjudge.scorers.embedding import load_embedder
from fairjudge.scorers.trained_models import load_trained_models
from fairjudge.stats.intervals import wilson

RESULTS = Path(__file__).parent / "results" / "juries.json"
N_DOCUMENTS, N_ITEMS, N_RESAMPLES = 80, 3, 300


@dataclass(frozen=True)
class Setting:
    """Juries of four judges: own and shared spread of their errors, share of two's missing."""

    name: str
    noise: tuple[float, ...] = (0.6, 0.8, 1.0, 1.2)
    shared: float = 0.6
    n_documents: int = N_DOCUMENTS
    missing: float = 0.0


SETTINGS = (
    Setting("juries, 80 documents"),
    Setting("juries, 30 documents", n_documents=30),
    Setting("juries, judges alike", noise=(1.0,) * 4),
    Setting("juries, weak", shared=1.2),
    Setting("juries, a fifth of two judges' scores missing", missing=0.2),
)


def recorded(*, local: bool) -> list[Judgement]:
    """Return SummEval's recorded judges: each prompt is a judge of its own."""
    rows = []
    for prompt, scale in JUDGES.items():
        with (DATA / f"judge_gpt-3.5_{prompt}.jsonl").open(encoding="utf-8") as lines:
            records = [json.loads(line) for line in lines]
        for record in records:
            value = read_verdict(record["response"], scale, aspect=record["aspect"])
            said = {"unscored": value.reason} if isinstance(value, Unscored) else {"value": value}
            rows.append(_row(record, f"gpt-3.5, {prompt}", "likert", said))
    return [*rows, *_local()] if local else rows


def _local() -> Iterator[Judgement]:
    summaries = tuple(read_summaries(DATA / "summaries.jsonl"))
    clusters = tuple(read_clusters(DATA / "clusters.jsonl"))
    found = trained_support(
        summaries, clusters, models=load_trained_models(), embedder=load_embedder()
    )
    for (eid, system), value in found.items():
        for aspect in ("consistency", "relevance"):
            record = {"eid": eid, "system": system, "aspect": aspect}
            yield _row(
                record, "local support", "binary", {"value": value, "scored_by": "embedding"}
            )


def _row(
    record: Mapping[str, Any], judge: str, protocol: str, said: Mapping[str, Any]
) -> Judgement:
    of = {name: record[name] for name in ("eid", "system", "aspect")}
    return Judgement.model_validate({**of, "judge": judge, "protocol": protocol, **said})


def draw(rng: np.random.Generator, setting: Setting, n_documents: int) -> JuryItems:
    """Draw four judges on five levels whose errors share a part; two may lack scores."""
    documents = np.repeat(np.arange(n_documents), N_ITEMS)
    n, k = documents.size, len(setting.noise)
    labels = 0.6 * rng.normal(size=n_documents)[documents] + 0.8 * rng.normal(size=n)
    shared = setting.shared * rng.normal(size=(n, 1))
    errors = shared + np.array(setting.noise) * rng.normal(size=(n, k))
    scores = np.clip(np.round(3 + labels[:, None] + errors), 1, 5)
    scores[:, 2:][rng.random((n, 2)) < setting.missing] = np.nan
    return JuryItems(
        scores=scores,
        mapped=scores,
        covariates=np.empty((n, 0)),
        labels=labels + 3,
        documents=tuple(map(str, documents)),
    )


def measured(given: JuryItems, rng: np.random.Generator, n_resamples: int) -> JuryFigures:
    """Return a jury's figures."""
    names = [f"judge {place}" for place in range(given.scores.shape[1])]
    found = jury_figures(
        given,
        names,
        weights=np.zeros(len(names)),
        method="isotonic",
        n_folds=10,
        resampling=Resampling(n_resamples=n_resamples),
        rng=rng,
    )
    assert isinstance(found, JuryFigures)
    return found


def _estimates(found: JuryFigures) -> dict[str, Estimate]:
    named: dict[str, Any] = {
        "RMSE of the jury": found.rmse,
        **{f"RMSE of the {name}": one.rmse for name, one in found.compared.items()},
        **{f"gain over the {name}": one.gain for name, one in found.compared.items()},
        **{f"loss without {one.name}": one.loss for one in found.members},
        "correlation of errors": found.effective.correlation,
        "effective number": found.effective.number,
    }
    return {name: one for name, one in named.items() if isinstance(one, Estimate)}


def simulate_juries(n_datasets: int, setting: Setting) -> dict[str, Any]:
    """Return the coverage of every figure of a jury.

    Folds are whole documents, so that the mean over data sets of squared errors held out is the
    squared error on new documents of what is fitted on nine tenths: truths are made of it.
    """
    seen: dict[str, list[Estimate]] = defaultdict(list)
    for seed in range(n_datasets):
        rng = np.random.default_rng([seed, SETTINGS.index(setting)])
        drawn = draw(rng, setting, setting.n_documents)
        for name, one in _estimates(measured(drawn, rng, N_RESAMPLES)).items():
            seen[name].append(one)
    population = draw(np.random.default_rng(99), setting, 20_000)
    errors = population.mapped - population.labels[:, None]
    k = len(setting.noise)
    r = np.mean([_correlation(errors, i, j) for j in range(k) for i in range(j)])
    truth = {"correlation of errors": r, "effective number": k / (1 + (k - 1) * r)}
    for name, some in seen.items():
        truth.setdefault(name, float(np.mean([one.value for one in some])))
    return {
        "what": setting.name,
        "n_datasets": n_datasets,
        "true": truth,
        "coverage": {name: _covered(some, truth[name]) for name, some in seen.items()},
    }


def _correlation(errors: np.ndarray, i: int, j: int) -> float:
    both = np.isfinite(errors[:, i]) & np.isfinite(errors[:, j])
    return float(np.corrcoef(errors[both, i], errors[both, j])[0, 1])


def simulate_gains(n_datasets: int) -> dict[str, Any]:
    """Return the coverage of what a judge adds over a baseline and over the constant answer.

    Balanced accuracies are over the answers that a data set has often enough: so are their truths.
    """
    judge, answers, length = _answers(np.random.default_rng(99), 200_000)
    recalls = np.array([np.mean(judge[answers == answer] == answer) for answer in range(1, 6)])
    agreement = np.mean(judge == answers)
    truth = {
        "gain over a baseline": spearman(judge, answers) - spearman(length, answers),
        "judge's agreement": agreement,
        "added to the constant's agreement": agreement - np.mean(answers == 3),
    }
    hits: dict[str, list[bool]] = defaultdict(list)
    for seed in range(n_datasets):
        rng = np.random.default_rng([seed, 5])
        drawn = _answers(rng, N_DOCUMENTS)
        counted = recalls[[np.sum(drawn[1] == answer) >= FEWEST_ITEMS for answer in range(1, 6)]]
        own = truth | {
            "judge's balanced accuracy": counted.mean(),
            "added to the constant's balanced accuracy": counted.mean() - 1 / counted.size,
        }
        for name, one in _gains(*drawn, rng).items():
            hits[name].append(_holds(one, own[name]))
    return {
        "what": "baselines",
        "n_datasets": n_datasets,
        "true": {name: float(value) for name, value in truth.items()},
        "coverage": {name: _percent(some) for name, some in hits.items()},
    }


def _answers(
    rng: np.random.Generator, n_documents: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw a judge's answers, people's, and a baseline that is worse."""
    documents = np.repeat(np.arange(n_documents), N_ITEMS)
    quality = 0.5 * rng.normal(size=n_documents)[documents] + 0.9 * rng.normal(size=documents.size)
    judge = np.clip(np.round(3 + quality + 0.7 * rng.normal(size=documents.size)), 1, 5)
    length = quality + 1.5 * rng.normal(size=documents.size)
    return judge, np.clip(np.round(3 + quality), 1, 5), length


def _gains(
    judge: np.ndarray, answers: np.ndarray, length: np.ndarray, rng: np.random.Generator
) -> dict[str, Estimate]:
    joined = replace(
        _pattern(len(judge) // N_ITEMS), human=answers, ratings=answers[:, None], judged=judge
    )
    items = [(key[0], key[1]) for key in joined.keys]
    scores = {"length": dict(zip(items, length.tolist(), strict=True))}
    one = Estimate(value=0.5, n=answers.size, low=None, high=None, level=0.95, method="")
    agreement: Any = {"length": {"pooled": {"spearman": one}}}  # which baseline is the best
    found = baseline_gain(
        joined, agreement, scores, resampling=Resampling(n_resamples=500), rng=rng
    )
    assert isinstance(found.constant, ConstantAnswer)
    named = {
        "gain over a baseline": found.gain,
        "judge's agreement": found.constant.agreement,
        "added to the constant's agreement": found.constant.added,
        "judge's balanced accuracy": found.constant.balanced_accuracy,
        "added to the constant's balanced accuracy": found.constant.added_balanced,
    }
    return {name: one for name, one in named.items() if isinstance(one, Estimate)}


@cache
def _pattern(n_documents: int) -> Joined:
    """Join items of any values, for others to take their places."""
    rows, labels = [], []
    for place in range(n_documents * N_ITEMS):
        of = {"eid": f"d{place // N_ITEMS}", "system": f"s{place % N_ITEMS}", "aspect": "coverage"}
        rows.append(_row(of, "judge", "likert", {"value": 1.0 + place % 5}))
        labels.append(Label(**of, annotator="ann", value=1.0 + place % 5))
    (joined,) = join(rows, labels)
    return joined


def simulate_ranking(n_datasets: int) -> dict[str, Any]:
    """Return the coverage of strengths, discriminations and effects of position."""
    strengths = np.array([-1.0, -0.4, 0.0, 0.5, 0.9])
    slopes = np.exp(np.array([-0.7, 0.0, 0.7]))
    places = np.array([0.3, 0.0, -0.3])
    hits: dict[str, list[bool]] = defaultdict(list)
    for seed in range(n_datasets):
        rng = np.random.default_rng([seed, 7])
        given, judges = _pairs(rng, strengths, slopes, places)
        found = rank_by_judges(given, judges, rng=rng)
        assert isinstance(found, JudgeRanking)
        for one in found.systems:
            hits["strengths"].append(_holds(one.strength, strengths[int(one.system)]))
        for one in found.judges:
            hits["discriminations"].append(_holds(one.discrimination, slopes[int(one.judge)]))
            hits["position effects"].append(_holds(one.position_effect, places[int(one.judge)]))
        order = np.argsort(np.argsort(-strengths)) + 1
        hits["all ranks"].append(
            all(one.best_rank <= order[int(one.system)] <= one.worst_rank for one in found.systems)
        )
    return {
        "what": "judge-aware ranking",
        "n_datasets": n_datasets,
        "coverage": {name: _percent(some) for name, some in hits.items()},
    }


def _pairs(
    rng: np.random.Generator, strengths: np.ndarray, slopes: np.ndarray, places: np.ndarray
) -> tuple[Comparisons, list[str]]:
    """Draw every pair of systems in 60 documents by three judges, in both orders, a tie in five."""
    a, b = np.triu_indices(strengths.size, 1)
    documents, pair, judge, first = (
        some.ravel()
        for some in np.meshgrid(
            np.arange(60), np.arange(a.size), np.arange(slopes.size), [1.0, -1.0], indexing="ij"
        )
    )
    one, two = a[pair.astype(int)], b[pair.astype(int)]
    judge = judge.astype(int)
    d = slopes[judge] * (strengths[one] - strengths[two]) + places[judge] * first
    weights = np.exp(np.column_stack([d / 2, -d / 2, np.full(d.size, -0.7)]))
    drawn = (rng.random((d.size, 1)) > np.cumsum(weights, axis=1) / weights.sum(1)[:, None]).sum(1)
    return Comparisons(
        wins=np.array([1.0, 0.0, 0.5])[drawn],
        system_a=tuple(map(str, one)),
        system_b=tuple(map(str, two)),
        positions=first,
        documents=tuple(documents.tolist()),
    ), list(map(str, judge))


def _holds(one: Any, truth: float) -> bool:
    if not isinstance(one, Estimate) or one.low is None or one.high is None:
        return False
    return one.low <= truth <= one.high


def _covered(some: Sequence[Estimate], truth: float) -> float:
    return _percent([_holds(one, truth) for one in some])


def _percent(hits: list[bool]) -> float:
    found = wilson(sum(hits), len(hits))
    assert isinstance(found, Estimate)
    return round(100 * float(found.value), 1)


def coverage_table(found: Mapping[str, Any]) -> TextTable:
    """Return what a simulation covered."""
    title = f"{found['what']}: coverage (%) of 95 % intervals, {found['n_datasets']} data sets"
    truth = found.get("true", {})
    return TextTable(
        title=title,
        columns=columns("interval of", "truth", "covers", numbers=("truth", "covers")),
        rows=tuple(
            (name, f"{truth[name]:.3f}" if name in truth else "-", f"{share:.1f}")
            for name, share in found["coverage"].items()
        ),
    )


def _simulated(n_datasets: int, only: str, path: Path | None) -> list[dict[str, Any]]:
    """Run the simulations named, and take others from `path`, as far as that has them."""
    kept = json.loads(path.read_text("utf-8"))["simulated"] if path and path.exists() else []
    before = {one["what"]: one for one in kept}
    ways: dict[str, Any] = {one.name: partial(simulate_juries, setting=one) for one in SETTINGS} | {
        "judge-aware ranking": simulate_ranking,
        "baselines": simulate_gains,
    }
    found = []
    for name, simulate in ways.items():
        if n_datasets and only in name:
            found.append(simulate(n_datasets))
        elif name in before:
            found.append(before[name])
    return found


def main() -> int:
    """Run the simulations and data sets named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judgements", type=Path, nargs="+")
    parser.add_argument("--labels", type=Path, default=DATA / "labels.jsonl")
    parser.add_argument("--annotators", default="expert*")
    parser.add_argument("--summaries", type=Path)
    parser.add_argument("--clusters", type=Path)
    parser.add_argument("--no-local", action="store_true")
    parser.add_argument("--datasets", type=int, default=0)
    parser.add_argument("--only", default="", help="simulations whose name has this; others stay")
    parser.add_argument("--json", type=Path, nargs="?", const=RESULTS)
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    own = given.judgements is None
    judgements: Any = recorded(local=not given.no_local) if own else given.judgements
    began = time.perf_counter()
    report = fj.calibrate(
        judgements,
        given.labels,
        annotators=given.annotators,
        summaries=DATA / "summaries.jsonl" if own else given.summaries,
        clusters=DATA / "clusters.jsonl" if own else given.clusters,
    ).to_dict()
    seconds = time.perf_counter() - began
    names = "SummEval's recorded judges" if own else ", ".join(path.name for path in judgements)
    text = [
        "# Juries fitted on labels",
        f"{describe_machine()}.",
        f"Data: {names}; {seconds:.1f} s.",
    ]
    text += ["\n".join(f"- {sentence}" for sentence in jury_findings(report))]
    text += map(to_markdown, jury_tables(report))
    text += [to_markdown(one) for group in report["groups"] for one in gains_tables(group)]
    simulated = _simulated(given.datasets, given.only, given.json)
    text += [to_markdown(coverage_table(found)) for found in simulated]
    print("\n\n".join(text))
    if given.page:
        given.page.write_text("\n\n".join(text) + "\n", encoding="utf-8")
    if given.json:
        found = {
            "machine": describe_machine(),
            "seconds": seconds,
            "gains": {group_title(one): one["over_baselines"] for one in report["groups"]},
            "juries": [{**one, "fitted": None} for one in report["juries"]],
            "simulated": simulated,
        }
        given.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
