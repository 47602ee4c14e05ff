"""Killed, interrupted and repeated commands: nothing finished is asked again."""

from __future__ import annotations

import json
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_tools import (
    Done,
    building,
    cluster,
    finish,
    journalist,
    judging,
    openai,
    prompts_of,
    reference,
    start,
    summary,
    text_of,
    write_jsonl,
)
from command_fixtures import holding
from stub_server import StubServer


def end_in_the_middle(
    server: StubServer, command: tuple[str, ...], how: signal.Signals, *, passing: int
) -> Done:
    """Start `command`, and end it by a signal when so many calls were answered."""
    with holding(server, command, passing=passing, n_held=1) as (process, _):
        process.send_signal(how)
        return finish(process)


def uninterrupted(cli: Callable[..., Done], command: tuple[str, ...], output: str) -> bytes:
    """Return what the command writes in one go, with a cache and a run folder of its own."""
    fresh = ("-o", f"fresh-{output}", "--run", "fresh", "--cache", "fresh-cache")
    assert cli(*command, *fresh).code == 0
    return Path(f"fresh-{output}").read_bytes()


# One call at a time. By article: 1 for questions; 4 articles; 1 to group all.
# As the paper: 2 for questions; 4 articles x (3 + 3) questions; 6 to group; 3 to filter.
@pytest.mark.parametrize(
    ("pipeline", "passing"),
    [("article", 1), ("article", 3), ("article", 5), ("paper", 9), ("paper", 18)],
)
def test_a_killed_build_resumes(cli, clusters, server, pipeline, passing):
    command = building(server, concurrency=1, pipeline=pipeline)
    end_in_the_middle(server, command, signal.SIGKILL, passing=passing)
    assert not Path("refs.jsonl").exists()
    answered = list(prompts_of(server))[:passing]
    cli(*command, code=0)
    counts = prompts_of(server)
    assert [counts[prompt] for prompt in answered] == [1] * passing
    assert sum(counts.values()) == len(counts) + 1  # the one that was in flight
    server.calls.clear()
    assert Path("refs.jsonl").read_bytes() == uninterrupted(cli, command, "refs.jsonl")


def test_a_killed_judgement_resumes(cli, references, server):
    write_jsonl(Path("summaries.jsonl"), [summary(f"s{n}") for n in range(130)])
    command = judging(server, concurrency=1)  # three chunks, two of them at work at once
    end_in_the_middle(server, command, signal.SIGKILL, passing=70)
    answered = list(prompts_of(server))[:70]
    cli(*command, code=0)
    counts = prompts_of(server)
    assert [counts[prompt] for prompt in answered] == [1] * 70
    assert sum(counts.values()) == 131
    server.calls.clear()
    assert Path("judgements.jsonl").read_bytes() == uninterrupted(cli, command, "judgements.jsonl")


def test_a_killed_run_with_several_calls_in_flight_repeats_only_those(cli, references, server):
    write_jsonl(Path("summaries.jsonl"), [summary(f"s{n}") for n in range(30)])
    command = judging(server, concurrency=4)
    end_in_the_middle(server, command, signal.SIGKILL, passing=10)
    assert cli(*command).code == 0
    # at most the four that were waiting for an answer when the process died are asked twice
    assert 30 < len(server.calls) <= 34


def test_earlier_output_survives_a_kill(cli, references, summaries, server):
    Path("judgements.jsonl").write_text("earlier\n")
    end_in_the_middle(server, judging(server), signal.SIGKILL, passing=2)
    assert Path("judgements.jsonl").read_text() == "earlier\n"


def test_second_run_on_a_folder_in_use_raises(cli, references, summaries, server):
    command = (*judging(server), "--run", "shared")
    with holding(server, command, passing=2, n_held=1) as (first, gate):
        second = cli(*command, code=1)
        assert second.err == "error: shared: another run is using this folder\n"
        gate.open()
        assert finish(first).code == 0
    assert len(server.calls) == 6


def test_two_runs_share_the_cache(cli, references, summaries, server):
    processes = [start(*judging(server), "--run", name, "-o", name + ".jsonl") for name in "ab"]
    assert [finish(process).code for process in processes] == [0, 0]
    assert Path("a.jsonl").read_bytes() == Path("b.jsonl").read_bytes()
    assert cli(*judging(server), "--run", "c").code == 0
    assert len(prompts_of(server)) == 6


