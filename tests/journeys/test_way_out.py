"""The end of a report: what a judge may be used for, at what cost, in terminal, page and study."""

from __future__ import annotations

import json
import random
import re
from html import unescape
from pathlib import Path

import pytest
from cli_tools import reference, summary, write_jsonl
from json_files import read_json, read_rows
from stub_server import Reply

import fairjudge as fj

SYSTEMS = ("ada", "bob", "cid", "dot", "eve", "fay")


def labelled(n_documents: int, *, aspect: str = "coverage") -> list[dict]:
    """Return labels of three people who see the same differences between systems."""
    rng = random.Random(n_documents)
    return [
        {"eid": f"d{d:02}", "system": system, "aspect": aspect, "annotator": name,
         "value": min(5, max(1, round(1.5 + 0.5 * place + rng.gauss(0, 0.8))))}
        for d in range(n_documents)
        for place, system in enumerate(SYSTEMS)
        for name in ("ann", "ben", "cas")
    ]  # fmt: skip


def judged(labels: list[dict], value: float, **more: object) -> list[dict]:
    """Return one judgement of each labelled item, all with one value."""
    own = {"protocol": "likert", "judge": "flat", "scored_by": "llm", "value": value, **more}
    items = {(row["eid"], row["system"], row["aspect"]): None for row in labels}
    return [{"eid": e, "system": s, "aspect": a, **own} for e, s, a in items]


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("n_documents", [24, 4])
@pytest.mark.parametrize(("protocol", "value"), [("likert", 3), ("likert", 1.5), ("binary", 1)])
def test_constant_judge_is_rejected_everywhere(cli, n_documents, protocol, value):
    labels = labelled(n_documents)
    if protocol == "binary":
        labels = [{**row, "value": int(row["value"] > 2)} for row in labels]
    write_jsonl(Path("labels.jsonl"), labels)
    write_jsonl(Path("flat.jsonl"), judged(labels, value, protocol=protocol))
    result = cli("calibrate", "flat.jsonl", "--labels", "labels.jsonl", "--html", "page.html",
               "--json", "out.json", "--resamples", "200", code=0)  # fmt: skip
    reason = f"no: the judge gave one score to all {6 * n_documents} items"
    short = result.out.partition("\n")[0]
    assert short.startswith("In short: ")
    assert reason in short
    (group,) = read_json("out.json")["groups"]
    assert [decision["answer"] for decision in group["decisions"]] == ["no"] * 3
    page = words(unescape(Path("page.html").read_text("utf-8")))
    assert reason in page
    for text in (words(result.out), page):
        assert "variable" not in text
        assert "too few to tell;" not in text
    assert f"the judge's scores are all {value:g}" in words(result.out)

    cli("report", "flat.jsonl", "--labels", "labels.jsonl", "-o", "report.html", code=0)
    assert reason in words(unescape(Path("report.html").read_text("utf-8")))
    answers = fj.calibrate("flat.jsonl", "labels.jsonl", n_resamples=200).decisions()
    assert {row["reason"] for row in answers} == {reason.removeprefix("no: ")}


def test_constant_labels_leave_the_decision_open(cli):
    labels = [{**row, "value": 4} for row in labelled(16)]
    write_jsonl(Path("labels.jsonl"), labels)
    scores = [{**row, "value": n % 5 + 1} for n, row in enumerate(judged(labels, 1))]
    write_jsonl(Path("j.jsonl"), scores)
    result = cli("calibrate", "j.jsonl", "--labels", "labels.jsonl", "--label-scale", "1-5", code=0)
    assert "cannot tell: people gave one label to all 96 items" in words(result.out)
    assert "Judge, pooled: people's mean labels are all 4." in result.out


