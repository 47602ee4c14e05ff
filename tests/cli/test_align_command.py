"""``calibrate align`` as users run it: kept, not kept, sealed, reopened, resumed, planned."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path

import pytest
from align_study import (
    ANCHORS,
    EXAMPLES,
    N_DOCUMENTS,
    SILENT,
    SYSTEMS,
    choice,
    event_of,
    judge,
    quality,
    write_data,
)
from cli_tools import finish, start, text_of, write_jsonl
from json_files import read_json, read_judgements, read_rows
from stub_server import Call, Reply, StubServer
from waiting import wait_until

from fairjudge.aligning.decision import split_documents

PAGE = Path(__file__).parents[2] / "docs" / "alignment.md"


@pytest.fixture
def data(server: StubServer) -> StubServer:
    write_data()
    return server


def aligning(server: StubServer, *more: str) -> tuple[str, ...]:
    inputs = ("--references", "clusters.jsonl", "--summaries", "summaries.jsonl")
    options = ("--labels", "labels.jsonl", "--aspect", "faithfulness", "-o", "aligned")
    model = ("--backend", "openai:stub-model", "--base-url", server.v1)
    return ("calibrate", "align", *inputs, *options, *model, *more)


def test_a_better_prompt_is_kept_and_can_be_used_at_once(cli, data):
    data.answer = judge(sees=EXAMPLES)
    result = cli(*aligning(data, "--json", "out.json"), code=0)
    report = read_json("out.json")
    assert report["kept"]
    assert report["chosen"].startswith("examples")
    assert result.out.startswith("In short: 'examples-")
    assert f"{len(report['candidates'])} candidates compared" in " ".join(result.out.split())
    assert report["decision"]["agreement"]["low"] > 0
    assert report["decision"]["error"]["low"] > 0
    assert report["n_opened"] == 1
    assert {item["kind"] for item in report["candidates"]} == {"anchors", "examples", "scale"}
    assert {row["kind"] for row in report["audits"]["errors"]["groups"]} == {"length", "system"}
    n_calls = len(data.calls)
    command = shlex.split(report["command"])
    cli(*command[1:], code=0)
    assert EXAMPLES in text_of(data.calls[-1])
    judgements = read_judgements()
    assert all(row["value"] == quality(row["eid"], row["system"]) for row in judgements)
    assert len(data.calls) < n_calls + len(judgements)  # what was asked before is in the cache


def test_test_set_is_read_only_for_the_chosen_candidate(cli, data):
    data.answer = judge(sees=EXAMPLES)
    assert cli(*aligning(data)).code == 0
    record = read_json("aligned/align.json")
    (opening,) = record["openings"]
    in_test = [call for call in map(text_of, data.calls) if event_of(call) in opening["documents"]]
    assert len(in_test) == 2 * len(SYSTEMS) * len(opening["documents"])
    assert not any("Level 1 of set" in text for text in in_test)
    by_name = {eid for call in data.calls for eid in re.findall(r"\((event\d+), ", text_of(call))}
    examples = by_name - {event_of(text_of(call)) for call in data.calls}
    assert len(examples) >= 2  # were shown, and never judged


def test_label_and_summary_texts_are_not_in_the_prompt(cli, data):
    data.answer = judge(sees=EXAMPLES)
    assert cli(*aligning(data, "--try", "examples")).code == 0
    requests = [call for call in data.calls if EXAMPLES in text_of(call)]
    assert requests
    for call in requests:
        assert [message["role"] for message in call.body["messages"]] == ["system", "user"]
        assert "{ {scale}}" in text_of(call)


def test_second_run_makes_no_calls_and_changes_nothing(cli, data):
    data.answer = judge(sees=EXAMPLES)
    first = cli(*aligning(data, "--json", "one.json"))
    n_calls, record = len(data.calls), Path("aligned/align.json").read_bytes()
    second = cli(*aligning(data, "--json", "two.json", "--cache", "another-cache"))
    assert (first.code, second.code) == (0, 0), second.err
    assert len(data.calls) == n_calls
    assert Path("aligned/align.json").read_bytes() == record
    first_report, second_report = (read_json(f"{name}.json") for name in ("one", "two"))
    assert first_report.pop("spent")["n_calls"] == n_calls
    assert second_report.pop("spent")["n_calls"] == 0
    assert first_report == second_report


def test_without_a_better_prompt_the_old_one_is_kept(cli, data):
    data.answer = judge(sees=None)  # every prompt says the same
    result = cli(*aligning(data, "--try", "anchors", "--json", "out.json"), code=0)
    report = read_json("out.json")
    assert (report["kept"], report["opened"], report["command"]) == (False, False, None)
    assert "The test set was not used" in result.out
    assert not Path("aligned/align.json").exists()
    assert not Path("aligned/kept.toml").exists()


def lucky(call: Call) -> Reply:
    """Rate at random, and anew for every prompt: the best on development is so by luck."""
    text = text_of(call)
    if ANCHORS in text:
        return judge(sees=None)(call)
    verdict = choice(text, 3) + 1
    return Reply(text=json.dumps({"reasoning": "So.", "verdict": str(verdict)}))


def test_chance_gain_on_development_is_not_kept(cli, data):
    data.answer = lucky
    result = cli(*aligning(data, "--json", "out.json"), code=0)
    report = read_json("out.json")
    assert (report["kept"], report["opened"]) == (False, True)
    assert report["decision"]["why_not"]
    assert "The old prompt is kept" in result.out
    assert not Path("aligned/kept.toml").exists()


def test_test_set_is_reopened_only_on_request_and_counted(cli, data):
    data.answer = judge(sees=EXAMPLES)
    assert cli(*aligning(data)).code == 0
    n_calls = len(data.calls)
    for other in (("--try", "scale"), ("--level", "0.9"), ("--split-seed", "7"), ("--seed", "3")):
        refused = cli(*aligning(data, *other), code=1)
        assert "were used 1 time before" in refused.err
        assert "--reopen" in refused.err
    assert len(data.calls) == n_calls + 1  # anchors for another --seed
    again = cli(*aligning(data, "--try", "examples", "--reopen"), code=0)
    assert "This test set has been used 2 times" in " ".join(again.out.split())
    record = read_json("aligned/align.json")
    assert len(record["openings"]) == 2


def test_modified_record_raises(cli, data):
    data.answer = judge(sees=EXAMPLES)
    assert cli(*aligning(data)).code == 0
    path = Path("aligned/align.json")
    record = read_json(path)
    record["openings"][0]["test"] = "never opened"
    path.write_text(json.dumps(record))
    result = cli(*aligning(data, "--try", "examples"), code=1)
    assert "align.json" in result.err
    assert "not a record of align" in result.err


def test_killed_run_resumes_without_repeating_calls(data):
    data.answer = judge(sees=EXAMPLES)
    process = start(*aligning(data, "--concurrency", "2"))
    wait_until(lambda: len(data.calls) > 100)
    process.kill()
    process.communicate()
    result = finish(start(*aligning(data, "--json", "out.json")))
    assert result.code == 0, result.err
    assert read_json("out.json")["kept"]
    repeated = len(data.calls) - len(set(map(text_of, data.calls)))
    assert repeated <= 2  # those in flight


def test_exhausted_budget_chooses_nothing_and_next_run_resumes(cli, data):
    data.answer = judge(sees=EXAMPLES)
    result = cli(*aligning(data, "--max-calls", "60"), code=1)
    assert "no candidate was chosen" in result.err
    assert not Path("aligned/align.json").exists()
    result = cli(*aligning(data), code=0)


def silent_at(shares: dict[str, int]):
    """Rate by people's examples, but refuse one of so many summaries of an event in `shares`."""

    def answer(call: Call) -> Reply:
        text = text_of(call)
        n = shares.get(event_of(text), 0)
        if SILENT in text or (
            EXAMPLES in text
            and n
            and not choice(f"refused {text.rpartition('<summary')[2][:80]}", n)
        ):
            return Reply(text=SILENT)
        return judge(sees=EXAMPLES)(call)

    return answer


