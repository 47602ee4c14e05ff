"""The last step before a model: marks untrusted text that is sent, takes keys out of replies.

Some servers repeat the key that they were sent; nothing that they say is kept before this.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TypeVar

from fairjudge.backends.ports import AnyRequest, Ask, Middleware, Reply, Request
from fairjudge.ports import (
    Completion,
    CompletionRequest,
    DecisionRefusal,
    DecisionRequest,
    TokenAlternatives,
)
from fairjudge.prompting import seal

Sent = TypeVar("Sent", CompletionRequest, DecisionRequest, AnyRequest)

_LEAST_LENGTH = 8
"""Servers of one's own take ``x`` or ``none`` for a key: words that replies may well hold."""
_LIKE_A_KEY = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"(?:sk|csk|gsk|xai|pplx|nvapi|hf|r8|ghp|glpat)[-_][A-Za-z0-9_-]*?"
    r"(?=[A-Za-z]*\d)[A-Za-z0-9]{16,}"
    r"|AIza[A-Za-z0-9_-]{30,}"  # Google
    r"|eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"  # a JSON web token
    r")"
)
"""How providers begin their keys; ids, such as those of accounts, and names do not look so."""
_NAMES = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")


class Guarding(Middleware):
    """Seals the fences of each request with `secret`, and takes `keys` out of each reply.

    Belongs inside the cache, whose keys are those of requests that are not sealed yet: replies that
    were kept, recorded or brought along are found whatever the secret was.
    """

    def __init__(self, *, secret: bytes, keys: Sequence[str] = ()) -> None:
        self._secret = secret
        self._keys = keys

    async def answer(self, request: Request, ask: Ask[Request, Reply]) -> Reply:
        """See `Middleware`."""
        reply = await ask(sealed(request, self._secret))
        return redacted(reply, self._keys) if self._keys else reply


def sealed(request: Sent, secret: bytes) -> Sent:
    """Return `request` as it is sent."""
    return request.model_copy(update={"messages": seal(request.messages, secret)})


def keys_in_environment(variable: str | None = None) -> tuple[str, ...]:
    """Return the key in `variable`, or where that is None whatever is named like a key."""
    names = [variable] if variable else [name for name in os.environ if name.endswith(_NAMES)]
    given = {os.environ.get(name, "").strip() for name in names}
    return tuple(sorted((key for key in given if len(key) >= _LEAST_LENGTH), key=len, reverse=True))


def holds_key(text: str) -> bool:
    """Say whether `text` holds a key of the environment, or what is written like a provider's."""
    return any(key in text for key in keys_in_environment()) or bool(_LIKE_A_KEY.search(text))


def redacted(reply: Reply, keys: Sequence[str]) -> Reply:
    """Return `reply` with ``[key]`` wherever it holds one of `keys`.

    Tokens are left out of such a reply, and of one whose tokens and their alternatives spell a key.
    """
    if isinstance(reply, Completion):
        return _completion(reply, keys)
    answers = {
        name: DecisionRefusal(why=_without(keys, answer.why) or "")
        if isinstance(answer, DecisionRefusal)
        else answer
        for name, answer in reply.answers.items()
    }
    served_model = _without(keys, reply.served_model)
    return reply.model_copy(update={"answers": answers, "served_model": served_model})


def _completion(reply: Completion, keys: Sequence[str]) -> Completion:
    changes = {
        "text": _without(keys, reply.text),
        "served_model": _without(keys, reply.served_model),
    }
    spelled = any(_spells(reply.tokens or (), key) for key in keys)
    if not spelled and changes == {"text": reply.text, "served_model": reply.served_model}:
        return reply
    return reply.model_copy(update={**changes, "tokens": None})


def _without(keys: Sequence[str], text: str | None) -> str | None:
    for key in keys:
        text = text and text.replace(key, "[key]")
    return text


def _spells(tokens: Sequence[TokenAlternatives], key: str) -> bool:
    """Say whether `key` stands in tokens or alternatives, in one or over several that follow."""
    matched: set[int] = set()
    for place in tokens:
        texts = {place.token, *place.logprobs}
        if any(key in text or _ends(text, key, matched) for text in texts):
            return True
        matched = {n for text in texts for n in _begun(text, key, matched)}
    return False


def _ends(text: str, key: str, matched: set[int]) -> bool:
    return any(text.startswith(key[n:]) for n in matched)


def _begun(text: str, key: str, matched: set[int]) -> set[int]:
    """Return how much of `key` stands at the end of `text`, or of what came before with it."""
    going_on = {n + len(text) for n in matched if key.startswith(text, n)}
    return going_on | {n for n in range(1, min(len(text), len(key)) + 1) if text.endswith(key[:n])}
