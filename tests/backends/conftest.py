from __future__ import annotations

import pytest
from command_fixtures import no_keys

from fairjudge.protocols import CompletionRequest, Message, ModelRef

__all__ = ["ask", "no_keys"]


@pytest.fixture
def ask():
    """Make a request; keyword arguments replace fields, `text` the user's message."""

    def make(target: ModelRef, text: str = "Rate the summary.", **fields) -> CompletionRequest:
        return CompletionRequest(
            target=target, messages=(Message(role="user", content=text),), **fields
        )

    return make
