"""How replies end, in many providers' words: whole, cut off, refused, failed, or not known."""

from __future__ import annotations

import json

import pytest
from stub_server import Fault, Reply
from test_contract import WRAPPED, providers

from fairjudge.backends import open_backend, resolve_target
from fairjudge.backends.caching import Caching
from fairjudge.backends.finish_reasons import read_finish
from fairjudge.backends.ports import Pipeline
from fairjudge.cache.disk import ReplyCache
from fairjudge.domain import Unscored
from fairjudge.parsing.outcomes import complete_or_unscored, is_whole
from fairjudge.ports import CompletionRequest, Message

pytestmark = pytest.mark.filterwarnings("default")

HALF = '{"reasoning":"The text says that 84 people","verdict":1'
WHOLE = '{"reasoning":"The text says so.","verdict":1}'
LANGUAGES = {
    "openai": {"stop": "stop", "length": "length", "content_filter": "refusal"},
    "anthropic": {
        "end_turn": "stop",
        "stop_sequence": "stop",
        "max_tokens": "length",
        "pause_turn": "length",
        "model_context_window_exceeded": "length",
        "refusal": "refusal",
        "tool_use": "other",
    },
    "gemini": {
        "STOP": "stop",
        "FINISH_REASON_STOP": "stop",
        "MAX_TOKENS": "length",
        "SAFETY": "refusal",
        "RECITATION": "refusal",
        "PROHIBITED_CONTENT": "refusal",
        "BLOCKLIST": "refusal",
        "SPII": "refusal",
        "content_filter: PROHIBITED_CONTENT": "refusal",
        "OTHER": "other",
        "LANGUAGE": "other",
        "MALFORMED_FUNCTION_CALL": "other",
    },
    "mistral": {"model_length": "length", "error": "error"},
    "deepseek": {"insufficient_system_resource": "error"},
    "cohere": {"COMPLETE": "stop", "ERROR_TOXIC": "refusal", "ERROR_LIMIT": "length"},
    "tgi": {"eos_token": "stop", "stop_sequence": "stop"},
    "bedrock": {"guardrail_intervened": "refusal", "content_filtered": "refusal"},
    "zhipu": {"sensitive": "refusal", "network_error": "error"},
    "responses": {"max_output_tokens": "length", "incomplete": "length", "completed": "stop"},
    "watsonx": {"token_limit": "length", "time_limit": "error", "eos_token": "stop"},
    "vllm": {"abort": "other", "none": "stop"},
    "ollama": {"load": "error"},
    "spelling": {"Content-Filter": "refusal", " stop ": "stop", "max tokens": "length"},
}


@pytest.mark.parametrize(
    ("reason", "finish"), [pair for words in LANGUAGES.values() for pair in words.items()]
)
def test_finish_reasons_of_many_providers(reason, finish):
    assert read_finish(reason) == finish


@pytest.mark.parametrize("reason", [None, "", 0, 7, ["stop"], {"a": 1}, "stopped by a wizard"])
def test_unknown_finish_reason_is_not_complete(reason):
    assert read_finish(reason) == "other"


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        (WHOLE, True),
        (f"```json\n{WHOLE}\n```", True),
        (f"Here it is:\n{WHOLE}", True),
        (f"{WHOLE}\nI hope that this helps.", True),
        ("<think>Is it {4}?</think>" + WHOLE, True),
        ("{'verdict': 1,}", True),
        ("[1, 2]", True),
        (HALF, False),
        (f"```json\n{WHOLE}", False),
        (f"Here it is:\n{HALF}", False),
        ("[1, 2", False),
        ('{"units": ["one", "two"', False),
        ("Score: 3", True),
        ("Verdict: Summary 2", True),
        ("It covers all of it.\n\nyes", True),
        ("Of the two I prefer\nSummary 2", True),
        ("The bridge closed. Nobody", False),
        ("The bridge is closed and the", False),
        ("The ferry ran aground. No one was hurt.", True),
        ("渡船搁浅，无人受伤。", True),
        ('She said: "No one was hurt."', True),
        ("The ferry Ostrea ran aground near Vell Point on Monday and 84", False),
        ("It covers the grounding, the passengers, and the lights,", False),
        ("", False),
    ],
)
def test_text_completeness_heuristic(text, whole):
    assert is_whole(text) == whole


OUTCOMES = [
    (HALF, "SAFETY", "refused"),
    (HALF, "PROHIBITED_CONTENT", "refused"),
    (HALF, "RECITATION", "refused"),
    (HALF, "abort", "backend"),
    (HALF, "insufficient_system_resource", "backend"),
    (HALF, None, "backend"),
    (HALF, "OTHER", "backend"),
    (HALF, "error", "backend"),
    (HALF, "length", "cut off"),
    (HALF, "MAX_TOKENS", "cut off"),
    (HALF, "model_length", "cut off"),
    (HALF, "incomplete", "cut off"),
    (WHOLE, "abort", "whole"),
    (WHOLE, "tool_calls", "whole"),
    (WHOLE, None, "whole"),
    (WHOLE, "eos", "whole"),
    (WHOLE, "SAFETY", "refused"),
    (None, "SAFETY", "refused"),
    (None, "PROHIBITED_CONTENT", "refused"),
    (None, "content_filter: PROHIBITED_CONTENT", "refused"),
    ("", "guardrail_intervened", "refused"),
    ("The ferry Ostrea ran aground near Vell Point on Monday and 84", None, "backend"),
    ("Score: 3", None, "whole"),
]


