"""References and summaries through other tools' files, and judged there as here.

A bank of nuggets made of a built reference is read back and judged; its checklists go out as a
leaderboard and as nuggetizer's assignments. A run of TREC with citations is judged by statements.
The judge is a server on loopback that reads what it is shown.
"""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from cli_tools import cluster, journalist, openai, text_of, write_jsonl
from json_files import read_json, read_rows
from stub_server import Call, Reply

CLOSED = "The old bridge closed on Monday"
RUN = {
    "metadata": {"team_id": "t", "run_id": "cited", "topic_id": "bridge", "type": "automatic"},
    "responses": [
        {"text": f"{CLOSED}.", "citations": ["bridge0"]},
        {"text": "Nine people died.", "citations": ["bridge1"]},
        {"text": "Cracks had been known.", "citations": []},
    ],
}


def statements(text: str) -> list[dict[str, object]]:
    """Support by the first article what it says, and find the deaths in none."""
    rows: list[dict[str, object]] = []
    for number, sentence in re.findall(r"^\[(\d+)\] (.+)$", text, re.MULTILINE):
        row = {"sentence": int(number), "statement": sentence, "articles": [1], "quote": CLOSED,
               "verdict": "supported", "grave": False}  # fmt: skip
        if "Nine" in sentence:
            row |= {"articles": [], "quote": "", "verdict": "absent"}
        rows.append(row)
    return rows


def groups(text: str) -> list[dict[str, object]]:
    """Cover the groups one of whose wordings shares a word of weight with the summary."""
    prompt, summary = text[: text.index("<summary ")], text[text.rindex("<summary ") :]
    result = re.findall(r"^Group (\d+)\b.*\n((?:  wording .*\n?)+)", prompt, re.MULTILINE)
    rows = []
    for number, wordings in result:
        words = [word for word in ("rain", "cracks") if word in wordings and word in summary]
        covered = {"quote": words[0], "verdict": "covered"} if words else {}
        row = {"group": int(number), "quote": "", "wordings": [], "verdict": "no"}
        rows.append(row | covered)
    return rows


def answer(call: Call) -> Reply:
    text = text_of(call)
    if '{"entries"' not in text:
        return Reply(text=journalist(call))
    rows = statements(text) if "List the statements of" in text else groups(text)
    return Reply(text=json.dumps({"entries": rows}))


def values_of(name: str) -> dict[tuple[str, str], float]:
    return {(row["eid"], row["system"]): row["value"] for row in read_rows(name)}


@pytest.fixture
def run(cli, server):
    """Run a command that must end well."""
    server.answer = answer

    def run_command(*args: object) -> str:
        result = cli(*args, code=0)
        return result.out + result.err

    return run_command


def judge(run, server, references: str, *, aspect: str, out: str, summaries: str) -> str:
    inputs = ("--references", references, "--summaries", summaries, "-o", out)
    how = ("--aspect", aspect, "--protocol", "checklist", *openai(server))
    return run("judge", *inputs, *how)


