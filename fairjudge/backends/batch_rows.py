"""Rows of batch files: requests in a provider's batch format, and replies in its results.

Formats are those of OpenAI's Batch API (also of vLLM's ``run-batch``), Anthropic's Message Batches
and Gemini's Batch API. Parameters that a model is known to decline are omitted, since every row of
the batch would fail.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fairjudge.backends.anthropic import message_body, optional_parameters, read_reply
from fairjudge.backends.chat_wire import chat_body, read_chat
from fairjudge.backends.failures import failure, failure_within
from fairjudge.backends.parameter_support import ParameterSupport
from fairjudge.ports import Completion, CompletionRequest, ModelRef

_WHERE = "the batch"
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchFormat:
    """A provider's batch files: the form of a row, and the limits of a file.

    ``row`` converts a request and its key to a row. ``list_name`` is the field with all rows if the
    file is one JSON object; otherwise it has one row per line.
    """

    name: str
    row: Callable[[str, CompletionRequest], dict[str, Any]]
    max_rows: int
    max_bytes: int
    list_name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchReply:
    """The reply in one row of results, with its key and model (``provider:model``)."""

    key: str
    model: str
    completion: Completion


def batch_format(target: ModelRef) -> BatchFormat | None:
    """Return the batch format of the server of `target`; None if it has none."""
    if target.provider == "openai":
        return _OPENAI if target.base_url is None else _VLLM
    if target.provider == "anthropic" and target.base_url is None:
        return _ANTHROPIC
    service = target.model.partition("/")[0]
    if target.provider in {"litellm", "langchain"} and service in {"gemini", "google_genai"}:
        return _GEMINI
    return None


def _openai_row(key: str, request: CompletionRequest) -> dict[str, Any]:
    body = _omit_declined(request, chat_body(request))
    return {"custom_id": key, "method": "POST", "url": "/v1/chat/completions", "body": body}


def _anthropic_row(key: str, request: CompletionRequest) -> dict[str, Any]:
    options = _omit_declined(request, optional_parameters(request))
    return {"custom_id": key, "params": message_body(request, mark_prefix=True) | options}


def _gemini_row(key: str, request: CompletionRequest) -> dict[str, Any]:
    names = {"user": "user", "assistant": "model"}
    turns = [
        {"role": names[message.role], "parts": [{"text": message.content}]}
        for message in request.messages
        if message.role in names
    ]
    system = [{"text": m.content} for m in request.messages if m.role == "system"]
    schema, top_logprobs = request.response_schema, request.top_logprobs
    settings = {
        "temperature": request.temperature,
        "topP": request.top_p,
        "seed": None if request.seed is None else request.seed + request.sample_index,
        "maxOutputTokens": request.max_output_tokens,
        "stopSequences": list(request.stop) or None,
        "responseMimeType": None if schema is None else "application/json",
        "responseJsonSchema": schema,
        "responseLogprobs": None if top_logprobs is None else True,
        "logprobs": top_logprobs,
    }
    body: dict[str, Any] = {
        "contents": turns,
        "generationConfig": {n: value for n, value in settings.items() if value is not None},
    }
    if system:
        body["systemInstruction"] = {"parts": system}
    return {"key": key, "request": body}


def _omit_declined(request: CompletionRequest, body: Row) -> dict[str, Any]:
    """Return `body` without parameters that the model is known to decline."""
    return ParameterSupport(request.target.model, server=_WHERE, warn=None).select(body)


_MB = 1_000_000
_OPENAI = BatchFormat(name="OpenAI", row=_openai_row, max_rows=50_000, max_bytes=200 * _MB)
_VLLM = BatchFormat(name="vLLM", row=_openai_row, max_rows=1_000_000, max_bytes=10_000 * _MB)
_ANTHROPIC = BatchFormat(
    name="Anthropic",
    row=_anthropic_row,
    max_rows=100_000,
    max_bytes=256 * _MB,
    list_name="requests",
)
_GEMINI = BatchFormat(name="Gemini", row=_gemini_row, max_rows=200_000, max_bytes=2_000 * _MB)


def read_result(row: Row) -> BatchReply:
    """Return the reply in a row of results of any format, or raise its error.

    Raises
    ------
    BackendError
        If the request failed, expired or was cancelled, or its reply is empty.
    LookupError, TypeError, AttributeError
        If it is not a row of a batch's results.
    """
    if "key" in row:
        return _read_gemini(row)
    return _read_anthropic(row) if "result" in row else _read_openai(row)


def _read_openai(row: Row) -> BatchReply:
    key = str(row["custom_id"])
    if row.get("error"):
        raise failure_within({"error": row["error"]}, server_name=_WHERE)
    status, body = row["response"]["status_code"], row["response"]["body"]
    if status != 200:
        raise failure(status, body, server_name=_WHERE)
    completion = read_chat(body, stop=(), server_name=_WHERE)
    return BatchReply(key=key, model=f"openai:{body.get('model')}", completion=completion)


def _read_anthropic(row: Row) -> BatchReply:
    key, result = str(row["custom_id"]), row["result"]
    if result["type"] != "succeeded":
        # An API error is in an object of type "error"; an expired request has none.
        error = result.get("error") or {"message": result["type"]}
        raise failure_within(error if error.get("error") else {"error": error}, server_name=_WHERE)
    message = result["message"]
    completion = read_reply(message, server_name=_WHERE)
    return BatchReply(key=key, model=f"anthropic:{message.get('model')}", completion=completion)


def _read_gemini(row: Row) -> BatchReply:
    key = str(row["key"])
    error = row.get("error") or row.get("status")
    if error:
        raise failure_within({"error": error}, server_name=_WHERE)
    reply = row["response"]
    model = f"gemini:{reply.get('modelVersion')}"
    return BatchReply(
        key=key, model=model, completion=read_chat(_as_chat(reply), stop=(), server_name=_WHERE)
    )


def _as_chat(reply: Row) -> dict[str, Any]:
    """Convert a Gemini reply to a chat completion."""
    usage = reply.get("usageMetadata") or {}
    # A reply truncated during reasoning may have no content.
    choices = [
        {
            "index": index,
            "finish_reason": candidate.get("finishReason"),
            "message": {
                "content": "".join(
                    part.get("text", "")
                    for part in (candidate.get("content") or {}).get("parts") or ()
                    if not part.get("thought")
                )
            },
        }
        for index, candidate in enumerate(reply.get("candidates") or ())
    ]
    return {
        **reply,
        "choices": choices,
        "model": reply.get("modelVersion"),
        "usage": {
            "prompt_tokens": usage.get("promptTokenCount"),
            "completion_tokens": usage.get("candidatesTokenCount", 0)
            + usage.get("thoughtsTokenCount", 0),
            "prompt_tokens_details": {"cached_tokens": usage.get("cachedContentTokenCount")},
        },
    }
