"""A small labelling job, its server in its own process, and an annotator without a browser."""

from __future__ import annotations

import functools
import json
import re
import signal
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from cli_tools import start, write_jsonl
from forked_commands import ForkedCommand

HOSTILE = "<script>document.title='taken over'</script><img src=x onerror=\"alert(1)\">"
SUMMARY = "The bridge closed on Monday. The council blames the rain. Nobody was hurt."

PATIENCE_SECONDS = 120
"""A machine that is busy answers late; nothing that works is waited for so long."""
get = functools.partial(httpx.get, timeout=PATIENCE_SECONDS)
post = functools.partial(httpx.post, timeout=PATIENCE_SECONDS)

OPEN: list[httpx.Client] = []
RUNNING: list[ForkedCommand] = []
"""What a test may leave behind, also when it fails."""


def close_clients() -> None:
    while OPEN:
        OPEN.pop().close()


def kill_servers() -> None:
    while RUNNING:
        process = RUNNING.pop()
        if process.poll() is None:
            process.kill()
            process.communicate(timeout=PATIENCE_SECONDS)


def article(aid: str) -> dict[str, str]:
    return {
        "aid": aid,
        "title": f"Bridge closed {HOSTILE}",
        "domain": f"{aid}.example",
        "content": f"The old bridge closed on Monday, says {aid}. {HOSTILE}\n\n"
        "The city council blames the heavy rain of the past weeks.\n"
        f"Engineers of {aid} had warned about the cracks for many years.",
    }


def reference(eid: str, *, n_answers: int = 3) -> dict[str, Any]:
    articles = [article(f"{eid}-{n}") for n in range(3)]
    answers = ["the heavy rain of the past weeks", "the cracks", f"the {HOSTILE} council"]
    groups = [[{"aid": articles[n % 3]["aid"], "answer": answers[n % 3]}] for n in range(n_answers)]
    question = {"question": "Why did the bridge close?", "answer_groups": groups}
    return {"eid": eid, "articles": articles, "question_answers": [question]}


def write_world(
    folder: Path, *, n_clusters: int = 2, systems: tuple[str, ...] = ("x", "y")
) -> None:
    """Write references.json and summaries.jsonl: 3 answers per cluster, 3 sentences per summary."""
    references = [reference(f"e{n}") for n in range(n_clusters)]
    (folder / "references.json").write_text(json.dumps(references), "utf-8")
    write_jsonl(
        folder / "summaries.jsonl",
        [
            {"eid": f"e{n}", "system": f"secret-{system}", "text": f"{SUMMARY} {HOSTILE}"}
            for n in range(n_clusters)
            for system in systems
        ],
    )


@dataclass
class Server:
    """A running ``fairjudge annotate``."""

    process: ForkedCommand
    url: str
    progress: str
    output: list[str] = field(default_factory=list)

    def interrupt(self) -> str:
        """Interrupt the command as Ctrl-C does, and return its last output."""
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=PATIENCE_SECONDS)
        assert self.process.returncode == 0, err
        return out

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=PATIENCE_SECONDS)


def serve(folder: Path, *arguments: str, task: str = "coverage") -> Server:
    """Start the command in `folder` on a free port of loopback, and wait until it serves."""
    command = ("annotate", "references.json", "--task", task, "-o", "labels.jsonl", "--port", "0")
    options = () if task == "answers" else ("--summaries", "summaries.jsonl")
    process = start(*command, *options, *arguments, cwd=folder)
    RUNNING.append(process)
    texts: list[str] = []
    by_name: dict[str, str] = {}
    assert process.stdout is not None
    while len(by_name) < 2:
        line = process.stdout.readline()
        if not line:
            out, err = process.communicate(timeout=PATIENCE_SECONDS)
            raise AssertionError(f"the server did not start: {texts} {out} {err}")
        texts.append(line)
        match = re.match(r"(Label|Progress) at\s+(\S+)", line)
        if match:
            by_name[match[1]] = match[2]
    return Server(process, by_name["Label"], by_name["Progress"], texts)


class Annotator:
    """An annotator that labels with plain requests, as the page's forms do."""

    def __init__(self, url: str, name: str) -> None:
        self.http = httpx.Client(base_url=url, follow_redirects=True, timeout=PATIENCE_SECONDS)
        OPEN.append(self.http)
        self.page = self.http.post("/sign-in", data={"name": name})

    @property
    def csrf(self) -> str:
        return re.search(r'name="csrf" value="(\w+)"', self.page.text)[1]  # type: ignore[index]

    @property
    def position(self) -> int | None:
        match = re.search(r'name="position" value="(\d+)"', self.page.text)
        return int(match[1]) if match else None

    def send(self, path: str, **fields: object) -> httpx.Response:
        data = {"csrf": self.csrf, "position": self.position} | fields
        self.page = self.http.post(path, data={k: str(v) for k, v in data.items()})
        return self.page

    def label(self, level: int, **fields: object) -> httpx.Response:
        return self.send("/label", level=int(level), **fields)


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
