"""A budget holds over starts that are killed: what they sent counts, whatever they could note."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from cli_tools import (
    building,
    cluster,
    journalist,
    judging,
    openai,
    start,
    summary,
    write_jsonl,
)
from json_files import read_json
from waiting import wait_until

LIMIT = 10

STUDY = """\
[data]
clusters = "clusters.jsonl"
summaries = "summaries.jsonl"

[models.main]
backend = "openai:stub-model"
base_url = "{url}"
concurrency = {concurrency}

[models.other]
backend = "openai:stub-model"
base_url = "{url}"
concurrency = {concurrency}
seed = 1

[budget]
{limit}

[[judge]]
name = "first"
model = "main"
aspect = "faithfulness"
protocol = "likert"

[[judge]]
name = "second"
model = "other"
aspect = "faithfulness"
protocol = "likert"
"""


@pytest.fixture(autouse=True)
def slow(server) -> None:
    """Let each reply take a while, so that a kill meets requests under way."""

    def later(call):
        time.sleep(0.3)
        return journalist(call)

    server.answer = later


def kill_after(server, n_more: int, *command: object) -> bool:
    """Start a command, and kill it once it has sent `n_more`; False where it ended before."""
    before = len(server.calls)
    process = start(*command)
    wait_until(lambda: len(server.calls) >= before + n_more or process.poll() is not None)
    process.kill()
    process.communicate(timeout=60)
    return process.returncode < 0


def written_study(server, limit: str, *, concurrency: int = 1, n: int = 8) -> Path:
    write_jsonl(Path("clusters.jsonl"), [cluster()])
    write_jsonl(Path("summaries.jsonl"), [summary(f"system{item}") for item in range(n)])
    path = Path("study.toml")
    path.write_text(STUDY.format(url=server.v1, concurrency=concurrency, limit=limit))
    return path


@pytest.mark.parametrize("concurrency", [1, 4])
def test_study_respects_its_call_budget_over_killed_runs(cli, server, concurrency):
    text = written_study(server, f"max_calls = {LIMIT}", concurrency=concurrency)
    assert all(kill_after(server, 2, "study", text, "-q") for _ in range(2))
    kill_after(server, 2, "study", text, "-q")
    result = cli("study", text)
    assert len(server.calls) == LIMIT
    assert f"Total of all starts: {LIMIT} calls" in result.out
    assert cli("study", text).code == 3
    assert len(server.calls) == LIMIT
    # A larger budget goes on, and asks for all that has no reply.
    text.write_text(text.read_text().replace(f"= {LIMIT}\n", "= 1000\n"))
    result = cli("study", text, code=0)
    assert f"Total of all starts: {len(server.calls)} calls" in result.out


def test_study_cost_accumulates_over_killed_runs(cli, server):
    """A call costs 11 + 7 tokens of 1,000 dollars a million: 1.8 cents as the server counts it."""
    Path("prices.toml").write_text(
        '[[price]]\nmodel = "openai:stub-model"\ninput = 1000.0\noutput = 1000.0\n'
        'date = 2026-01-01\nsource = "invented"\n'
    )
    limit = 'max_cost = 3.0\nprices = "prices.toml"'
    text = written_study(server, limit)
    assert kill_after(server, 4, "study", text, "-q")
    noted = read_json("study/spending.json")
    assert noted["n_calls"] == 4
    assert noted["cost_usd"] > 1.0  # the call under way: 1,024 tokens of reply may have been billed
    assert noted["n_unpriced"] == 1
    cli("study", text)
    spent = read_json("study/spending.json")
    assert spent["n_calls"] == len(server.calls)
    assert spent["cost_usd"] <= 3.0


def test_study_of_an_earlier_version_resumes_with_its_recorded_cost(cli, server):
    text = written_study(server, "max_calls = 3")
    assert cli("study", text).code == 3
    Path("study/spending.json").unlink()
    assert cli("study", text).code == 3
    assert len(server.calls) == 3


def test_plan_subtracts_calls_of_killed_runs(cli, server):
    text = written_study(server, "max_calls = 17")
    assert kill_after(server, 3, "study", text, "-q")
    assert cli("study", text, "--plan", "--json", "plan.json").code == 0
    data = read_json("plan.json")
    assert data["calls"] == 14  # 16 in all, two with a reply
    assert data["over"] == []  # 17 - 3 = 14
    text.write_text(text.read_text().replace("= 17", "= 16"))
    assert cli("study", text, "--plan", "--json", "plan.json").code == 0
    assert read_json("plan.json")["over"] == ["max_calls"]


def test_call_limit_applies_across_killed_runs(cli, references, server):
    write_jsonl(Path("summaries.jsonl"), [summary(f"system{item}") for item in range(20)])
    command = (*judging(server, concurrency=2), "--run", "run", "--max-calls", LIMIT)
    assert all(kill_after(server, 2, *command) for _ in range(2))
    n_killed = len(server.calls)
    result = cli(*command, code=3)
    assert len(server.calls) == LIMIT
    assert f"{n_killed} calls of earlier, killed processes count" in result.err
    noted = [
        json.loads(line)["n_calls"] for line in Path("run/spent.jsonl").read_text().splitlines()
    ]
    assert noted == [n_killed, LIMIT - n_killed]
    assert not Path("run/spending.json").exists()
    # That start ended by itself: the same command begins another one, with a limit of its own.
    cli(*command)
    assert len(server.calls) == 2 * LIMIT


@pytest.mark.parametrize("step", ["build", "summarize", "jury", "checks"])
def test_call_limit_applies_across_killed_runs_of_other_commands(
    cli, clusters, references, summaries, server, step
):
    """Juries and checks have several runs, and are killed in the second: the first counts too."""
    members = ("--backend", "openai:one", "--backend", "openai:two")
    commands = {
        "build": building(server, concurrency=2),
        "summarize": ("summarize", clusters, "-o", "s.jsonl", *openai(server)),
        "jury": (*judging(server, concurrency=2), *members),
    }
    inputs = ("--references", references, "--summaries", summaries)
    commands["checks"] = ("audit", "checks", *inputs, *openai(server), "--concurrency", "2")
    n_first = {"build": 3, "summarize": 3, "jury": 8, "checks": 15}
    if step in {"build", "summarize"}:
        write_jsonl(clusters, [cluster(f"event{n}") for n in range(12)])
    limit = 20 if step == "checks" else LIMIT
    command = (*commands[step], "--max-calls", limit)
    assert kill_after(server, n_first[step], *command)
    n_killed = len(server.calls)
    result = cli(*command)
    assert result.code in {0, 1, 3}
    # The kill may come between counting a call and sending it: one less is sent, never one more.
    unsent = limit - len(server.calls)
    assert unsent in {0, 1}
    assert f"{n_killed + unsent} calls of earlier, killed processes" in result.err


def test_finished_run_leaves_no_account(cli, references, summaries, server):
    assert cli(*judging(server), "--run", "run", "--max-calls", 2).code == 3
    assert not Path("run/spending.json").exists()
    assert "earlier, killed" not in cli(*judging(server), "--run", "run", "--max-calls", 2).err
    assert len(server.calls) == 4


def test_report_counts_calls_of_a_killed_run(cli, references, summaries, server):
    assert kill_after(server, 3, *judging(server, concurrency=1), "--run", "run")
    assert cli("report", "run", "--references", references, "-o", "report.html").code == 0
    page = Path("report.html").read_text("utf-8")
    request = page[page.index("Calls of models") :].split("</table>")[0]
    calls = [row.split('class="right">')[1].split("<")[0] for row in request.split("<tr>")[2:]]
    assert calls == ["3"]


@pytest.mark.parametrize("text", ["", "{}", "null", '{"n_calls": 3, "checksum": "0"}', "\0" * 256])
def test_invalid_account_file_raises_and_is_named(cli, references, summaries, server, text):
    Path("run").mkdir()
    Path("run/spending.json").write_text(text)
    result = cli(*judging(server), "--run", "run", "--max-calls", 2, code=1)
    assert "run/spending.json: does not contain the spending of earlier runs" in result.err
    assert not server.calls
