"""A server on loopback that speaks the wire formats of model providers and fails on demand.

It answers each call with the result of `StubServer.answer`, over persistent connections unless
`StubServer.keeps_open` is False. `StubServer.fail` queues faults, of which each call consumes one
before any answer. Every call is stored with its headers and body.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Call:
    """One request as received."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Reply:
    """A model's reply: text or refusal; ``logprobs`` as OpenAI's ``content`` list."""

    text: str | None = "Score: 3"
    finish_reason: str = "stop"
    refusal: str | None = None
    logprobs: list[dict[str, Any]] | None = None
    input_tokens: int = 11
    output_tokens: int = 7
    usage: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Fault:
    """The failure of a call: a status with its body, or a broken connection."""

    status: int | None = None
    message: str = "no"
    code: str | None = None
    param: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    broken: str | None = None
    """``stall`` (until the server closes), ``reset``, ``truncate`` or ``garbage``."""
    body: bytes | None = None
    """Sent as it is, with 200 where there is no status."""


class StubServer:
    """A server in a thread until `close`; ``url`` is ``http://127.0.0.1:<port>``."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.answer: Callable[[Call], Any] = lambda call: Reply()
        self.keeps_open = True
        self._faults: deque[Fault] = deque()
        self._lock = threading.Lock()
        self.errors: list[BaseException] = []
        self.closing = threading.Event()
        self._http = _Server(("127.0.0.1", 0), _Handler)
        self._http.stub = self
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        self.v1 = f"{self.url}/v1"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,))
        self._thread.start()

    def fail(self, *faults: Fault) -> None:
        """Make the next calls fail with `faults`, in order."""
        self._faults.extend(faults)

    def close(self) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(5)

    def receive(self, call: Call) -> Fault | Any:
        with self._lock:
            self.calls.append(call)
            if self._faults:
                return self._faults.popleft()
        return self.answer(call)


class _Server(ThreadingHTTPServer):
    stub: StubServer
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Store exceptions of a test's `answer`; ignore clients that disconnect, as tests do."""
        error = sys.exception()
        if error is not None and not isinstance(error, OSError):
            self.stub.errors.append(error)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:
        if self.path == "/v1/models":
            listed = [{"id": "stub-model", "object": "model", "created": 0, "owned_by": "stub"}]
            self._send(200, {"object": "list", "data": listed})
        else:
            self._send(404, {"error": {"message": "no such page"}})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        call = Call(path=self.path, headers=headers, body=json.loads(raw))
        answer = self.server.stub.receive(call)
        if isinstance(answer, Fault):
            self._go_wrong(call, answer)
        else:
            azure = "/openai/deployments/" in self.path  # the model in the path, not the body
            render = _chat_completion if azure else _RENDER[self.path]
            self._send(200, render(call, answer))

    def _go_wrong(self, call: Call, fault: Fault) -> None:
        if fault.body is not None:
            headers = {"content-type": "application/json", **fault.headers}
            self._start(fault.status or 200, len(fault.body), headers)
            self.wfile.write(fault.body)
            return
        if fault.status is not None:
            error = {
                "message": fault.message,
                "type": "invalid_request_error",
                "code": fault.code,
                "param": fault.param,
            }
            self._send(fault.status, {"type": "error", "error": error}, fault.headers)
            return
        self.close_connection = True
        if fault.broken == "stall":
            self.server.stub.closing.wait(30)
        elif fault.broken == "reset":
            # SO_LINGER with zero seconds: closing sends RST instead of FIN.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
        elif fault.broken == "truncate":
            whole = json.dumps(_RENDER[call.path](call, Reply())).encode()
            self._start(200, len(whole), {})
            self.wfile.write(whole[: len(whole) // 2])
        elif fault.broken == "garbage":
            page = b"<html>Welcome to the hotel's network</html>"
            self._start(200, len(page), {"content-type": "text/html"})
            self.wfile.write(page)

    def _send(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        data = json.dumps(body).encode()
        self._start(status, len(data), headers or {})
        self.wfile.write(data)

    def _start(self, status: int, length: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"content-type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(length))
        if not self.server.stub.keeps_open:
            self.send_header("connection", "close")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Log nothing."""


def _as_reply(answer: Any) -> Reply:
    return Reply(text=answer) if isinstance(answer, str) else answer


def _chat_completion(call: Call, answer: Any) -> dict[str, Any]:
    reply = _as_reply(answer)
    message = {"role": "assistant", "content": reply.text, "refusal": reply.refusal}
    choice: dict[str, Any] = {
        "index": 0,
        "message": message,
        "finish_reason": reply.finish_reason,
        "logprobs": None if reply.logprobs is None else {"content": reply.logprobs},
    }
    return {
        "id": "chatcmpl-stub",
        "object": "chat.completion",
        "created": 0,
        "model": f"{call.body['model']}-2026-01-01",
        "choices": [choice],
        "usage": {
            "prompt_tokens": reply.input_tokens,
            "completion_tokens": reply.output_tokens,
            "total_tokens": reply.input_tokens + reply.output_tokens,
            **reply.usage,
        },
    }


def _message(call: Call, answer: Any) -> dict[str, Any]:
    reply = _as_reply(answer)
    stop_reason = {"stop": "end_turn", "length": "max_tokens"}.get(
        reply.finish_reason, reply.finish_reason
    )
    details = None
    if reply.refusal is not None:
        stop_reason = "refusal"
        details = {"type": "refusal", "category": None, "explanation": reply.refusal}
    return {
        "id": "msg_stub",
        "type": "message",
        "role": "assistant",
        "model": f"{call.body['model']}-20260101",
        "content": [] if reply.text is None else [{"type": "text", "text": reply.text}],
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "stop_details": details,
        "usage": {
            "input_tokens": reply.input_tokens,
            "output_tokens": reply.output_tokens,
            **reply.usage,
        },
    }


def _uniform(n: int) -> list[float]:
    return [1 / n] * n


def _systemone(call: Call, answer: Any) -> dict[str, Any]:
    """Return the body; `answer` maps questions to the options' probabilities, or None to refuse."""
    fields = answer if isinstance(answer, dict) else {}
    answers = {}
    for name, question in call.body["questions"].items():
        kind, criteria = question["type"], question.get("criteria")
        p = fields.get(name, _uniform(2 if kind == "noul" else len(criteria)))
        if p is None:
            continue
        if kind == "noul":
            answers[name] = {"type": "noul", "noul": p[0]}
        elif kind == "choice":
            by_option = dict(zip(criteria, p, strict=True))
            answers[name] = {
                "type": "choice",
                "choice": max(by_option, key=by_option.get),
                "confidence": 0.5,
                "probabilities": by_option,
            }
        else:
            answers[name] = {
                "type": "score",
                "score": sum(level * share for level, share in enumerate(p)),
                "legend": {str(level): text for level, text in enumerate(criteria)},
                "confidence": 0.5,
                "probabilities": {str(level): share for level, share in enumerate(p)},
            }
    return {
        "model": f"{call.body['model']}-1.0",
        "answers": answers,
        "usage": {"input_tokens": 11, "output_tokens": 0},
    }


def _decisions(call: Call, answer: Any) -> dict[str, Any]:
    """Return the body as `_systemone` does, in the format of OpenAI's Decisions API."""
    fields = answer if isinstance(answer, dict) else {}
    answers = []
    for question in call.body["questions"]:
        kind = question["type"]
        options = question.get("choices") or question.get("levels") or (True, False)
        p = fields.get(question["name"], _uniform(len(options)))
        if p is None:
            by_name: dict[str, Any] = {"type": "refusal", "refusal": "not about this"}
        elif kind == "predicate":
            by_name = {"type": kind, "probability": p[0]}
        elif kind == "choice":
            listed = [
                {"value": option["value"], "probability": share}
                for option, share in zip(options, p, strict=True)
            ]
            best = max(listed, key=lambda answer: answer["probability"])["value"]
            by_name = {"type": kind, "choice": best, "confidence": 0.5, "probabilities": listed}
        else:
            listed = [
                {"value": level, "label": option["label"], "probability": share}
                for level, (option, share) in enumerate(zip(options, p, strict=True))
            ]
            by_name = {"type": kind, "score": 0.0, "confidence": 0.5, "probabilities": listed}
        answers.append({"name": question["name"], **by_name})
    return {
        "id": "dec_stub",
        "object": "decision",
        "model": f"{call.body['model']}-2026-09-01",
        "answers": answers,
        "usage": {"input_tokens": 11, "output_tokens": 0},
    }


_RENDER: dict[str, Callable[[Call, Any], dict[str, Any]]] = {
    "/v1/chat/completions": _chat_completion,
    "/v1/messages": _message,
    "/v1/systemone": _systemone,
    "/v1/decisions": _decisions,
}