def parts() -> dict[str, tuple[str, ...]]:
    return split_documents([f"event{n}" for n in range(N_DOCUMENTS)], seed=0)


def test_unscored_items_are_counted_and_never_0(cli, data):
    data.answer = silent_at(dict.fromkeys(parts()["test"], 3))
    result = cli(*aligning(data, "--try", "examples", "--json", "out.json"), code=0)
    report = read_json("out.json")
    gain = report["decision"]["gain"]
    assert gain["n_without_new"] > 0 == gain["n_without_old"]
    assert gain["n_items"] + gain["n_without_new"] == report["decision"]["n_labelled"]
    assert gain["new"] == 1.0  # on those that it scores; 0 for the others would not be
    assert not report["kept"]
    assert "more of the test unscored" in " ".join(result.out.split())


def test_candidate_without_development_scores_opens_no_test(cli, data):
    data.answer = silent_at(dict.fromkeys(parts()["development"], 1))
    result = cli(*aligning(data, "--try", "examples"), code=0)
    assert "cannot be calibrated: 0 labelled items" in " ".join(result.out.split())
    assert not Path("aligned/align.json").exists()


def test_too_few_documents_error_reports_the_required_number(cli, server):
    write_data(24)
    result = cli(*aligning(server), code=1)
    assert "24 labelled documents: align needs 25 or more" in result.err
    assert server.calls == []


