"""Map the finish reasons of all providers: complete, truncated, refused, or failed.

Only known reasons count as complete. Unknown and missing ones are ``other``: such a reply is
accepted if its text is complete (`fairjudge.parsing.outcomes.is_broken_off`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from fairjudge.backends.http import one_line
from fairjudge.errors import RefusedError, ServerError
from fairjudge.ports import FinishReason

_COMPLETE = (
    "stop", "eos", "eos_token", "end_turn", "stop_sequence", "end_of_turn", "endoftext", "end",
    "complete", "completed", "finish", "finished", "normal", "none",
)  # fmt: skip
_TRUNCATED = (
    "length", "max_tokens", "max_token", "model_length", "max_output_tokens", "max_new_tokens",
    "max_length", "token_limit", "limit", "incomplete", "pause_turn", "error_limit",
    "model_context_window_exceeded", "context_length_exceeded", "context_length",
)  # fmt: skip
_REFUSED = (
    "content_filter", "content_filtered", "contentfilter", "refusal", "refused", "safety",
    "image_safety", "recitation", "prohibited_content", "blocklist", "spii", "sensitive",
    "guardrail_intervened", "guardrails", "error_toxic", "moderation", "content_policy", "blocked",
    "model_armor",
)  # fmt: skip
_FAILED = (
    "error", "failed", "failure", "server_error", "internal_error", "network_error", "overloaded",
    "insufficient_system_resource", "timeout", "time_limit", "load", "unload",
    "malformed_model_output",
)  # fmt: skip
_KNOWN: Mapping[str, FinishReason] = {
    **dict.fromkeys(_COMPLETE, "stop"),
    **dict.fromkeys(_TRUNCATED, "length"),
    **dict.fromkeys(_REFUSED, "refusal"),
    **dict.fromkeys(_FAILED, "error"),
}


def read_finish(reason: Any) -> FinishReason:
    """Return the `FinishReason` of a server's word; ``other`` if unknown or missing.

    Case is ignored, and hyphens, spaces and underscores are equal. An explanation after a colon
    (``content_filter: PROHIBITED_CONTENT``) is ignored.
    """
    if not isinstance(reason, str):
        return "other"
    word = re.sub(r"[\s-]+", "_", reason.strip().lower().partition(":")[0].strip())
    word = word.removeprefix("finish_reason_").removeprefix("finishreason.")
    if word.startswith("content_filter"):
        return "refusal"
    return _KNOWN.get(word, "other")


def check_finish(reason: Any, *, server_name: str, usage: Any) -> FinishReason:
    """Return `read_finish` of `reason`; raise an error with `usage` for refusal and failure."""
    finish = read_finish(reason)
    phrase = f"finish reason {one_line(reason)!r}"
    if finish == "refusal":
        raise RefusedError(
            f"the provider's content filter stopped the reply ({phrase})"
        ).with_usage(usage)
    if finish == "error":
        raise ServerError(f"{server_name} failed during the reply ({phrase})").with_usage(usage)
    return finish
