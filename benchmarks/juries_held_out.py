"""Juries of recorded judges that were not used in development, against right answers.

    python benchmarks/juries_held_out.py [--json]

- LLMBar: ChatGPT and LLaMA2, each with three prompts (one answer, reasons first, reasons in both
  orders at once): six judges on 419 pairs with a right answer. A judge's score of a pair is the
  share of its two orders in which it chose the second output: 0, .5 or 1.
- Trust or Escalate: gpt-3.5-turbo and mistral-7b on 500 pairs, the probability of the second output
  against the human choice.

Prints distances (RMSE, on 0 to 1) on held-out documents of the jury, of the members' mean and of
the best judge, with 95 % intervals over documents, and the effective number of independent judges.
Then prints distances with a whole set held out: each of LLMBar's five, fitted on the four others;
and each of the two dimensions of SummEval that gpt-3.5 judged with three prompts (distances on 1 to
5, against the mean of three experts), fitted on the other dimension of other documents.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from _data import RECORDED_JUDGES, read_rows
from _figures import interval_text
from _jury_simulation import assess_jury
from _machine import RESULTS, write_results
from _summeval import EXPERTS, SUMMEVAL
from juries import recorded

from fairjudge.calibration.agreement import Resampling
from fairjudge.calibration.calibrators import assign_folds
from fairjudge.calibration.juries import JuryItems, fit_members
from fairjudge.calibration.jury_assessment import BEST, MEAN
from fairjudge.datasets.readers import read_labels
from fairjudge.domain import Undefined
from fairjudge.records.results import figure
from fairjudge.stats._arrays import codes, totals
from fairjudge.stats.bootstrap import bootstrap_many

JUDGES, PROMPTS = ("ChatGPT", "LLaMA2"), ("Vanilla", "CoT", "Swap_CoT")
METHOD = "isotonic"
WAYS = ("jury", "mean", "best judge")


def llmbar() -> tuple[JuryItems, list[str], list[str]]:
    """Return items, names of judges, and each item's set."""
    names = [f"{judge}, {prompt}" for judge in JUDGES for prompt in PROMPTS]
    sets, columns = [], []
    for judge in JUDGES:
        for prompt in PROMPTS:
            paths = sorted((RECORDED_JUDGES / "llmbar").glob(f"*.{judge}.{prompt}.json.gz"))
            rows = [(path.name.split(".")[0], row) for path in paths for row in _rows(path)]
            columns.append([_second(row["results"][0]) for _, row in rows])
            sets = [name for name, _ in rows]
            labels = [float(row["label"] == 2) for _, row in rows]
    return _items(columns, labels), names, sets


def _rows(path: Path) -> list[dict[str, Any]]:
    return list(json.loads(gzip.decompress(path.read_bytes())))


def _second(result: dict[str, Any]) -> float:
    """Return the share of orders in which the second output was chosen; NaN without a choice."""
    winners = [result[f"swap = {swap}"]["winner"] for swap in (False, True)]
    chosen = [float(winner == "2") for winner in winners if winner in {"1", "2"}]
    return float(np.mean(chosen)) if chosen else np.nan


def trust_or_escalate() -> tuple[JuryItems, list[str]]:
    """Return items and names of judges."""
    names = ["gpt-3.5-turbo", "mistral-7b-instruct"]
    columns = []
    for name in names:
        rows = read_rows(RECORDED_JUDGES / "trust_or_escalate" / f"{name}.jsonl.gz")
        columns.append([row["probs"][1] for row in rows])
        labels = [float(row["preferences"]["human"] == 2) for row in rows]
    return _items(columns, labels), names


def _items(columns: Sequence[Sequence[float]], labels: Sequence[float]) -> JuryItems:
    scores = np.array(columns).T
    return JuryItems(
        scores=scores,
        rescaled_scores=scores,
        covariates=np.empty((len(scores), 0)),
        labels=np.array(labels),
        documents=tuple(map(str, range(len(scores)))),
    )


def by_document(items: JuryItems, names: Sequence[str]) -> dict[str, Any]:
    """Return the distances and gains of a jury on held-out documents."""
    figures = assess_jury(items, np.random.default_rng(0), names)
    return {
        "RMSE of the jury": figure(figures.rmse),
        "RMSE of the mean": figure(figures.compared[MEAN].rmse),
        "RMSE of the best judge": figure(figures.compared[BEST].rmse),
        "gain over the mean": figure(figures.compared[MEAN].gain),
        "gain over the best judge": figure(figures.compared[BEST].gain),
        "effective number": figure(figures.effective.number),
    }