def test_plan_makes_no_calls_and_counts_future_calls(cli, data):
    data.answer = judge(sees=EXAMPLES)
    cli(*aligning(data, "--plan", "--json", "plan.json"), code=0)
    assert data.calls == []
    assert not Path("aligned").exists()
    planned = read_json("plan.json")
    assert cli(*aligning(data)).code == 0
    assert planned["calls"] == len(data.calls)


def test_binary_answers_on_references_have_error_rates(cli, data):
    clusters, labels = (read_rows(f"{name}.jsonl") for name in ("clusters", "labels"))
    for cluster in clusters:
        answers = [[{"aid": f"{cluster['eid']}a", "answer": "The cracks."}]]
        cluster["question_answers"] = [{"question": "Why did it close?", "answer_groups": answers}]
    for cluster in labels:
        cluster |= {"aspect": "coverage", "value": int(cluster["value"] > 2)}
    write_jsonl(Path("references.jsonl"), clusters)
    write_jsonl(Path("labels.jsonl"), labels)

    def answer(call: Call) -> Reply:
        text = text_of(call)
        request = text.rpartition("<summary ")[2]
        good = int(re.search(r"Worth (\d)", request)[1]) > 2
        verdict = good if EXAMPLES in text else choice(event_of(text) + request[:60], 2)
        return Reply(text=json.dumps({"reasoning": "So.", "verdict": "yes" if verdict else "no"}))

    data.answer = answer
    kinds = ("--try", "examples", "--try", "scale", "--protocol", "binary", "--json", "out.json")
    items = [
        {"clusters.jsonl": "references.jsonl", "faithfulness": "coverage"}.get(word, word)
        for word in aligning(data, *kinds)
    ]
    result = cli(*items, code=0)
    report = read_json("out.json")
    assert report["kept"]
    assert {item["kind"] for item in report["candidates"]} == {"examples"}  # no other scale of two
    rates = report["audits"]["rates"]
    assert rates["new"]["sensitivity"]["value"] == rates["new"]["specificity"]["value"] == 1.0
    assert rates["old"]["sensitivity"]["value"] < 1.0
    assert "sensitivity" in result.out
    prompt = Path(f"aligned/candidates/{report['chosen']}.md").read_text()
    assert "Why did it close?\n- Answer: The cracks.\n\nSummary: The bridge closed" in prompt


def printed(out: str) -> str:
    """Return what the command printed, without counts of calls, which retries change."""
    items = [line.rstrip() for line in out.splitlines() if not line.startswith("Calls: ")]
    return re.sub(r"http://127\.0\.0\.1:\d+", "http://localhost:8000", "\n".join(items)).strip()


def test_the_page_shows_what_the_command_prints(cli, data):
    """With FAIRJUDGE_WRITE_PAGES set, the page is written anew instead."""
    data.answer = judge(sees=EXAMPLES)
    result = cli(*aligning(data))
    before, _, tail = PAGE.read_text("utf-8").partition("<!-- printed: begin -->\n")
    block, _, after = tail.partition("<!-- printed: end -->")
    value = f"```text\n{printed(result.out)}\n```\n"
    if os.environ.get("FAIRJUDGE_WRITE_PAGES"):
        whole = f"{before}<!-- printed: begin -->\n{value}<!-- printed: end -->{after}"
        PAGE.write_text(whole, "utf-8")
        return
    assert block == value


def test_local_model_has_no_prompt_to_align(cli, data):
    inputs = aligning(data)[: -len(("--backend", "openai:stub-model", "--base-url", data.v1))]
    result = cli(*inputs, code=1)
    assert "pass one with --backend" in result.err
    assert data.calls == []
