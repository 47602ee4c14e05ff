"""A server on loopback that writes what it likes, byte by byte: what no HTTP library would send."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, BinaryIO


@dataclass
class Line:
    """One connection: `read` the next request's body, None at the end; `write` bytes."""

    connection: socket.socket
    file: BinaryIO
    closing: threading.Event

    def read(self) -> Any:
        length = 0
        while (line := self.file.readline()) not in {b"\r\n", b""}:
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        return json.loads(self.file.read(length)) if line else None

    def write(self, data: bytes) -> None:
        self.connection.sendall(data)


@dataclass
class RawServer:
    """Keeps what was asked; ``url`` ends in ``/v1``."""

    url: str
    asked: list[Any] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)


@contextmanager
def raw_server(serve: Callable[[RawServer, Line], None]) -> Iterator[RawServer]:
    """Let `serve` talk on every connection, each in a thread."""
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listening:
        server = RawServer(f"http://127.0.0.1:{listening.getsockname()[1]}/v1")
        opened: list[socket.socket] = []

        def talk(connection: socket.socket) -> None:
            with suppress(OSError), connection, connection.makefile("rb") as file:
                serve(server, Line(connection, file, server.closing))

        def accept() -> None:
            with suppress(OSError):
                while True:
                    connection = listening.accept()[0]
                    opened.append(connection)
                    threading.Thread(target=talk, args=(connection,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield server
        server.closing.set()
        for connection in opened:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


def http(body: bytes, *, status: str = "200 OK", headers: str = "") -> bytes:
    """Return a whole reply."""
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\n{headers}"
    return f"{head}content-length: {len(body)}\r\n\r\n".encode() + body


def chat(text: str, *, name: str | None = "x", **fields: Any) -> bytes:
    """Return the body of a chat completion; ``usage``, ``message`` and others replace its own."""
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"} | fields.pop("choice", {})
    usage = {"prompt_tokens": 5, "completion_tokens": 2}
    whole = {"id": name, "model": "m", "choices": [choice], "usage": usage} | fields
    return json.dumps(whole).encode()


def number_of(body: Any) -> str:
    """Return the number that a prompt ``item <n>`` asks about."""
    return re.findall(r"item (\d+)", body["messages"][-1]["content"])[0]
