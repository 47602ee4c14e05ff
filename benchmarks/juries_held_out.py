"""Juries of recorded judges on which nothing here was developed, against right answers.

    python benchmarks/juries_held_out.py [--json]

- LLMBar: ChatGPT and LLaMA2, each by three prompts (one answer, reasons first, reasons in both
  orders at once): six judges on 419 pairs with a right answer. A judge's score of a pair is the
  share of its two orders in which it chose the second output: 0, .5 or 1.
- Trust or Escalate: gpt-3.5-turbo and mistral-7b on 500 pairs, the probability of the second output
  against the choice of people.

Printed are distances (RMSE, on 0 to 1) on held-out documents of the jury, of members' mean and of
the best judge, with 95 % intervals over documents, and how many independent judges they are worth;
of LLMBar also with each of its five sets held out whole, fitted on the four others.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fairjudge.calibration.agreement import Resampling
from fairjudge.calibration.juries import JuryItems, fit_members
from fairjudge.calibration.jury_assessment import BEST, MEAN, JuryFigures, jury_figures
from fairjudge.domain import Undefined
from fairjudge.records.results import figure

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "recorded_judges"
RESULTS = Path(__file__).parent / "results" / "juries_held_out.json"
JUDGES, PROMPTS = ("ChatGPT", "LLaMA2"), ("Vanilla", "CoT", "Swap_CoT")
METHOD = "isotonic"


def llmbar() -> tuple[JuryItems, list[str], list[str]]:
    """Return items, names of judges, and the set of each item."""
    names = [f"{judge}, {prompt}" for judge in JUDGES for prompt in PROMPTS]
    sets, columns = [], []
    for judge in JUDGES:
        for prompt in PROMPTS:
            paths = sorted((DATA / "llmbar").glob(f"*.{judge}.{prompt}.json.gz"))
            rows = [(path.name.split(".")[0], row) for path in paths for row in _rows(path)]
            columns.append([_second(row["results"][0]) for _, row in rows])
            sets = [name for name, _ in rows]
            labels = [float(row["label"] == 2) for _, row in rows]
    return _items(columns, labels), names, sets


def _rows(path: Path) -> list[dict[str, Any]]:
    return list(json.loads(gzip.decompress(path.read_bytes())))


def _second(result: dict[str, Any]) -> float:
    """Return the share of the orders that chose the second output; NaN without a choice."""
    winners = [result[f"swap = {swap}"]["winner"] for swap in (False, True)]
    chosen = [float(winner == "2") for winner in winners if winner in {"1", "2"}]
    return float(np.mean(chosen)) if chosen else np.nan


def trust_or_escalate() -> tuple[JuryItems, list[str]]:
    """Return items and names of judges."""
    names = ["gpt-3.5-turbo", "mistral-7b-instruct"]
    columns = []
    for name in names:
        path = DATA / "trust_or_escalate" / f"{name}.jsonl.gz"
        rows = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
        columns.append([row["probs"][1] for row in rows])
        labels = [float(row["preferences"]["human"] == 2) for row in rows]
    return _items(columns, labels), names


def _items(columns: Sequence[Sequence[float]], labels: Sequence[float]) -> JuryItems:
    scores = np.array(columns).T
    return JuryItems(
        scores=scores,
        mapped=scores,
        covariates=np.empty((len(scores), 0)),
        labels=np.array(labels),
        documents=tuple(map(str, range(len(scores)))),
    )


def by_document(items: JuryItems, names: Sequence[str]) -> dict[str, Any]:
    """Return what a jury is worth on held-out documents."""
    found = jury_figures(
        items,
        names,
        weights=np.zeros(len(names)),
        method=METHOD,
        n_folds=10,
        resampling=Resampling(),
        rng=np.random.default_rng(0),
    )
    assert isinstance(found, JuryFigures)
    return {
        "RMSE of the jury": figure(found.rmse),
        "RMSE of the mean": figure(found.compared[MEAN].rmse),
        "RMSE of the best judge": figure(found.compared[BEST].rmse),
        "gain over the mean": figure(found.compared[MEAN].gain),
        "gain over the best judge": figure(found.compared[BEST].gain),
        "effective number": figure(found.effective.number),
    }


def by_set(items: JuryItems, sets: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return distances on each set, of what is fitted on the others."""
    found = {}
    for name in dict.fromkeys(sets):
        held_out = np.array([one == name for one in sets])
        training, test = items.subset(~held_out), items.subset(held_out)
        fitted = fit_members(training, method=METHOD, rng=np.random.default_rng(0))
        assert not isinstance(fitted, Undefined)
        values = fitted.values(test)
        ways = {
            "jury": np.clip(fitted.stacking(values), 0.0, 1.0),
            "mean": np.nanmean(test.mapped, axis=1),
            "best judge": values[:, int(np.argmin(fitted.errors))],
        }
        found[name] = {
            way: float(np.sqrt(np.nanmean((one - test.labels) ** 2))) for way, one in ways.items()
        }
    return found


def main() -> None:
    """Print the figures of both data sets."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, nargs="?", const=RESULTS)
    given = parser.parse_args()
    items, names, sets = llmbar()
    found: dict[str, Any] = {
        "LLMBar, six judges": by_document(items, names),
        "Trust or Escalate, two judges": by_document(*trust_or_escalate()),
    }
    for title, figures in found.items():
        print(title)
        for name, one in figures.items():
            print(f"  {name:26} {one['value']:6.3f} [{one['low']:.3f}, {one['high']:.3f}]")
    found["LLMBar, each set held out"] = by_set(items, sets)
    for name, distances in found["LLMBar, each set held out"].items():
        print(f"  {name:32}", *(f"{way} {one:.3f}" for way, one in distances.items()))
    if given.json is not None:
        given.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
