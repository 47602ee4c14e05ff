"""Every command over names and texts that steer terminals and carry markup."""

from __future__ import annotations

import json
import os
import pty
from pathlib import Path

import pytest
from cli_tools import (
    building,
    journalist,
    judging,
    openai,
    reference,
    start_interpreter,
    summary,
    text_of,
    write_jsonl,
)
from hostile_text import CONTROLS, Tags
from stub_server import Fault, Reply

ESCAPES = "\x1b]0;owned\x07\x1b[2J\x1b[31m\x9b5m\u202egnorw\u202c\r\b\0"
MARKUP = "</script><script>alert(1)</script><img src=x onerror=alert(1)>[link=http://e]$\\frac{1}"
EVIL = ESCAPES + MARKUP
EIDS = [f"../e{n}{EVIL}" for n in range(12)]
SYSTEMS = [f"s{n}{EVIL}" for n in range(3)]


def evil_reference(eid: str) -> dict:
    cluster = reference(eid)
    for n, article in enumerate(cluster["articles"]):
        article["title"] += EVIL
        article["domain"] = f"d{n}{EVIL}"
        article["attributes"] = {"side": ("left", "right")[n % 2] + EVIL}
        article["content"] += f"{EVIL} {('She', 'He')[n % 2]} said so."
    cluster["question_answers"][0]["question"] = f"{EVIL} Why?"
    return cluster


@pytest.fixture
def inputs(server):
    references = [evil_reference(eid) for eid in EIDS]
    write_jsonl(Path("references.jsonl"), references)
    for cluster in references:
        del cluster["question_answers"]
    write_jsonl(Path("clusters.jsonl"), references)
    rows = [summary(system, eid) for eid in EIDS for system in SYSTEMS]
    write_jsonl(Path("summaries.jsonl"), rows)
    labels = [
        {
            "eid": row["eid"], "system": row["system"], "aspect": "coverage",
            "annotator": f"x{k}{EVIL}", "value": 1 + (n + k) % 5,
        }
        for n, row in enumerate(rows)
        for k in range(2)
    ]  # fmt: skip
    write_jsonl(Path("labels.jsonl"), labels)
    support = [
        {
            "eid": row["eid"], "system": row["system"], "aspect": "support", "unit": unit,
            "protocol": "binary", "judge": f"j{EVIL}", "value": n % 2, "raw": EVIL,
            "scored_by": "llm", "signature": EVIL,
        }
        for n, row in enumerate(rows)
        for unit in (f"article:{row['eid']}{k}" for k in range(4))
    ]  # fmt: skip
    write_jsonl(Path("support.jsonl"), support)
    words = {f"a{EVIL}": ["she"], f"b{EVIL}": ["he"]}
    Path("words.json").write_text(json.dumps(words), "utf-8")
    replies = [
        {"eid": eid, "system": EVIL, "aspect": EVIL, "judge": EVIL, "response": reply}
        for eid in EIDS
        for reply in (EVIL, f"Verdict: 9{EVIL}")
    ]
    write_jsonl(Path("replies.jsonl"), replies)
    write_jsonl(Path("broken.jsonl"), [rows[0], rows[0], {EVIL: 1}, {**rows[0], "system": {}}])


