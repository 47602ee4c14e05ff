"""DiverseSumm's Table 5 from clusters, summaries and labels of parts: twelve protocols, one table.

The model is scripted: it finds a code word of the summary in what it is shown, so that summaries
with more of the answers are better by every protocol.
"""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from cli_tools import openai, write_jsonl
from scipy.stats import kendalltau
from stub_server import Call, Reply

N, SYSTEMS = 6, ("low", "mid", "high")
HELD = {"low": 1, "mid": 2, "high": 3}
"""How many of three answers a system's summaries give, one less on every third document."""
PROTOCOLS = [
    ("faithfulness", "pairwise", "article", "summary"),
    ("faithfulness", "likert", "article", "summary"),
    ("faithfulness", "binary", "article", "summary"),
    ("faithfulness", "likert", "articles", "summary"),
    ("faithfulness", "binary", "articles", "summary"),
    ("faithfulness", "likert", "articles", "sentence"),
    ("faithfulness", "binary", "articles", "sentence"),
    ("coverage", "pairwise", "qa_pairs", "summary"),
    ("coverage", "likert", "qa_pairs", "summary"),
    ("coverage", "binary", "qa_pairs", "summary"),
    ("coverage", "likert", "qa_pair", "summary"),
    ("coverage", "binary", "qa_pair", "summary"),
]


def n_covered(system: str, d: int) -> int:
    return max(0, HELD[system] - (d % 3 == 0))


@pytest.fixture(autouse=True)
def files() -> None:
    references, summaries, labels = [], [], []
    for d in range(N):
        texts = [f"Witness {n} of town {d} blames cause number {n}." for n in range(3)]
        references.append({
            "eid": str(d),
            "articles": [{"aid": f"{d}{n}", "content": f"{text} The bridge of the town stays "
                          "closed for now, and nobody knows for how long it will be."}
                         for n, text in enumerate(texts)],
            "question_answers": [{"question": "Whom do witnesses blame?", "answer_groups": [
                [{"aid": f"{d}{n}", "answer": text}] for n, text in enumerate(texts)]}],
        })  # fmt: skip
        for system in SYSTEMS:
            n_held = n_covered(system, d)
            made_up = [f"Officials of town {d} deny story {n}." for n in range(3 - n_held)]
            text = " ".join([*texts[:n_held], *made_up, "QUALITY" + "+" * n_held + "."])
            summaries.append({"eid": str(d), "system": system, "text": text})
            item = {"eid": str(d), "system": system, "annotator": "ann"}
            labels += [
                item | {"aspect": "coverage", "unit": f"answer:0.{n}", "value": int(n < n_held)}
                for n in range(3)
            ]
            labels += [
                item | {"aspect": "faithfulness", "unit": f"sentence:{n}", "value": int(n < n_held)}
                for n in range(3)
            ]
    write_jsonl(Path("references.jsonl"), references)
    write_jsonl(Path("summaries.jsonl"), summaries)
    write_jsonl(Path("labels.jsonl"), labels)


def answer(protocol: str, call: Call) -> Reply:
    """Judge by the marks of quality, of a pair's sides in the order in which they stand."""
    text = json.dumps(call.body["messages"])
    marks = [len(part) - len(part.lstrip("+")) for part in text.split("QUALITY")[1:]]
    if protocol == "pairwise":
        first, second = marks[-2:]
        return Reply(text=f"Verdict: {'A' if first > second else 'B' if second > first else 'tie'}")
    n = marks[-1] if marks else 2 * ("deny story" not in text)  # one sentence
    return Reply(
        text=f"Score: {n + 1}" if protocol == "likert" else f"Verdict: {'yes' if n > 1 else 'no'}"
    )


def test_twelve_protocols_with_part_labels_give_the_table(cli, server):
    files: list[str] = []
    for aspect, protocol, reference_unit, text_unit in PROTOCOLS:
        server.answer = lambda call, protocol=protocol: answer(protocol, call)
        name = f"{aspect}-{protocol}-{reference_unit}-{text_unit}"
        result = cli(
            *("judge", "--references", "references.jsonl", "--summaries", "summaries.jsonl"),
            *("--aspect", aspect, "--protocol", protocol, "--reference-unit", reference_unit),
            *("--text-unit", text_unit, *openai(server), "-o", f"{name}.jsonl"),
            *("--json", f"{name}.json", "--max-unscored", "1", "--quiet"),
            code=0,
        )
        files += [f"{name}.jsonl", f"{name}.json"]
    result = cli("calibrate", *files, "--labels", "labels.jsonl", "--resamples", "100",
               "--max-unscored", "1", "--json", "table5.json", "--html", "table5.html",
               code=0)  # fmt: skip
    report = json.loads(Path("table5.json").read_text())
    assert len(report["groups"]) == 12
    faithful, covered = sorted(report["protocols"], key=lambda group: -len(group["rows"]))
    assert (len(faithful["rows"]), len(covered["rows"])) == (7, 5)
    for part in (faithful, covered):
        for row in part["rows"]:
            assert row["n_requests"] > 0, row
            assert row["kendall"].get("n"), row
    by_key = {(row["protocol"], row["unit"]): row for row in covered["rows"]}
    judged: dict[Any, float] = {}
    for line in Path("coverage-likert-qa_pairs-summary.jsonl").read_text().splitlines():
        row = json.loads(line)
        judged[row["eid"], row["system"]] = row["value"]
    human = {(str(d), s): fmean([int(n < n_covered(s, d)) for n in range(3)])
             for d in range(N) for s in SYSTEMS}  # fmt: skip
    tau = kendalltau([judged[key] for key in human], list(human.values())).statistic
    assert by_key["likert", "summary"]["kendall"]["value"] == pytest.approx(tau)
    assert by_key["likert", "summary"]["kendall"]["n"] == 18
    assert by_key["likert", "summary"]["n_requests"] == 18
    assert by_key["pairwise", "summary"]["n_requests"] == 36
    assert by_key["binary", "answer"]["n_requests"] == 54
    assert "agrees best with human labels over summaries" in result.out
    assert "Protocols of coverage" in Path("table5.html").read_text()
