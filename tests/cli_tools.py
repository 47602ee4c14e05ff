"""Running the commands as users do, against a server on loopback that answers every prompt."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stub_server import Call, StubServer


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    def rows(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


def start(*args: object, **kwargs: Any) -> subprocess.Popen[str]:
    """Start a command as a process of its own."""
    options: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    command = [sys.executable, "-m", "fairjudge", *map(str, args)]
    return subprocess.Popen(command, env=dict(os.environ), **options | kwargs)


def finish(process: subprocess.Popen[str], *, timeout: float = 400) -> Done:
    """Wait for a started command."""
    out, err = process.communicate(timeout=timeout)
    assert "Traceback" not in err, err
    return Done(process.returncode, out, err)


def write_jsonl(path: Path, rows: Sequence[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def text_of(call: Call) -> str:
    """Return the whole prompt of a call, without its mark."""
    return "\n".join(message["content"] for message in call.body["messages"])


def prompts_of(server: StubServer) -> Counter[str]:
    """Return how often each prompt was sent."""
    return Counter(text_of(call) for call in server.calls)


CAUSES = ("the heavy rain of the past weeks", "the cracks", "the city council")
"""Each stands in every `article`: what does not is left out of references."""


def journalist(call: Call) -> str:
    """Answer any of the library's prompts; the same prompt always gets the same answer."""
    text = text_of(call)
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
    if "Verdict" not in text:
        return "The bridge closed. Nobody was hurt."
    score = int(hashlib.sha256(text.encode()).hexdigest(), 16) % 5 + 1
    return f"Some reasons.\nVerdict: {score}"


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
    """Return the options that name the server."""
    return ("--backend", "openai:stub-model", "--base-url", server.v1)


def building(server: StubServer, *, concurrency: int = 4) -> tuple[str, ...]:
    options = ("--consolidation", "llm", "--concurrency", str(concurrency))
    return ("build", "clusters.jsonl", "-o", "refs.jsonl", *openai(server), *options)


def judging(server: StubServer, *, concurrency: int = 4) -> tuple[str, ...]:
    inputs = ("--references", "references.jsonl", "--summaries", "summaries.jsonl")
    asked = ("--aspect", "coverage", "--protocol", "likert", "--concurrency", str(concurrency))
    return ("judge", *inputs, *asked, *openai(server), "-o", "judgements.jsonl")
