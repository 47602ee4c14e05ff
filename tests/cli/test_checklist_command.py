"""``judge --protocol checklist`` as users run it: one call a summary, and who is left out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_tools import openai, reference, summary, write_jsonl
from invoking import invoke
from stub_server import StubServer


@pytest.fixture
def judging(tmp_path: Path) -> tuple[object, ...]:
    """Two clusters of four answers each, of which the first and third are said to be covered."""
    references = write_jsonl(tmp_path / "r.jsonl", [reference("bridge"), reference("dam")])
    summaries = [summary(system, eid) for eid in ("bridge", "dam") for system in ("s", "t")]
    summaries.append(summary("once", "dam"))
    data = write_jsonl(tmp_path / "s.jsonl", summaries)
    return ("--references", references, "--summaries", data, "--aspect", "coverage")


def test_one_call_per_summary_lists_omitted_sources(
    judging: tuple[object, ...], server: StubServer
) -> None:
    options = ("--preset", "recommended", "--derive", "likert", "--derive", "pairwise")
    command = ("judge", *judging, *options, "-o", "j.jsonl", "--json", "j.json", *openai(server))
    first = invoke(*command)
    assert first.exit_code == 0, first.output
    assert len(server.calls) == 5
    rows = [json.loads(line) for line in Path("j.jsonl").read_text("utf-8").splitlines()]
    assert [row["protocol"] for row in rows[:5]] == ["checklist"] * 5
    assert {row["value"] for row in rows[:5]} == {0.5}
    assert {row["value"] for row in rows if row["protocol"] == "likert"} == {3}
    assert {row["value"] for row in rows if row["protocol"] == "pairwise"} == {"tie"}
    report = json.loads(Path("j.json").read_text("utf-8"))
    assert {name: system["ranked"] for name, system in report["systems"].items()} == {
        "s": True,
        "t": True,
        "once": False,
    }
    group = next(item for item in report["covered"] if item["system"] == "s")
    shares = {
        name: outlet["value"] for name, outlet in group["slices"]["coverage by outlet"].items()
    }
    assert shares == {
        **{f"{eid}{n}.example": 1.0 for eid in ("bridge", "dam") for n in (0, 2)},
        **{f"{eid}{n}.example": 0.0 for eid in ("bridge", "dam") for n in (1, 3)},
    }
    assert "s leaves out 4 of 8 groups of answers" in first.output
    assert "Not ranked: once, scored on fewer than 90 % of 2 clusters." in first.output
    assert "and so do clusters" in first.output
    again = invoke(*command)  # the run is whole: nothing is asked again
    assert again.exit_code == 0, again.output
    assert len(server.calls) == 5


def test_finished_calls_are_not_repeated(judging: tuple[object, ...], server: StubServer) -> None:
    command = ("judge", *judging, "--protocol", "checklist", "-o", "j.jsonl", *openai(server))
    stopped = invoke(*command, "--max-calls", 2)
    assert stopped.exit_code == 3
    assert len(server.calls) == 2
    assert invoke(*command).exit_code == 0
    assert len(server.calls) == 5


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--token-probabilities",), "--token-probabilities does not go with --protocol checklist"),
        (("--samples", 3), "--samples does not go with --protocol checklist"),
        (("--reference-unit", "qa_pair"), "requires coverage against all QA pairs"),
    ],
)
def test_unsupported_checklist_options_raise(
    judging: tuple[object, ...], server: StubServer, options: tuple[object, ...], why: str
) -> None:
    words = ("--protocol", "checklist", *options)
    result = invoke("judge", *judging, *words, "-o", "j.jsonl", *openai(server))
    assert result.exit_code == 1
    assert why in str(result.exception)
    assert server.calls == []


def test_derive_needs_checklists(judging: tuple[object, ...], server: StubServer) -> None:
    options = ("--protocol", "likert", "--derive", "pairwise")
    result = invoke("judge", *judging, *options, "-o", "j.jsonl", *openai(server))
    assert result.exit_code == 1
    assert "--derive" in str(result.exception)


def test_plan_counts_one_call_per_summary(judging: tuple[object, ...], server: StubServer) -> None:
    result = invoke(
        "batch",
        "plan",
        *judging,
        "--protocol",
        "checklist",
        "--json",
        "-",
        *openai(server),
        "--batch",
        "b.jsonl",
    )
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["calls"] == 5
    assert len(Path("b.jsonl").read_text("utf-8").splitlines()) == 5
    assert server.calls == []
