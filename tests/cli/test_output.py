"""What goes where: records and reports on standard output, all else on standard error."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cli_tools import (
    building,
    cluster,
    finish,
    judging,
    openai,
    settled,
    start,
    start_interpreter,
    write_jsonl,
)
from json_files import read_json, read_rows

COMMANDS = ["build", "summarize", "judge", "data import"]


def test_table_names_the_written_file(cli, references, summaries, server):
    result = cli(*judging(server), code=0)
    assert result.err == ""
    assert "coverage, likert, against all answers" in result.out
    assert "Score: mean rating, 1 to 5;" in result.out
    assert "Calls: 6, from the cache: 0, cost: unknown" in result.out
    assert "Tokens in: 66, of them cached by the provider: 0, out: 42" in result.out
    assert "Written: judgements.jsonl" in result.out
    (folder,) = re.findall(r"^Run folder: (.+)$", result.out, re.MULTILINE)
    assert Path(folder, "manifest.json").exists()


def test_stdout_contains_only_records(cli, references, summaries, server):
    result = cli(*judging(server), "-o", "-")
    assert result.err == ""
    assert [row["system"] for row in result.rows()] == [f"system{n}" for n in range(6)]
    assert not Path("-").exists()


def test_stdout_contains_only_the_report(cli, references, summaries, server):
    report = json.loads(cli(*judging(server), "--json", "-").out)
    assert report["n_judgements"] == 6
    assert report["n_unscored"] == 0
    assert set(report["systems"]) == {f"system{n}" for n in range(6)}
    assert report["spent"] == {
        "n_calls": 6,
        "n_cached": 0,
        "cost_usd": None,
        "retries": {},
        "tokens": {"input": 6 * 11, "cached_input": 0, "output": 6 * 7},
    }
    assert cli(*judging(server), "--json", "report.json").code == 0
    same = read_json("report.json")
    assert same["systems"] == report["systems"]


def test_build_reports_kept_questions_and_reasons_for_dropped_ones(cli, clusters, server):
    report = json.loads(cli(*building(server), "--json", "-").out)
    (cluster,) = report["clusters"]
    assert (cluster["eid"], cluster["n_articles"]) == ("bridge", 4)
    assert cluster["unused"] == []
    rows = read_rows("refs.jsonl")
    items = [question["question"] for question in rows[0]["question_answers"]]
    assert [question["question"] for question in cluster["questions"]] == items
    words = ("rain", "cracks", "council", "age")  # four questions at least, whatever the words
    by_name = {f"What about the {word}?" for word in words}
    assert {*items, *(row["question"] for row in cluster["dropped"])} == by_name
    assert rows[0]["meta"]["signature"] == report["signature"]


@pytest.mark.parametrize("name", ["out.json", "out.jsonl.gz", "out.json.gz"])
def test_judge_accepts_build_output(cli, clusters, summaries, server, name):
    assert cli(*building(server), "-o", name).code == 0
    assert cli(*judging(server), "--references", name).code == 0


def test_output_device_is_written_not_replaced(cli, references, summaries, server):
    assert cli(*judging(server), "-o", "/dev/null").code == 0
    assert Path("/dev/null").is_char_device()


def test_output_symlink_is_followed(cli, references, summaries, server):
    Path("real").mkdir()
    Path("link.jsonl").symlink_to("real/out.jsonl")
    assert cli(*judging(server), "-o", "link.jsonl").code == 0
    assert Path("link.jsonl").is_symlink()
    assert len(Path("real/out.jsonl").read_text().splitlines()) == 6


@pytest.mark.parametrize("target", [("-o", "-"), ("--json", "-"), ()])
def test_closed_stdout_is_no_error(references, summaries, server, target):
    read, write = os.pipe()
    os.close(read)
    process = start_interpreter(*judging(server), *target, stdout=write)
    os.close(write)
    result = finish(process)
    assert result.code in {1, 141}  # rich ends with 1
    assert result.err == ""


def test_piping_to_head_works(references, summaries, server):
    command = [sys.executable, "-m", "fairjudge", *settled((*judging(server), "-o", "-"))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as piped:
        head = subprocess.run(["head", "-1"], stdin=piped.stdout, capture_output=True, check=True)
        assert json.loads(head.stdout)["system"] == "system0"
        assert piped.stderr.read() == b""
        assert piped.wait(300) in {0, 141}


def test_text_from_files_cannot_control_the_terminal(cli, server):
    write_jsonl(Path("clusters.jsonl"), [cluster("\x1b[31mred")])
    result = cli(*building(server), code=0)
    assert "\x1b" not in result.out


def test_brackets_in_names_are_not_markup(cli, server):
    write_jsonl(Path("clusters.jsonl"), [cluster("[bold]x[/nothing]")])
    result = cli(*building(server), code=0)
    assert "[bold]x[/nothing]" in result.out


@pytest.mark.parametrize("width", ["80", "120"])
@pytest.mark.parametrize("command", COMMANDS)
def test_help_does_not_wrap_options_and_examples(cli, monkeypatch, command, width):
    monkeypatch.setenv("COLUMNS", width)
    result = cli(*command.split(), "--help", code=0)
    assert max(map(len, result.out.splitlines())) <= int(width)
    for option in ("--max-unscored", "--skip-bad", "--json", "--output"):
        assert re.search(rf"^  .*{option}\b", result.out, re.MULTILINE)
    assert "…" not in result.out
    assert "\b" not in result.out
    examples = re.findall(r"^ +fairjudge .*$", result.out, re.MULTILINE)
    assert examples
    for line in examples:
        assert line.strip().startswith(f"fairjudge {command} ")
        assert line.count("fairjudge") == 1


def test_examples_in_the_help_are_accepted_by_the_command(cli, monkeypatch):
    """Every example parses: it fails for its missing file or key, not for its words."""
    for command in COMMANDS:
        text = cli(*command.split(), "--help").out
        joined = re.sub(r"\\\n +", "", text)
        for example in re.findall(r"^ +fairjudge (.+)$", joined, re.MULTILINE):
            result = cli(*example.split())
            assert result.code == 1, (example, result.err)
            assert result.err.startswith("error: ")


def test_command_list_describes_each_command(cli):
    out = cli("--help").out
    for command in COMMANDS:
        assert re.search(rf"^  {command.split()[0]} +[A-Z]", out, re.MULTILINE)


def test_version_option(cli):
    from fairjudge import __version__

    assert cli("--version").out == f"fairjudge {__version__}\n"


def test_without_arguments_help_is_shown(cli):
    result = cli(code=2)
    assert "Judging:" in result.out + result.err


def test_progress_is_shown_only_on_terminals(cli, references, summaries, server):
    assert cli(*judging(server)).err == ""


def test_progress_on_a_terminal_and_quiet(references, summaries, server):
    def on_terminal(*extra):
        master, slave = os.openpty()
        process = start_interpreter(
            *judging(server), *extra, "--run", "r" + str(len(extra)), stderr=slave
        )
        os.close(slave)
        output = b""
        while True:
            try:
                data = os.read(master, 65536)
            except OSError:  # Linux's way of saying that the other side is closed
                break
            if not data:
                break
            output += data
        process.communicate(timeout=300)
        os.close(master)
        assert process.returncode == 0
        return output

    assert b"judging" in on_terminal()
    assert b"judging" not in on_terminal("--quiet")


@pytest.mark.slow
@pytest.mark.local_model
def test_example_runs_on_the_embedded_backend():
    """Build, then judge what was built, as the README shows it: no key, no server."""
    pytest.importorskip("torch")
    from fairjudge.datasets import example_path

    built = finish(start("build", example_path("clusters.json"), "-o", "refs.jsonl"))
    assert built.code == 0, built.err
    clusters = {c["eid"]: c for c in read_json(example_path("clusters.json"))}
    rows = read_rows("refs.jsonl")
    assert [row["eid"] for row in rows] == list(clusters)
    for row in rows:
        contents = {a["aid"]: a["content"] for a in clusters[row["eid"]]["articles"]}
        answers = [a for q in row["question_answers"] for g in q["answer_groups"] for a in g]
        assert all(answer["answer"] in contents[answer["aid"]] for answer in answers)
    inputs = ("--references", "refs.jsonl", "--summaries", example_path("summaries.jsonl"))
    judged = finish(start("judge", *inputs, "--aspect", "faithfulness", "--protocol", "likert",
                          "-o", "-"))  # fmt: skip
    assert judged.code == 0, judged.err
    assert {row["scored_by"] for row in judged.rows()} == {"embedding"}
    means = {}
    for row in judged.rows():
        means.setdefault(row["system"], []).append(row["value"])
    # the example's unfaithful summaries contradict the articles by construction
    assert min(means, key=lambda system: sum(means[system])) == "unfaithful"


@pytest.mark.local_model
def test_fallback_scores_are_reported(cli, references, summaries, server):
    pytest.importorskip("torch")
    from stub_server import Reply

    refusing = Reply(text=None, refusal="no")
    server.answer = lambda call: refusing if "system1" in str(call.body) else "Verdict: 4"
    result = cli(*judging(server), "--fallback", "embedding", "-o", "-", code=0)
    by_system = {row["system"]: row for row in result.rows()}
    assert by_system["system0"]["scored_by"] == "llm"
    filled = by_system["system1"]
    assert (filled["scored_by"], filled["fallback_for"]) == ("embedding", "refused")
    assert {row["judge"] for row in result.rows()} == {"openai:stub-model"}
    assert openai(server)[1] == "openai:stub-model"
