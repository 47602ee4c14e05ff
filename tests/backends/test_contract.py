"""What every provider's backend keeps to, through its real client against the stub."""

from __future__ import annotations

import asyncio
import importlib.util

import pytest
from stub_server import Fault, Reply

from fairjudge.backends import decides, open_backend, resolve_target
from fairjudge.errors import (
    AuthenticationError,
    BackendError,
    BadRequestError,
    ConfigurationError,
    ConnectionFailedError,
    ContextTooLongError,
    EmptyReplyError,
    MalformedReplyError,
    NotFoundError,
    RateLimitError,
    RefusedError,
    RequestTimeoutError,
    ServerError,
)
from fairjudge.protocols import CompletionRequest, DecisionRequest, Message, Question

# litellm's own code warns of its own and its dependencies' deprecations.
pytestmark = pytest.mark.filterwarnings("default")

KEYS = {
    "openai": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "litellm": "OPENAI_API_KEY",
    "openai-decisions": "OPENAI_API_KEY",
}
EVERYWHERE = [
    (Fault(status=429), RateLimitError),
    (Fault(status=500), ServerError),
    (Fault(status=503), ServerError),
    (Fault(status=400, message="bad thing"), BadRequestError),
    (Fault(status=401), AuthenticationError),
    (Fault(broken="reset"), ConnectionFailedError),
    (Fault(broken="truncate"), ConnectionFailedError),
]
BY_CODE = (Fault(status=400, code="context_length_exceeded"), ContextTooLongError)
IN_WORDS = (Fault(status=400, message="it exceeds the context length"), ContextTooLongError)
FAULTS = {
    "openai": [
        (Fault(status=429, code="insufficient_quota"), AuthenticationError),
        (Fault(status=404, message="no such model"), NotFoundError),
        (Fault(status=403), AuthenticationError),
        (Fault(status=408), RequestTimeoutError),
        (Fault(status=413), ContextTooLongError),
        BY_CODE,
        (
            # vLLM's words
            Fault(status=400, message="This model's maximum context length is 4096 tokens."),
            ContextTooLongError,
        ),
        (
            # llama.cpp's words
            Fault(status=400, message="the request exceeds the available context size."),
            ContextTooLongError,
        ),
        (Fault(broken="garbage"), MalformedReplyError),
    ],
    "anthropic": [
        (Fault(status=529, message="Overloaded"), ServerError),
        (Fault(status=400, message="Your credit balance is too low"), AuthenticationError),
        (Fault(status=400, message="prompt is too long: 9 tokens > 8"), ContextTooLongError),
        (
            Fault(status=400, message="input length and `max_tokens` exceed context limit: 9 > 8"),
            ContextTooLongError,
        ),
        (Fault(status=413, message="request_too_large"), ContextTooLongError),
        (Fault(status=404), NotFoundError),
        (Fault(broken="garbage"), MalformedReplyError),
    ],
    "litellm": [BY_CODE],
    "openai-decisions": [IN_WORDS],
    "systemone": [IN_WORDS],
    "litellm-decisions": [IN_WORDS],
}


def given(*names):
    """Return the providers as parameters; those of litellm are skipped where it is missing."""
    missing = importlib.util.find_spec("litellm") is None
    skip = pytest.mark.skipif(missing, reason="needs the extra [litellm]")
    return [pytest.param(name, marks=[skip] if "litellm" in name else []) for name in names]


COMPLETING = given("openai", "anthropic", "litellm")


@pytest.fixture(params=given(*FAULTS))
def provider(request):
    return request.param


@pytest.fixture
def target(stub, provider):
    base_url = stub.url if provider == "anthropic" else stub.v1
    return resolve_target(f"{provider}:judge", base_url=base_url)


@pytest.fixture
async def backend(target):
    opened = open_backend(target, timeout_seconds=60)
    yield opened
    await opened.aclose()


def asked(backend, target):
    """Ask what the target is made for."""
    messages = (Message(role="user", content="Rate the summary."),)
    if not decides(target):
        return backend.complete(CompletionRequest(target=target, messages=messages))
    covered = Question(
        name="covered", kind="predicate", text="Is it covered?", options={"yes": "it is", "no": ""}
    )
    request = DecisionRequest(target=target, messages=messages, questions=(covered,))
    return backend.decide(request)