@pytest.mark.parametrize("provider", providers("openai", "anthropic", "litellm", "langchain"))
@pytest.mark.parametrize(("text", "reason", "outcome"), OUTCOMES)
async def test_finish_reason_determines_reply_status(
    stub, monkeypatch, tmp_path, provider, text, reason, outcome
):
    if provider == "litellm" and reason is None and text is not HALF:
        pytest.skip("litellm says 'stop' where the server said nothing")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-tests")
    stub.keeps_open = provider != "langchain"
    stub.answer = lambda call: Reply(text=text, finish_reason=reason)
    target = resolve_target(f"{provider}:{WRAPPED.get(provider, '')}judge", base_url=stub.v1)
    cache = ReplyCache(tmp_path)
    backend = Pipeline(open_backend(target, timeout_seconds=60), Caching(cache=cache))
    request = CompletionRequest(target=target, messages=(Message(role="user", content="Rate it."),))
    result = await complete_or_unscored(backend, request)
    remaining = len(list(cache.items()))
    await backend.aclose()
    cache.close()
    if isinstance(result, Unscored):
        assert (result.reason, remaining) == (outcome, 0)
    else:
        assert result.text == text
        assert (result.finish_reason == "length", remaining) == (outcome == "cut off", 1)


async def once(stub, **choice):
    body = {"id": "x", "choices": [{"index": 0, "finish_reason": "stop", **choice}]}
    return await chat(stub, body)


async def chat(stub, body):
    return await reply_to(stub, Fault(body=json.dumps(body).encode()))


async def reply_to(stub, fault):
    """Return what a reply of the server comes to."""
    stub.fail(fault)
    target = resolve_target("openai:judge", base_url=stub.v1)
    backend = open_backend(target, timeout_seconds=60)
    request = CompletionRequest(target=target, messages=(Message(role="user", content="Rate it."),))
    try:
        return await complete_or_unscored(backend, request)
    finally:
        await backend.aclose()


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "refusal", "refusal": "I can't judge this text."}],
        [{"type": "refusal", "text": "I can't judge this text."}],
        [{"type": "text", "text": "4"}, {"type": "refusal", "refusal": "I can't judge this."}],
        [{"type": "refusal"}],
    ],
)
async def test_refusal_may_be_a_content_part(stub, content):
    assert (await once(stub, message={"content": content})).reason == "refused"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ([{"type": "text", "text": "Score: "}, {"type": "text", "text": "4"}], "Score: 4"),
        ([{"type": "output_text", "text": "Score: 4"}], "Score: 4"),
        (
            [{"type": "thinking", "thinking": "5?"}, {"type": "text", "text": "Score: 4"}],
            "Score: 4",
        ),
        ([None, "odd", {"type": "text", "text": "Score: 4"}], "Score: 4"),
    ],
)
async def test_content_may_be_a_list_of_parts(stub, content, text):
    assert (await once(stub, message={"content": content})).text == text


async def test_choice_with_index_0_is_used(stub):
    def choice(index, text):
        return {"index": index, "message": {"content": text}, "finish_reason": "stop"}

    result = await chat(stub, {"choices": [choice(1, "Score: 2"), choice(0, "Score: 4")]})
    assert result.text == "Score: 4"
    unnumbered = [{**choice(0, "Score: 4"), "index": None}, choice(1, "Score: 2")]
    assert (await chat(stub, {"choices": unnumbered})).text == "Score: 4"


@pytest.mark.parametrize(
    "body",
    [
        b"\n\n   \n%s",
        b"\xef\xbb\xbf%s",
    ],
)
async def test_leading_whitespace_and_bom_are_accepted(stub, body):
    whole = json.dumps({"choices": [{"message": {"content": "Score: 4"}, "finish_reason": "stop"}]})
    assert (await reply_to(stub, Fault(body=body % whole.encode()))).text == "Score: 4"


async def test_a_body_in_another_charset_is_read(stub):
    text = json.dumps({"choices": [{"message": {"content": "café"}}]}, ensure_ascii=False)
    headers = {"content-type": "application/json; charset=iso-8859-1"}
    fault = Fault(body=text.encode("latin-1"), headers=headers)
    assert (await reply_to(stub, fault)).text == "café"


def event(text=None, reason=None, **more):
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": reason}
    return f"data: {json.dumps({'id': 'x', 'choices': [choice], **more})}\n\n"


@pytest.mark.parametrize(
    ("stream", "outcome"),
    [
        (event("Score: ") + event("4") + event(reason="stop") + "data: [DONE]\n\n", "Score: 4"),
        (
            ": keep-alive\n\n" + event("Score: 4", "stop") + event(usage={"prompt_tokens": 3}),
            "Score: 4",
        ),
        (event(WHOLE[:20]) + event(WHOLE[20:]) + "data: [DONE]\n\n", WHOLE),
        (event(HALF), "backend"),
        (event("Score: 4", "length"), "Score: 4"),
        (event("Score", "content_filter"), "refused"),
        (event("Sc") + 'data: {"error": {"message": "overloaded", "code": 529}}\n\n', "backend"),
        ("data: [DONE]\n\n", "backend"),
        ("data: half of an ev", "backend"),
    ],
)
async def test_unrequested_stream_is_reassembled(stub, stream, outcome):
    headers = {"content-type": "text/event-stream"}
    result = await reply_to(stub, Fault(body=stream.encode(), headers=headers))
    assert (result.reason if isinstance(result, Unscored) else result.text) == outcome
