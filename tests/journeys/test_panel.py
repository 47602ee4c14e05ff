"""A jury from the command line: judge, calibrate on labels, apply to what has none, rank.

Three recorded judges of different scales and skill, one of which has gaps and one of which is a
local model's yes-or-no score; and a server on loopback for the one that judges here.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cli_tools import reference, write_jsonl
from json_files import read_json, read_rows
from stub_server import Fault, StubServer

from fairjudge.reports.report_page import make_figures

N, LABELLED = 80, 50
SYSTEMS = {"gpt-3.5": -0.8, "claude-3": 0.0, "M7": 0.8}
JUDGES = ("careful", "hasty", "local")


@pytest.fixture
def quality() -> dict[tuple[str, str], float]:
    """Write the recorded judges and the labels of the first documents; return what people think."""
    rng = np.random.default_rng(11)
    rows: dict[str, list[dict]] = {name: [] for name in JUDGES}
    truth, labels = {}, []
    for n in range(N):
        for system, level in SYSTEMS.items():
            of = {"eid": f"e{n:02}", "system": system, "aspect": "coverage"}
            value = float(np.clip(np.round(3 + level + 0.9 * rng.normal()), 1, 5))
            truth[of["eid"], system] = value
            if n < LABELLED:
                labels.append(of | {"annotator": "ann", "value": value})
            shared = 0.4 * rng.normal()
            by_name = {
                "careful": int(np.clip(round(value + shared + 0.6 * rng.normal()), 1, 5)),
                "hasty": int(np.clip(round(2 + value / 2 + shared + 0.7 * rng.normal()), 1, 5)),
                "local": round(float(1 / (1 + np.exp(3 - value + rng.normal()))), 3),
            }
            for name, score in by_name.items():
                own = of | {"judge": name, "protocol": "likert", "value": score}
                if name == "local":
                    own |= {"protocol": "binary", "scored_by": "entailment"}
                if name == "hasty" and n % 4 == 1:
                    own |= {"value": None, "unscored": "refused"}
                rows[name].append(own)
    for name, items in rows.items():
        write_jsonl(Path(f"{name}.jsonl"), items)
    write_jsonl(Path("labels.jsonl"), labels)
    return truth


def rmse(rows: list[dict], truth: dict[tuple[str, str], float], judge: str) -> float:
    """Return the distance from people on documents that had no label."""
    errors = [
        row["value"] - truth[row["eid"], row["system"]]
        for row in rows
        if row["judge"] == judge and row["value"] is not None and int(row["eid"][1:]) >= LABELLED
    ]
    assert errors
    return float(np.sqrt(np.mean(np.square(errors))))


def test_recorded_judges_to_scores_of_new_documents(cli, quality):
    files = [f"{name}.jsonl" for name in JUDGES]
    result = cli(
        *("calibrate", *files, "--labels", "labels.jsonl", "--max-unscored", "0.2"),
        *("--save", "jury.json", "--json", "c.json", "--html", "c.html", "--resamples", "300"),
        code=0,
    )
    printed = " ".join(result.out.split())
    assert "The jury of 3 judges in coverage, fitted on labels," in printed
    assert "independent ones: their errors correlate" in printed
    assert "a jury of 3 judges" in Path("c.html").read_text("utf-8")
    (jury,) = read_json("c.json")["juries"]
    assert jury["judges"] == list(JUDGES)
    assert jury["n_items"] == 3 * LABELLED
    assert jury["n_complete"] < jury["n_items"]
    assert 1 < jury["effective_number"]["value"] < 3
    best = next(item for item in jury["compared"] if item["name"] == "best single judge")
    assert best["gain"]["value"] > 0

    # The judges of new documents, and of the labelled ones, in three files.
    result = cli("calibrate", "apply", "jury.json", *files, "-o", "applied.jsonl", code=0)
    assert f"{3 * N} judgements by juries" in result.err
    rows = read_rows("applied.jsonl")
    name = "jury-fitted(careful,hasty,local)"
    texts = [row for row in rows if row["judge"] == name]
    assert len(texts) == 3 * N
    assert {row["n_scored"] for row in texts} == {2, 3}
    by_judge = {judge: rmse(rows, quality, judge) for judge in (name, *JUDGES)}
    assert by_judge[name] == min(by_judge.values())

    # What a jury says is measured like any other judge.
    write_jsonl(Path("said.jsonl"), texts)
    write_jsonl(
        Path("all.jsonl"),
        [
            {"eid": eid, "system": system, "aspect": "coverage", "annotator": "ann", "value": value}
            for (eid, system), value in quality.items()
        ],
    )
    result = cli("calibrate", "said.jsonl", "--labels", "all.jsonl", "--json", "again.json", code=0)
    (group,) = read_json("again.json")["groups"]
    assert group["judge"] == name
    assert group["agreement"]["pooled"]["spearman"]["value"] > 0.6


def test_several_pairwise_judges_rank_jointly(cli):
    """One judge decides by a coin: it is found out, and moves nothing."""
    rng = np.random.default_rng(3)
    names = list(SYSTEMS)
    for judge, slope in (("sharp", 3.0), ("fair", 1.5), ("coin", 0.0)):
        rows = []
        for n in range(N):
            for a, b in (names[:2], names[1:], names[::2]):
                for order in ("ab", "ba"):
                    p = 1 / (1 + np.exp(-slope * (SYSTEMS[a] - SYSTEMS[b])))
                    value = "a" if rng.random() < p else "b"
                    rows.append(
                        {"eid": f"e{n}", "system_a": a, "system_b": b, "order": order}
                        | {"aspect": "coverage", "protocol": "pairwise", "judge": judge}
                        | {"value": value}
                    )
        write_jsonl(Path(f"{judge}.jsonl"), rows)
    result = cli("rank", "sharp.jsonl", "fair.jsonl", "coin.jsonl", "--json", "r.json",
               "--html", "r.html", code=0)  # fmt: skip
    assert "By 3 judges together M7 ranks first in coverage" in " ".join(result.out.split())
    assert "Ranking by 3 judges together" in Path("r.html").read_text("utf-8")
    report = read_json("r.json")
    assert len(report["groups"]) == 3
    (group,) = report["together"]
    assert [item["system"] for item in group["systems"]] == ["M7", "claude-3", "gpt-3.5"]
    by_name = {item["judge"]: item["discrimination"] for item in group["judges"]}
    assert by_name["coin"]["high"] < by_name["fair"]["low"] < by_name["sharp"]["high"]
    items = [figure.name for figure in make_figures("rank", report)]
    strengths, ranks, judges = items[-3:]
    assert strengths.startswith("Ranking by 3 judges together, coverage: M7 ")
    assert ranks.startswith("Ranks, coverage, by 3 judges together: M7 1 ")
    assert judges.startswith("How well each judge discriminates between systems, coverage: ")


def test_judge_of_the_summarizers_family_is_named_first(cli, server: StubServer):
    write_jsonl(Path("r.jsonl"), [reference("e0")])
    write_jsonl(
        Path("s.jsonl"),
        [{"eid": "e0", "system": system, "text": "The bridge is shut."} for system in SYSTEMS],
    )
    server.fail(*[Fault(status=401)] * 10)
    result = cli(
        *("judge", "--references", "r.jsonl", "--summaries", "s.jsonl", "--aspect", "coverage"),
        *("--protocol", "likert", "-o", "j.jsonl", "--base-url", server.v1),
        *("--backend", "openai:gpt-4o-mini"),
    )
    assert result.code != 0  # nothing was judged, and yet it was told
    output = " ".join(result.err.split())
    assert "summaries by gpt-3.5 are of one family of models (GPT)" in output
    assert "claude-3" not in output
