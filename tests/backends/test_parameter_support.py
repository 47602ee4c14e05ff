"""Parameters that servers decline in their own words, and what OpenAI's strict mode takes.

See https://platform.openai.com/docs/guides/structured-outputs.
"""

from __future__ import annotations

import json

import pytest
from stub_server import Fault

from fairjudge.backends import open_backend, resolve_target
from fairjudge.backends.parameter_support import is_strict
from fairjudge.errors import BackendError


def of(required=("a",), closed=False, **properties):
    return {
        "type": "object",
        "properties": properties or {"a": {"type": "string"}},
        "required": list(required),
        "additionalProperties": closed,
    }


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (of(), True),
        (of(closed=True), False),
        (of(required=()), False),
        (of(required=("a", "b")), False),
        ({"type": "object", "additionalProperties": False}, True),
        ({"type": "object"}, False),
        ({"type": "array", "items": of()}, True),
        ({"type": "array", "items": of(closed=True)}, False),
        (of(a=of(closed=True)), False),
        ({"anyOf": [{"type": "null"}, of(required=())]}, False),
        ({"anyOf": ({"type": "null"}, of(required=()))}, False),
        ({"anyOf": [{"type": "null"}, of()]}, True),
        ({"type": "string", "enum": ["yes", "no"]}, True),
    ],
)
def test_schema_objects_require_all_properties(schema, strict):
    assert is_strict(schema) == strict


FIELDS = {
    "temperature": {"temperature": 0.0},
    "top_p": {"top_p": 0.9},
    "seed": {"seed": 3},
    "logprobs": {"top_logprobs": 5},
    "stop": {"stop": ("END",)},
    "response_format": {"response_schema": of()},
}
DECLINED = [
    ("temperature", 400, "`temperature` is deprecated for this model.", None),
    ("temperature", 400, "invalid temperature: only 1 is allowed for this model", None),
    ("temperature", 400, "temperature must be strictly positive", None),
    ("temperature", 422, "`temperature` must be strictly positive", None),
    ("temperature", 400, "Temperature should be greater than 0", None),
    ("temperature", 400, "The range of temperature is (0.0, 2.0)", None),
    ("temperature", 400, "temperature is fixed for reasoning models", None),
    ("temperature", 400, "Only the default value (1) is supported.", "temperature"),
    ("top_p", 400, "top_p must be in (0, 1)", None),
    ("top_p", 400, "invalid top_p: only 0.95 is allowed for this model", None),
    ("top_p", 400, "temperature and top_p cannot both be specified", "top_p"),
    ("seed", 400, "Unrecognized request argument supplied: seed", None),
    ("seed", 422, "[{'loc': ['body', 'seed'], 'msg': 'Extra inputs are not permitted'}]", None),
    ("logprobs", 400, "logprobs are disabled on this server", None),
    ("logprobs", 400, "This response_format type is unavailable now", "logprobs"),
    ("logprobs", 400, "Value out of range", "top_logprobs"),
    ("logprobs", 400, "You requested top_logprobs of 5, but at most 0 is allowed", None),
    ("stop", 400, "'stop' is not supported with this model", None),
    ("response_format", 400, "Failed to parse grammar: expecting name at end", None),
    ("response_format", 500, "Failed to parse grammar", None),
    ("response_format", 501, "response_format is not implemented", None),
    (
        "response_format",
        400,
        "The provided JSON schema contains features not supported by xgrammar.",
        None,
    ),
    (
        "response_format",
        400,
        "'response_format.type' must be 'json_schema' or 'text'",
        "response_format",
    ),
    ("response_format", 400, "Response format json_schema is unavailable now", None),
    ("response_format", 400, "guided_json is not enabled", None),
]


@pytest.mark.parametrize(("name", "status", "message", "param"), DECLINED)
async def test_declined_parameter_is_omitted_from_then_on(stub, ask, name, status, message, param):
    error = {"message": message, "type": "invalid_request_error", "param": param}

    def answer(call):
        if name not in call.body:
            return "Score: 3"
        return Fault(status=status, body=json.dumps({"error": error}).encode())

    stub.answer = answer
    target = resolve_target("openai:judge", base_url=stub.v1)
    backend = open_backend(target, warn=(texts := []).append)
    fields = {"seed": 7, "top_p": 0.5} | FIELDS["response_format"] | FIELDS[name]
    if name != "response_format":
        del fields["response_schema"]
    for n in range(2):
        assert (await backend.complete(ask(target, text=str(n), **fields))).text == "Score: 3"
    await backend.aclose()
    assert [name in call.body for call in stub.calls] == [True, False, False]
    assert not any("top_logprobs" in call.body for call in stub.calls[1:])
    assert texts == [f"{stub.v1} does not support {name!r}; it is no longer sent"]


@pytest.mark.parametrize(
    "error",
    [
        {"message": "Failed to generate JSON. Please adjust your prompt.", "code": "x"},
        {"message": "maximum context length is 4096 tokens with this response_format"},
        {"message": "the prompt was flagged; temperature is unsupported"},
        {"message": "max_tokens is too large: 100000", "param": "max_tokens"},
        {"message": "'messages' must not be empty", "param": "messages"},
        {"message": "This model only support stream mode"},
    ],
)
async def test_other_bad_requests_remove_no_parameter(stub, ask, error):
    stub.fail(Fault(status=400, body=json.dumps({"error": error}).encode()))
    target = resolve_target("openai:judge", base_url=stub.v1)
    backend = open_backend(target, warn=(texts := []).append)
    with pytest.raises(BackendError):
        await backend.complete(ask(target, response_schema=of()))
    await backend.aclose()
    assert (len(stub.calls), texts) == (1, [])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("temperature", "`temperature` is deprecated for this model."),
        ("temperature", "temperature: only 1 is allowed"),
        ("output_config", "output_config.format: schema features are not supported"),
        ("top_p", "`temperature` and `top_p` cannot both be specified for this model."),
    ],
)
async def test_anthropic_messages_are_recognised(stub, ask, name, message):
    def answer(call):
        return Fault(status=400, message=message) if name in call.body else "Score: 3"

    stub.answer = answer
    target = resolve_target("anthropic:judge", base_url=stub.url)
    backend = open_backend(target)
    fields = {"response_schema": of(), **({"top_p": 0.9} if name == "top_p" else {})}
    assert (await backend.complete(ask(target, **fields))).text == "Score: 3"
    await backend.aclose()
    assert name not in stub.calls[-1].body


async def test_parameter_declined_with_status_200_is_recognised(stub, ask):
    error = {"error": {"message": "response_format is not supported", "code": 400}}
    stub.fail(Fault(body=json.dumps(error).encode()))
    target = resolve_target("openai:judge", base_url=stub.v1)
    backend = open_backend(target)
    assert (await backend.complete(ask(target, response_schema=of()))).text == "Score: 3"
    await backend.aclose()
    assert ["response_format" in call.body for call in stub.calls] == [True, False]
