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

_MIN_LENGTH = 8
"""Minimum length of a key; keys of local servers such as ``x`` occur in normal replies."""
_KEY_PATTERN = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"(?:sk|csk|gsk|xai|pplx|nvapi|hf|r8|ghp|glpat)[-_][A-Za-z0-9_-]*?"
    r"(?=[A-Za-z]*\d)[A-Za-z0-9]{16,}"
    r"|AIza[A-Za-z0-9_-]{30,}"  # Google
    r"|eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"  # a JSON web token
    r")"
)
"""The forms of providers' keys, different from those of ids and names."""
_NAMES = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")


class Guarding(Middleware):
    """A middleware that seals the fences of requests with `secret`, and redacts `keys` in replies.

    A request for a model or server other than `target` raises `ConfigurationError`: its reply would
    be stored under a wrong key. Must be inside the cache, whose keys are of unsealed requests, so
    that cached, recorded and imported replies are found under any secret.
    """

    def __init__(self, target: ModelRef, *, secret: bytes, keys: Sequence[str] = ()) -> None:
        self._target = target
        self._secret = secret
        self._keys = keys

    async def answer(self, request: Request, ask: Ask[Request, Reply]) -> Reply:
        """See `Middleware`."""
        if request.target != self._target:
            raise ConfigurationError(
                f"a request for {request.target} at {request.target.base_url} was passed to the "
                f"backend of {self._target} at {self._target.base_url}"
            )
        reply = await ask(seal_request(request, self._secret))
        return redact(reply, self._keys) if self._keys else reply


def seal_request(request: Sent, secret: bytes) -> Sent:
    """Return `request` with the marks of its fences inserted."""
    return request.model_copy(update={"messages": seal(request.messages, secret)})


def keys_in_environment(variable: str | None = None) -> tuple[str, ...]:
    """Return the key in `variable`, or all variables named like keys if it is None."""
    names = [variable] if variable else [name for name in os.environ if name.endswith(_NAMES)]
    values = {os.environ.get(name, "").strip() for name in names}
    return tuple(sorted((key for key in values if len(key) >= _MIN_LENGTH), key=len, reverse=True))


def contains_key(text: str) -> bool:
    """Return whether `text` contains a key of the environment, or one of a provider's form."""
    return any(key in text for key in keys_in_environment()) or bool(_KEY_PATTERN.search(text))


def redact(reply: Reply, keys: Sequence[str]) -> Reply:
    """Return `reply` with each of `keys` replaced by ``[key]``.

    The tokens of such a reply are removed, even if only tokens or alternatives contain a key.
    """
    if isinstance(reply, Completion):
        return _redact_completion(reply, keys)
    answers = {
        name: DecisionRefusal(why=_without(keys, answer.why) or "")
        if isinstance(answer, DecisionRefusal)
        else answer
        for name, answer in reply.answers.items()
    }
    served_model = _without(keys, reply.served_model)
    return reply.model_copy(update={"answers": answers, "served_model": served_model})


def _redact_completion(reply: Completion, keys: Sequence[str]) -> Completion:
    text, served_model = _without(keys, reply.text), _without(keys, reply.served_model)
    tokens_have_key = any(_contains_key(reply.tokens or (), key) for key in keys)
    if not tokens_have_key and (text, served_model) == (reply.text, reply.served_model):
        return reply
    changes = {"text": text, "served_model": served_model, "tokens": None}
    return reply.model_copy(update=changes)


def _without(keys: Sequence[str], text: str | None) -> str | None:
    for key in keys:
        text = text and text.replace(key, "[key]")
    return text


def _contains_key(tokens: Sequence[TokenAlternatives], key: str) -> bool:
    """Return whether tokens or alternatives contain `key`, possibly over consecutive tokens."""
    prefix_lengths: set[int] = set()
    for step in tokens:
        texts = {step.token, *step.logprobs}
        ends = {key[n:] for n in prefix_lengths}
        if any(key in text or text.startswith(tuple(ends)) for text in texts):
            return True
        prefix_lengths = {n for text in texts for n in _matched_prefixes(text, key, prefix_lengths)}
    return False


def _matched_prefixes(text: str, key: str, lengths: set[int]) -> set[int]:
    """Return the lengths of prefixes of `key` at the end of `text`, given those before `text`."""
    continued = {n + len(text) for n in lengths if key.startswith(text, n)}
    return continued | {n for n in range(1, min(len(text), len(key)) + 1) if text.endswith(key[:n])}