@pytest.fixture
def runs(cli, server):
    """Judge by one model, by the same from the cache, and by two as a jury, at known prices."""
    eids = [f"e{n}" for n in range(4)]
    write_jsonl(Path("references.jsonl"), [reference(eid) for eid in eids])
    texts = [{**summary(s, eid), "text": f"{s} of {eid}."} for eid in eids for s in SYSTEMS[:3]]
    write_jsonl(Path("summaries.jsonl"), texts)
    rng = random.Random(3)
    labels = [
        {"eid": eid, "system": s, "aspect": "coverage", "annotator": name,
         "value": rng.randint(1, 5)}
        for eid in eids for s in SYSTEMS[:3] for name in ("ann", "ben")
    ]  # fmt: skip
    write_jsonl(Path("labels.jsonl"), labels)
    price = {"input": 1.0, "output": 2.0, "date": "2026-01-01", "source": "a contract"}
    Path("prices.toml").write_text(
        "".join(
            "[[price]]\n" + "".join(f"{k} = {json.dumps(v)}\n" for k, v in entry.items())
            for entry in ({"model": "openai:one", **price}, {"model": "openai:two", **price})
        )
    )
    server.answer = lambda call: Reply(
        text=json.dumps({"reasons": "It is there.", "verdict": str(rng.randint(1, 5))}),
        input_tokens=1000, output_tokens=500,
    )  # fmt: skip
    for name, backends in {"one": ["one"], "again": ["one"], "jury": ["one", "two"]}.items():
        cli(
            "judge", "--references", "references.jsonl", "--summaries", "summaries.jsonl",
            "--aspect", "coverage", "--protocol", "likert", "--base-url", server.v1,
            "--prices", "prices.toml", "-o", f"{name}.jsonl", "--json", f"{name}.json",
            "--run", f"runs/{name}", "--cache", "cache" if name != "jury" else "cache-of-jury",
            *(part for backend in backends for part in ("--backend", f"openai:{backend}")), code=0,
        )  # fmt: skip


def costs(text: str) -> list[str]:
    return re.findall(r"[Cc]ost per item .*?(?= Yes: |\n|<)", text)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        # 1,000 tokens at $1 and 500 at $2 a million: $0.002 a request, one an item.
        (["runs/one"], ["0.002"]),
        (["one.jsonl", "one.json"], ["0.002"]),
        (["one.jsonl", "runs/one"], ["0.002"]),
        (["runs/again"], ["replies came from the cache"]),
        (["again.jsonl", "again.json"], ["replies came from the cache"]),
        (["one.jsonl"], ["add the run's folder"]),
        (["runs/jury"], ["0.002", "0.002"]),
        (["jury.jsonl", "runs/jury"], ["0.004", "0.002", "0.002"]),
        (["jury.jsonl", "jury.json"], ["0.004", "0.002", "0.002"]),
    ],
)
def test_decision_includes_the_cost_if_given(cli, runs, files, expected):
    items = []
    result = cli("calibrate", *files, "--labels", "labels.jsonl", "--resamples", "100", code=0)
    items.append(costs(result.out))
    texts = ("references.jsonl", "summaries.jsonl", "--labels", "labels.jsonl")
    result = cli("report", *files, *texts, "-o", "report.html", code=0)
    items.append(costs(unescape(Path("report.html").read_text("utf-8"))))
    python = fj.calibrate([*files], "labels.jsonl", n_resamples=100)
    items.append(costs(f"{python.decisions()!r}\n"))
    for row in items:
        assert len(row) == len(expected), row
        for sentence, part in zip(row, expected, strict=True):
            assert part in sentence
        if "add the run's folder" not in expected[0]:
            assert not any("add the run's folder" in sentence for sentence in row)


def test_aspects_of_one_request_share_its_cost(cli, server):
    write_jsonl(Path("references.jsonl"), [reference()])
    texts = [{**summary(name), "text": f"The {name} of it."} for name in ("a", "b")]
    write_jsonl(Path("summaries.jsonl"), texts)
    write_jsonl(Path("labels.jsonl"), [
        {"eid": "e1", "system": s, "aspect": "faithfulness", "annotator": "ann", "value": v}
        for s, v in (("a", 1), ("b", 5))
    ])  # fmt: skip
    verdicts = {"coverage": {"reasons": "r", "verdict": "2"},
                "faithfulness": {"reasons": "r", "verdict": "4"}}  # fmt: skip
    server.answer = lambda call: Reply(
        text=json.dumps(verdicts), input_tokens=1000, output_tokens=500
    )
    result = cli("judge", "--references", "references.jsonl", "--summaries", "summaries.jsonl",
               "--aspect", "coverage", "--aspect", "faithfulness", "--together", "--protocol",
               "likert", "--backend", "openai:m", "--base-url", server.v1, "--price-input", "1",
               "--price-output", "2", "-o", "both.jsonl", "--json", "both.json",
               "--run", "run", code=0)  # fmt: skip
    eid = json.loads(Path("both.jsonl").read_text().partition("\n")[0])["eid"]
    rows = read_rows("labels.jsonl")
    write_jsonl(Path("labels.jsonl"), [{**row, "eid": eid} for row in rows])
    for files in (["run"], ["both.jsonl", "run"]):
        result = cli("calibrate", *files, "--labels", "labels.jsonl", code=0)
        (sentence,) = costs(result.out)
        assert sentence.endswith("the same requests judged coverage and faithfulness.")


def test_run_metadata_written_by_judge_is_not_a_judgement(cli, runs):
    result = cli("calibrate", "one.json", "--labels", "labels.jsonl", code=1)
    assert "also pass their file" in result.err