def test_nugget_bank_is_judged_like_its_source_reference(run, server):
    write_jsonl(Path("clusters.jsonl"), [cluster()])
    texts = {"both": "The rain and the cracks.", "one": "It was the rain.", "none": "Who knows?"}
    rows = [{"eid": "bridge", "system": name, "text": text} for name, text in texts.items()]
    write_jsonl(Path("s.jsonl"), rows)
    run("build", "clusters.jsonl", "-o", "built.jsonl", *openai(server))
    run("data", "export", "built.jsonl", "-o", "bank.jsonl", "--to", "nuggetbank")
    bare = run("data", "import", "bank.jsonl", "--references", "bare.jsonl")
    run(
        "data", "import", "bank.jsonl", "--references", "back.jsonl", "--articles", "clusters.jsonl"
    )
    assert read_rows("back.jsonl") == read_rows("built.jsonl")
    assert {item["content"] for item in read_rows("bare.jsonl")[0]["articles"]} == {""}
    assert "Next: fairjudge judge --references bare.jsonl --summaries SUMMARIES" in bare

    for name in ("built", "bare"):
        judge(run, server, f"{name}.jsonl", aspect="coverage", out=f"{name}-c.jsonl",
              summaries="s.jsonl")  # fmt: skip
    values = values_of("built-c.jsonl")
    assert values["bridge", "both"] > values["bridge", "one"] > values["bridge", "none"] == 0
    assert values_of("bare-c.jsonl") == values

    run("data", "export", "bare-c.jsonl", "-o", "board.txt", "--to", "trec-eval")
    board = [line.split("\t") for line in Path("board.txt").read_text().splitlines()]
    assert {(run, topic): float(value) for run, _, topic, value in board} == {
        (system, topic): value
        for (_, system), value in values.items()
        for topic in ("bridge", "all")
    }
    run("data", "import", "board.txt", "-o", "board.jsonl")
    assert values_of("board.jsonl") == values

    run("data", "export", "bare-c.jsonl", "-o", "assigned.jsonl", "--to", "nuggetizer-assignments",
        "--references", "bare.jsonl", "--summaries", "s.jsonl")  # fmt: skip
    result = run(
        "data", "import", "assigned.jsonl", "-o", "again.jsonl", "--summaries", "again-s.jsonl"
    )
    assert "1 reference not written; --references FILE writes them" in result
    assert values_of("again.jsonl") == pytest.approx(values)
    assert read_rows("again-s.jsonl") == rows


@pytest.mark.parametrize(("aggregator", "of_question"), [("AND", min), ("OR", max)])
def test_nugget_bank_keeps_and_or_question_kinds(run, server, aggregator, of_question):
    write_jsonl(Path("clusters.jsonl"), [cluster()])
    write_jsonl(
        Path("s.jsonl"),
        [{"eid": "bridge", "system": name, "text": text}
         for name, text in (("both", "The rain and the cracks."), ("one", "It was the rain."))],
    )  # fmt: skip
    run("build", "clusters.jsonl", "-o", "built.jsonl", *openai(server))
    run("data", "export", "built.jsonl", "-o", "bank.jsonl", "--to", "nuggetbank")
    (bank,) = read_rows("bank.jsonl")
    for nugget in bank["nugget_bank"].values():
        nugget |= {"aggregator_type": aggregator, "metadata": None}
    write_jsonl(Path("bank.jsonl"), [bank])
    run("data", "import", "bank.jsonl", "--references", "r.jsonl")

    def every_other(call: Call) -> Reply:
        no = {"verdict": "no", "quote": ""}
        rows = [row if row["group"] % 2 else row | no for row in groups(text_of(call))]
        return Reply(text=json.dumps({"entries": rows}))

    server.answer = every_other
    judge(run, server, "r.jsonl", aspect="coverage", out="c.jsonl", summaries="s.jsonl")
    result = run("audit", "covered", "c.jsonl", "--references", "r.jsonl", "--json", "out.json")
    assert "questions, AND or OR" in result
    covered: dict[str, dict[str, list[float]]] = {}
    for row in read_rows("c.jsonl"):
        for entry in row["checklist"]:
            question = entry["unit"].partition(".")[0]
            covered.setdefault(row["system"], {}).setdefault(question, []).append(entry["covered"])
    assert {len(questions) for questions in covered.values()} == {3}
    for group in read_json("out.json")["groups"]:
        values = [of_question(items) for items in covered[group["system"]].values()]
        ways = group["slices"]["coverage by weight of groups"]
        assert ways["questions, AND or OR"]["value"] == pytest.approx(sum(values) / 3)
    assert any(min(items) < max(items) for items in covered["one"].values())


