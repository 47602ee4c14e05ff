from __future__ import annotations

import shutil

import pytest
from command_fixtures import no_keys
from raw_server import certify

from fairjudge.backends import open_backend
from fairjudge.ports import CompletionRequest, Message, ModelRef

__all__ = ["ask", "no_keys"]


@pytest.fixture
def ask():
    """Make a request; keyword arguments replace fields, `text` the user's message."""

    def make(target: ModelRef, text: str = "Rate the summary.", **fields) -> CompletionRequest:
        return CompletionRequest(
            target=target, messages=(Message(role="user", content=text),), **fields
        )

    return make


@pytest.fixture
async def backend(target):
    """Yield the backend of the test's `target`."""
    opened = open_backend(target, timeout_seconds=60)
    yield opened
    await opened.aclose()


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    if shutil.which("openssl") is None:
        pytest.skip("needs the program openssl")
    return certify(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def trusting(certificate, monkeypatch):
    """Make clients trust the certificate of `tls_server`; return it."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    return certificate
