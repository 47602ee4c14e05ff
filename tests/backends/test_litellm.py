"""The litellm backend through the real litellm against the stub; skipped without the extra."""

from __future__ import annotations

import importlib.util
import math
import subprocess
import sys

import pytest
from stub_server import Fault, Reply

from fairjudge.backends import open_backend, resolve_target
from fairjudge.errors import (
    ConfigurationError,
    MissingExtraError,
)

HERE = importlib.util.find_spec("litellm") is not None
needs_litellm = pytest.mark.skipif(not HERE, reason="needs the extra [litellm]")
# litellm's own code warns of its own and its dependencies' deprecations.
pytestmark = pytest.mark.filterwarnings("default")

SCHEMA = {"type": "object", "properties": {"score": {"type": "integer"}}}


@pytest.mark.skipif(HERE, reason="the extra is installed")
def test_missing_extra_error_says_what_to_install():
    with pytest.raises(MissingExtraError, match=r"fairjudge\[litellm\]"):
        open_backend(resolve_target("litellm:openai/gpt-4o-mini"))


@pytest.fixture
def target(stub):
    return resolve_target("litellm:judge", base_url=stub.v1)


@needs_litellm
class TestLiteLLM:
    async def test_complete_exchange(self, stub, backend, target, ask):
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

    def test_unknown_provider_raises(self):
        with pytest.raises(ConfigurationError, match="provider/model"):
            open_backend(resolve_target("litellm:no-such-thing"))

    def test_nothing_is_printed(self, stub):
        code = (
            "import asyncio, sys\n"
            "from fairjudge.backends import open_backend, resolve_target\n"
            "from fairjudge.errors import BackendError\n"
            "from fairjudge.ports import CompletionRequest, Message\n"
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
