"""Chat models of LangChain as backends: opened by name, and given as they are."""

from __future__ import annotations

import subprocess
import sys

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_openai import ChatOpenAI
from stub_server import Fault, Reply

from fairjudge.backends import backend_kinds, open_backend, resolve_target
from fairjudge.backends.keys import request_key
from fairjudge.backends.langchain import chat_target
from fairjudge.errors import (
    BackendError,
    ConfigurationError,
    ConnectionFailedError,
    MissingExtraError,
    RateLimitError,
    RefusedError,
)
from fairjudge.options.models import Model, as_model
from fairjudge.ports import ModelRef

KEY = "sk-planted-0123456789"


@pytest.fixture(autouse=True)
def no_kept_connections(stub):
    """Clients of LangChain's are shared by a process, and would keep connections over a test."""
    stub.keeps_open = False


@pytest.fixture
def warnings():
    return []


@pytest.fixture
def chat(stub, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return ChatOpenAI(model="judge", base_url=stub.v1, max_retries=0)


@pytest.fixture
async def backend(chat, warnings):
    opened = open_backend(chat_target(chat), chat=chat, timeout_seconds=60, warn=warnings.append)
    yield opened
    await opened.aclose()


async def test_chat_model_receives_the_request_parameters(stub, chat, backend, warnings, ask):
    stub.answer = lambda call: Reply(text="Score: 4", input_tokens=31, output_tokens=9)
    request = ask(
        chat_target(chat),
        temperature=0.7,
        top_p=0.9,
        max_output_tokens=55,
        seed=10,
        sample_index=2,
        stop=("END",),
    )
    reply = await backend.complete(request)
    assert (reply.text, reply.finish_reason) == ("Score: 4", "stop")
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (31, 9)
    assert reply.served_model == "judge-2026-01-01"
    body = stub.calls[0].body
    assert body["messages"] == [{"role": "user", "content": "Rate the summary."}]
    options = {name: body[name] for name in ("model", "temperature", "top_p", "seed", "stop")}
    assert options == {
        "model": "judge",
        "temperature": 0.7,
        "top_p": 0.9,
        "seed": 12,
        "stop": ["END"],
    }
    assert 55 in {body.get("max_tokens"), body.get("max_completion_tokens")}
    assert warnings == []
    assert chat.temperature is None  # the caller's model stays as it was


async def test_finish_reasons_of_replies(stub, chat, backend, ask):
    stub.answer = lambda call: Reply(text="Sco", finish_reason="length")
    assert (await backend.complete(ask(chat_target(chat)))).finish_reason == "length"
    stub.answer = lambda call: Reply(text=None, refusal="This is about weapons.")
    with pytest.raises(RefusedError, match="about weapons"):
        await backend.complete(ask(chat_target(chat)))


async def test_failures_match_other_backends(stub, chat, backend, ask):
    stub.fail(
        Fault(status=429, headers={"retry-after": "7"}),
        Fault(broken="reset"),
        Fault(status=500, message=f"crashed on {KEY}"),
    )
    with pytest.raises(RateLimitError) as limited:
        await backend.complete(ask(chat_target(chat)))
    assert limited.value.retry_after_seconds == 7.0
    with pytest.raises(ConnectionFailedError):
        await backend.complete(ask(chat_target(chat)))
    with pytest.raises(BackendError) as failed:
        await backend.complete(ask(chat_target(chat)))
    assert KEY not in str(failed.value)
    assert len(stub.calls) == 3


async def test_unsupported_parameters_are_omitted_with_one_warning(warnings, ask):
    chat = FakeListChatModel(responses=["Score: 4", "Score: 2"])
    target = chat_target(chat)
    backend = open_backend(target, chat=chat, warn=warnings.append)
    request = ask(target, temperature=0.5, response_schema={"type": "object"})
    assert (await backend.complete(request)).text == "Score: 4"
    n_said = len(warnings)
    await backend.complete(request)
    assert len(warnings) == n_said
    assert any("'temperature'" in line for line in warnings)
    assert any("'max_tokens'" in line for line in warnings)
    assert any("gets no schema" in line for line in warnings)


async def test_exception_of_an_integration_fails_one_item(ask):
    class Odd(FakeListChatModel):
        async def _agenerate(self, *args, **kwargs):
            raise LookupError("the mainframe is asleep")

    chat = Odd(responses=[])
    target = chat_target(chat)
    with pytest.raises(BackendError, match="LookupError: the mainframe is asleep"):
        await open_backend(target, chat=chat).complete(ask(target))


async def test_uncounted_retries_are_reported(stub, monkeypatch, warnings):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    chat = ChatOpenAI(model="judge", base_url=stub.v1, max_retries=3)
    open_backend(chat_target(chat), chat=chat, warn=warnings.append)
    (line,) = warnings
    assert "max_retries=0" in line


def test_model_works_in_successive_event_loops(stub):
    """In a process of its own: the client that LangChain shares keeps connections to its end."""
    stub.keeps_open = True
    code = (
        "import asyncio, sys\n"
        "from langchain_openai import ChatOpenAI\n"
        "from fairjudge.backends import open_backend\n"
        "from fairjudge.backends.budgeting import Budget, BudgetLimit\n"
        "from fairjudge.backends.ports import Pipeline\n"
        "from fairjudge.backends.langchain import chat_target\n"
        "from fairjudge.ports import CompletionRequest, Message\n"
        "chat = ChatOpenAI(model='judge', base_url=sys.argv[1], max_retries=0, api_key='k')\n"
        "target = chat_target(chat)\n"
        "messages = (Message(role='user', content='Rate it.'),)\n"
        "budget = Budget()\n"
        "async def ask():\n"
        "    limits = BudgetLimit(budget)\n"
        "    backend = Pipeline(open_backend(target, chat=chat), limits)\n"
        "    request = CompletionRequest(target=target, messages=messages)\n"
        "    return [(await backend.complete(request)).text for _ in range(2)]\n"
        "print([asyncio.run(ask()) for _ in range(2)], budget.n_calls)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, stub.v1], check=True, capture_output=True, text=True
    )
    # A connection that was kept from the first loop costs a call more, which is counted.
    assert ran.stdout.strip() == f"{[['Score: 3'] * 2] * 2} {len(stub.calls)}"
    assert len(stub.calls) in {4, 5}


class TestIdentity:
    def test_key_depends_on_settings_and_contains_no_secrets(self, stub, monkeypatch, ask):
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        keys = {}
        for name, fields in {
            "first": {},
            "same": {},
            "warmer": {"temperature": 0.3},
            "other": {"model": "judge-2"},
            "elsewhere": {"base_url": "http://127.0.0.1:9/v1"},
        }.items():
            chat = ChatOpenAI(**{"model": "judge", "base_url": stub.v1} | fields)
            target = chat_target(chat)
            assert target.provider == "langchain"
            assert KEY not in target.model
            keys[name] = request_key(ask(target))
        assert keys["first"] == keys["same"]
        assert len(set(keys.values())) == 4

    def test_api_key_does_not_change_the_identity(self, monkeypatch):
        targets = set()
        for key in (KEY, KEY[::-1]):
            monkeypatch.setenv("OPENAI_API_KEY", key)
            targets.add(chat_target(ChatOpenAI(model="judge")))
        assert len(targets) == 1

    def test_identity_is_equal_in_another_process(self):
        code = (
            "from langchain_core.language_models import FakeListChatModel;"
            "from fairjudge.backends.langchain import chat_target;"
            "print(chat_target(FakeListChatModel(responses=['a'])))"
        )
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        first = str(chat_target(FakeListChatModel(responses=["a"])))
        assert ran.stdout.decode().strip() == first
        assert first.startswith("langchain:FakeListChatModel@")
        assert str(chat_target(FakeListChatModel(responses=["b"]))) != first


class TestModel:
    def test_chat_model_is_accepted_as_target(self):
        chat = FakeListChatModel(responses=["a"])
        for model in (Model(chat), as_model(chat)):
            assert model.chat is chat
            assert model.llm == chat_target(chat)
            assert repr(model) == f"Model('{chat_target(chat)}')"

    def test_chat_model_cannot_be_sent_to_ray(self):
        with pytest.raises(ConfigurationError, match="Ray"):
            Model(FakeListChatModel(responses=["a"]), engine="ray")


class TestByName:
    def test_missing_extra_is_named(self):
        (kind,) = (kind for kind in backend_kinds() if kind.provider == "langchain")
        if kind.is_installed:
            pytest.skip("the extra [langchain] is installed")
        with pytest.raises(MissingExtraError, match=r"fairjudge\[langchain\]"):
            open_backend(resolve_target("langchain:openai/gpt-4o"))

    async def test_a_provider_is_opened(self, stub, monkeypatch, ask):
        pytest.importorskip("langchain")
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        target = resolve_target("langchain:openai/judge", base_url=stub.v1)
        backend = open_backend(target)
        assert (await backend.complete(ask(target, max_output_tokens=55))).text == "Score: 3"
        stub.fail(Fault(status=503))
        with pytest.raises(BackendError):
            await backend.complete(ask(target))
        assert len(stub.calls) == 2  # repeating is the retrying backend's work

    @pytest.mark.parametrize("model", ["no-such-provider/m", "ollama/llama3", "no-such-model"])
    def test_unopenable_provider_reports_the_reason(self, model):
        pytest.importorskip("langchain")
        with pytest.raises(ConfigurationError, match=f"langchain:{model}"):
            open_backend(resolve_target(f"langchain:{model}"))

    def test_missing_key_is_reported(self):
        pytest.importorskip("langchain")
        with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
            open_backend(ModelRef(provider="langchain", model="openai/gpt-4o"))
