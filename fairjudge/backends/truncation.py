"""Detect replies to prompts that the server silently truncated, by its token counts.

Servers of local models silently truncate a prompt that does not fit their context. Such a reply
belongs to a different prompt and must not be stored. It is detected by ``usage``, which has fewer
tokens than the full prompt can have.
"""

from __future__ import annotations

from collections import deque
from statistics import median

from fairjudge.backends.ports import AnyRequest, Ask, Middleware, Reply, Request, Warn
from fairjudge.backends.token_counts import likely_input_tokens
from fairjudge.errors import ContextTooLongError

_MIN_SHARE = {True: 0.5, False: 0.25}
"""Minimum share of the estimated tokens in any tokenizer, for Latin script (True) and for others
(False), whose words are single tokens in large vocabularies."""
_MIN_SHARE_OF_HISTORY = 0.75
"""Minimum share of the token count predicted by this model's counts of shorter prompts."""
_MIN_HISTORY = 3
_MAX_HISTORY = 200
_MIN_CONTEXT = 400
"""Minimum number of tokens to which servers truncate; a smaller count has another meaning."""
_MIN_MISSING = 500
"""Minimum number of missing tokens."""
_MIN_SHARE_OF_LARGEST = 0.4
"""Minimum share of the server's largest count: truncated prompts fill about the whole context, and
a much smaller count excludes a cached part of the prompt."""
_SETTING = (
    "raise its context length (Ollama: num_ctx or OLLAMA_CONTEXT_LENGTH; llama.cpp: -c; LM Studio: "
    "Context Length; vLLM: --max-model-len; SGLang: --context-length), and judge with another --run"
)


class TruncationCheck(Middleware):
    """A check that raises `ContextTooLongError` if the server counted too few prompt tokens.

    The estimate depends on the tokenizer; once a model has answered shorter prompts, their counts
    are used to correct it. ``warn`` is called once, with the setting to change.
    """

    def __init__(self, *, warn: Warn | None = None) -> None:
        self._warn = warn
        self._largest = 0
        self._history: dict[bool, deque[tuple[int, float]]] = {
            latin: deque(maxlen=_MAX_HISTORY) for latin in (True, False)
        }

    async def answer(self, request: Request, ask: Ask[Request, Reply]) -> Reply:
        """See `Middleware`."""
        reply = await ask(request)
        n_tokens = reply.usage.input_tokens
        if n_tokens is None:
            return reply
        self._largest = max(self._largest, n_tokens)
        estimate = likely_input_tokens(request)
        if not self._is_too_few(n_tokens, estimate, latin=_is_latin(request)):
            return reply
        server_name = request.target.base_url or str(request.target)
        problem = (
            f"{server_name} counted {n_tokens:,} tokens in a prompt of about {estimate:,}: it "
            "truncated the prompt"
        )
        if self._warn is not None:
            self._warn(f"{problem}, and such items have no score; {_SETTING}")
            self._warn = None
        raise ContextTooLongError(f"{problem}; {_SETTING}").with_usage(reply.usage)

    def _is_too_few(self, n_tokens: int, estimate: int, *, latin: bool) -> bool:
        history = self._history[latin]
        shares = [share for tokens, share in history if tokens <= estimate / 2]
        min_share = _MIN_SHARE[latin]
        if len(shares) >= _MIN_HISTORY:
            min_share = max(min_share, _MIN_SHARE_OF_HISTORY * median(shares))
        is_too_few = (
            n_tokens < min_share * estimate
            and n_tokens >= max(_MIN_CONTEXT, _MIN_SHARE_OF_LARGEST * self._largest)
            and estimate - n_tokens >= _MIN_MISSING
        )
        if not is_too_few:
            history.append((estimate, n_tokens / max(1, estimate)))
        return is_too_few


def _is_latin(request: AnyRequest) -> bool:
    """Return whether a prompt is mostly ASCII."""
    texts = [message.content for message in request.messages]
    n_bytes = sum(len(text.encode("utf-8", "replace")) for text in texts)
    return n_bytes - sum(map(len, texts)) < 0.1 * n_bytes