def test_run_with_citations_is_judged_against_cited_articles(run, server):
    documents = {
        item["aid"]: {"id": item["aid"], "title": item["title"], "text": item["content"]}
        for item in cluster(n=2)["articles"]
    }
    write_jsonl(Path("run.jsonl"), [RUN | {"documents": documents}])
    run("data", "import", "run.jsonl", "--summaries", "s.jsonl", "--clusters", "c.jsonl")
    text = judge(run, server, "c.jsonl", aspect="faithfulness", out="f.jsonl", summaries="s.jsonl")
    assert "cited" in text
    run("audit", "statements", "f.jsonl", "--references", "c.jsonl", "--summaries", "s.jsonl",
        "--json", "report.json")  # fmt: skip
    (group,) = read_json("report.json")["groups"]
    cited = group["citations"]
    counts = [cited[name] for name in ("n_sentences", "n_cited", "n_borne_out", "n_citations")]
    assert counts == [3, 2, 1, 2]
    assert cited["support"] == {"full": 1, "none": 1}
    assert (cited["n_unknown"], cited["borne_out"]) == (0, pytest.approx(1 / 3))

    words = ("audit", "citations", "f.jsonl", "--summaries", "s.jsonl", "--json", "cited.json")
    text = run(*words, "--references", "c.jsonl")
    assert "Citations swapped for other articles of the cluster" in text
    (group,) = read_json("cited.json")["groups"]
    assert group["borne_out"]["value"] == pytest.approx(1 / 3)
    assert group["relevant"]["value"] == pytest.approx(1 / 2)
    swapped = group["swapped"]
    # The other sentence is in no article, so another citation supports nothing either.
    assert (swapped["n"], swapped["as_cited"]["value"]) == (2, 0.5)
    assert swapped["swapped"]["value"] == 0.0
    run("report", "f.jsonl", "cited.json", "--references", "c.jsonl", "-o", "page.html")
    assert "Citations, and other articles in their place" in Path("page.html").read_text()

    run("data", "export", "s.jsonl", "-o", "again.jsonl", "--to", "trec-run")
    assert read_rows("again.jsonl") == [RUN]


def test_imported_judgements_suggest_calibrate_or_report(run):
    """The command that is named runs as it stands; with labels beside, it measures the judge."""
    systems = ("a", "b", "c")
    rows = [
        {"eid": f"e{n}", "system": system, "aspect": "clarity", "judge": "elsewhere",
         "response": f"Verdict: {1 + (n + place) % 5}"}
        for n in range(6) for place, system in enumerate(systems)
    ]  # fmt: skip
    write_jsonl(Path("replies.jsonl"), rows)
    imported = run("data", "import", "replies.jsonl", "-o", "judged.jsonl", "--protocol", "likert",
                   "--scale", "1-5")  # fmt: skip
    command = shlex.split(imported.partition("Next: fairjudge ")[2].partition("\n")[0])
    assert command == ["report", "judged.jsonl", "-o", "report.html"]
    run(*command)
    assert Path("report.html").is_file()

    spans = [
        {"span_id": f"e{n}-{kind}", "name": "clarity", "annotator_kind": kind, "identifier": name,
         "result": {"score": 1 + n % 5}, "metadata": {"eid": f"e{n}", "system": f"s{n % 2}"}}
        for n in range(12) for kind, name in (("LLM", "judge"), ("HUMAN", "ann"))
    ]  # fmt: skip
    write_jsonl(Path("phoenix.jsonl"), spans)
    imported = run("data", "import", "phoenix.jsonl", "-o", "spans.jsonl", "--labels", "l.jsonl")
    command = shlex.split(imported.partition("To calibrate: fairjudge ")[2].partition("\n")[0])
    assert command == ["calibrate", "spans.jsonl", "--labels", "l.jsonl"]
    assert "rank systems: " in run(*command)
    # What goes to standard output is followed by nothing.
    printed = run("data", "import", "phoenix.jsonl", "-o", "-", "--labels", "l.jsonl")
    assert "To calibrate" not in printed
