"""Failures in the words of many providers, over HTTP, through every wire that the registry has."""

from __future__ import annotations

import contextlib
import time

import pytest
from server_cases import BY_STATUS, NO_CHOICE, PASSING, WAITS, WITHIN_200
from test_contract import KINDS, WRAPPED, complete, providers

from fairjudge.backends import open_backend, resolve_target
from fairjudge.backends.failures import failure
from fairjudge.backends.ports import Pipeline
from fairjudge.backends.reply_bodies import check_reply, read_json
from fairjudge.backends.retrying import TRANSIENT, Retrying
from fairjudge.errors import BackendError, ServerError

pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-contract-tests")


@pytest.fixture
async def failing(stub, provider):
    """Return what a backend of `provider` raises at each of some faults, by name."""
    stub.keeps_open = provider != "langchain"
    target = resolve_target(f"{provider}:{WRAPPED.get(provider, '')}judge", base_url=stub.v1)

    async def failing(faults):
        by_name = {}
        backend = open_backend(target, timeout_seconds=60)
        for name, fault in faults.items():
            stub.fail(fault)
            try:
                by_name[name] = await complete(backend, target)
            except BackendError as error:
                by_name[name] = error
        await backend.aclose()
        return by_name

    return failing


CHATS = providers("openai", "litellm", "langchain")
"""Those that speak the chat completions format here."""
LITELLMS = {
    "too long: groq 413": "RateLimitError",
    "passing: cloudflare's page": "RequestTimeoutError",
    "bad: a request that is repeated": "RefusedError",
}
"""Where litellm tells by words of its own, and hands on neither status nor body."""


@pytest.mark.parametrize("provider", providers(*KINDS))
async def test_each_failure_has_its_error_type(failing, provider):
    result = await failing({name: case.fault for name, case in BY_STATUS.items()})
    kinds = {name: type(error).__name__ for name, error in result.items()}
    right = {name: case.error.__name__ for name, case in BY_STATUS.items()}
    models = LITELLMS if provider.startswith("litellm") else {}
    assert kinds == {n: kinds[n] if kinds[n] == models.get(n) else right[n] for n in right}
    asked_for = {n: case.wait_seconds for n, case in BY_STATUS.items() if case.wait_seconds}
    waits = {name: result[name].retry_after_seconds for name in asked_for}
    assert waits == pytest.approx(asked_for)


LANGCHAINS = {
    "an error that is a word",
    "lm studio's path",
    "a list",
    "a word",
    "null",
    "no words and no end",
}
"""What LangChain raises as it raises errors of a caller; these are not asked again in one run."""


def check(errors, cases, provider):
    """Compare kinds; where a wrapping package loses the body, it is enough to be asked again."""
    kinds = {name: type(error) for name, error in errors.items()}
    right = {}
    for name, case in cases.items():
        kind = kinds[name]
        lost = provider in WRAPPED and issubclass(kind, ServerError)
        lost |= provider == "langchain" and name in LANGCHAINS and kind is BackendError
        # litellm says "stop" where the server said nothing.
        lost |= provider == "litellm" and name == "no words and no end"
        right[name] = kind if lost else case.error
    assert kinds == right


@pytest.mark.parametrize("provider", providers(*KINDS))
async def test_failure_with_status_200_has_the_named_error_type(failing, provider):
    result = await failing({name: case.fault for name, case in WITHIN_200.items()})
    check(result, WITHIN_200, provider)


@pytest.mark.parametrize("provider", CHATS)
async def test_reply_without_a_choice_is_a_server_error(failing, provider):
    result = await failing({name: case.fault for name, case in NO_CHOICE.items()})
    check(result, NO_CHOICE, provider)


@pytest.mark.parametrize("provider", providers(*KINDS))
async def test_transient_failures_are_retried_with_the_requested_wait(stub, provider):
    """Before the first answer too: none of it is taken for a key that is not accepted."""
    stub.keeps_open = provider != "langchain"
    target = resolve_target(f"{provider}:{WRAPPED.get(provider, '')}judge", base_url=stub.v1)
    client = open_backend(target, timeout_seconds=60)
    cases = {"passing " + n: case for n, case in PASSING.items()}
    cases |= {"wait " + n: case for n, case in WAITS.items()}
    if provider not in WRAPPED:
        inside = {n: c for n, c in WITHIN_200.items() if issubclass(c.error, TRANSIENT)}
        cases |= {"inside " + n: case for n, case in inside.items()}
    waits = []

    async def sleep(seconds):
        waits.append(seconds)

    for name, case in cases.items():
        waits.clear()
        stub.calls.clear()
        stub.fail(case.fault)
        await complete(Pipeline(client, Retrying(fail_if_never_reached=True, sleep=sleep)), target)
        assert (name, len(stub.calls), len(waits)) == (name, 2, 1)
        assert waits[0] >= (case.wait_seconds or 0.0) - 1e-9, name
    await client.aclose()


@pytest.mark.parametrize(
    "body",
    [
        b"<script" * 2_000_000,
        b"<" * 10_000_000,
        b'{"error": {"message": "' + b"prompt " * 2_000_000 + b'"}}',
        b'{"errors": [' + b'{"message": "input tokens "},' * 300_000 + b'{"code": 1}]}',
        b"[" * 1_000_000,
        b'{"error": ' * 100_000,
        b"try again in 1" * 1_000_000,
    ],
    ids=["scripts", "tags", "words", "errors", "lists", "objects", "waits"],
)
@pytest.mark.parametrize("status", [200, 400, 429, 500])
def test_large_error_bodies_are_handled_quickly(body, status):
    """Measured in the time of this process: .1 to .3 s each, most of it in reading JSON."""
    began = time.process_time()
    if status == 200:
        with contextlib.suppress(BackendError):
            check_reply(read_json(body, server_name="a server"), "choices", server_name="a server")
    else:
        assert len(str(failure(status, body, server_name="a server"))) < 1_000
    assert time.process_time() - began < 10
