"""Failures in the words of many providers, over HTTP, through every wire that the registry has."""

from __future__ import annotations

import pytest
from server_cases import BY_STATUS
from test_contract import KINDS, WRAPPED, asked, given

from fairjudge.backends import open_backend, resolve_target
from fairjudge.errors import BackendError

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
        found = {}
        backend = open_backend(target, timeout_seconds=60)
        for name, fault in faults.items():
            stub.fail(fault)
            try:
                found[name] = await asked(backend, target)
            except BackendError as error:
                found[name] = error
        await backend.aclose()
        return found

    return failing


LITELLMS = {
    "too long: groq 413": "RateLimitError",
    "passing: cloudflare's page": "RequestTimeoutError",
}
"""Where litellm tells by words of its own, and hands on neither status nor body."""


@pytest.mark.parametrize("provider", given(*KINDS))
async def test_each_failure_is_of_its_kind(failing, provider):
    found = await failing({name: case.fault for name, case in BY_STATUS.items()})
    kinds = {name: type(error).__name__ for name, error in found.items()}
    right = {name: case.error.__name__ for name, case in BY_STATUS.items()}
    others = LITELLMS if provider.startswith("litellm") else {}
    assert kinds == {n: kinds[n] if kinds[n] == others.get(n) else right[n] for n in right}
    asked_for = {n: case.wait_seconds for n, case in BY_STATUS.items() if case.wait_seconds}
    waits = {name: found[name].retry_after_seconds for name in asked_for}
    assert waits == pytest.approx(asked_for)
