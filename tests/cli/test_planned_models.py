"""`--plan` refuses a model that the run could not open: its key, package or file is missing."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_tools import write_jsonl

from fairjudge.datasets import example_path

BACKENDS = {
    "openai:gpt-4o-mini": "set the environment variable OPENAI_API_KEY",
    "anthropic:claude-x": "set the environment variable ANTHROPIC_API_KEY",
    "openai-decisions:d": "set the environment variable OPENAI_API_KEY",
    "replay:nowhere.jsonl": "nowhere.jsonl: no such file",
    "systemone:m": "needs a server: set its URL with",
}
STUDY = """\
[data]
references = "{references}"
summaries = "{summaries}"

[models.main]
backend = "{backend}"

[[judge]]
name = "one"
model = "main"
aspect = "coverage"
protocol = "likert"
"""


def commands(backend: str) -> dict[str, tuple[object, ...]]:
    references, summaries = example_path("references.json"), example_path("summaries.jsonl")
    clusters = example_path("clusters.json")
    study = STUDY.format(references=references, summaries=summaries, backend=backend)
    Path("study.toml").write_text(study)
    judged = ("--references", references, "--summaries", summaries, "--aspect", "coverage")
    model = ("-o", "out.jsonl", "--backend", backend)
    return {
        "judge": ("judge", *judged, "--protocol", "likert", *model),
        "build": ("build", clusters, *model),
        "summarize": ("summarize", clusters, *model),
        "study": ("study", "study.toml"),
    }


@pytest.mark.parametrize("command", ["judge", "build", "summarize", "study"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_plan_raises_the_errors_of_the_run(cli, backend, command):
    arguments = commands(backend)[command]
    planned = cli(*arguments, "--plan", code=1)
    assert BACKENDS[backend] in " ".join(planned.err.split())
    run = cli(*arguments, code=1)
    assert planned.err.rpartition("error: ")[2] == run.err.rpartition("error: ")[2]


def test_jury_with_one_member_without_key(cli, server):
    arguments = commands("openai:stub")["judge"]
    server_url = ("--base-url", server.v1)
    assert cli(*arguments, *server_url, "--plan").code == 0
    planned = cli(*arguments, "--backend", "anthropic:claude-x", "--plan", code=1)
    assert "API_KEY" in planned.err


def test_keyless_server_is_planned_without_a_key(cli, server):
    for command, arguments in commands("openai:stub").items():
        if command != "study":
            assert cli(*arguments, "--base-url", server.v1, "--plan").code == 0, command
    text = (
        Path("study.toml")
        .read_text()
        .replace('"openai:stub"', f'"openai:s"\nbase_url = "{server.v1}"')
    )
    Path("study.toml").write_text(text)
    assert cli("study", "study.toml", "--plan").code == 0
    assert server.calls == []


def test_a_plan_without_a_language_model_needs_nothing(cli):
    write_jsonl(Path("s.jsonl"), [{"eid": "dunmere-spillway", "system": "a", "text": "It broke."}])
    cli(
        *("judge", "--references", example_path("references.json"), "--summaries", "s.jsonl"),
        *("--aspect", "coverage", "--protocol", "likert", "-o", "out.jsonl", "--plan"),
        code=0,
    )


def test_batch_is_planned_without_a_key(cli):
    judging = commands("openai:gpt-4o-mini")["judge"][1:]
    cli("batch", "plan", *judging, "--batch", "batch.jsonl", code=0)
    assert Path("batch.jsonl").stat().st_size
