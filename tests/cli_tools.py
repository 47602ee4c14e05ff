"""Helpers that run commands as users do, with a server on loopback that answers every prompt."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from forked_commands import ForkedCommand
from stub_server import Call, StubServer
from waiting import MAX_SECONDS, wait_until


@dataclass(frozen=True)
class Done:
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str

    def rows(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


class Usual(str):
    """A default argument of a command line, which a later equal option overrides."""

    __slots__ = ()


def settled(args: Sequence[object]) -> list[str]:
    """Return a command line without the default options that are overridden."""
    words = list(args)
    for place in reversed(range(len(words))):
        word = words[place]
        if isinstance(word, Usual) and word.startswith("-") and word in words[place + 1 :]:
            del words[place : place + 2]
    return list(map(str, words))


Process: TypeAlias = subprocess.Popen[str] | ForkedCommand


def start(*args: object, cwd: object = ".", discard_output: bool = False) -> ForkedCommand:
    """Start a command in a process that already has the commands' imports."""
    return ForkedCommand(settled(args), cwd=cwd, discard_output=discard_output)


def start_interpreter(*args: object, **kwargs: Any) -> subprocess.Popen[str]:
    """Start a command as users do, in a new interpreter."""
    options: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    command = [sys.executable, "-m", "fairjudge", *settled(args)]
    return subprocess.Popen(command, env=dict(os.environ), **options | kwargs)


def finish(process: Process, *, timeout: float = 400) -> Done:
    """Wait for a started command."""
    out, err = process.communicate(timeout=timeout)
    assert "Traceback" not in err, err
    return Done(process.returncode, out, err)


def next_line(process: Process) -> str:
    """Return a command's next line on standard error; kill the command if there is none."""
    ending = threading.Timer(MAX_SECONDS, process.kill)
    ending.start()
    try:
        return process.stderr.readline()
    finally:
        ending.cancel()


