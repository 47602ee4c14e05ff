"""A checklist judge from the command line: small calls in two orders, then few labels of answers.

A server on loopback judges; people label a part of the answers; `calibrate` corrects each system's
coverage, by topic where the labels are of other topics than the summaries.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
from cli_tools import cluster, openai, summary, write_jsonl
from json_files import read_json, read_rows
from stub_server import StubServer

N_CLUSTERS, N_QUESTIONS = 30, 4
LABELLED_SPORT = 7


def references() -> list[dict]:
    """Return clusters of four questions with one answer each; a third are about sport."""
    items = []
    for n in range(N_CLUSTERS):
        questions = [
            {
                "question": f"What about matter {q}?",
                "answer_groups": [[{"aid": f"e{n}0", "answer": f"Fact number {q}."}]],
            }
            for q in range(N_QUESTIONS)
        ]
        first = cluster(f"e{n}", 1) | {"question_answers": questions}
        for article in first["articles"]:
            article["attributes"] = {"topic": "sport" if n % 3 == 0 else "news"}
        items.append(first)
    return items


def test_checklists_in_small_calls_and_in_two_orders(cli, server: StubServer):
    write_jsonl(Path("r.jsonl"), references()[:3])
    write_jsonl(Path("s.jsonl"), [summary("s", f"e{n}") for n in range(3)])
    command = ("judge", "--references", "r.jsonl", "--summaries", "s.jsonl", "--aspect", "coverage",
             "--protocol", "checklist", *openai(server))  # fmt: skip
    result = cli(*command, "-o", "one.jsonl", code=0)
    assert len(server.calls) == 3
    result = cli(*command, "-o", "small.jsonl", "--groups-per-call", "2", code=0)
    assert len(server.calls) == 3 + 2 * 3
    single, small = read_rows("one.jsonl"), read_rows("small.jsonl")
    assert {row["signature"] for row in single} != {row["signature"] for row in small}
    assert "|block:25|" in single[0]["signature"]
    assert "|block:2|" in small[0]["signature"]
    assert [len(row["checklist"]) for row in small] == [N_QUESTIONS] * 3

    # Orders are variants of one judge: the same answers, asked about in another order.
    result = cli(*command, "-o", "orders.jsonl", "--prompt-variants", "2", code=0)
    orders = read_rows("orders.jsonl")
    assert Counter(row["variant"] for row in orders) == {"listed": 3, "shuffled-1": 3}
    units = [f"answer:{q}.0" for q in range(N_QUESTIONS)]
    assert all([entry["unit"] for entry in row["checklist"]] == units for row in orders)
    result = cli("audit", "stability", "orders.jsonl", code=0)

    result = cli(
        *command[:-5], "likert", *openai(server), "-o", "no.jsonl", "--groups-per-call", "2", code=1
    )
    assert "--groups-per-call needs coverage with --protocol checklist" in result.err


def test_few_answer_labels_correct_system_coverage(cli):
    rng = np.random.default_rng(5)
    judged, labels = [], []
    for n in range(N_CLUSTERS):
        for system, share in {"M7": 0.5, "claude-3": 0.7}.items():
            people = rng.random(N_QUESTIONS) < share
            judge = people | (rng.random(N_QUESTIONS) < 0.3)  # it finds too much
            of = {"eid": f"e{n}", "system": system, "aspect": "coverage"}
            entries = [
                {"unit": f"answer:{q}.0", "covered": int(judge[q])} for q in range(N_QUESTIONS)
            ]
            judged.append(
                of
                | {"judge": "careful", "protocol": "checklist", "value": float(judge.mean())}
                | {"checklist": entries}
            )
            # Of sport a summary of LABELLED_SPORT clusters is labelled, of news of ten.
            if n < (3 * LABELLED_SPORT if n % 3 == 0 else 15):
                labels += [
                    of | {"unit": f"answer:{q}.0", "annotator": "ann", "value": int(people[q])}
                    for q in range(0, N_QUESTIONS, 2)
                ]
    write_jsonl(Path("judged.jsonl"), judged)
    write_jsonl(Path("labels.jsonl"), labels)
    write_jsonl(Path("clusters.jsonl"), references())
    common = ("calibrate", "judged.jsonl", "--labels", "labels.jsonl", "--resamples", "100")
    result = cli(*common, "--json", "c.json", "--html", "c.html", code=0)
    printed = " ".join(result.out.split())
    assert "means from few labels" in printed
    assert "labelled answers" in printed
    assert "means from few labels" in Path("c.html").read_text("utf-8")
    (group,) = read_json("c.json")["groups"]
    for item in group["ppi"]:
        if item["kind"] == "mean":
            assert (item["of"], item["chosen"]) == ("answers", "ppi_plus")
            assert item["n_labelled"] == 2 * (LABELLED_SPORT + 10)
            assert item["n_unlabelled"] == N_CLUSTERS * N_QUESTIONS - item["n_labelled"]
            # The judge finds too much; what corrects it lies nearer to people, and below.
            assert item["ppi_plus"]["value"] < item["naive"]["value"]

    result = cli(
        *common, "--clusters", "clusters.jsonl", "--strata", "topic", "--json", "t.json", code=0
    )
    assert "each topic has its share of all judged items" in " ".join(result.out.split())
    (weighed,) = read_json("t.json")["groups"]
    assert weighed["ppi"][0]["classical"]["value"] != group["ppi"][0]["classical"]["value"]
    result = cli(*common, "--clusters", "clusters.jsonl", "--strata", "mood", code=1)
    assert "no strata 'mood'" in result.err


def test_covariates_are_given_in_one_list(cli):
    rng = np.random.default_rng(6)
    summaries, judged, labels = [], [], []
    for n in range(60):
        words = int(rng.integers(10, 60))
        of = {"eid": f"e{n}", "system": "s", "aspect": "coverage"}
        summaries.append({"eid": f"e{n}", "system": "s", "text": "word " * words})
        quality = rng.normal()
        value = float(np.clip(np.round(3 + quality + (words - 35) / 15), 1, 5))
        score = int(np.clip(round(3 + quality), 1, 5))
        judged.append(of | {"judge": "j", "protocol": "likert", "value": score})
        if n < 40:
            labels.append(of | {"annotator": "ann", "value": value})
    write_jsonl(Path("s.jsonl"), summaries)
    write_jsonl(Path("c.jsonl"), [cluster(f"e{n}", 1) for n in range(60)])
    write_jsonl(Path("j.jsonl"), judged)
    write_jsonl(Path("l.jsonl"), labels)
    common = ("calibrate", "j.jsonl", "--labels", "l.jsonl", "--resamples", "100")
    texts = ("--summaries", "s.jsonl", "--clusters", "c.jsonl")
    result = cli(*common, *texts, "--covariates", "length,overlap", "--json", "c.json", code=0)
    (estimate,) = read_json("c.json")["groups"][0]["ppi"]
    assert estimate["chosen"] == "regression"
    widths = [estimate[way]["high"] - estimate[way]["low"] for way in ("regression", "ppi_plus")]
    assert widths[0] < widths[1]
    for options, message in (
        (("--covariates", "lenght"), "expected some of"),
        (("--covariates", "length"), "covariates: length needs summaries"),
        (("--covariates", "overlap", "--summaries", "s.jsonl"), "needs summaries and clusters"),
    ):
        result = cli(*common, *options, code=1)
        assert message in result.err
