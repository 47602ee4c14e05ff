"""From a file in each layout to a leaderboard, from the command line, by the lines of the docs.

`convert` as docs/your-data.md has it, `summarize` where there are no summaries, and the command
that `convert` says is next. How many commands that took, and how long, is printed (``pytest -s``).
"""

from __future__ import annotations

import json
import re
import shlex
import time
from pathlib import Path

import pytest
from data_page import PAGE, layouts, write_tables
from json_files import read_json, read_rows

DATA = Path(__file__).parents[2].parent / "shared" / "data"
LAYOUTS = {layout.title: layout for layout in layouts()}
COUNTS = {
    "Multi-News": (2, 4, 2, 0),
    "Multi-News as lines": (2, 4, 4, 0),
    "WCEP": (1, 2, 1, 0),
    "SummEval": (1, 1, 2, 16),
    "SummHay": (1, 2, 2, 0),
    "DiverseSumm": (1, 2, 1, 0),
    "Reviews": (2, 4, 0, 0),
    "Label Studio's JSON-MIN": (1, 2, 2, 4),
    "A table of rated summaries": (1, 1, 2, 4),
    "A column for each system": (2, 2, 4, 0),
    "Parquet": (2, 4, 2, 0),
    "A data set on disk": (2, 4, 2, 0),
    "Columns that are not recognised": (1, 2, 2, 0),
}
"""Clusters, articles, summaries and labels of each layout, counted by hand on the page."""


def test_every_layout_of_the_page_is_tested():
    assert [*LAYOUTS] == [*COUNTS]


@pytest.mark.parametrize("title", COUNTS)
def test_each_layout_gives_a_leaderboard(cli, server, title):
    began, n_commands = time.monotonic(), 0
    layout = LAYOUTS[title]
    layout.write(Path())
    if not layout.files:
        pytest.importorskip("pyarrow", reason="the extra [parquet]")
        write_tables(Path())
    backend = ("--backend", "openai:m", "--base-url", f"{server.url}/v1")
    (line,) = layout.lines
    result = cli(*line, "--json", "found.json")
    n_commands += 1
    assert result.code == 0, result.err
    data = read_json("found.json")
    assert COUNTS[title] == (
        data["n_clusters"] + data["n_references"],
        *(data[name] for name in ("n_articles", "n_summaries", "n_labels")),
    )
    following = shlex.split(result.out.rpartition("Next: fairjudge ")[2].partition("\n")[0])
    if "PROVIDER:MODEL" in following:
        assert following[-2] == "--backend"
        del following[-2:]
    if following[0] == "summarize":
        result = cli(*following, *backend)
        n_commands += 1
        assert result.code == 0, result.err
        following = shlex.split(
            "judge --references data/clusters.jsonl --summaries data/summaries.jsonl "
            "--aspect faithfulness --protocol likert -o data/judgements.jsonl"
        )
    result = cli(*following, *backend)
    n_commands += 1
    assert result.code == 0, result.err
    rows = read_rows("data/summaries.jsonl")
    for system in {row["system"] for row in rows}:
        assert system in result.out
    print(f"{title}: {n_commands} commands, {time.monotonic() - began:.1f} s")  # noqa: T201


def test_reader_error_names_the_converting_command(cli, server):
    """What it names runs, and gives what the command before it wanted."""
    LAYOUTS["Reviews"].write(Path())
    LAYOUTS["WCEP"].write(Path())
    LAYOUTS["A table of rated summaries"].write(Path())
    for name, kind, command in (
        ("reviews.csv", "clusters", ("summarize", "reviews.csv", "-o", "s.jsonl")),
        ("val.jsonl", "clusters", ("summarize", "val.jsonl", "-o", "s.jsonl")),
        ("rated.csv", "labels", ("calibrate", "j.jsonl", "--labels", "rated.csv")),
    ):
        judged = {"eid": "1", "system": "gpt", "aspect": "coherence", "judge": "j", "value": 3}
        Path("j.jsonl").write_text(json.dumps(judged | {"protocol": "likert"}) + "\n")
        backend = ("--backend", "openai:m", "--base-url", f"{server.url}/v1")
        result = cli(*command, *(backend if command[0] == "summarize" else ()), code=1)
        words = result.err.replace("\n", " ").rpartition("fairjudge convert ")[2].split()
        assert cli("convert", *words).code == 0
        assert Path(f"data/{kind}.jsonl").is_file(), name


