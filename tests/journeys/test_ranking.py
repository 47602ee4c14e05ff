"""Rankings from the judge to the calibration: judge, audit position, rank, calibrate.

The judge is a server on loopback that reads each summary's quality from its text; in the clusters
that a test names it keeps the order in which the summaries stand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_tools import openai, reference, text_of, write_jsonl
from json_files import read_json, read_rows
from stub_server import Call, Reply, StubServer

SYSTEMS = ("middling", "best", "worst")
QUALITY = {"best": 3, "middling": 2, "worst": 1}
N = 8
RANKED = ["best", "middling", "worst"]


def summaries_of(call: Call) -> list[tuple[int, int]]:
    """Return (quality, number) of each summary, as they stand in the prompt."""
    result = re.findall(r"^<summary mark (\d+)>\nQuality (\d)", text_of(call), re.MULTILINE)
    return [(int(quality), int(number)) for number, quality in result]


def by_quality(call: Call) -> Reply:
    numbers = [number for _, number in sorted(summaries_of(call), reverse=True)]
    return Reply(text=json.dumps({"reasoning": "so", "ranking": list(map(str, numbers))}))


def text(system: str, n: int) -> str:
    return f"Quality {QUALITY[system]} of the bridge in cluster {n}."


@pytest.fixture
def judge(cli, server: StubServer) -> Callable:
    write_jsonl(Path("r.jsonl"), [reference(f"e{n}") for n in range(N)])
    summaries = [
        {"eid": f"e{n}", "system": system, "text": text(system, n)}
        for n in range(N)
        for system in SYSTEMS
    ]
    write_jsonl(Path("s.jsonl"), summaries)

    def run(answer: Callable[[Call], Reply], *more: object):
        server.answer = answer
        return cli(
            *(
                "judge",
                "--references",
                "r.jsonl",
                "--summaries",
                "s.jsonl",
                "--protocol",
                "ranking",
            ),
            *("--aspect", "coverage", "-o", "j.jsonl", "--json", "j.json", *openai(server), *more),
        )

    return run


def test_ranking_from_judge_to_calibration(judge, cli, server: StubServer):
    """In two clusters of eight the judge keeps whatever order it is shown."""

    def answer(call: Call) -> Reply:
        if re.search(r"in cluster [01]\.", text_of(call)):
            numbers = [str(number) for _, number in summaries_of(call)]
            return Reply(text=json.dumps({"reasoning": "so", "ranking": numbers}))
        return by_quality(call)

    judgement = judge(answer)
    assert judgement.code == 0, judgement.err
    assert len(server.calls) == 2 * N
    rows = read_rows("j.jsonl")
    assert len(rows) == 2 * N
    assert [row["order"] for row in rows[:2]] == ["ab", "ba"]
    assert {tuple(row["systems"]) for row in rows} == {SYSTEMS}
    assert all(row["value"] is None for row in rows)
    assert [row["ranking"] for row in rows if row["eid"] == "e5"] == [RANKED, RANKED]
    assert [row["ranking"] for row in rows if row["eid"] == "e0"] == [
        list(SYSTEMS),
        list(reversed(SYSTEMS)),
    ]
    report = read_json("j.json")
    # e0 and e1 are ties of both orders: a half to everybody
    means = {name: system["mean"] for name, system in report["systems"].items()}
    assert means == pytest.approx({"best": 0.875, "middling": 0.5, "worst": 0.125})
    again = judge(answer)  # the run is whole: nothing is asked again
    assert again.code == 0, again.err
    assert len(server.calls) == 2 * N

    cli("audit", "position", "j.jsonl", "--json", "position.json", code=0)
    (group,) = read_json("position.json")["groups"]
    assert group["n_pairs"] == 3 * N
    assert group["first"]["value"] == pytest.approx(100 * 2 / N)
    assert group["consistency"]["value"] == pytest.approx(100 * 6 / N)

    ranked = cli("rank", "j.jsonl", "--json", "rank.json", code=0)
    assert "16 rankings in 8 documents, by the Plackett-Luce model" in " ".join(ranked.out.split())
    (group,) = read_json("rank.json")["groups"]
    assert [item["system"] for item in group["systems"]] == RANKED
    assert group["n_rankings"] == 2 * N
    strengths = [item["strength"]["value"] for item in group["systems"]]
    assert strengths == sorted(strengths, reverse=True)

    pairs = [("best", "middling", "a"), ("worst", "middling", "b"), ("best", "worst", "a")]
    labels = [
        {"eid": f"e{n}", "system_a": a, "system_b": b, "value": value}
        | {"aspect": "coverage", "annotator": "ann"}
        for n in range(N)
        for a, b, value in pairs
    ]
    write_jsonl(Path("labels.jsonl"), labels)
    cli("calibrate", "j.jsonl", "--labels", "labels.jsonl", "--json", "c.json", code=0)
    (group,) = read_json("c.json")["groups"]
    assert group["protocol"] == "ranking"
    assert group["agreement"]


def test_python_accepts_the_same_rows(judge):
    import fairjudge as fj

    assert judge(by_quality).code == 0
    rows = fj.read_judgements("j.jsonl")
    assert len(rows) == 2 * 3 * N
    assert {row.protocol for row in rows} == {"ranking"}
    first = fj.rank(read_rows("j.jsonl"))["groups"][0]["systems"][0]
    assert (first["system"], first["win_rate"]["value"]) == ("best", 1.0)


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ({"ranking": [1, 2]}, "off_scale"),
        ({"ranking": [1, 2, 2]}, "off_scale"),
        ({"ranking": [0, 1, 2]}, "off_scale"),
        ({"ranking": [1, 2, 3, 4]}, "off_scale"),
        ({"ranking": [1, "two", 3]}, "off_scale"),
        ({"ranking": None}, "unparseable"),
        ({"order": [1, 2, 3]}, "unparseable"),
    ],
)
def test_invalid_permutation_is_unscored(judge, reply: dict, why: str):
    judgement = judge(lambda _: Reply(text=json.dumps({"reasoning": "so"} | reply)))
    assert judgement.code == 3
    assert {row["unscored"] for row in read_rows("j.jsonl")} == {why}
    assert {row.get("ranking") for row in read_rows("j.jsonl")} == {None}
    report = read_json("j.json")
    assert report["n_unscored"] == 2 * 3 * N


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--token-probabilities",), "--token-probabilities does not go with --protocol ranking"),
        (("--samples", 3), "--samples does not go with --protocol ranking"),
        (("--fallback", "embedding"), "--fallback does not go with --protocol ranking"),
        (("--prompt-variants", 2), "a ranking has one prompt"),
        (("--reference-unit", "qa_pair"), "ranking coverage is judged against all QA pairs"),
        (("--text-unit", "sentence"), "not ranking against"),
    ],
)
def test_unsupported_ranking_options_raise(judge, server: StubServer, options: tuple, why: str):
    judgement = judge(by_quality, *options)
    assert judgement.code in {1, 2}
    assert why in " ".join(judgement.err.split())
    assert server.calls == []


def test_plan_counts_two_calls_per_cluster(judge, cli, server: StubServer):
    result = cli(
        *(
            "batch",
            "plan",
            "--references",
            "r.jsonl",
            "--summaries",
            "s.jsonl",
            "--protocol",
            "ranking",
        ),
        *("--aspect", "faithfulness", "--reference-unit", "articles", "--json", "-"),
        *openai(server),
        code=0,
    )
    assert json.loads(result.out)["calls"] == 2 * N
    assert server.calls == []