def test_folder_of_another_command_raises(cli, clusters, references, summaries, server):
    assert cli(*building(server), "--run", "mine").code == 0
    result = cli(*judging(server), "--run", "mine", code=1)
    assert result.err.startswith("error: mine: this is another run (it differs in ")
    assert "command" in result.err


def test_run_folder_that_is_a_file_raises(cli, references, summaries, server):
    Path("mine").write_text("x")
    result = cli(*judging(server), "--run", "mine", code=1)
    assert result.err == "error: mine: cannot use this run folder: File exists\n"


@pytest.mark.parametrize(
    ("file", "part"),
    [
        ("checkpoints.sqlite", "cannot use the checkpoints"),
        ("manifest.json", "not a run's manifest"),
    ],
)
def test_damaged_run_folder_error_names_the_file(cli, references, summaries, server, file, part):
    assert cli(*judging(server), "--run", "mine").code == 0
    for beside in Path("mine").glob(f"{file}-*"):  # SQLite's journal
        beside.unlink()
    Path("mine", "finished.jsonl").unlink()  # else nothing is left to be done
    Path("mine", file).write_bytes(b"rubbish, and no line of ours\n" * 200)
    result = cli(*judging(server), "--run", "mine", code=1)
    assert part in result.err
    (_,) = result.err.splitlines()
    Path("mine", file).unlink()
    assert cli(*judging(server), "--run", "mine").code == 0
    assert len(server.calls) == 6


def test_foreign_rows_are_judged_again_from_the_cache(cli, references, summaries, server):
    assert cli(*judging(server), "--run", "mine").code == 0
    Path("mine", "judgements.jsonl").write_bytes(b"rubbish, and no line of ours\n" * 200)
    before = Path("judgements.jsonl").read_bytes()
    assert cli(*judging(server), "--run", "mine").code == 0
    assert Path("judgements.jsonl").read_bytes() == before
    assert len(server.calls) == 6
    assert b"rubbish" not in Path("mine", "judgements.jsonl").read_bytes()


def test_several_summary_files_form_one_leaderboard(cli, references, summaries, server):
    options = ("--summaries", summaries, "--summaries", "more.jsonl")
    write_jsonl(Path("more.jsonl"), [summary("added")])
    result = cli(*judging(server), *options, "--json", "numbers.json", code=0)
    systems = json.loads(Path("numbers.json").read_text())["systems"]
    assert set(systems) == {"added", *(f"system{n}" for n in range(6))}
    write_jsonl(Path("more.jsonl"), [summary("system3")])
    result = cli(*judging(server), *options, code=1)
    assert "more.jsonl:1: a second summary of 'bridge' by 'system3' (first at " in result.err


def test_clusters_without_questions_are_not_failures(cli, server):
    """Of two clusters one has no question: the summary of it is not judged, and that is said."""
    write_jsonl(Path("references.jsonl"), [reference(), cluster("dam") | {"question_answers": []}])
    write_jsonl(Path("summaries.jsonl"), [summary("s"), summary("s", "dam")])
    result = cli(*judging(server), "--max-unscored", "0", code=0)
    assert "Nothing to judge in clusters dam" in result.out
    assert "1 of 2 items (50 %) is without a score: 1 not applicable." in result.out


def test_built_cluster_without_questions_is_a_failure(cli, clusters, server):
    server.answer = lambda call: (
        json.dumps({"answers": []}) if '{"answers"' in text_of(call) else journalist(call)
    )
    result = cli(*building(server), code=3)
    assert "1 of 1 cluster without a result (100.0 %)" in result.err
    assert cli(*building(server), "--max-unscored", "1").code == 0


CHANGES = [
    ("--seed", "7"),
    ("--temperature", "0.5"),
    ("--protocol", "binary"),
]


@pytest.mark.parametrize("change", CHANGES)
def test_result_changing_options_need_another_run(cli, references, summaries, server, change):
    assert cli(*judging(server), "--run", "mine").code == 0
    result = cli(*judging(server), *change, "--run", "mine", code=1)
    assert "this is another run" in result.err
    assert cli(*judging(server), *change, "--max-unscored", "1").code == 0
    assert len(server.calls) >= 12


