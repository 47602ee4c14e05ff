"""Protocols side by side (DiverseSumm, Table 5): the correlation, the test of the lead, the choice.

The figures are scipy's on the rows, the test's resampling is done again in plain numpy.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from cli_tools import write_jsonl
from scipy.stats import kendalltau

import fairjudge as fj

SYSTEMS = ("s", "t", "u")
OF = {"aspect": "coverage", "judge": "j"}
Rows = list[dict[str, Any]]


def world(n: int = 40, seed: int = 0) -> tuple[Rows, dict[tuple[str, str], float]]:
    """Labels of four answers a summary, and the mean of each summary."""
    rng = np.random.default_rng(seed)
    labels, means = [], {}
    for d in range(n):
        for s in SYSTEMS:
            quality = rng.random()
            values = [int(rng.random() < quality) for _ in range(4)]
            means[str(d), s] = fmean(values)
            labels += [
                {"eid": str(d), "system": s, "aspect": "coverage", "annotator": "p", "value": v,
                 "unit": f"answer:0.{g}"}
                for g, v in enumerate(values)
            ]  # fmt: skip
    return labels, means


def by_answer(labels: Rows, right: float, seed: int = 1) -> Rows:
    """Yes or no of each answer, as people say with the chance `right`."""
    rng = np.random.default_rng(seed)
    return [
        OF
        | {
            "eid": label["eid"],
            "system": label["system"],
            "unit": label["unit"],
            "protocol": "binary",
            "value": label["value"] if rng.random() < right else 1 - label["value"],
        }
        for label in labels
    ]


def likert(means: dict[tuple[str, str], float], noise: float, seed: int = 2) -> Rows:
    rng = np.random.default_rng(seed)
    return [
        OF | {"eid": d, "system": s, "protocol": "likert",
              "value": int(np.clip(round(1 + 4 * mean + rng.normal(0, noise)), 1, 5))}
        for (d, s), mean in means.items()
    ]  # fmt: skip


def tau(rows: Rows, means: dict[tuple[str, str], float], documents: Any = None) -> float:
    judged = defaultdict(list)
    for row in rows:
        judged[row["eid"], row["system"]].append(row["value"])
    pairs = [(fmean(judged[d, s]), means[d, s]) for d in documents or dict.fromkeys(
        d for d, _ in means) for s in SYSTEMS]  # fmt: skip
    return float(kendalltau(*zip(*pairs, strict=True)).statistic)


def test_correlations_match_scipy_and_lead_uses_paired_bootstrap():
    labels, means = world()
    parts, whole = by_answer(labels, 0.9), likert(means, 1.5)
    (protocol,) = fj.calibrate([*parts, *whole], labels, n_resamples=1000).to_dict()["protocols"]
    rows = {row["protocol"]: row for row in protocol["rows"]}
    taus = {"binary": tau(parts, means), "likert": tau(whole, means)}
    assert {name: row["kendall"]["value"] for name, row in rows.items()} == pytest.approx(taus)
    assert (rows["binary"]["mark"], rows["likert"]["mark"]) == ("best", None)
    assert rows["binary"]["behind"] is None
    behind = rows["likert"]["behind"]
    assert behind["value"] == pytest.approx(taus["binary"] - taus["likert"])
    rng = np.random.default_rng(5)
    names = [str(d) for d in range(40)]
    items = []
    for _ in range(300):
        sample = rng.choice(names, size=40).tolist()
        items.append(tau(parts, means, sample) - tau(whole, means, sample))
    low, high = np.quantile(items, [0.025, 0.975])
    assert behind["low"] == pytest.approx(low, abs=0.05)
    assert behind["high"] == pytest.approx(high, abs=0.05)
    assert rows["likert"]["adjusted_p_value"] < 0.05
    assert protocol["n_documents"] == 40


def test_cheaper_protocols_not_significantly_worse_are_named():
    labels, means = world()
    calibration = fj.calibrate(
        [*by_answer(labels, 0.9), *likert(means, 0.8)], labels, n_resamples=300
    )
    table = {row["protocol"]: row for row in calibration.protocols()}
    assert (table["binary"]["n_requests"], table["likert"]["n_requests"]) == (480, 120)
    assert {name: row["mark"] for name, row in table.items()} == {
        "binary": "best",
        "likert": "cheaper",
    }
    assert table["likert"]["adjusted_p_value"] > 0.3
    # Where the best has the fewest requests too, none is cheaper.
    calibration = fj.calibrate(
        [*by_answer(labels, 0.8), *likert(means, 0.8)], labels, n_resamples=300
    )
    marks = {row["protocol"]: row["mark"] for row in calibration.protocols()}
    assert marks == {"binary": None, "likert": "best"}
    assert "Protocols: agreement with human labels" in str(calibration.protocols())


def test_no_protocol_is_best_without_agreement():
    labels, means = world(n=25)
    shuffled = dict(zip(means, np.random.default_rng(3).permutation(list(means.values())),
                        strict=True))  # fmt: skip
    noise = [likert(shuffled, 1.0), by_answer(labels, 0.5)]
    calibration = fj.calibrate([*noise[0], *noise[1]], labels, n_resamples=300)
    (protocol,) = calibration.to_dict()["protocols"]
    assert all(row["kendall"]["low"] <= 0 for row in protocol["rows"])
    assert {row["mark"] for row in protocol["rows"]} == {None}
    assert "no protocol agrees significantly" in calibration.to_dict()["findings"][0]


def test_protocol_on_few_documents_is_not_compared():
    labels, means = world()
    few = [row for row in likert(means, 0.2) if int(row["eid"]) < 8]
    (protocol,) = fj.calibrate([*by_answer(labels, 0.9), *few], labels, n_resamples=200).to_dict()[
        "protocols"
    ]
    row = next(row for row in protocol["rows"] if row["protocol"] == "likert")
    behind = next(row for row in protocol["rows"] if row["behind"])["behind"]
    assert behind["value"] is None
    assert "8 documents, and others have 40: not compared" in behind["why"]
    assert row["kendall"]["n"] == 24


def test_command_accepts_files_run_folders_and_judge_output(cli):
    labels, means = world()
    write_jsonl(Path("labels.jsonl"), labels)
    write_jsonl(Path("parts.jsonl"), by_answer(labels, 0.9))
    write_jsonl(Path("whole.jsonl"), likert(means, 0.7))
    by_name = {"aspect": "coverage", "protocol": "binary", "reference_unit": "qa_pair",
            "text_unit": "summary", "n_judgements": 480, "n_unscored": 0, "systems": {},
            "spent": {"n_calls": 481, "n_cached": 0, "cost_usd": 3.5}}  # fmt: skip
    Path("parts.json").write_text(json.dumps(by_name))
    result = cli(
        "calibrate",
        "parts.jsonl",
        "whole.jsonl",
        "parts.json",
        "--labels",
        "labels.jsonl",
        "--resamples",
        "200",
        "--json",
        "out.json",
        "--html",
        "out.html",
        code=0,
    )
    assert result.out.startswith("In short: In coverage ")
    (protocol,) = json.loads(Path("out.json").read_text())["protocols"]
    rows = {row["protocol"]: row for row in protocol["rows"]}
    assert (rows["binary"]["n_requests"], rows["binary"]["cost_usd"]) == (481, 3.5)
    assert (rows["likert"]["n_requests"], rows["likert"]["cost_usd"]) == (120, None)
    page = Path("out.html").read_text()
    assert "Protocols of coverage, Kendall" in page
    assert "QA pair" in page
    # A file given twice, as a run and its output are, counts once.
    result = cli(
        "calibrate",
        "parts.jsonl",
        "whole.jsonl",
        "whole.jsonl",
        "--labels",
        "labels.jsonl",
        "--resamples",
        "200",
        "--json",
        "-",
    )
    groups = json.loads(result.out)["groups"]
    assert [group["counts"]["repeated"] for group in groups] == [0, 0]
    result = cli("calibrate", "parts.jsonl", "out.json", "--labels", "labels.jsonl", code=1)
    assert "expected judgements, found the JSON of calibrate" in result.err