def write_jsonl(path: Path, rows: Sequence[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def as_sent(call: Call) -> str:
    """Return the complete prompt of a call."""
    return "\n".join(message["content"] for message in call.body["messages"])


def text_of(call: Call) -> str:
    """Return the complete prompt of a call, without the fences, which differ between caches."""
    text = as_sent(call)
    return re.sub(r"^(</?\w+) [0-9a-f]{12}\b", r"\1 mark", text, flags=re.MULTILINE)


def prompts_of(server: StubServer) -> Counter[str]:
    """Count how often each prompt was sent."""
    return Counter(text_of(call) for call in server.calls)


CAUSES = ("the heavy rain of the past weeks", "the cracks", "the city council")
"""Each stands in every `article`: what does not is left out of references."""


def journalist(call: Call) -> str:
    """Answer any prompt of the library, deterministically."""
    text = text_of(call)
    reply = by_article(text)
    return _step_by_step(text) if reply is None else json.dumps(reply)


def _step_by_step(text: str) -> str:
    if '{"questions"' in text:
        return json.dumps({"questions": [f"What about matter number {n}?" for n in range(3)]})
    if '{"answers"' in text:
        kind = int(hashlib.sha256(text.encode()).hexdigest(), 16) % 3
        return json.dumps({"answers": [CAUSES[kind]]})
    if '{"groups"' in text:
        numbers = sorted({int(n) for n in re.findall(r"^<answer \w+ (\d+)>", text, re.MULTILINE)})
        return json.dumps({"groups": [g for g in (numbers[::2], numbers[1::2]) if g]})
    if '{"invalid"' in text:
        return json.dumps({"invalid": [], "diverse": True})
    if '"verdict"' not in text:
        return "The bridge closed. Nobody was hurt."
    score = int(hashlib.sha256(text.encode()).hexdigest(), 16) % 5 + 1
    return _checklist(text) if '{"entries"' in text else f"Some reasons.\nVerdict: {score}"


def by_article(text: str) -> dict[str, Any] | None:
    """Answer the prompts of the pipeline `article`; return None for others."""
    if '{"questions": [{' in text:
        articles = list(range(1, len(re.findall(r"^<article ", text, re.MULTILINE)) + 1))
        n = int(re.search(r"at most (\d+), those first", text)[1])
        names = ("rain", "cracks", "council", "age", "money", "repairs")[:n]
        answers = [{"answer": "It is to blame.", "articles": articles}]
        return {
            "questions": [
                {"question": f"What about the {w}?", "kind": "rivals", "answers": answers}
                for w in names
            ]
        }
    if '{"answers": [{' in text:
        kind = int(hashlib.sha256(text.encode()).hexdigest(), 16) % 3
        quotes = [*CAUSES[kind:], *CAUSES[:kind]]
        rest = {"speaker": None, "stance": "endorses", "gloss": None}
        return {"answers": [{"question": n, "quote": q, **rest} for n, q in enumerate(quotes, 1)]}
    if '{"sorted": [{' in text:
        return {"sorted": [_sorted(*item) for item in TO_QUESTION.findall(text)]}
    if '"articles": [{' in text:
        result = re.findall(r"; found before: ([\d, ]*)", text)
        says = [[int(n) for n in re.findall(r"\d+", numbers)] for numbers in result]
        rows = [{"article": n, "says": s, "added": []} for n, s in enumerate(says, 1)]
        return {"unsupported": [], "articles": rows}
    return None


TO_QUESTION = re.compile(
    r"^<answers \w+ to question (\d+)>\n(.*?)\n</answers ", re.DOTALL | re.MULTILINE
)


def _sorted(number: str, lines: str) -> dict[str, Any]:
    numbers = [int(n) for n in re.findall(r"^(\d+)\. \(", lines, re.MULTILINE)]
    groups = [g for g in (numbers[::2], numbers[1::2]) if g]
    listed = [
        {"label": f"cause {n}", "answers": g, "disputed_by": []} for n, g in enumerate(groups)
    ]
    rivals = [[1, 2]] if len(groups) > 1 else []
    return {"question": int(number), "groups": listed, "rivals": rivals, "invalid": []}


def _checklist(text: str) -> str:
    """Answer that every second group is covered, or every second sentence supported."""
    sentences = re.findall(r"^\[(\d+)\] (.+)$", text, re.MULTILINE)
    if sentences:
        return _statements([(int(n), said) for n, said in sentences])
    numbers = {int(n) for n in re.findall(r"^Group (\d+)\b", text, re.MULTILINE)}
    quotes = {number: "The bridge is closed." if number % 2 else "" for number in sorted(numbers)}
    entries = [
        {"group": n, "quote": quote, "wordings": [], "verdict": "covered" if quote else "no"}
        for n, quote in quotes.items()
    ]
    return json.dumps({"entries": entries})


def _statements(sentences: list[tuple[int, str]]) -> str:
    absent = {"articles": [], "quote": "", "verdict": "absent", "grave": True}
    by_name = {"articles": [1], "quote": "Bridge closed", "verdict": "supported", "grave": False}
    entries = [
        {"sentence": n, "statement": text, **(by_name if n % 2 else absent)}
        for n, text in sentences
    ]
    return json.dumps({"entries": entries})


def article(aid: str) -> dict[str, str]:
    return {
        "aid": aid,
        "title": f"Bridge closed, says {aid}",
        "domain": f"{aid}.example",
        "content": f"The old bridge closed on Monday, as the paper {aid} reports. "
        "The city council blames the heavy rain of the past weeks. "
        "Engineers had warned about the cracks for many years.",
    }


def cluster(eid: str = "bridge", n: int = 4) -> dict[str, Any]:
    return {"eid": eid, "articles": [article(f"{eid}{i}") for i in range(n)]}


def reference(eid: str = "bridge", n: int = 4) -> dict[str, Any]:
    answers = [[{"aid": f"{eid}{i}", "answer": f"Cause number {i}."}] for i in range(n)]
    questions = [{"question": "Why did the bridge close?", "answer_groups": answers}]
    return cluster(eid, n) | {"question_answers": questions}


def summary(system: str, eid: str = "bridge") -> dict[str, str]:
    text = f"The bridge is closed. {system} says that the rain did it."
    return {"eid": eid, "system": system, "text": text}


def openai(server: StubServer) -> tuple[str, ...]:
    """Return the command-line options for the server."""
    return ("--backend", "openai:stub-model", "--base-url", server.v1)


def building(
    server: StubServer, *, concurrency: int = 4, pipeline: str = "article"
) -> tuple[str, ...]:
    how = ("--pipeline", pipeline, "--consolidation", "llm")
    usual = ("-o", "refs.jsonl", *openai(server), *how, "--concurrency", str(concurrency))
    return ("build", "clusters.jsonl", *map(Usual, usual))


def judging(server: StubServer, *, concurrency: int = 4) -> tuple[str, ...]:
    inputs = ("--references", "references.jsonl", "--summaries", "summaries.jsonl")
    asked = ("--aspect", "coverage", "--protocol", "likert", "--concurrency", str(concurrency))
    usual = (*inputs, *asked, *openai(server), "-o", "judgements.jsonl")
    return ("judge", *map(Usual, usual))


class Gate:
    """A gate that lets some calls pass and blocks the others until it is opened."""

    def __init__(self, server, *, passing: int) -> None:
        self.n_held = 0
        self._left, self._lock, self._open = passing, threading.Lock(), threading.Event()
        server.answer = self._answer

    def _answer(self, call):
        with self._lock:
            self._left -= 1
            held = self._left < 0
            self.n_held += held
        if held:
            self._open.wait(2 * MAX_SECONDS)
        return journalist(call)

    def wait_for(self, n_held: int) -> None:
        wait_until(lambda: self.n_held >= n_held)

    def open(self) -> None:
        self._left = 10**9
        self._open.set()


WRITING = """\
[[summarize]]
model = "main"
system = "written"

"""
"""The table of a study that has summaries written."""
STUDY = f"""\
[data]
clusters = "clusters.jsonl"
summaries = "summaries.jsonl"
labels = "labels.jsonl"

[models.main]
backend = "openai:stub-model"
base_url = "{{url}}"

[build]
model = "main"
n_questions = 3
consolidation = "llm"

{WRITING}[[judge]]
name = "who"
model = "main"
aspect = "coverage"
protocol = "checklist"

[[judge]]
name = "faithful"
model = "main"
aspect = "faithfulness"
protocol = "likert"

[calibrate]
resamples = 200

[[fairness]]
attribute = "kind"
measures = ["proportional"]
"""
