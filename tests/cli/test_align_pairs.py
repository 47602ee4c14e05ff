"""``calibrate align --protocol pairwise``, and audits by attribute: as users run them."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from align_study import (
    BETTER_LINE,
    DECIDED,
    N_DOCUMENTS,
    SILENT,
    choice,
    event_of,
    pair_judge,
    quality,
    write_data,
    write_pairs,
)
from cli_tools import text_of, write_jsonl
from json_files import read_json, read_judgements, read_rows
from stub_server import Call, Reply, StubServer

from fairjudge.aligning.decision import split_documents


@pytest.fixture
def data(server: StubServer) -> StubServer:
    write_pairs()
    return server


def aligning(server: StubServer, *more: str) -> tuple[str, ...]:
    inputs = ("--references", "clusters.jsonl", "--summaries", "summaries.jsonl")
    options = ("--labels", "labels.jsonl", "--aspect", "faithfulness", "--protocol", "pairwise")
    model = ("--backend", "openai:stub-model", "--base-url", server.v1, "-o", "aligned")
    return ("calibrate", "align", *inputs, *options, *model, *more)


def with_attributes() -> None:
    """Give half of the documents one leaning, and three of them articles of both."""
    clusters = read_rows("clusters.jsonl")
    for number, cluster in enumerate(clusters):
        (article,) = cluster["articles"]
        article["attributes"] = {"leaning": "left" if number % 2 else "right", "tone": "calm"}
    write_jsonl(Path("clusters.jsonl"), clusters)


def lead(row: dict[str, str]) -> str:
    more = quality(row["eid"], row["system_a"]) - quality(row["eid"], row["system_b"])
    return "tie" if more == 0 else "a" if more > 0 else "b"


def test_a_better_prompt_for_pairs_is_kept_and_can_be_used_at_once(cli, data):
    data.answer = pair_judge(sees=BETTER_LINE)
    with_attributes()
    result = cli(*aligning(data, "--attribute", "leaning", "--json", "out.json"), code=0)
    report = read_json("out.json")
    assert report["kept"]
    assert report["chosen"] == "anchors-1"
    assert report["protocol"] == "pairwise"
    assert {item["kind"] for item in report["candidates"]} == {"anchors", "examples"}
    decision, position = report["decision"], report["audits"]["position"]
    assert decision["gain"]["new"] == 1.0
    assert decision["errors"][1] == 0.0
    assert min(decision["agreement"]["low"], decision["error"]["low"]) > 0
    assert position["new"]["changed"]["value"] == 0.0
    assert position["old"]["changed"]["value"] > 0.3
    assert position["old"]["first"]["value"] > position["old"]["second"]["value"]
    assert position["new"]["n_pairs"] == report["parts"]["test"]["items"] == 36
    rows = report["audits"]["errors"]["groups"]
    assert {(row["kind"], row["attribute"]) for row in rows} == {
        ("length", None),
        ("system", None),
        ("attribute", "leaning"),
    }
    assert {row["group"] for row in rows if row["attribute"]} == {"left", "right"}
    assert sum(row["n"] for row in rows if row["attribute"]) == 36
    assert all(row["new"]["error"]["value"] == 0.0 for row in rows if row["attribute"])
    assert "changes with the order" in result.out
    cli(*shlex.split(report["command"])[1:], code=0)
    assert BETTER_LINE in text_of(data.calls[-1])
    judgements = read_judgements()
    assert {row["order"] for row in judgements} == {"ab", "ba"}
    assert all(row["value"] == lead(row) for row in judgements)


def test_examples_are_pairs_in_annotator_order_with_answers(cli, data):
    data.answer = pair_judge(sees=DECIDED)
    cli(*aligning(data, "--try", "examples", "--json", "out.json"), code=0)
    assert read_json("out.json")["kept"]
    prompt = Path("aligned/candidates/examples-6.md").read_text()
    text = prompt.split("<example ")[1:]
    assert len(text) == 6
    for item in text:
        body = item.partition("</example")[0]
        answer = body.partition("people's answer: ")[2].partition(">")[0]
        first, second = (int(part[0]) for part in body.split("Worth ")[1:])
        assert answer == ("tie" if first == second else "1" if first > second else "2")
        assert "People said: The " in body
        systems = [part.partition(")")[0] for part in body.split(", ")[1:3]]
        place = body.partition("People said: The ")[2].split()
        assert systems[place[0] == "second"] == place[-1].rstrip(".")


def test_second_run_makes_no_calls_and_other_groups_open_no_test(cli, data):
    data.answer = pair_judge(sees=BETTER_LINE)
    with_attributes()
    assert cli(*aligning(data, "--json", "one.json")).code == 0
    n_calls, record = len(data.calls), Path("aligned/align.json").read_bytes()
    assert cli(*aligning(data, "--json", "two.json")).code == 0
    assert Path("aligned/align.json").read_bytes() == record
    more = ("--attribute", "leaning", "--attribute", "tone")
    cli(*aligning(data, *more, "--json", "three.json"), code=0)
    assert len(data.calls) == n_calls
    first, second, third = (read_json(f"{n}.json") for n in ("one", "two", "three"))
    first.pop("spent"), second.pop("spent")
    assert first == second
    assert third["decision"] == first["decision"]
    assert third["n_opened"] == 1
    assert len(read_json("aligned/align.json")["openings"]) == 1
    assert third["audits"]["attributes"] == ["leaning", "tone"]
    assert third["audits"]["errors"]["notes"] == [
        "tone: fewer than 2 groups of documents in the test"
    ]


def test_chance_gain_is_not_kept_and_test_stays_sealed(cli, data):
    def by_luck(call: Call) -> Reply:
        text = text_of(call)
        if '"sets"' in text:
            return pair_judge(sees=None)(call)
        verdict = ("1", "2", "tie")[choice(text, 3)]
        return Reply(text=json.dumps({"reasoning": "So.", "verdict": verdict}))

    data.answer = by_luck
    cli(*aligning(data, "--json", "out.json"), code=0)
    report = read_json("out.json")
    assert (report["kept"], report["opened"]) == (False, True)
    assert not Path("aligned/kept.toml").exists()
    refused = cli(*aligning(data, "--try", "examples", "--split-seed", "3"), code=1)
    assert "--reopen" in refused.err


def test_pair_with_one_unscored_order_is_unscored_not_a_tie(cli, data):
    test = split_documents([f"event{n}" for n in range(N_DOCUMENTS)], seed=0)["test"]

    def silent(call: Call) -> Reply:
        text = text_of(call)
        request = text.rpartition("<summary ")[2]
        unsure = BETTER_LINE in text and event_of(text) in test and ", one)" in request
        if unsure or SILENT in text:
            return Reply(text=SILENT)  # wherever system one stands second
        return pair_judge(sees=BETTER_LINE)(call)

    data.answer = silent
    cli(*aligning(data, "--try", "anchors", "--json", "out.json"), code=0)
    report = read_json("out.json")
    gain = report["decision"]["gain"]
    assert (gain["n_items"], gain["n_without_new"], gain["n_without_old"]) == (12, 24, 0)
    assert gain["new"] == 1.0
    assert report["audits"]["position"]["new"]["n_one_order"] == 24
    assert report["audits"]["position"]["new"]["n_pairs"] == 12
    assert sum(report["audits"]["unscored"]["new"].values()) == 24
    assert not report["kept"]


def test_position_only_prompt_has_zero_agreement_and_is_replaced(cli, data):
    def first(call: Call) -> Reply:
        text = text_of(call)
        if BETTER_LINE in text or '"sets"' in text:
            return pair_judge(sees=BETTER_LINE)(call)
        return Reply(text=json.dumps({"reasoning": "So.", "verdict": "1"}))

    data.answer = first
    cli(*aligning(data, "--try", "anchors", "--json", "out.json"), code=0)
    report = read_json("out.json")
    assert report["kept"]
    assert report["decision"]["gain"]["old"] == 0.0
    assert report["audits"]["position"]["old"]["first"]["value"] == 1.0


def test_plan_counts_future_calls(cli, data):
    data.answer = pair_judge(sees=BETTER_LINE)
    cli(*aligning(data, "--plan", "--json", "plan.json"), code=0)
    assert data.calls == []
    planned = read_json("plan.json")
    assert planned["parts"]["development"] == {"documents": 12, "items": 36}
    assert cli(*aligning(data)).code == 0
    assert planned["calls"] == len(data.calls)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--try", "scale"), "pairs have only one scale"),
        (("--label-scale", "1-5"), "only applies to ratings"),
        (("--attribute", "party"), "no article has attribute 'party'"),
    ],
)
def test_incompatible_options_raise_before_any_call(cli, data, more, message):
    result = cli(*aligning(data, *more))
    assert result.code != 0
    assert message in " ".join(result.err.split())
    assert data.calls == []


def test_preferences_derive_from_ratings_if_no_pair_is_labelled(cli, server):
    write_data()
    server.answer = pair_judge(sees=DECIDED)
    cli(*aligning(server, "--try", "examples", "--json", "out.json"), code=0)
    data = read_json("out.json")
    assert data["kept"]
    assert data["parts"]["test"]["items"] == 36


def test_ratings_are_also_audited_by_attribute(cli, server):
    from align_study import EXAMPLES, judge

    write_data()
    with_attributes()
    server.answer = judge(sees=EXAMPLES)
    words = list(aligning(server, "--try", "examples", "--attribute", "leaning"))
    words[words.index("pairwise")] = "likert"
    result = cli(*words, "--json", "out.json", code=0)
    audits = read_json("out.json")["audits"]
    rows = [row for row in audits["errors"]["groups"] if row["attribute"] == "leaning"]
    assert {row["group"] for row in rows} == {"left", "right"}
    assert sum(row["n"] for row in rows) == 36
    assert audits["position"]["old"] is None
    assert "leaning" in result.out
