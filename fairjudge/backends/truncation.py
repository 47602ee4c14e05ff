"""Replies to prompts that the server cut off without a word, seen by how many tokens it counted.

Servers of local models drop what does not fit their context and answer what is left. A reply then
is one to another prompt, and no reply to keep. What tells is ``usage``: fewer tokens than such a
text can have.
"""

from __future__ import annotations

from collections import deque
from statistics import median

from fairjudge.backends.ports import AnyRequest, Ask, Middleware, Reply, Request, Warn
from fairjudge.backends.token_counts import likely_input_tokens
from fairjudge.errors import ContextTooLongError

_LEAST_SHARE = {True: 0.5, False: 0.25}
"""Of the estimated tokens, the least that any tokenizer makes of a text: of one in Latin letters,
and of others, which large vocabularies have whole words of."""
_SHARE_OF_USUAL = 0.75
"""Of what this model's tokenizer makes of shorter prompts, the least that it makes of another."""
_LEAST_KNOWN = 3
_MAX_KNOWN = 200
_SMALLEST_CONTEXT = 400
"""Tokens: no server cuts a prompt off at fewer. A smaller count is of something else."""
_LEAST_LOST = 500
"""Tokens that must be missing."""
_SHARE_OF_LARGEST = 0.4
"""Of the largest count of this server: prompts that are cut off have about that many tokens, and
one that counts far fewer does not count what it kept from an earlier prompt."""
_SETTING = (
    "raise its context length (Ollama: num_ctx or OLLAMA_CONTEXT_LENGTH; llama.cpp: -c; LM Studio: "
    "Context Length; vLLM: --max-model-len; SGLang: --context-length), and judge into another --run"
)


class TruncationCheck(Middleware):
    """Raises `ContextTooLongError` for a reply whose server counted too few tokens of the prompt.

    The estimate errs by tokenizer: once a model has answered shorter prompts, its own tokens for
    them are what is held against a longer one. ``warn`` is told once, with the setting to change.
    """

    def __init__(self, *, warn: Warn | None = None) -> None:
        self._warn = warn
        self._largest = 0
        self._known: dict[bool, deque[tuple[int, float]]] = {
            latin: deque(maxlen=_MAX_KNOWN) for latin in (True, False)
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
        said = (
            f"{where} counted {counted:,} tokens of a prompt that has about {estimate:,}: it cut "
            "the prompt off"
        )
        if self._warn is not None:
            self._warn(f"{said}, and such items have no score; {_SETTING}")
            self._warn = None
        raise ContextTooLongError(f"{said}; {_SETTING}").with_usage(reply.usage)

    def _is_too_few(self, counted: int, estimate: int, *, latin: bool) -> bool:
        known = self._known[latin]
        shorter = [share for tokens, share in known if tokens <= estimate / 2]
        least = _LEAST_SHARE[latin]
        if len(shorter) >= _LEAST_KNOWN:
            least = max(least, _SHARE_OF_USUAL * median(shorter))
        too_few = (
            counted < least * estimate
            and counted >= max(_SMALLEST_CONTEXT, _SHARE_OF_LARGEST * self._largest)
            and estimate - counted >= _LEAST_LOST
        )
        if not too_few:
            known.append((estimate, counted / max(1, estimate)))
        return too_few


def _is_latin(request: AnyRequest) -> bool:
    """Say whether most of a prompt is ASCII."""
    texts = [message.content for message in request.messages]
    n_bytes = sum(len(text.encode("utf-8", "replace")) for text in texts)
    return n_bytes - sum(map(len, texts)) < 0.1 * n_bytes
