"""The last middleware before a model: checks targets, marks untrusted text, redacts keys.

Some servers echo the key that they were sent; replies are stored only after this step.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TypeVar

from fairjudge.backends.ports import AnyRequest, Ask, Middleware, Reply, Request
from fairjudge.errors import ConfigurationError
from fairjudge.ports import (
    Completion,
    CompletionRequest,
    DecisionRefusal,
    DecisionRequest,
    ModelRef,
    TokenAlternatives,
)
from fairjudge.prompting import seal

Sent = TypeVar("Sent", CompletionRequest, DecisionRequest, AnyRequest)

_LEAST_LENGTH = 8
"""Minimum length of a key: local servers take ``x`` or ``none``, which occur in normal replies."""
_LIKE_A_KEY = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"(?:sk|csk|gsk|xai|pplx|nvapi|hf|r8|ghp|glpat)[-_][A-Za-z0-9_-]*?"
    r"(?=[A-Za-z]*\d)[A-Za-z0-9]{16,}"
    r"|AIza[A-Za-z0-9_-]{30,}"  # Google
    r"|eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"  # a JSON web token
    r")"
)
"""Forms of providers' keys, which ids and names do not have."""
_NAMES = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")


class Guarding(Middleware):
    """Seals the fences of each request to `target` with `secret`, and redacts `keys` in each reply.

    A request for another model or server raises `ConfigurationError`: its reply would be stored
    under a wrong key. Must be inside the cache, whose keys are those of unsealed requests, so that
    cached, recorded and imported replies are found under any secret.
    """

    def __init__(self, target: ModelRef, *, secret: bytes, keys: Sequence[str] = ()) -> None:
        self._target = target
        self._secret = secret
        self._keys = keys

    async def answer(self, request: Request, ask: Ask[Request, Reply]) -> Reply:
        """See `Middleware`."""
        if request.target != self._target:
            raise ConfigurationError(
                f"a request for {request.target} at {request.target.base_url} was given to the "
                f"backend of {self._target} at {self._target.base_url}"
            )
        reply = await ask(sealed(request, self._secret))
        return redacted(reply, self._keys) if self._keys else reply


def sealed(request: Sent, secret: bytes) -> Sent:
    """Return `request` with the marks of its fences inserted."""
    return request.model_copy(update={"messages": seal(request.messages, secret)})


def keys_in_environment(variable: str | None = None) -> tuple[str, ...]:
    """Return the key in `variable`, or all variables named like keys if it is None."""
    names = [variable] if variable else [name for name in os.environ if name.endswith(_NAMES)]
    values = {os.environ.get(name, "").strip() for name in names}
    return tuple(
        sorted((key for key in values if len(key) >= _LEAST_LENGTH), key=len, reverse=True)
    )


def holds_key(text: str) -> bool:
    """Return whether `text` contains a key of the environment, or one of a provider's form."""
    return any(key in text for key in keys_in_environment()) or bool(_LIKE_A_KEY.search(text))


def redacted(reply: Reply, keys: Sequence[str]) -> Reply:
    """Return `reply` with every one of `keys` replaced by ``[key]``.

    The tokens of such a reply are dropped, also if only tokens or alternatives spell a key.
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
    text, served_model = _without(keys, reply.text), _without(keys, reply.served_model)
    spelled = any(_spells(reply.tokens or (), key) for key in keys)
    if not spelled and (text, served_model) == (reply.text, reply.served_model):
        return reply
    changes = {"text": text, "served_model": served_model, "tokens": None}
    return reply.model_copy(update=changes)


def _without(keys: Sequence[str], text: str | None) -> str | None:
    for key in keys:
        text = text and text.replace(key, "[key]")
    return text


def _spells(tokens: Sequence[TokenAlternatives], key: str) -> bool:
    """Return whether tokens or alternatives contain `key`, in one or in consecutive ones."""
    matched: set[int] = set()
    for place in tokens:
        texts = {place.token, *place.logprobs}
        ends = {key[n:] for n in matched}
        if any(key in text or text.startswith(tuple(ends)) for text in texts):
            return True
        matched = {n for text in texts for n in _begun(text, key, matched)}
    return False


def _begun(text: str, key: str, matched: set[int]) -> set[int]:
    """Return the lengths of prefixes of `key` at the end of `text`, or of earlier texts with it."""
    going_on = {n + len(text) for n in matched if key.startswith(text, n)}
    return going_on | {n for n in range(1, min(len(text), len(key)) + 1) if text.endswith(key[:n])}