def summeval() -> tuple[JuryItems, list[str]]:
    """Return items judged with three prompts, and each item's dimension."""
    by_judge: dict[str, dict[tuple[str, str, str], float]] = defaultdict(dict)
    for row in recorded(local=False):
        if row.value is not None and row.system is not None:
            key = (row.aspect, row.eid, row.system)
            by_judge[row.judge].setdefault(key, float(row.value))
    people: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for label in read_labels(SUMMEVAL / "labels.jsonl"):
        if label.annotator in EXPERTS:
            people[label.aspect, label.eid, str(label.system)].append(float(label.value))
    keys = [key for key in people if any(key in scores for scores in by_judge.values())]
    columns = [[scores.get(key, np.nan) for key in keys] for scores in by_judge.values()]
    items = _items(columns, [float(np.mean(people[key])) for key in keys])
    return replace(items, documents=tuple(key[1] for key in keys)), [key[0] for key in keys]


def by_set(items: JuryItems, sets: Sequence[str], *, n_folds: int) -> dict[str, dict[str, Any]]:
    """Return distances on each set, fitted on other sets and on the documents of other folds.

    Use one fold if the sets have no documents in common.
    """
    names, distances = np.array(sets), {}
    folds = assign_folds(items.documents, n_folds, np.random.default_rng(0))
    for name in dict.fromkeys(sets):
        scores = np.full((3, len(sets)), np.nan)
        for fold in range(n_folds):
            held_out = (names == name) & (folds == fold)
            training = (names != name) & ((folds != fold) | (n_folds == 1))
            scores[:, held_out] = _predicted(items.subset(training), items.subset(held_out))
        distances[name] = _distances(scores[:, names == name], items.subset(names == name))
    return distances


def _predicted(training: JuryItems, test: JuryItems) -> np.ndarray:
    """Return the scores of the jury, the mean and the best judge, shape (3, items)."""
    fitted = fit_members(training, method=METHOD, rng=np.random.default_rng(0))
    assert not isinstance(fitted, Undefined)
    values = fitted.values(test)
    jury = np.clip(fitted.stacking(values), training.labels.min(), training.labels.max())
    return np.array(
        [jury, np.nanmean(test.rescaled_scores, axis=1), values[:, np.argmin(fitted.errors)]]
    )


def _distances(scores: np.ndarray, items: JuryItems) -> dict[str, Any]:
    """Return RMSEs over the items scored by all, gains, biases and spreads of errors."""
    scored = np.isfinite(scores).all(axis=0)
    errors = (scores[:, scored] - items.labels[scored]).T
    documents, distinct = codes(items.subset(scored).documents)
    rows = np.column_stack([np.ones(len(errors)), errors, errors**2])
    sums = totals(rows, documents, len(distinct))

    def statistic(counts: np.ndarray) -> np.ndarray:
        means = counts @ sums
        means /= means[:, :1]
        bias, squares = means[:, 1:4], means[:, 4:]
        rmse = np.sqrt(squares)
        return np.column_stack([rmse, rmse[:, 1:] - rmse[:, :1], bias, np.sqrt(squares - bias**2)])

    estimates = bootstrap_many(
        statistic,
        n_documents=len(distinct),
        rng=np.random.default_rng(0),
        n_resamples=Resampling().n_resamples,
        method=Resampling().method,
    )
    names = (
        *WAYS,
        *(f"gain over the {way}" for way in WAYS[1:]),
        *(f"{figure} of the {way}" for figure in ("bias", "spread") for way in WAYS),
    )
    return {name: figure(estimate) for name, estimate in zip(names, estimates, strict=True)}


def main() -> None:
    """Print the results for both data sets."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, nargs="?", const=RESULTS / "juries_held_out.json")
    options = parser.parse_args()
    items, names, sets = llmbar()
    results: dict[str, dict[str, Any]] = {
        "LLMBar, six judges": by_document(items, names),
        "Trust or Escalate, two judges": by_document(*trust_or_escalate()),
    }
    for title, figures in results.items():
        print(title)
        for name, value in figures.items():
            print(f"  {name:26} {interval_text(value)}")
    results["LLMBar, each set held out"] = by_set(items, sets, n_folds=1)
    results["SummEval, each dimension held out"] = by_set(*summeval(), n_folds=10)
    for title in ("LLMBar, each set held out", "SummEval, each dimension held out"):
        print(title)
        for name, distances in results[title].items():
            print(f"  {name}")
            for way, value in distances.items():
                print(f"    {way:24} {interval_text(value)}")
    write_results(options.json, results)


if __name__ == "__main__":
    main()
