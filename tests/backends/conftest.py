from __future__ import annotations

from collections.abc import Iterator

import pytest
from stub_server import StubServer

from fairjudge.protocols import CompletionRequest, Message, ModelRef


@pytest.fixture
def stub() -> Iterator[StubServer]:
    server = StubServer()
    yield server
    server.close()


@pytest.fixture
def ask():
    """Make a request; keyword arguments replace fields, `text` the user's message."""

    def make(target: ModelRef, text: str = "Rate the summary.", **fields) -> CompletionRequest:
        return CompletionRequest(
            target=target, messages=(Message(role="user", content=text),), **fields
        )

    return make


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the caller's environment out: no keys, servers, proxies or tracing."""
    for name in (
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "OPENAI_API_BASE",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        "ANTHROPIC_AUTH_TOKEN",
        "LANGSMITH_TRACING",
        "LANGSMITH_GATEWAY",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "http_proxy",
        "https_proxy",
        "all_proxy",
    ):
        monkeypatch.delenv(name, raising=False)
