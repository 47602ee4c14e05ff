"""From exports of labelling tools, spreadsheets and folders to a leaderboard and a decision.

Each layout of docs/your-data.md's section on them by its own lines, then only by the commands that
each command names as next. How many that takes is printed (``pytest -s``).
"""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from cli_tools import journalist, text_of
from data_page import PAGE
from stub_server import Call

from fairjudge.datasets import example_path

_BLOCK = re.compile(r"^```(\w+) ?(\S*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
COUNTS = {
    "Google Forms": (1, 2, 2, 8),
    "Label Studio's JSON": (1, 1, 2, 4),
    "Doccano": (1, 2, 2, 2),
    "Prodigy": (1, 2, 2, 2),
    "A spreadsheet with a column for each system": (2, 4, 6, 0),
    "Nested JSON": (1, 2, 2, 4),
    "A folder of text files": (1, 2, 2, 2),
}
"""Clusters, articles, summaries and labels of each layout, counted by hand on the page."""


def section(title: str) -> str:
    sections = re.split(r"^## (?=[A-Z])", PAGE.read_text("utf-8"), flags=re.MULTILINE)
    (section,) = (part for part in sections if part.startswith(f"{title}\n"))
    return section


EXPORTS = {
    part.partition("\n")[0]: _BLOCK.findall(part)
    for part in section("Exports of labelling tools, spreadsheets and folders").split("\n### ")[1:]
}


def write_files(blocks: list[tuple[str, str, str]]) -> None:
    for _, name, text in blocks:
        if name:
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_text(text, "utf-8")


def command(blocks: list[tuple[str, str, str]]) -> list[str]:
    (line,) = (text for kind, name, text in blocks if kind == "bash" and not name)
    return shlex.split(line.replace("\\\n", " "))[1:]


def next_command(output: str, purpose: str, *, backend: tuple[str, ...]) -> list[str]:
    """Return the command that a command names for `purpose`, with a model in its place."""
    (line,) = re.findall(rf"^{purpose}: fairjudge (.*)$", output, re.MULTILINE)
    words = shlex.split(line)
    if "PROVIDER:MODEL" in words:
        place = words.index("PROVIDER:MODEL")
        words[place - 1 : place + 1] = backend
    return words


@pytest.fixture
def backend(server) -> tuple[str, ...]:
    def answer(call: Call) -> str:
        return "Verdict: yes" if "yes: " in text_of(call) else journalist(call)

    server.answer = answer
    return ("--backend", "openai:m", "--base-url", f"{server.url}/v1")


def test_every_export_of_the_page_is_tested():
    assert [*EXPORTS] == [*COUNTS]


@pytest.mark.parametrize("title", COUNTS)
def test_each_export_gives_a_leaderboard_and_a_decision(cli, backend, title):
    blocks = EXPORTS[title]
    write_files(blocks)
    converted = cli(*command(blocks), "--json", "found.json", code=0)
    data = json.loads(Path("found.json").read_text("utf-8"))
    assert COUNTS[title] == tuple(
        data[f"n_{kind}"] for kind in ("clusters", "articles", "summaries", "labels")
    )
    n_commands = 2
    judged = cli(*next_command(converted.out, "Next", backend=backend), code=0)
    for row in map(json.loads, Path("data/summaries.jsonl").read_text("utf-8").splitlines()):
        assert row["system"] in judged.out
    if data["n_labels"]:
        following = next_command(converted.out, "Then", backend=backend)
        assert following == next_command(judged.out, "To calibrate", backend=backend)
        assert {"--summaries", "--clusters"} <= {*following}
        calibrated = cli(*following, code=0)
        assert "rank systems: " in calibrated.out
        n_commands += 1
    else:
        assert "To calibrate, have items labelled: fairjudge annotate data/clusters.jsonl" in (
            " ".join(judged.out.split())
        )
    print(f"{title}: {n_commands} commands")  # noqa: T201


def test_labels_on_a_custom_aspect_are_judged_and_calibrated(cli, backend):
    """The messages lead to the criterion of the page; nothing sends in a circle."""
    write_files(EXPORTS["Nested JSON"])
    Path("nested.json").write_text(Path("nested.json").read_text().replace("fluency", "note"))
    mapped = ("--map", "eid=topic,value=runs.human.clarity")
    converted = cli("convert", "nested.json", "-o", "data", *mapped, code=0)
    advice = "no built-in prompt judges 'clarity': judge by a criterion of your own under that name"
    assert advice in " ".join(converted.out.split())
    inputs = ("--references", "data/clusters.jsonl", "--summaries", "data/summaries.jsonl")
    output = ("-o", "other.jsonl")
    judged = cli(
        "judge", *inputs, "--aspect", "faithfulness", "--protocol", "likert", *output, code=0
    )
    refused = cli("calibrate", "other.jsonl", "--labels", "data/labels.jsonl", code=1)
    assert advice in " ".join(refused.err.split())
    output = ("-o", "own.jsonl")
    refused = cli(
        "judge", *inputs, "--aspect", "clarity", "--protocol", "likert", *output, *backend, code=1
    )
    assert advice in " ".join(refused.err.split())
    own = next_command(converted.out, "Next", backend=backend)
    own[own.index("WHAT IT ASKS")] = "How easy is it to follow?"
    judged = cli(*own, code=0)
    calibrated = cli(*next_command(judged.out, "To calibrate", backend=backend), code=0)
    assert "rank systems: " in calibrated.out


def test_written_summaries_can_be_judged_and_labelled(cli, backend):
    write_files([block for block in EXPORTS["Doccano"] if block[1] == "stories.jsonl"])
    converted = cli("convert", "stories.jsonl", "-o", "data")
    result = cli(*next_command(converted.out, "Next", backend=backend), code=0)
    judged = cli(*next_command(result.out, "Next", backend=backend), code=0)
    assert "--task rating --aspect faithfulness" in " ".join(judged.out.split())


def test_suggested_commands_lead_to_coverage(cli):
    """Of the bundled example, by the embedded models."""
    for name in ("clusters.json", "summaries.jsonl"):
        Path(name).write_bytes(example_path(name).read_bytes())
    converted = cli("convert", "clusters.json", "summaries.jsonl", "-o", "data")
    built = cli(*next_command(converted.out, "For coverage, first", backend=()), code=0)
    following = next_command(converted.out, "and then", backend=())
    of_build = next_command(built.out, "Next", backend=())
    of_build[of_build.index("SUMMARIES")] = "data/summaries.jsonl"
    assert of_build[:-1] == following[:-1]
    judged = cli(*following, code=0)
    assert "thorough" in judged.out
