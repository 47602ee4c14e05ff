"""From a folder of clusters and a table of ratings, some under a name of one's own, to a study.

What the commands say at each step is what the next one needs, and plans refuse what runs refuse.
"""

from __future__ import annotations

import csv
import json
import shlex
from pathlib import Path

import pytest
from json_files import read_json

SHARED = "The flood at the river in Dunmere began on Monday and involved 263 residents."
VIEWS = (
    "The mayor of Dunmere said that help came within 4 hours of the first call from the harbour.",
    "A union spokeswoman put the number of residents at 343, and accused the city of lies.",
)
RATED = ("coverage", "neutrality")


def write_corpus(place: str, *, copied: bool = True) -> None:
    """Write two clusters of two articles with summaries by two systems, and their ratings."""
    rows = []
    for n, eid in enumerate(("dunmere", "tornby")):
        folder = Path(place, "corpus", eid)
        folder.mkdir(parents=True)
        for k, view in enumerate(VIEWS, 1):
            text = f"{SHARED} {view}" if copied else view
            (folder / f"article{k}.txt").write_text(text.replace("Dunmere", eid.title()))
        for system in ("gpt", "llama"):
            (folder / f"summary_{system}.txt").write_text(f"{system} says: {VIEWS[n]}")
            rows += [
                {"cluster": eid, "system": system, "rater": rater, **dict.fromkeys(RATED, 2 + n)}
                for rater in ("ann", "bo")
            ]
    with Path(place, "labels.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0]])
        writer.writeheader()
        writer.writerows(rows)


def following(output: str, purpose: str) -> list[str]:
    lines = " ".join(output.split()).partition(f"{purpose}: fairjudge ")[2]
    return shlex.split(lines.partition(" Then: ")[0].partition(" To calibrate")[0])


def plain(output: str) -> str:
    return " ".join(output.split())


def test_study_builds_with_the_model_and_has_a_custom_aspect_table(cli, server):
    write_corpus("in")
    backend = ("--backend", "openai:m", "--base-url", f"{server.url}/v1")
    cli("study", "init", "in", *backend, code=0)
    text = Path("study.toml").read_text()
    assert "[build]                                      # writes questions that" in text
    assert 'model = "local"' not in text
    for aspect in RATED:
        assert f"labels on {', '.join(RATED)}" in text
        assert f'aspect = "{aspect}"' in text
    own = text[text.index('# [[judge]]\n# name = "neutrality"') :]
    ready = own.replace("# ", "", own.count("\n# ") + 1).replace("WHAT IT ASKS", "Is it neutral?")
    Path("study.toml").write_text(text.replace(own, ready))
    planned = cli("study", "study.toml", "--plan", "--json", "plan.json", code=0)
    calls = {row["step"]: row["calls"] for row in read_json("plan.json")["steps"]}
    assert calls["judge neutrality"] == 4
    assert {"build", "judge coverage"} <= calls.keys()
    assert "2 systems (it takes 5) and 2 labelled documents (it takes 15)" in plain(planned.out)


def test_copied_articles_are_the_reason_for_no_points(cli):
    write_corpus("in")
    converted = cli("convert", "in", "-o", "data")
    assert "Note: too few to tell whether a judge ranks systems" in plain(converted.out)
    built = cli(*following(converted.out, "Next"), "--max-unscored", "1", code=0)
    assert "statements with identical wording are excluded as copies" in plain(built.out)
    judging = following(converted.out, "Then")
    judged = cli(*judging, code=1)
    output = plain(judged.err)
    assert "found no points" in output
    assert "an LLM is needed" in output
    assert "run 'fairjudge build'" not in output
    write_corpus("other", copied=False)
    built = cli("build", cli("convert", "other", "-o", "o") and "o/clusters.jsonl", "-o", "r.jsonl")
    assert "left out as copies" not in plain(built.out)


def test_study_reports_a_judge_without_items(cli):
    write_corpus("in")
    assert cli("study", "init", "in").code == 0
    assert 'model = "local"\nn_questions' in Path("study.toml").read_text()
    result = cli("study", "study.toml", "--max-unscored", "1", code=0)
    assert "No item was judged." in result.out
    assert "Every item has a result" not in result.out
    assert "nothing was judged" in plain(result.out)


def test_plan_names_a_judge_without_items(cli, server):
    write_corpus("in")
    backend = ("--backend", "openai:m", "--base-url", f"{server.url}/v1")
    assert cli("study", "init", "in", *backend).code == 0
    text = Path("study.toml").read_text()
    Path("study.toml").write_text(
        text.replace('model = "main"\nn_questions', 'model = "local"\nn_questions')
    )
    planned = cli("study", "study.toml", "--plan", "--json", "plan.json", code=0)
    assert "judge coverage: nothing to judge" in plain(planned.out)
    (row,) = read_json("plan.json")["steps"]
    assert row["nothing"].startswith("nothing to judge")


REFUSED = {
    "rule": ("--aspect", "tone", "--rule", "How neutral is it?"),
    "together": (
        "--together",
        "--aspect",
        "fluency",
        "--aspect",
        "coherence",
        "--protocol",
        "likert",
    ),
    "ranking": ("--aspect", "faithfulness", "--protocol", "ranking"),
    "aspect": ("--aspect", "fluency", "--protocol", "likert"),
    "repeats": ("--aspect", "faithfulness", "--protocol", "likert", "--repeats", "2"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_plan_raises_the_errors_of_the_run(cli, name):
    write_corpus("in")
    assert cli("convert", "in", "-o", "data").code == 0
    inputs = ("--references", "data/clusters.jsonl", "--summaries", "data/summaries.jsonl")
    command = ("judge", *inputs, *REFUSED[name], "-o", "j.jsonl")
    run, plan = cli(*command), cli(*command, "--plan")
    assert (run.code, plan.code) == (1, 1)
    assert run.err == plan.err
    assert "Note" not in run.out + plan.out


@pytest.mark.parametrize("more", [(), ("--plan",)])
def test_labels_too_few_to_rank_are_noted(cli, server, more):
    write_corpus("in")
    assert cli("convert", "in", "-o", "data").code == 0
    command = (
        "judge",
        "--references",
        "data/clusters.jsonl",
        "--summaries",
        "data/summaries.jsonl",
    )
    backend = ("--backend", "openai:m", "--base-url", f"{server.url}/v1", *more)
    rule = ("--rule", "How neutral is it?")
    result = cli(*command, "--aspect", "neutrality", *rule, "-o", "j.jsonl", *backend, code=0)
    assert "Note: too few to tell whether a judge ranks systems" in plain(result.out)
    other = cli(*command, "--aspect", "tone", *rule, "-o", "k.jsonl", *backend)
    assert "Note" not in other.out


def test_study_init_accepts_the_columns_of_convert(cli):
    rows = [
        {"event": f"e{n}", "article_1": f"{VIEWS[0]} {n}", "article_2": f"{VIEWS[1]} {n}"}
        | {"summary_gpt": f"One {n} of it.", "summary_llama": f"Two {n} of it."}
        | {"tone_gpt": "good", "tone_llama": "bad"}
        for n in range(3)
    ]
    with Path("wide.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0]])
        writer.writeheader()
        writer.writerows(rows)
    result = cli("study", "init", "wide.csv")
    option = plain(result.out).partition("one system each: ")[2].split()[:2]
    assert option == ["--map", "text:gpt=summary_gpt,text:llama=summary_llama"]
    ratings = ("--map", "value=tone_gpt,value=tone_llama", "--values", "good=1,bad=0")
    result = cli("study", "init", "wide.csv", "--force", *option, *ratings, code=0)
    labels = map(json.loads, Path("converted/labels.jsonl").read_text().splitlines())
    assert {(row["eid"], row["system"], row["value"]) for row in labels} == {
        (f"e{n}", system, value) for n in range(3) for system, value in (("gpt", 1), ("llama", 0))
    }
    refused = cli("study", "init", "wide.csv", "--force", "--map", "text=nothing", code=1)
    assert "no column 'nothing'" in refused.err
