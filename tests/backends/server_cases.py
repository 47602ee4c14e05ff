"""Error responses observed from providers and local servers, in paraphrase."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from stub_server import Fault

from fairjudge.errors import (
    AuthenticationError,
    BackendError,
    BadRequestError,
    ContextTooLongError,
    NoReplyError,
    NotFoundError,
    RateLimitError,
    RefusedError,
    RequestTimeoutError,
    ServerError,
)


@dataclass(frozen=True, kw_only=True)
class Case:
    """One response of a server, and the expected error."""

    status: int
    body: Any
    error: type[BackendError]
    wait_seconds: float | None = None

    @property
    def fault(self) -> Fault:
        body = self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()
        return Fault(status=self.status, body=body)


def _case(status: int, error: type[BackendError], message: str, /, **fields: Any) -> Case:
    return Case(status=status, body={"error": {"message": message, **fields}}, error=error)


def _too_long(message: str, *, status: int = 400, **fields: Any) -> Case:
    return _case(status, ContextTooLongError, message, **fields)


def _refused(message: str, *, status: int = 400, **fields: Any) -> Case:
    return _case(status, RefusedError, message, **fields)


TOO_LONG = {
    "openai": _too_long(
        "This model's maximum context length is 8192 tokens. However, your messages resulted in "
        "9000 tokens.",
        code="context_length_exceeded",
    ),
    "openai by code": _too_long("Sorry.", code="context_length_exceeded"),
    "openai string": _too_long(
        "Invalid 'messages[0].content': string too long.", code="string_above_max_length"
    ),
    "anthropic": _too_long("prompt is too long: 210000 tokens > 200000 maximum"),
    "anthropic limit": _too_long(
        "input length and `max_tokens` exceed context limit: 190000 + 1024 > 190500, decrease "
        "input length or `max_tokens` and try again"
    ),
    "gemini": _too_long(
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        status=400,
    ),
    "mistral": _too_long(
        "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum "
        "context length"
    ),
    "cohere": _too_long("too many tokens: size limit exceeded by 1000 tokens."),
    "groq": _too_long("Please reduce the length of the messages or completion."),
    "groq 413": _too_long("Request too large for model m: Limit 6000, Requested 9000", status=413),
    "cerebras": _too_long("Current length is 9000 while limit is 8192"),
    "xai": _too_long(
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens."
    ),
    "moonshot": _too_long("Your request exceeded model token limit: 8192 (requested: 9000)"),
    "qwen": _too_long("Range of input length should be [1, 30720]", code="InvalidParameter"),
    "zhipu": _too_long("Prompt exceeds max length", code="1261"),
    "zhipu in Chinese": _too_long("输入过长,请缩短后重试"),
    "minimax": _too_long("invalid params, context window exceeds limit"),
    "watsonx": _too_long(
        "the number of input tokens 5000 cannot exceed the total tokens limit 4096 for this model"
    ),
    "bedrock": _too_long("Input is too long for requested model."),
    "openrouter": _too_long(
        "This endpoint's maximum context length is 8192 tokens. However, you requested about "
        "12000 tokens."
    ),
    "github models": _too_long(
        "Request body too large for m model. Max size: 8000 tokens.",
        status=413,
        code="tokens_limit_reached",
    ),
    "vllm": Case(
        status=400,
        body={
            "object": "error",
            "message": "The decoder prompt (length 5000) is longer than the maximum model length "
            "of 4096.",
            "type": "BadRequestError",
            "code": 400,
        },
        error=ContextTooLongError,
    ),
    "sglang": Case(
        status=400,
        body={
            "object": "error",
            "message": "The input (5000 tokens) is longer than the model's context length (4096).",
            "code": 400,
        },
        error=ContextTooLongError,
    ),
    "tgi": Case(
        status=422,
        body={
            "error": "Input validation error: `inputs` must have less than 4096 tokens. Given: "
            "5000",
            "error_type": "validation",
        },
        error=ContextTooLongError,
    ),
    "tgi sum": _too_long(
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000"
    ),
    "llama.cpp": _too_long(
        "the request exceeds the available context size, try increasing it",
        code=400,
        type="exceed_context_size_error",
        n_ctx=4096,
    ),
    "llama.cpp 500": _too_long(
        "the request exceeds the available context size. try increasing the context size",
        status=500,
        code=500,
        type="server_error",
    ),
    "llama.cpp batch": _too_long(
        "input is too large to process. increase the physical batch size",
        status=500,
        code=500,
        type="server_error",
    ),
    "lm studio": _too_long(
        "The number of tokens to keep from the initial prompt is greater than the context length."
    ),
    "lm studio overflow": _too_long(
        "Trying to keep the first 9000 tokens when context the overflows. However, the model is "
        "loaded with a context of only 4096 tokens"
    ),
    "ollama": _too_long("input length exceeds maximum context length"),
    "a proxy": Case(
        status=413,
        body=b"<html><h1>413 Request Entity Too Large</h1></html>",
        error=ContextTooLongError,
    ),
}

REFUSED = {
    "azure": _refused(
        "The response was filtered due to the prompt triggering the content management policy.",
        code="content_filter",
        status=400,
        innererror={"code": "ResponsibleAIPolicyViolation"},
    ),
    "azure by inner code": _refused("Sorry.", innererror={"code": "ResponsibleAIPolicyViolation"}),
    "openai": _refused(
        "Invalid prompt: your prompt was flagged as potentially violating our usage policy. "
        "Please try again with a different prompt.",
        code="invalid_prompt",
    ),
    "openai policy": _refused("Sorry.", code="content_policy_violation"),
    "anthropic": _refused(
        "Output blocked by content filtering policy", type="invalid_request_error"
    ),
    "deepseek": _refused("Content Exists Risk", code="invalid_request_error"),
    "qwen": _refused(
        "Input data may contain inappropriate content.", code="data_inspection_failed"
    ),
    "qwen native": Case(
        status=400,
        body={"code": "DataInspectionFailed", "message": "Output data may be unsuitable."},
        error=RefusedError,
    ),
    "moonshot": _refused(
        "The request was rejected because it was considered high risk", type="content_filter"
    ),
    "zhipu": _refused("系统检测到输入或生成内容可能包含不安全或敏感内容", code="1301"),
    "ark": _refused("The request failed.", code="InputTextSensitiveContentDetected"),
    "gemini": _refused(
        "The prompt could not be submitted. This prompt contains sensitive words that violate "
        "Google's Responsible AI practices."
    ),
    "openrouter": _refused(
        "The chosen model requires moderation and your input was flagged",
        status=403,
        code=403,
        metadata={"reasons": ["violence"], "flagged_input": "84 passengers"},
    ),
    "openrouter in other words": _refused(
        "Forbidden", status=403, code=403, metadata={"reasons": ["x"], "flagged_input": "84"}
    ),
    "xai": Case(
        status=403,
        body={"code": "x", "error": "Content violates usage guidelines. Team: t, API key ID: k"},
        error=RefusedError,
    ),
    "a gateway's guardrail": _refused("Blocked by guardrail: violence", status=403),
    "a gateway that says 500": _refused("Sorry.", status=500, code="content_filter"),
}

DENIED = {
    "a wrong key": _case(401, AuthenticationError, "Incorrect API key provided"),
    "a key without rights": _case(403, AuthenticationError, "You have no access to this model"),
    "a suspended account": _case(
        403, AuthenticationError, "Your account was flagged for a violation of our usage policies"
    ),
    "a country": _case(
        403,
        AuthenticationError,
        "Country, region, or territory not supported",
        code="unsupported_country_region_territory",
    ),
    "cloudflare": Case(
        status=403,
        body=b"<html><h1>Sorry, you have been blocked</h1></html>",
        error=AuthenticationError,
    ),
    "no credit": _case(402, AuthenticationError, "Insufficient credits"),
    "openai's quota": _case(
        429,
        AuthenticationError,
        "You exceeded your current quota, please check your plan and billing details.",
        type="insufficient_quota",
        code="insufficient_quota",
    ),
    "moonshot's balance": _case(
        429, AuthenticationError, "Your account is suspended", type="exceeded_current_quota_error"
    ),
    "anthropic's balance": _case(
        400, AuthenticationError, "Your credit balance is too low to access the API."
    ),
    "gemini's key": _case(
        400,
        AuthenticationError,
        "API key not valid. Please pass a valid API key.",
        status="INVALID_ARGUMENT",
        details=[{"reason": "API_KEY_INVALID"}],
    ),
}

PER_MINUTE = {
    "code": 429,
    "message": "You exceeded your current quota, please check your plan and billing details.\n"
    "* Quota exceeded for metric: generate_content_requests, limit: 10\nPlease retry in 2.1s.",
    "status": "RESOURCE_EXHAUSTED",
}
RETRY_INFO = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "2s"}
WAITS = {
    "gemini": Case(
        status=429,
        body=[{"error": {**PER_MINUTE, "details": [RETRY_INFO]}}],
        error=RateLimitError,
        wait_seconds=2.0,
    ),
    "gemini as an object": Case(
        status=429,
        body={"error": {**PER_MINUTE, "details": [{"x": 1}, RETRY_INFO]}},
        error=RateLimitError,
        wait_seconds=2.0,
    ),
    "gemini in words": Case(
        status=429, body={"error": PER_MINUTE}, error=RateLimitError, wait_seconds=2.1
    ),
    "openai": Case(
        status=429,
        body={"error": {"message": "Rate limit reached for m. Please try again in 7.6s."}},
        error=RateLimitError,
        wait_seconds=7.6,
    ),
    "openai in ms": Case(
        status=429,
        body={"error": {"message": "Limit 3, Used 3. Please try again in 350ms. Visit us"}},
        error=RateLimitError,
        wait_seconds=0.35,
    ),
    "groq": Case(
        status=429,
        body={"error": {"message": "Please try again in 1m2.5s.", "code": "rate_limit_exceeded"}},
        error=RateLimitError,
        wait_seconds=62.5,
    ),
    "azure": Case(
        status=429,
        body={"error": {"message": "Please retry after 26 seconds.", "code": "429"}},
        error=RateLimitError,
        wait_seconds=26.0,
    ),
    "discord-like": Case(
        status=429,
        body={"message": "slow down", "retry_after": 1.5},
        error=RateLimitError,
        wait_seconds=1.5,
    ),
    "as a 403": Case(
        status=403,
        body={"error": {"message": "Rate limit: too many requests for this key, retry later"}},
        error=RateLimitError,
    ),
    "about billing": Case(
        status=429,
        body={"error": {"message": "Billing soft limit: slow down, or add credit balance"}},
        error=RateLimitError,
    ),
}

PASSING = {
    "409": _case(409, ServerError, "conflict: request being processed"),
    "425": _case(425, ServerError, "too early"),
    "424": _case(424, ServerError, "Request failed during generation", error_type="generation"),
    "498": _case(498, ServerError, "Flex tier capacity exceeded", code="capacity_exceeded"),
    "408": _case(408, RequestTimeoutError, "late"),
    "503": _case(503, ServerError, "Loading model", code=503, type="unavailable_error"),
    "529": _case(529, ServerError, "Overloaded", type="overloaded_error"),
    "cloudflare's page": Case(
        status=524, body=b"<html>A timeout occurred</html>", error=ServerError
    ),
    "groq's JSON": _case(
        400,
        ServerError,
        "Failed to generate JSON. Please adjust your prompt. See 'failed_generation'.",
        code="json_validate_failed",
        failed_generation="",
    ),
    "a busy server by 400": _case(400, ServerError, "The model is overloaded, try again later"),
}

BAD = {
    "something else": _case(400, BadRequestError, "the prompt is not to my liking"),
    "too many output tokens": _case(
        400,
        BadRequestError,
        "max_tokens is too large: 100000. This model supports at most 16384 completion tokens.",
    ),
    "anthropic's output limit": _case(
        400,
        BadRequestError,
        "max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens for m",
    ),
    "a request that is repeated": Case(
        status=422,
        body={
            "detail": [
                {
                    "loc": ["body", "messages"],
                    "msg": "Input should be valid",
                    "input": "The prompt was flagged for violating content policy; too many tokens",
                }
            ]
        },
        error=BadRequestError,
    ),
    "a stream": _case(400, BadRequestError, "This model only support stream mode"),
    "no model": _case(404, NotFoundError, "The model `m` does not exist"),
    "no model by 400": _case(400, NotFoundError, "m is not a valid model ID"),
}

BY_STATUS = {
    f"{group}: {name}": case
    for group, cases in {
        "too long": TOO_LONG,
        "refused": REFUSED,
        "denied": DENIED,
        "waits": WAITS,
        "passing": PASSING,
        "bad": BAD,
    }.items()
    for name, case in cases.items()
}


def _within(error: type[BackendError], /, **body: Any) -> Case:
    return Case(status=200, body=body, error=error)


WITHIN_200 = {
    "openrouter 429": _within(
        RateLimitError,
        error={
            "message": "Provider returned error",
            "code": 429,
            "metadata": {"raw": "temporarily rate-limited upstream"},
        },
    ),
    "openrouter 502": _within(
        ServerError, error={"message": "Upstream error: worker request limit reached", "code": 502}
    ),
    "a wait in words": Case(
        status=200,
        body={"error": {"message": "Rate limited. Try again in 4s.", "code": 429}},
        error=RateLimitError,
        wait_seconds=4.0,
    ),
    "anthropic's overload": _within(
        ServerError, type="error", error={"type": "overloaded_error", "message": "Overloaded"}
    ),
    "anthropic's rate": _within(
        RateLimitError, type="error", error={"type": "rate_limit_error", "message": "slow"}
    ),
    "a code in words": _within(
        RateLimitError, error={"message": "slow", "code": "rate_limit_exceeded"}
    ),
    "an internal error": _within(ServerError, error={"message": "oops", "type": "server_error"}),
    "an error that is a word": _within(ServerError, error="upstream connect error"),
    "a list": Case(
        status=200, body=[{"error": {"code": 503, "message": "unavailable"}}], error=ServerError
    ),
    "vllm's object": _within(
        ContextTooLongError,
        object="error",
        message="This model's maximum context length is 4096 tokens.",
        type="BadRequestError",
        code=400,
    ),
    "a timeout": _within(RequestTimeoutError, error={"message": "late", "code": 408}),
    "too long": _within(
        ContextTooLongError, error={"message": "context length exceeded", "code": 400}
    ),
    "moderated": _within(
        RefusedError, error={"message": "your input was flagged", "code": 403, "metadata": {}}
    ),
    "filtered": _within(RefusedError, error={"message": "no", "code": "content_filter"}),
    "a wrong key": _within(AuthenticationError, error={"message": "bad key", "code": 401}),
    "no credit": _within(AuthenticationError, error={"message": "add credits", "code": 402}),
    "lm studio's path": _within(
        NotFoundError, error="Unexpected endpoint or method. (POST /chat/completions)"
    ),
    "minimax's rate": _within(
        RateLimitError,
        base_resp={"status_code": 1002, "status_msg": "rate limit"},
        error={"code": "rate_limit", "message": "rate limit"},
    ),
    "qwen's throttling": _within(
        RateLimitError, code="Throttling.RateQuota", message="Requests rate limit exceeded"
    ),
    "cloudflare's errors": _within(
        ServerError, success=False, errors=[{"code": 10000, "message": "internal error"}]
    ),
    "another format": _within(NoReplyError, response="Score: 3", done=True),
    "nothing": _within(NoReplyError),
    "a page": Case(status=200, body=b"<html>Checking your browser</html>", error=NoReplyError),
    "an empty body": Case(status=200, body=b"", error=NoReplyError),
    "white space": Case(status=200, body=b"\n\n  \n", error=NoReplyError),
    "half of a body": Case(status=200, body=b'{"choices": [{"mess', error=NoReplyError),
    "a word": Case(status=200, body=b'"ok"', error=NoReplyError),
    "null": Case(status=200, body=b"null", error=NoReplyError),
}
"""In every wire format."""

NO_CHOICE = {
    "choices are null": _within(ServerError, id=None, choices=None, error=None),
    "choices are empty": _within(
        ServerError, id="gen", choices=[], usage={"prompt_tokens": 10, "completion_tokens": 0}
    ),
    "a choice that failed": _within(
        ServerError,
        id="gen",
        choices=[
            {
                "index": 0,
                "finish_reason": "error",
                "error": {"code": 502, "message": "Upstream idle"},
                "message": {"role": "assistant", "content": ""},
            }
        ],
    ),
    "a blocked prompt": _within(RefusedError, promptFeedback={"blockReason": "SAFETY"}, choices=[]),
    "a sensitive prompt": _within(RefusedError, choices=None, input_sensitive=True),
    "no words and no end": _within(
        ServerError, choices=[{"index": 0, "message": {"content": ""}, "finish_reason": None}]
    ),
}
"""In the chat completions format."""