@pytest.mark.parametrize(
    ("provider", "fault", "error"),
    [
        pytest.param(*provider.values, fault, error, marks=provider.marks)
        for provider in given(*FAULTS)
        for fault, error in [*EVERYWHERE, *FAULTS[provider.values[0]]]
    ],
)
async def test_each_failure_has_its_error_and_is_asked_once(
    stub, backend, target, provider, fault, error
):
    # litellm's own transport asks once more after a reset; nothing of ours can switch that off.
    n_calls = 2 if (provider, fault.broken) == ("litellm-decisions", "reset") else 1
    stub.fail(*[fault] * n_calls)
    with pytest.raises(error) as raised:
        await asked(backend, target)
    assert type(raised.value) is error
    assert len(stub.calls) == n_calls  # repeating is the retrying backend's work
    if provider != "litellm-decisions":
        assert target.base_url in str(raised.value)


@pytest.mark.parametrize("provider", given(*KEYS))
async def test_the_wait_asked_for_comes_with_the_error(stub, backend, target):
    stub.fail(Fault(status=429, headers={"retry-after": "7"}))
    with pytest.raises(RateLimitError) as limited:
        await asked(backend, target)
    assert limited.value.retry_after_seconds == 7.0


async def test_a_stalled_server_times_out(stub, target):
    backend = open_backend(target, timeout_seconds=0.3)
    stub.fail(Fault(broken="stall"))  # which hangs up by itself, after 30 s
    with pytest.raises(RequestTimeoutError):
        await asked(backend, target)
    await backend.aclose()


@pytest.mark.parametrize("provider", given(*KEYS))
async def test_an_unreachable_server_is_named(provider):
    target = resolve_target(f"{provider}:judge", base_url="http://127.0.0.1:9/v1/")
    backend = open_backend(target)
    with pytest.raises(ConnectionFailedError, match=r"127\.0\.0\.1:9"):
        await asked(backend, target)
    await backend.aclose()


@pytest.mark.parametrize("provider", given(*KEYS))
def test_a_missing_key_names_its_variable(provider):
    model = "openai/gpt-4o-mini" if provider == "litellm" else "judge"
    with pytest.raises(ConfigurationError, match=KEYS[provider]):
        open_backend(resolve_target(f"{provider}:{model}"))


@pytest.mark.parametrize("provider", given(*KEYS))
async def test_a_planted_key_shows_nowhere_but_in_the_header(stub, provider, target, monkeypatch):
    key = "sk-planted-0123456789"
    monkeypatch.setenv(KEYS[provider], key)
    backend = open_backend(target, warn=(said := []).append)
    stub.fail(
        Fault(status=401, message=f"Incorrect API key provided: {key}."),
        Fault(status=500, message=f"crashed on {key}"),
        Fault(broken="reset"),
    )
    for _ in range(3):
        with pytest.raises(BackendError) as raised:
            await asked(backend, target)
        assert key not in str(raised.value)
        assert key not in repr(raised.value)
        # a printed traceback shows no client's exception
        assert raised.value.__suppress_context__
    assert key not in (await asked(backend, target)).model_dump_json()
    assert any(key in value for value in stub.calls[0].headers.values())
    assert said == []
    await backend.aclose()


@pytest.mark.parametrize("provider", COMPLETING)
async def test_the_ways_a_reply_can_end(stub, backend, target):
    stub.answer = lambda call: Reply(text="Sco", finish_reason="length")
    assert (await asked(backend, target)).finish_reason == "length"
    stub.answer = lambda call: Reply(text=None, refusal="This is about weapons.")
    with pytest.raises(RefusedError, match="about weapons"):
        await asked(backend, target)
    stub.answer = lambda call: "I'm sorry, but I can't rate this."
    assert (await asked(backend, target)).text == "I'm sorry, but I can't rate this."
    for nothing in ("", "  \n", None):
        stub.answer = lambda call, text=nothing: Reply(text=text)
        with pytest.raises(EmptyReplyError):
            await asked(backend, target)


@pytest.mark.parametrize("provider", given("openai", "litellm"))
def test_one_backend_serves_one_event_loop_after_another(stub, target):
    backend = open_backend(target)

    async def once() -> str:
        try:
            return (await asked(backend, target)).text
        finally:
            await backend.aclose()

    assert [asyncio.run(once()), asyncio.run(once())] == ["Score: 3", "Score: 3"]
