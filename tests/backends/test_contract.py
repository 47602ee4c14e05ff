"""What every provider's backend keeps to, through its real client against the stub.

The providers are those of the registry that answer from a server, so that a new one is tested.
Its requests must have one of the wire formats of `stub_server`, or bring a further one there.
"""

from __future__ import annotations

import asyncio

import pytest
from stub_server import Fault, Reply

from fairjudge.backends import backend_kinds, decides, open_backend, resolve_target
from fairjudge.errors import (
    AuthenticationError,
    BackendError,
    BadRequestError,
    ConfigurationError,
    ConnectionFailedError,
    ContextTooLongError,
    EmptyReplyError,
    NoReplyError,
    NotFoundError,
    RateLimitError,
    RefusedError,
    RequestTimeoutError,
    ServerError,
)
from fairjudge.ports import CompletionRequest, DecisionRequest, Message, Question

# litellm's own code warns of its own and its dependencies' deprecations.
pytestmark = pytest.mark.filterwarnings("default")

KINDS = {kind.provider: kind for kind in backend_kinds() if kind.answers_from == "server"}
WRAPPED = {"litellm": "openai/", "litellm-decisions": "", "langchain": "openai/"}
"""Providers that call those of other packages, and how the one that the stub speaks is named."""
KEYS = {
    name: kind.key_variable or "OPENAI_API_KEY"
    for name, kind in KINDS.items()
    if kind.key_variable or WRAPPED.get(name)
}
EVERYWHERE = [
    (Fault(status=429), RateLimitError),
    (Fault(status=500), ServerError),
    (Fault(status=503), ServerError),
    (Fault(status=400, message="bad thing"), BadRequestError),
    (Fault(status=401), AuthenticationError),
    (Fault(broken="reset"), ConnectionFailedError),
    (Fault(broken="truncate"), ConnectionFailedError),
    (Fault(status=400, message="it exceeds the context length"), ContextTooLongError),
]
BY_CODE = (Fault(status=400, code="context_length_exceeded"), ContextTooLongError)
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
        (Fault(broken="garbage"), NoReplyError),
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
        (Fault(broken="garbage"), NoReplyError),
    ],
    "litellm": [BY_CODE],
}
"""Further faults in the words of one provider."""


def providers(*names):
    """Return the providers as parameters; those whose package is missing are skipped."""
    return [
        pytest.param(
            name,
            marks=[
                pytest.mark.skipif(
                    not KINDS[name].is_installed, reason=f"needs the extra [{KINDS[name].extra}]"
                )
            ],
        )
        for name in names
    ]


COMPLETING = providers(*(name for name, kind in KINDS.items() if not kind.decides))


@pytest.fixture(params=providers(*KINDS))
def provider(request):
    return request.param


@pytest.fixture(autouse=True)
def key(monkeypatch, request):
    """Some of what wraps other packages insists on a key of any kind."""
    if "missing_key" not in request.node.name:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-contract-tests")


@pytest.fixture
def target(stub, provider):
    # Some clients of LangChain's are shared by a process, and would keep connections over the test.
    stub.keeps_open = provider != "langchain"
    return resolve_target(f"{provider}:{WRAPPED.get(provider, '')}judge", base_url=stub.v1)


def complete(backend, target):
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
        for provider in providers(*KINDS)
        for fault, error in [*EVERYWHERE, *FAULTS.get(provider.values[0], [])]
    ],
)
async def test_each_failure_has_its_error_after_one_request(
    stub, backend, target, provider, fault, error
):
    # Some versions of litellm's own transport ask once more after a reset, which no option ends.
    repeats = provider.startswith("litellm") and fault.broken == "reset"
    stub.fail(*[fault] * (2 if repeats else 1))
    with pytest.raises(error) as raised:
        await complete(backend, target)
    assert type(raised.value) is error
    assert 1 <= len(stub.calls) <= (2 if repeats else 1)  # repeating is the retrying backend's work
    if provider != "litellm-decisions":
        assert stub.url in str(raised.value)


@pytest.mark.parametrize("provider", providers(*KEYS))
async def test_requested_wait_is_in_the_error(stub, backend, target):
    stub.fail(Fault(status=429, headers={"retry-after": "7"}))
    with pytest.raises(RateLimitError) as limited:
        await complete(backend, target)
    assert limited.value.retry_after_seconds == 7.0


async def test_a_stalled_server_times_out(stub, target):
    backend = open_backend(target, timeout_seconds=0.3)
    stub.fail(Fault(broken="stall"))  # which hangs up by itself, after 30 s
    with pytest.raises(RequestTimeoutError):
        await complete(backend, target)
    await backend.aclose()


@pytest.mark.parametrize("provider", providers(*KEYS))
async def test_an_unreachable_server_is_named(provider):
    model = f"{WRAPPED.get(provider, '')}judge"
    target = resolve_target(f"{provider}:{model}", base_url="http://127.0.0.1:9/v1/")
    backend = open_backend(target)
    with pytest.raises(ConnectionFailedError, match=r"127\.0\.0\.1:9"):
        await complete(backend, target)
    await backend.aclose()


@pytest.mark.parametrize("provider", providers(*KEYS))
def test_a_missing_key_names_its_variable(provider):
    model = f"{WRAPPED.get(provider, '')}gpt-4o-mini"
    with pytest.raises(ConfigurationError, match=KEYS[provider]):
        open_backend(resolve_target(f"{provider}:{model}"))


@pytest.mark.parametrize("provider", providers(*KEYS))
async def test_api_key_appears_only_in_the_header(stub, provider, target, monkeypatch):
    key = "sk-planted-0123456789"
    monkeypatch.setenv(KEYS[provider], key)
    backend = open_backend(target, warn=(texts := []).append)
    stub.fail(
        Fault(status=401, message=f"Incorrect API key provided: {key}."),
        Fault(status=500, message=f"crashed on {key}"),
        Fault(broken="reset"),
    )
    for _ in range(3):
        with pytest.raises(BackendError) as raised:
            await complete(backend, target)
        assert key not in str(raised.value)
        assert key not in repr(raised.value)
        # a printed traceback shows no client's exception
        assert raised.value.__suppress_context__
    assert key not in (await complete(backend, target)).model_dump_json()
    assert any(key in value for value in stub.calls[0].headers.values())
    assert texts == []
    await backend.aclose()


@pytest.mark.parametrize("provider", COMPLETING)
async def test_finish_reasons_of_replies(stub, backend, target):
    stub.answer = lambda call: Reply(text="Sco", finish_reason="length")
    assert (await complete(backend, target)).finish_reason == "length"
    stub.answer = lambda call: Reply(text=None, refusal="This is about weapons.")
    with pytest.raises(RefusedError, match="about weapons"):
        await complete(backend, target)
    stub.answer = lambda call: "I'm sorry, but I can't rate this."
    assert (await complete(backend, target)).text == "I'm sorry, but I can't rate this."
    for nothing in ("", "  \n", None):
        stub.answer = lambda call, text=nothing: Reply(text=text)
        with pytest.raises(EmptyReplyError):
            await complete(backend, target)


@pytest.mark.parametrize("provider", providers("openai", "anthropic", "litellm"))
def test_backend_works_in_successive_event_loops(stub, target):
    backend = open_backend(target)

    async def once() -> str:
        try:
            return (await complete(backend, target)).text
        finally:
            await backend.aclose()

    assert [asyncio.run(once()), asyncio.run(once())] == ["Score: 3", "Score: 3"]