def test_another_model_needs_another_run(cli, references, summaries, server):
    assert cli(*judging(server), "--run", "mine").code == 0
    other = [arg.replace("stub-model", "other-model") for arg in judging(server)]
    result = cli(*other, "--run", "mine", code=1)
    assert "this is another run" in result.err


def test_another_scale_or_prompt_needs_another_run(cli, references, summaries, server):
    levels = "".join(f'[[levels]]\nanswer = "{n}"\nvalue = {n}\n' for n in range(1, 8))
    Path("scale.toml").write_text(f'name = "seven"\nkind = "number"\n{levels}')
    scaled = (*judging(server), "--scale", "scale.toml", "--run", "mine")
    result = cli(*scaled, code=0)
    assert "Score: mean rating, 1 to 7;" in result.out
    Path("scale.toml").write_text(f'name = "seven"\nkind = "number"\nfractions = true\n{levels}')
    result = cli(*scaled, code=1)
    assert "it differs in options" in result.err


def test_other_options_resume_the_same_run(cli, references, summaries, server):
    first = cli(*judging(server), "--json", "-")
    again = ("--concurrency", "1", "--max-calls", "0", "--max-unscored", "0", "--quiet")
    second = cli(*judging(server), *again, "--json", "-", code=0)
    assert len(server.calls) == 6
    first_report, second_report = json.loads(first.out), json.loads(second.out)
    assert first_report.pop("spent")["n_calls"] == 6
    assert second_report.pop("spent")["n_calls"] == 0
    assert first_report == second_report


def test_moved_inputs_with_equal_content_resume_the_same_run(cli, references, summaries, server):
    assert cli(*judging(server)).code == 0
    references.rename("elsewhere.jsonl")
    assert cli(*judging(server), "--references", "elsewhere.jsonl").code == 0
    assert len(server.calls) == 6


def test_more_clusters_need_another_run_but_reuse_cached_calls(cli, clusters, server):
    assert cli(*building(server)).code == 0
    before = len(server.calls)
    write_jsonl(clusters, [cluster(), cluster("tram")])
    assert cli(*building(server)).code == 0
    assert len(server.calls) == 2 * before
    assert Counter(prompts_of(server).values()).keys() == {1}


def test_a_killed_summarizer_resumes(cli, server):
    write_jsonl(Path("clusters.jsonl"), [cluster(f"c{n}") for n in range(6)])
    options = ("-o", "s.jsonl", "--concurrency", "1", *openai(server))
    command = ("summarize", "clusters.jsonl", *options)
    end_in_the_middle(server, command, signal.SIGKILL, passing=3)
    assert cli(*command).code == 0
    assert len(server.calls) == 7
    assert len(Path("s.jsonl").read_text().splitlines()) == 6


def test_a_killed_sweep_resumes_and_names_every_variant(cli, server):
    rows = [cluster(f"c{n}") for n in range(3)]
    for row in rows:
        for place, article in enumerate(row["articles"]):
            article["attributes"] = {"leaning": "left" if place else "right"}
    write_jsonl(Path("clusters.jsonl"), rows)
    sweeps = ("--sweep", "temperature=0,1", "--sweep", "fair=leaning")
    options = ("-o", "s.jsonl", "--concurrency", "1", *openai(server))
    command = ("summarize", "clusters.jsonl", *options, *sweeps)
    end_in_the_middle(server, command, signal.SIGKILL, passing=4)
    report = json.loads(cli(*command, "--json", "-").out)
    # 3 clusters by 3 systems, one of which the killed run was in the middle of
    assert len(server.calls) == 10
    own = "stub-model-direct"
    assert {name: system["n_summaries"] for name, system in report["systems"].items()} == {
        own: 3, f"{own}+temperature=1": 3, f"{own}+fair=leaning": 3,
    }  # fmt: skip
    assert report["systems"][f"{own}+temperature=1"]["temperature"] == 1.0
    text = [json.loads(line) for line in Path("s.jsonl").read_text().splitlines()]
    assert len({(row["eid"], row["system"]) for row in text}) == 9
    instructed = [call for call in server.calls if "differ in leaning" in text_of(call)]
    assert len(instructed) >= 3
    assert {call.body["temperature"] for call in server.calls} == {0.0, 1.0}
    assert "3 summaries by stub-model-direct+fair=leaning" in cli(*command).out
