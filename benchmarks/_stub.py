"""A model server on loopback that answers after a fixed time, in its own process.

    python benchmarks/_stub.py [--latency 0.2] [--refuse-above N]

Prints its port and serves until its standard input ends, then prints its counts as JSON.
Above `--refuse-above` concurrent calls it answers 429.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from dataclasses import dataclass, field

_TEXT = "The summary follows the article closely and adds nothing of its own.\nVerdict: {}"


def _answer(status: str, body: object) -> bytes:
    data = json.dumps(body).encode()
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(data)}"
    return head.encode() + b"\r\n\r\n" + data


def _verdict(score: int) -> bytes:
    message = {"role": "assistant", "content": _TEXT.format(score), "refusal": None}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    usage = {"prompt_tokens": 2500, "completion_tokens": 20, "total_tokens": 2520}
    whole = {"id": "stub", "object": "chat.completion", "created": 0, "model": "stub"}
    return _answer("200 OK", {**whole, "choices": [choice], "usage": usage})


_VERDICTS = [_verdict(score) for score in range(1, 6)]
_REFUSAL = _answer("429 Too Many Requests", {"error": {"message": "slow down"}})


@dataclass(slots=True)
class Counts:
    """Counts of requests; times are seconds of a monotonic clock."""

    n_answered: int = 0
    n_refused: int = 0
    now: int = 0
    most: int = 0
    first_at: float = 0.0
    last_at: float = 0.0
    began: list[float] = field(default_factory=list)


class Connection(asyncio.Protocol):
    """The connection of one client, which sends one request at a time."""

    def __init__(self, counts: Counts, *, latency_seconds: float, refuse_above: int) -> None:
        self._counts = counts
        self._latency_seconds = latency_seconds
        self._refuse_above = refuse_above
        self._read = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer once a request is complete."""
        self._read += data
        end = self._read.find(b"\r\n\r\n")
        if end < 0:
            return
        head = bytes(self._read[:end]).lower()
        length = int(head.split(b"content-length: ")[1].split(b"\r\n")[0])
        if len(self._read) < end + 4 + length:
            return
        self._read.clear()
        self._begin(length)

    def _begin(self, length: int) -> None:
        counts, now = self._counts, time.perf_counter()
        counts.began.append(now)
        counts.first_at = counts.first_at or now
        if counts.now >= self._refuse_above:
            counts.n_refused += 1
            self._transport.write(_REFUSAL)  # type: ignore[attr-defined]
            return
        counts.now += 1
        counts.most = max(counts.most, counts.now)
        asyncio.get_running_loop().call_later(self._latency_seconds, self._end, length)

    def _end(self, length: int) -> None:
        counts = self._counts
        counts.now -= 1
        counts.n_answered += 1
        counts.last_at = time.perf_counter()
        self._transport.write(_VERDICTS[length % 5])  # type: ignore[attr-defined]


async def serve(latency_seconds: float, refuse_above: int) -> Counts:
    """Serve until standard input ends."""
    counts, loop = Counts(), asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: Connection(counts, latency_seconds=latency_seconds, refuse_above=refuse_above),
        "127.0.0.1",
        0,
        backlog=4096,
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()
    return counts


def main() -> None:
    """Read the arguments and serve."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--refuse-above", type=int, default=10**9)
    arguments = parser.parse_args()
    counts = asyncio.run(serve(arguments.latency, arguments.refuse_above))
    in_a_minute = most = 0
    for began in counts.began:
        while counts.began[in_a_minute] <= began - 60.0:
            in_a_minute += 1
        most = max(most, counts.began.index(began) - in_a_minute + 1)
    print(
        json.dumps(
            {
                "n_answered": counts.n_answered,
                "n_refused": counts.n_refused,
                "most_at_once": counts.most,
                "seconds": counts.last_at - counts.first_at,
                "most_in_a_minute": most,
            }
        )
    )


if __name__ == "__main__":
    main()
