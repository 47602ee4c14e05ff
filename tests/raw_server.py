"""A server on loopback that writes arbitrary bytes, which no HTTP library would send."""

from __future__ import annotations

import json
import re
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO


@dataclass
class Line:
    """One connection; `read` returns the next request's body, or None at the end."""

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
    """The server's URL, which ends in ``/v1``, and the received requests."""

    url: str
    requests: list[Any] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)


@contextmanager
def raw_server(
    serve: Callable[[RawServer, Line], None], *, tls: ssl.SSLContext | None = None
) -> Iterator[RawServer]:
    """Run `serve` on every connection, each in a thread; with TLS if there is a context."""
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listening:
        scheme = "http" if tls is None else "https"
        server = RawServer(f"{scheme}://127.0.0.1:{listening.getsockname()[1]}/v1")
        opened: list[socket.socket] = []

        def talk(connection: socket.socket) -> None:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with suppress(OSError), connection:
                talking = connection if tls is None else tls.wrap_socket(connection, True)
                opened.append(talking)
                with talking, talking.makefile("rb") as file:
                    serve(server, Line(talking, file, server.closing))

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


def certify(folder: Path) -> Path:
    """Create a key and a self-signed certificate for 127.0.0.1, in one file."""
    file = folder / "server.pem"
    items = [
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
    ]
    names = ["-addext", "subjectAltName=IP:127.0.0.1", "-out", "cert.pem", "-keyout", "key.pem"]
    subprocess.run(["openssl", *items, *names], check=True, cwd=folder, capture_output=True)
    file.write_bytes(b"".join((folder / part).read_bytes() for part in ("key.pem", "cert.pem")))
    return file


@contextmanager
def tls_server(serve: Callable[[RawServer, Line], None], certificate: Path) -> Iterator[RawServer]:
    """Run a `raw_server` with TLS and a certificate of `certify`."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with raw_server(serve, tls=context) as server:
        yield server


def http(body: bytes, *, status: str = "200 OK", headers: str = "") -> bytes:
    """Return a complete HTTP response."""
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\n{headers}"
    return f"{head}content-length: {len(body)}\r\n\r\n".encode() + body


def chat(text: str, *, name: str | None = "x", **fields: Any) -> bytes:
    """Return the body of a chat completion; keyword arguments such as ``usage`` replace fields."""
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"} | fields.pop("choice", {})
    usage = {"prompt_tokens": 5, "completion_tokens": 2}
    whole = {"id": name, "model": "m", "choices": [choice], "usage": usage} | fields
    return json.dumps(whole).encode()


def message(text: str) -> bytes:
    """Return the body of a message in Anthropic's format."""
    content = [{"type": "text", "text": text}]
    usage = {"input_tokens": 5, "output_tokens": 2}
    whole = {"id": "m", "model": "m", "content": content, "stop_reason": "end_turn"}
    return json.dumps(whole | {"usage": usage}).encode()


def number_of(body: Any) -> str:
    """Return the number in a prompt ``item <n>``."""
    return re.findall(r"item (\d+)", body["messages"][-1]["content"])[0]
