"""A real System One server judges by the commands, and calibration says how far to trust it.

The server carries a small general model that is known to judge summaries poorly. What it says is
not what these tests hold it to: they hold the commands to saying so.
"""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from cli_tools import write_jsonl
from json_files import read_json, read_rows

PLACES = ("Alder", "Birch", "Cedar", "Dogwood", "Elm", "Fir", "Gorse", "Hazel", "Ivy", "Juniper")
PROTOCOLS = ("binary", "likert", "pairwise")


def _cluster(place: str, number: int) -> dict:
    facts = (
        f"The {place} bridge closed on Monday after inspectors found cracks.",
        f"Repairs will cost {number} million crowns and last until spring.",
        f"The mayor of {place} blamed years of heavy traffic.",
    )
    article = {"aid": f"{place}-1", "title": place, "domain": "x.example"}
    return {"eid": place, "articles": [article | {"content": " ".join(facts)}]}


def _summaries(place: str, number: int) -> list[dict]:
    """What is true, what is half true, and what nobody reported."""
    texts = {
        "true": f"The {place} bridge closed after cracks were found; repairs cost {number} million "
        "crowns.",
        "half": f"The {place} bridge closed on Monday. The engineers have resigned over it.",
        "false": "A ferry sank in a storm, and the minister of finance fled abroad with the gold.",
    }
    return [{"eid": place, "system": system, "text": text} for system, text in texts.items()]


@pytest.fixture
def files() -> tuple[str, ...]:
    clusters = [_cluster(place, n) for n, place in enumerate(PLACES, 2)]
    summaries = [row for n, place in enumerate(PLACES, 2) for row in _summaries(place, n)]
    write_jsonl(Path("clusters.jsonl"), clusters)
    write_jsonl(Path("summaries.jsonl"), summaries)
    ratings = {"true": 5, "half": 3, "false": 1}
    label = {"aspect": "faithfulness", "annotator": "hand", "unit": "summary"}
    labels = [
        {**label, "eid": row["eid"], "system": row["system"], "value": ratings[row["system"]]}
        for row in summaries
    ]
    write_jsonl(Path("labels.jsonl"), labels)
    return ("--references", "clusters.jsonl", "--summaries", "summaries.jsonl")


def _judge(cli, files, url: str, protocol: str, *more: str) -> list[dict]:
    options = ("--aspect", "faithfulness", "--protocol", protocol)
    server = ("--backend", "systemone:sparrow", "--base-url", url)
    cli("judge", *files, *options, *server, *more, "-o", f"{protocol}.jsonl", code=0)
    return read_rows(f"{protocol}.jsonl")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_protocol_gets_a_distribution_per_item(cli, files, decision_server, protocol):
    rows = _judge(cli, files, decision_server, protocol)
    # Thirty summaries; or three pairs of systems for each of ten clusters, in two orders.
    assert len(rows) == (60 if protocol == "pairwise" else 30)
    answers = {"binary": {"no", "yes"}, "likert": set("12345"), "pairwise": {"a", "b", "tie"}}
    for row in rows:
        assert (row["scored_by"], row["unscored"], row["raw"]) == ("decision", None, None)
        assert set(row["probabilities"]) == answers[protocol]
        assert math.fsum(row["probabilities"].values()) == pytest.approx(1)
        assert row["entropy"] >= 0
    if protocol == "pairwise":
        reports: dict[tuple[str, ...], list[dict]] = {}
        for row in rows:
            reports.setdefault((row["eid"], row["system_a"], row["system_b"]), []).append(row)
        for value, other in reports.values():
            mean = (value["probabilities"]["a"] + other["probabilities"]["a"]) / 2
            assert value["pair_probabilities"]["a"] == pytest.approx(mean)
            assert value["shift"] == other["shift"]


def test_calibration_reports_a_poor_judge(cli, files, decision_server):
    """Labels are true by construction, and the words that summaries share with articles tell them.

    So a baseline reaches what the judge does not; the thresholds are those of the report's words.
    """
    _judge(cli, files, decision_server, "likert")
    inputs = ("--labels", "labels.jsonl", "--summaries", "summaries.jsonl")
    more = ("--clusters", "clusters.jsonl", "--resamples", "200", "--json", "report.json")
    result = cli("calibrate", "likert.jsonl", *inputs, *more, code=0)
    (group,) = read_json("report.json")["groups"]
    judge = group["agreement"]["pooled"]["kendall"]["value"]
    best = max(
        baseline["pooled"]["kendall"]["value"]
        for name, baseline in group["baselines"].items()
        if name != "random" and baseline["pooled"]["kendall"]["value"] is not None
    )
    assert judge < best
    first_sight = " ".join(result.out.partition("agreement with human labels, pooled")[0].split())
    assert "Summary" in first_sight
    assert "score single summaries: yes" not in first_sight