def test_no_command_prints_control_characters_of_names(cli, server, inputs):
    def answer(call):
        reply = journalist(call)
        return (
            "Verdict: A"
            if reply.startswith("Some reasons.")
            and "<summary " in text_of(call)
            and (text_of(call).count("<summary ") == 2)
            else reply
        )

    server.answer = answer
    pairs = [{"likert": "pairwise", "judgements.jsonl": "pairs.jsonl"}.get(a, a) for a in
             judging(server)]  # fmt: skip
    sides = ("clusters.jsonl", "--summaries", "summaries.jsonl", "--attribute", "side")
    few = ("--resamples", "100")
    scorer = ("--scorer", "judgements:support.jsonl")
    all_kinds = (
        "judgements.jsonl", "pairs.jsonl", "support.jsonl", "labels.jsonl", "references.jsonl",
        "summaries.jsonl", "coverage.json", "shares.json", "measured.json",
    )  # fmt: skip
    labelled = ("--labels", "labels.jsonl")
    work = ("clusters.jsonl", "--summaries", "summaries.jsonl")
    scale = ("--protocol", "likert", "--scale", "1-5")
    commands: list[tuple[int, tuple[str, ...]]] = [
        (0, judging(server)),
        (0, building(server)),
        (0, ("summarize", "clusters.jsonl", "-o", "made.jsonl", *openai(server))),
        (0, ("batch", "plan", *judging(server)[1:-2])),
        (0, tuple(pairs)),
        (0, ("calibrate", "judgements.jsonl", *labelled, "--save", "c.json", "--html", "c.html")),
        (0, ("calibrate", "apply", "c.json", "judgements.jsonl", "-o", "applied.jsonl")),
        (0, ("audit", "parse", "judgements.jsonl")),
        (0, ("audit", "position", "pairs.jsonl")),
        (0, ("audit", "length", "pairs.jsonl", "--summaries", "summaries.jsonl")),
        (0, ("audit", "covered", "support.jsonl", "--references", "references.jsonl")),
        (0, ("fairness", "proportional", *sides, "--json", "shares.json")),
        (0, ("fairness", "coverage", *sides, *scorer, "--json", "coverage.json")),
        (0, ("fairness", "overall", "coverage.json")),
        (0, ("fairness", "compare", "coverage.json", "--baseline", SYSTEMS[0])),
        (1, ("fairness", "compare", "coverage.json", "--baseline", EVIL)),
        (1, ("fairness", "coverage", *sides[:-1], EVIL, *scorer)),
        (0, ("bias", "words", *work, *few, "--lists", "words.json", "--json", "measured.json")),
        (0, ("fairness", "split", "summaries.jsonl", "-o", "units.jsonl")),
        (0, ("annotate", "references.jsonl", "--task", "coverage", *work[1:], "-o", "l.jsonl",
             "--dry-run")),
        (0, ("data", "import", "judgements.jsonl", "-o", "imported.jsonl", *scale)),
        (3, ("data", "import", "replies.jsonl", "-o", "imported.jsonl", *scale)),
        (0, ("report", *all_kinds, "-o", "r.html")),
        (1, ("judge", "--references", "references.jsonl", "--summaries", "broken.jsonl",
             "--aspect", "faithfulness", "--protocol", "likert", "-o", "j.jsonl")),
        (0, ("judge", "--references", "references.jsonl", "--summaries", "broken.jsonl",
             "--aspect", "faithfulness", "--protocol", "likert", *openai(server), "--skip-bad",
             "-o", "j.jsonl")),
    ]  # fmt: skip
    outside = {path for path in Path("..").resolve().rglob("*") if "cache" not in path.parts}
    for code, command in commands:
        result = cli(*command)
        assert result.code == code, (command, result.err)
        output = result.out + result.err
        assert not CONTROLS.search(output), (command, repr(CONTROLS.search(output)))
    new = {path for path in Path("..").resolve().rglob("*") if "cache" not in path.parts} - outside
    assert {path.parent for path in new if path.is_file()} == {Path.cwd()}
    for page in ("c.html", "r.html"):
        tags = Tags()
        tags.feed(Path(page).read_text("utf-8"))
        assert not {"img", "iframe", "object", "embed", "link", "base"} & tags.names
        assert not [name for name in tags.attributes if name.startswith("on")]


@pytest.mark.parametrize(
    "reply",
    [
        f"{EVIL} Verdict: 11",
        Reply(text=None, refusal=EVIL),
        Fault(status=400, message=EVIL, code=EVIL),
        Fault(body=json.dumps({"error": EVIL, EVIL: [EVIL]}).encode()),
    ],
    ids=["off the scale", "refusal", "400", "no reply"],
)
def test_no_command_prints_control_characters_of_replies(cli, server, inputs, reply):
    server.answer = lambda call: reply
    tolerance = ("--max-unscored", "1")
    at_once = ("--concurrency", "40", "--max-wait", "1")  # what is no reply is asked for again
    for command in (
        (*judging(server), *at_once),
        (*building(server), *at_once),
        ("summarize", "clusters.jsonl", "-o", "made.jsonl", *openai(server), *at_once),
        ("fairness", "split", "summaries.jsonl", "-o", "units.jsonl", *openai(server), *at_once),
    ):
        result = cli(*command, *(() if "split" in command else tolerance))
        assert result.code in {0, 3}, result.err
        assert not CONTROLS.search(result.out + result.err), command


@pytest.mark.parametrize("target", ["-o", "--json"])
def test_data_on_a_terminal_is_ascii(inputs, target):
    ours, theirs = pty.openpty()
    options = ("-o", "imported.jsonl") if target == "--json" else ()
    scale = ("--protocol", "likert", "--scale", "1-5", "--max-unscored", "1")
    process = start_interpreter(
        "data", "import", "replies.jsonl", *options, *scale, target, "-", stdout=theirs
    )
    os.close(theirs)
    output = b""
    try:
        while part := os.read(ours, 65_536):
            output += part
    except OSError:  # how Linux says that the other end is closed
        pass
    process.communicate(timeout=300)
    os.close(ours)
    assert process.returncode == 0
    assert b"owned" in output
    assert not CONTROLS.search(output.replace(b"\r\n", b"\n").decode("latin-1"))