def test_summaries_in_another_file_match_by_product(cli):
    """As the page has it, also where rows have other numbers and `study init` reads the folder."""
    LAYOUTS["Reviews"].write(Path())
    text = re.search(r"```text\n([^`]*)```\s+```bash\n(.*)\n```", PAGE.read_text("utf-8"))
    assert text is not None
    Path("summaries.csv").write_text(text[1], "utf-8")
    result = cli(*shlex.split(text[2])[1:], code=0)
    assert "ids in 'product_id'" in result.out
    result = cli("study", "init", "reviews.csv", "summaries.csv", code=0)
    for folder in ("data", "converted"):
        rows = map(json.loads, Path(folder, "summaries.jsonl").read_text("utf-8").splitlines())
        for row in rows:
            assert ("lever" in row["text"] or "toaster" in row["text"]) == (row["eid"] == "toaster")
    Path("short.csv").write_text("product_id,summary\ntoaster,Breaks.\nkettle,Leaks.\n")
    result = cli("study", "init", "reviews.csv", "short.csv", "--force", code=0)
    texts = Path("converted/summaries.jsonl").read_text("utf-8")
    assert [(row["eid"], row["text"]) for row in map(json.loads, texts.splitlines())] == [
        ("toaster", "Breaks."),
        ("kettle", "Leaks."),
    ]


def test_study_starts_from_files_in_other_layouts(cli):
    LAYOUTS["A table of rated summaries"].write(Path())
    cli("study", "init", code=0)
    text = Path("study.toml").read_text("utf-8")
    for kind in ("clusters", "summaries", "labels"):
        assert f'"converted/{kind}.jsonl"' in text
    assert cli("study", "study.toml", "--plan").code == 0


@pytest.mark.parametrize("title", [title for title in COUNTS if LAYOUTS[title].files])
def test_study_file_of_each_layout_is_runnable(cli, server, title):
    """Without an LLM too, unless there are no summaries; with one labelled aspects are judged."""
    layout, places, folder = LAYOUTS[title], list[str](), "converted"
    layout.write(Path())
    if "--map" in layout.lines[0]:
        assert cli(*layout.lines[0]).code == 0
        places, folder = ["data"], "data"
    result = cli("study", "init", *places, code=0)
    *_, n_summaries, n_labels = COUNTS[title]
    planned = cli("study", "study.toml", "--plan")
    if n_summaries:
        assert planned.code == 0, planned.err
    else:
        assert "No summaries: have some written" in result.out
        assert "give summaries, or have some written" in planned.err
    llm = ("--backend", "openai:m", "--base-url", f"{server.url}/v1")
    result = cli("study", "init", *places, "--force", *llm, code=0)
    text = Path("study.toml").read_text("utf-8")
    assert ("\n[calibrate]" in text) == bool(n_labels)
    assert ("\n[[summarize]]" in text) == (not n_summaries)
    labels = Path(folder, "labels.jsonl").read_text().splitlines() if n_labels else []
    for aspect in {json.loads(label)["aspect"] for label in labels}:
        assert f'\naspect = "{aspect}"' in text
    planned = cli("study", "study.toml", "--plan", "--json", "plan.json", code=0)
    assert read_json("plan.json")["calls"]


@pytest.mark.skipif(not DATA.is_dir(), reason=f"the real data of {DATA} are not here")
def test_real_files_are_recognised(cli):
    """Own layouts, gzip, tables of labels, and key points: whatever of it is data of clusters."""
    for name, clusters, message in (
        ("allsides/clusters.jsonl.gz", None, "own clusters"),
        ("summeval/labels.jsonl", 0, "own labels"),
        ("newsstance/clusters.jsonl", 60, "clusters"),
        ("keypoints/dev.jsonl.gz", 0, "argkp"),
        ("recession/cluster.json", 1, "own clusters"),
    ):
        result = cli("convert", DATA / name, "-o", "data", "--json", "found.json", code=0)
        assert message in result.out, result.out
        data = read_json("found.json")
        assert clusters in {None, data["n_clusters"]}
