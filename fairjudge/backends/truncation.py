"""Detect replies to prompts that the server silently truncated, by its token counts.

Servers of local models drop the part of a prompt that does not fit their context and answer the
rest. The reply is then one to another prompt and must not be stored. It is detected by ``usage``:
fewer tokens than such a text can have.
"""

from __future__ import annotations

from collections import deque
from statistics import median

from fairjudge.backends.ports import AnyRequest, Ask, Middleware, Reply, Request, Warn
from fairjudge.backends.token_counts import likely_input_tokens
from fairjudge.errors import ContextTooLongError

_LEAST_SHARE = {True: 0.5, False: 0.25}
"""Minimum share of the estimated tokens in any tokenizer, for Latin script (True) and for others,
of which large vocabularies have whole words (False)."""
_SHARE_OF_USUAL = 0.75
"""Minimum share of the tokens that this model's counts of shorter prompts predict."""
_LEAST_HISTORY = 3
_MAX_HISTORY = 200
_SMALLEST_CONTEXT = 400
"""Tokens; no server truncates to fewer. A smaller count has another meaning."""
_LEAST_LOST = 500
"""Minimum number of missing tokens."""
_SHARE_OF_LARGEST = 0.4
"""Minimum share of the server's largest count: truncated prompts have about as many tokens as the
context, and a far smaller count leaves out a cached part of the prompt."""
_SETTING = (
    "raise its context length (Ollama: num_ctx or OLLAMA_CONTEXT_LENGTH; llama.cpp: -c; LM Studio: "
    "Context Length; vLLM: --max-model-len; SGLang: --context-length), and judge into another --run"
)


class TruncationCheck(Middleware):
    """Raises `ContextTooLongError` for a reply whose server counted too few prompt tokens.

    Estimates are biased by the tokenizer: once a model has answered shorter prompts, their counts
    are used to correct the estimate. ``warn`` is called once, with the setting to change.
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
        counted = reply.usage.input_tokens
        if counted is None:
            return reply
        self._largest = max(self._largest, counted)
        estimate = likely_input_tokens(request)
        if not self._is_too_few(counted, estimate, latin=_is_latin(request)):
            return reply
        where = request.target.base_url or str(request.target)
        problem = (
            f"{where} counted {counted:,} tokens of a prompt that has about {estimate:,}: it cut "
            "the prompt off"
        )
        if self._warn is not None:
            self._warn(f"{problem}, and such items have no score; {_SETTING}")
            self._warn = None
        raise ContextTooLongError(f"{problem}; {_SETTING}").with_usage(reply.usage)

    def _is_too_few(self, counted: int, estimate: int, *, latin: bool) -> bool:
        history = self._history[latin]
        shorter = [share for tokens, share in history if tokens <= estimate / 2]
        least = _LEAST_SHARE[latin]
        if len(shorter) >= _LEAST_HISTORY:
            least = max(least, _SHARE_OF_USUAL * median(shorter))
        too_few = (
            counted < least * estimate
            and counted >= max(_SMALLEST_CONTEXT, _SHARE_OF_LARGEST * self._largest)
            and estimate - counted >= _LEAST_LOST
        )
        if not too_few:
            history.append((estimate, counted / max(1, estimate)))
        return too_few


def _is_latin(request: AnyRequest) -> bool:
    """Return whether a prompt is mostly ASCII."""
    texts = [message.content for message in request.messages]
    n_bytes = sum(len(text.encode("utf-8", "replace")) for text in texts)
    return n_bytes - sum(map(len, texts)) < 0.1 * n_bytes
