"""Labels per second of the annotation page with 50 concurrent annotators, on loopback.

    python benchmarks/annotate_load.py [--annotators 50] [--seconds 15] [--pause 0]

Starts the real command on made-up data, signs the annotators in, and lets each label as a browser
would: send the form, follow to the next item's page, read it, send the next form. Prints labels per
second, the time from sending an answer until it is acknowledged (and on disk), and the time until
the next page is received. With --pause each annotator waits that many seconds (exponentially
distributed) between items. Finally the server is killed with SIGKILL, and the acknowledged answers
are compared with the labels file.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from _machine import describe_machine

from fairjudge.datasets.writers import write_jsonl

N_CLUSTERS = 200
SENTENCE = "The council of town {n} said on day {k} that the bridge would stay closed for repairs. "


@dataclass(slots=True)
class Times:
    """Seconds from a form to its acknowledgement and to the next page; acknowledged answers."""

    answered: list[float] = field(default_factory=list)
    shown: list[float] = field(default_factory=list)
    acknowledged: set[tuple[str, int]] = field(default_factory=set)


class Browser:
    """One connection that keeps a cookie."""

    def __init__(self, host: str, port: int) -> None:
        self.address = host, port
        self.cookie = ""

    async def request(self, method: str, path: str, form: dict[str, str] | None = None) -> str:
        """Send a request; return the body, or the target of a redirect."""
        body = urlencode(form or {}).encode()
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: {self.address[0]}:{self.address[1]}\r\n"
            f"Cookie: {self.cookie}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        self.writer.write(head.encode() + body)
        await self.writer.drain()
        headers = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        length = re.search(r"content-length: (\d+)", headers)
        text = (await self.reader.readexactly(int(length[1]) if length else 0)).decode()
        cookie = re.search(r"set-cookie: ([^;]+)", headers)
        if cookie:
            self.cookie = cookie[1]
        to = re.search(r"location: (\S+)", headers)
        return to[1] if to else text

    async def open(self) -> None:
        """Connect."""
        self.reader, self.writer = await asyncio.open_connection(*self.address, limit=2**22)


async def annotate(name: str, browser: Browser, until: float, pause: float, times: Times) -> None:
    """Label until the time is up or no item is left."""
    await browser.open()
    location = await browser.request("POST", "/sign-in", {"name": name})
    location = await browser.request("GET", location)
    page = await browser.request("GET", location)
    while time.perf_counter() < until and not location.endswith("end"):
        csrf = re.search(r'name="csrf" value="(\w+)"', page)
        if csrf is None:
            break
        await asyncio.sleep(random.expovariate(1 / pause) if pause else 0)
        number = location.rsplit("/", 1)[1]
        form = {"csrf": csrf[1], "position": number, "level": "1", "note": "", "seconds": "1"}
        begun = time.perf_counter()
        location = await browser.request("POST", "/label", form)
        times.answered.append(time.perf_counter() - begun)
        times.acknowledged.add((name, int(number)))
        page = await browser.request("GET", location)
        times.shown.append(time.perf_counter() - begun)


def write_data(folder: Path) -> None:
    """Write clusters of six articles, and five systems' summaries of twelve sentences."""
    clusters, summaries = [], []
    for n in range(N_CLUSTERS):
        articles = [
            {
                "aid": f"{n}-{a}",
                "title": f"Bridge {n}",
                "content": "\n".join(SENTENCE.format(n=n, k=k) * 3 for k in range(8)),
            }
            for a in range(6)
        ]
        clusters.append({"eid": f"e{n}", "articles": articles})
        text = "".join(SENTENCE.format(n=n, k=k) for k in range(12))
        summaries += [{"eid": f"e{n}", "system": f"s{s}", "text": text} for s in range(5)]
    (folder / "clusters.json").write_text(json.dumps(clusters), "utf-8")
    write_jsonl(folder / "summaries.jsonl", summaries)


def start(folder: Path) -> tuple[subprocess.Popen[str], str, int]:
    """Start the command; return its process, host and port."""
    command = "annotate clusters.json --task faithfulness --summaries summaries.jsonl"
    process = subprocess.Popen(
        [sys.executable, "-m", "fairjudge", *command.split(), "-o", "labels.jsonl", "--port", "0"],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    for line in process.stdout:
        print(line, end="")
        if line.startswith("Label at"):
            address = urlsplit(line.split()[2])
            return process, str(address.hostname), int(address.port or 0)
    raise SystemExit("the server did not start")


def quantiles(seconds: list[float]) -> str:
    """Return p50 and p99 in milliseconds."""
    ordered = sorted(seconds)
    p50, p99 = (1000 * ordered[int(q * (len(ordered) - 1))] for q in (0.5, 0.99))
    return f"p50 {p50:.1f} ms, p99 {p99:.1f} ms"


async def load(host: str, port: int, options: argparse.Namespace) -> tuple[Times, float]:
    """Let all annotators label concurrently; return their times and the wall-clock seconds."""
    times, begun = Times(), time.perf_counter()
    until = begun + options.seconds
    await asyncio.gather(
        *(
            annotate(f"p{n}", Browser(host, port), until, options.pause, times)
            for n in range(options.annotators)
        )
    )
    return times, time.perf_counter() - begun


def main() -> None:
    """Run the load test and print its results."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--annotators", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--pause", type=float, default=0.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_data(folder)
        process, host, port = start(folder)
        try:
            times, took = asyncio.run(load(host, port, options))
        finally:
            process.kill()
            process.communicate()
        stored = len((folder / "labels.jsonl").read_bytes().splitlines())
        print(describe_machine())
        print(f"{options.annotators} annotators, {took:.1f} s: {len(times.answered)} labels")
        print(f"{len(times.answered) / took:.0f} labels a second, each with its next page")
        print(f"acknowledged: {quantiles(times.answered)}; next page: {quantiles(times.shown)}")
        print(f"killed: {len(times.acknowledged)} acknowledged, {stored} in the labels file")


if __name__ == "__main__":
    main()
