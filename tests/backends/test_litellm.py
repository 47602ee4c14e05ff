"""The litellm backend through the real litellm against the stub; skipped without the extra."""

from __future__ import annotations

import asyncio
import importlib.util
import math
import subprocess
import sys

import pytest
from stub_server import Fault, Reply

from fairjudge.backends import open_backend, resolve_target
from fairjudge.errors import (
    AuthenticationError,
    BackendError,
    BadRequestError,
    ConfigurationError,
    ConnectionFailedError,
    ContextTooLongError,
    EmptyReplyError,
    MissingExtraError,
    RateLimitError,
    RefusedError,
    RequestTimeoutError,
    ServerError,
)

HERE = importlib.util.find_spec("litellm") is not None
needs_litellm = pytest.mark.skipif(not HERE, reason="needs the extra [litellm]")
# litellm's own code warns of its own and its dependencies' deprecations.
pytestmark = pytest.mark.filterwarnings("default")

SCHEMA = {"type": "object", "properties": {"score": {"type": "integer"}}}


@pytest.mark.skipif(HERE, reason="the extra is installed")
def test_without_the_extra_the_message_says_what_to_install():
    with pytest.raises(MissingExtraError, match=r"fairjudge\[litellm\]"):
        open_backend("litellm:openai/gpt-4o-mini")


@pytest.fixture
def target(stub):
    return resolve_target("litellm:judge", base_url=stub.v1)


@pytest.fixture
async def backend(target):
    opened = open_backend(target, timeout_seconds=60)
    yield opened
    await opened.aclose()


@needs_litellm
class TestLiteLLM:
    async def test_a_whole_exchange(self, stub, backend, target, ask):
        stub.answer = lambda call: Reply(
            text="4",
            input_tokens=31,
            output_tokens=9,
            logprobs=[
                {
                    "token": "4",
                    "bytes": [52],
                    "logprob": math.log(0.5),
                    "top_logprobs": [{"token": "5", "bytes": [53], "logprob": math.log(0.25)}],
                }
            ],
        )
        reply = await backend.complete(
            ask(
                target,
                temperature=0.5,
                max_output_tokens=77,
                seed=3,
                sample_index=1,
                stop=("END",),
                top_logprobs=2,
                response_schema=SCHEMA,
            )
        )
        assert reply.text == "4"
        assert (reply.usage.input_tokens, reply.usage.output_tokens) == (31, 9)
        assert dict(reply.tokens[0].logprobs) == {"4": math.log(0.5), "5": math.log(0.25)}
        body = stub.calls[0].body
        assert body["model"] == "judge"
        assert body["temperature"] == 0.5
        assert body["max_tokens"] == 77
        assert body["seed"] == 4
        assert body["stop"] == ["END"]
        assert body["top_logprobs"] == 2
        assert body["response_format"]["json_schema"]["schema"] == SCHEMA

    async def test_the_ways_a_reply_can_end(self, stub, backend, target, ask):
        stub.answer = lambda call: Reply(text="Sco", finish_reason="length")
        assert (await backend.complete(ask(target))).finish_reason == "length"
        stub.answer = lambda call: Reply(text=None, refusal="I can't help with that.")
        with pytest.raises(RefusedError, match="can't help"):
            await backend.complete(ask(target))
        stub.answer = lambda call: Reply(text="")
        with pytest.raises(EmptyReplyError):
            await backend.complete(ask(target))

    @pytest.mark.parametrize(
        ("fault", "error"),
        [
            (Fault(status=429), RateLimitError),
            (Fault(status=500), ServerError),
            (Fault(status=503), ServerError),
            (Fault(status=400, message="bad thing"), BadRequestError),
            (Fault(status=400, code="context_length_exceeded"), ContextTooLongError),
            (Fault(status=401), AuthenticationError),
            (Fault(broken="reset"), ConnectionFailedError),
            (Fault(broken="truncate"), ConnectionFailedError),
        ],
    )
    async def test_each_failure_has_its_error_and_is_asked_once(
        self, stub, backend, target, ask, fault, error
    ):
        stub.fail(fault)
        with pytest.raises(error) as raised:
            await backend.complete(ask(target))
        assert type(raised.value) is error
        assert stub.v1 in str(raised.value)
        assert len(stub.calls) == 1

    async def test_the_wait_asked_for_comes_with_the_error(self, stub, backend, target, ask):
        stub.fail(Fault(status=429, headers={"retry-after": "7"}))
        with pytest.raises(RateLimitError) as limited:
            await backend.complete(ask(target))
        assert limited.value.retry_after_seconds == 7.0

    async def test_a_stalled_server_times_out(self, stub, target, ask):
        backend = open_backend(target, timeout_seconds=0.3)
        stub.fail(Fault(broken="stall"))
        with pytest.raises(RequestTimeoutError):
            await backend.complete(ask(target))
        await backend.aclose()

    async def test_an_unreachable_server_is_named(self, ask):
        target = resolve_target("litellm:judge", base_url="http://127.0.0.1:9/v1")
        backend = open_backend(target)
        with pytest.raises(ConnectionFailedError, match=r"127\.0\.0\.1:9"):
            await backend.complete(ask(target))
        await backend.aclose()

    def test_a_missing_key_names_its_variable(self):
        with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
            open_backend("litellm:openai/gpt-4o-mini")

    def test_an_unknown_provider_is_said(self):
        with pytest.raises(ConfigurationError, match="provider/model"):
            open_backend("litellm:no-such-thing")

    async def test_a_planted_key_never_shows(self, stub, target, ask, monkeypatch):
        key = "sk-planted-0123456789"
        monkeypatch.setenv("OPENAI_API_KEY", key)
        backend = open_backend(target)
        stub.fail(Fault(status=401, message=f"Incorrect API key provided: {key}."))
        with pytest.raises(BackendError) as raised:
            await backend.complete(ask(target))
        assert key not in str(raised.value)
        assert raised.value.__suppress_context__
        assert stub.calls[0].headers["authorization"] == f"Bearer {key}"
        await backend.aclose()

    def test_one_backend_serves_one_event_loop_after_another(self, stub, target, ask):
        backend = open_backend(target)

        async def once() -> str:
            try:
                return (await backend.complete(ask(target))).text
            finally:
                await backend.aclose()

        assert [asyncio.run(once()), asyncio.run(once())] == ["Score: 3", "Score: 3"]

    def test_nothing_is_printed(self, stub):
        code = (
            "import asyncio, sys\n"
            "from fairjudge.backends import open_backend, resolve_target\n"
            "from fairjudge.errors import BackendError\n"
            "from fairjudge.protocols import CompletionRequest, Message\n"
            "target = resolve_target('litellm:judge', base_url=sys.argv[1])\n"
            "message = Message(role='user', content='hi')\n"
            "async def go():\n"
            "    backend = open_backend(target)\n"
            "    try:\n"
            "        request = CompletionRequest(target=target, messages=(message,))\n"
            "        await backend.complete(request)\n"
            "    except BackendError: pass\n"
            "    await backend.aclose()\n"
            "asyncio.run(go())\n"
        )
        stub.fail(Fault(status=500))
        ran = subprocess.run(
            [sys.executable, "-c", code, stub.v1], check=False, capture_output=True, text=True
        )
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
