"""Batch rows: what each provider's documentation allows, and results of all its kinds."""

from __future__ import annotations

import json
from typing import Any, Literal

import jsonschema
import pytest
from anthropic.types.messages.batch_create_params import Request as AnthropicRequest
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from pydantic import BaseModel, ConfigDict, TypeAdapter

from fairjudge.backends.batch_rows import batch_format, read_result
from fairjudge.backends.parameter_support import declined_parameters
from fairjudge.errors import BackendError, RefusedError
from fairjudge.ports import CompletionRequest, Message, ModelRef

SCHEMA = {"type": "object", "properties": {"verdict": {"type": "number"}}}
KEY = "0f" * 32


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class OpenAIRow(Strict):
    custom_id: str
    method: Literal["POST"]
    url: Literal["/v1/chat/completions"]
    body: dict[str, Any]


def closed(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    """Return a JSON schema of an object that has these properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


PARTS = {"type": "array", "items": closed({"text": {"type": "string"}}, "text")}
CONTENT = closed({"role": {"enum": ["user", "model"]}, "parts": PARTS}, "role", "parts")
SETTINGS = closed(
    {
        "temperature": {"type": "number", "minimum": 0, "maximum": 2},
        "topP": {"type": "number"},
        "seed": {"type": "integer"},
        "maxOutputTokens": {"type": "integer"},
        "stopSequences": {"type": "array", "items": {"type": "string"}, "maxItems": 5},
        "responseMimeType": {"enum": ["application/json", "text/plain"]},
        "responseJsonSchema": {"type": "object"},
        "responseLogprobs": {"type": "boolean"},
        "logprobs": {"type": "integer", "maximum": 20},
    }
)
GEMINI_ROW = closed(
    {
        "key": {"type": "string"},
        "request": closed(
            {
                "contents": {"type": "array", "items": CONTENT, "minItems": 1},
                "systemInstruction": closed({"parts": PARTS}, "parts"),
                "generationConfig": SETTINGS,
            },
            "contents",
        ),
    },
    "key",
    "request",
)
"""A row of Gemini's Batch API, by its documentation."""


def request(provider: str, model: str, *, base_url: str | None = None) -> CompletionRequest:
    return CompletionRequest(
        target=ModelRef(provider=provider, model=model, base_url=base_url),
        messages=(
            Message(role="system", content="You judge summaries."),
            Message(role="user", content="Shared article. Summary.", shared=15),
        ),
        response_schema=SCHEMA,
        seed=7,
        stop=("END",),
        top_logprobs=5,
    )


def row(request: CompletionRequest) -> dict[str, Any]:
    form = batch_format(request.target)
    assert form is not None
    return json.loads(json.dumps(form.row(KEY, request)))


@pytest.mark.parametrize("model", ["gpt-4o-mini", "gpt-5-mini", "gpt-5.4", "o3", "gpt-4-turbo"])
def test_openai_rows_follow_the_format_without_declined_parameters(model):
    result = OpenAIRow.model_validate(row(request("openai", model)))
    assert result.custom_id == KEY
    TypeAdapter(CompletionCreateParamsNonStreaming).validate_python(result.body)
    parameters = result.body.keys() & {
        "temperature",
        "logprobs",
        "top_logprobs",
        "stop",
        "response_format",
    }
    if model in {"gpt-5-mini", "o3"}:
        assert parameters == {"response_format"}
    elif model == "gpt-4-turbo":
        assert parameters == {"temperature", "logprobs", "top_logprobs", "stop"}
    else:
        assert len(parameters) == 5
    assert result.body["max_completion_tokens"] == 1024


@pytest.mark.parametrize(
    ("model", "declined"),
    [
        ("claude-sonnet-4-5", set()),
        ("claude-opus-4-8", {"temperature"}),
        ("claude-3-5-haiku-latest", {"output_config"}),
    ],
)
def test_rows_for_anthropic_follow_its_format(model, declined):
    result = row(request("anthropic", model))
    TypeAdapter(AnthropicRequest).validate_python(result)
    options = {"temperature", "output_config"}
    assert result["params"].keys() & options == options - declined
    assert len(result["custom_id"]) <= 64
    assert result["params"]["messages"][0]["content"][0]["cache_control"] == {"type": "ephemeral"}


@pytest.mark.parametrize(
    ("provider", "model"),
    [("litellm", "gemini/gemini-2.5-flash"), ("langchain", "google_genai/gemini-3-pro")],
)
def test_rows_for_gemini_follow_its_format(provider, model):
    result = row(request(provider, model))
    jsonschema.validate(result, GEMINI_ROW)
    assert result["key"] == KEY
    body = result["request"]
    assert [content["role"] for content in body["contents"]] == ["user"]
    assert body["generationConfig"]["responseJsonSchema"] == SCHEMA


def test_local_servers_use_the_vllm_format_and_others_have_none():
    local = ModelRef(provider="openai", model="m", base_url="http://localhost:8000/v1")
    assert batch_format(local).name == "vLLM"
    for provider, model in [("litellm", "groq/llama"), ("scripted", "m"), ("anthropic", "m")]:
        target = ModelRef(provider=provider, model=model, base_url="http://localhost:1")
        assert batch_format(target) is None


@pytest.mark.parametrize(
    ("model", "declined"),
    [
        ("gpt-5", True), ("gpt-5-nano-2025-08-07", True), ("openai/gpt-5", True), ("o4-mini", True),
        ("gpt-5-chat-latest", False), ("gpt-5.1", False), ("gpt-4.1", False),
        ("claude-opus-4-7", True), ("claude-sonnet-5", True), ("claude-opus-4-5", False),
        ("claude-haiku-4-5-20251001", False), ("qwen3", False), ("ollama-o3", False),
    ],
)  # fmt: skip
def test_families_that_take_no_temperature(model, declined):
    assert ("temperature" in declined_parameters(model)) == declined


CHAT = {
    "model": "gpt-4o-mini-2024-07-18",
    "choices": [{"index": 0, "message": {"content": "Verdict: 4"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 9, "completion_tokens": 3},
}
MESSAGE = {
    "type": "message", "role": "assistant", "model": "claude-haiku-4-5-20251001",
    "content": [{"type": "text", "text": "Verdict: 4"}], "stop_reason": "end_turn",
    "usage": {"input_tokens": 9, "output_tokens": 3},
}  # fmt: skip
GENERATED = {
    "modelVersion": "gemini-2.5-flash",
    "candidates": [
        {
            "content": {
                "role": "model",
                "parts": [{"text": "Well, 5?", "thought": True}, {"text": "Verdict: 4"}],
            },
            "finishReason": "STOP",
        }
    ],
    "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 2, "thoughtsTokenCount": 1},
}


@pytest.mark.parametrize(
    ("result", "model"),
    [
        ({"custom_id": "k", "response": {"status_code": 200, "body": CHAT}, "error": None},
         "openai:gpt-4o-mini-2024-07-18"),
        ({"custom_id": "k", "result": {"type": "succeeded", "message": MESSAGE}},
         "anthropic:claude-haiku-4-5-20251001"),
        ({"key": "k", "response": GENERATED}, "gemini:gemini-2.5-flash"),
    ],
)  # fmt: skip
def test_results_are_read_in_each_format(result, model):
    reply = read_result(result)
    assert (reply.key, reply.model, reply.completion.text) == ("k", model, "Verdict: 4")
    usage = reply.completion.usage
    assert (usage.input_tokens, usage.output_tokens) == (9, 3)


BLOCKED = {"promptFeedback": {"blockReason": "SAFETY"}, "modelVersion": "gemini-2.5-flash"}
CUT = {**GENERATED, "candidates": [{"finishReason": "MAX_TOKENS"}]}


@pytest.mark.parametrize(
    ("result", "why"),
    [
        ({"custom_id": "k", "response": None,
          "error": {"code": "batch_expired", "message": "This request could not be executed"}},
         "could not be executed"),
        ({"custom_id": "k",
          "response": {"status_code": 429, "body": {"error": {"message": "slow"}}}}, "slow"),
        ({"custom_id": "k", "result": {"type": "expired"}}, "expired"),
        ({"custom_id": "k", "result": {"type": "canceled"}}, "canceled"),
        ({"custom_id": "k", "result": {"type": "errored", "error": {
            "type": "error", "error": {"type": "invalid_request_error", "message": "too big"}}}},
         "too big"),
        ({"key": "k", "error": {"code": 8, "message": "resources are exhausted"}}, "exhausted"),
        ({"key": "k", "status": {"code": 4, "message": "deadline"}}, "deadline"),
        ({"key": "k", "response": BLOCKED}, "SAFETY"),
        ({"key": "k", "response": CUT}, "MAX_TOKENS"),
    ],
)  # fmt: skip
def test_failed_rows_have_a_reason(result, why):
    with pytest.raises(BackendError, match=why):
        read_result(result)


def test_a_refusal_in_results_is_a_refusal():
    refused = {**MESSAGE, "stop_reason": "refusal", "content": []}
    with pytest.raises(RefusedError):
        read_result({"custom_id": "k", "result": {"type": "succeeded", "message": refused}})
