"""A judge in a cloud or on a server at home, by the recipes of docs/servers.md.

The clients are the vendors' own; what they call is a server on loopback.
"""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cli_tools import cluster, journalist, summary, text_of, write_jsonl
from missing import missing
from stub_server import Call, Fault, Reply, StubServer

PAGE = Path(__file__).parents[2] / "docs" / "servers.md"
JUDGING = ("judge", "--references", "c.jsonl", "--summaries", "s.jsonl", "--aspect", "faithfulness",
           "--protocol", "binary", "-o", "judged.jsonl")  # fmt: skip


def backends_of_recipes() -> dict[str, str]:
    """Return each heading of the page with the backend of its command."""
    parts = re.split(r"^## ", PAGE.read_text("utf-8"), flags=re.MULTILINE)[1:]
    return {part.partition("\n")[0]: re.search(r"--backend (\S+)", part)[1] for part in parts}


def values() -> list[float]:
    return [json.loads(line)["value"] for line in Path("judged.jsonl").read_text().splitlines()]


@pytest.fixture(autouse=True)
def texts(server: StubServer) -> None:
    write_jsonl(Path("c.jsonl"), [cluster()])
    write_jsonl(Path("s.jsonl"), [summary("a"), summary("b")])
    server.answer = lambda call: Reply(text='{"reasons": "It is there.", "verdict": "yes"}')


def test_azure_with_langchain_uses_the_deployment_path(
    server: StubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    if importlib.util.find_spec("langchain") is None:
        missing("langchain (the group 'extras')")
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "sk-azure-0123456789")
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", server.url)
    monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
    options = ("--backend", backends_of_recipes()["Azure OpenAI"], "--max-calls", "5")
    result = subprocess.run(  # the integration's client closes connections only at process end
        [sys.executable, "-m", "fairjudge", *JUDGING, *options],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert values() == [1.0, 1.0]
    call = server.calls[0]
    assert "/openai/deployments/my-deployment/chat/completions" in call.path
    assert {name.lower(): value for name, value in call.headers.items()}["api-key"]
    assert "sk-azure" not in Path("judged.jsonl").read_text() + result.stderr + result.stdout


@pytest.mark.parametrize("recipe", ["Transformers", "vLLM", "Ollama", "llama.cpp", "LM Studio"])
def test_local_server_receives_the_model_name(
    cli, server: StubServer, monkeypatch: pytest.MonkeyPatch, recipe: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "unused")
    backend = backends_of_recipes()[recipe]
    cli(*JUDGING, "--backend", backend, "--base-url", server.v1, "--concurrency", "1", code=0)
    assert values() == [1.0, 1.0]
    assert {call.body["model"] for call in server.calls} == {backend.partition(":")[2]}


def test_schema_declined_with_status_500_is_omitted(
    cli, server: StubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `llama_cpp.server` 0.3.36 does, whose ``response_format`` is text or json_object."""
    declined = {
        "message": "[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), 'msg': "
        "\"Input should be 'text' or 'json_object'\", 'input': 'json_schema'}]",
        "type": "internal_server_error",
        "param": None,
        "code": None,
    }

    def answer(call: Call) -> Fault | Reply:
        if call.body.get("response_format", {}).get("type") == "json_schema":
            return Fault(status=500, body=json.dumps({"error": declined}).encode())
        return Reply(text='{"reasons": "It is there.", "verdict": "yes"}')

    monkeypatch.setenv("OPENAI_API_KEY", "unused")
    server.answer = answer
    result = cli(*JUDGING, "--backend", "openai:q.gguf", "--base-url", server.v1,
               "--concurrency", "1", code=0)  # fmt: skip
    assert "does not support 'response_format'; it is no longer sent" in result.err
    assert values() == [1.0, 1.0]
    assert len(server.calls) == 3  # the schema is declined once, and left out from then on


TOKENS = ('{"reasons":"It is there.","verdict":"', "4", '"}', "<|im_end|>")
RATED = "".join(TOKENS[:-1])


def as_tokens() -> list[dict]:
    """Return the log-probabilities of `RATED`: 4 and 5 are equally likely."""

    def place(token: str) -> dict:
        likely = [("4", -0.6931), ("5", -0.6931)] if token == "4" else [(token, -0.01)]
        return {
            "token": token, "logprob": likely[0][1], "bytes": list(token.encode()),
            "top_logprobs": [{"token": t, "logprob": p, "bytes": list(t.encode())}
                             for t, p in likely],
        }  # fmt: skip

    return [place(token) for token in TOKENS]


def declined(message: str) -> Fault:
    return Fault(status=400, body=json.dumps({"error": {"message": message}}).encode())


NO_USAGE = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
DIALECTS = {
    # What comes first, what a schema gets, whether token probabilities come, and the usage.
    "vLLM": ([], "The provided JSON schema contains features not supported by xgrammar.", True, {}),
    "Ollama": ([], None, False, {}),
    "llama.cpp": (
        [Fault(status=503, body=b'{"error": {"code": 503, "message": "Loading model"}}')],
        "Failed to parse grammar: expecting name at end",
        True,
        {},
    ),
    "LM Studio": ([], None, False, NO_USAGE),
}


@pytest.mark.parametrize("recipe", DIALECTS)
def test_local_server_rates_fills_checklists_and_builds(
    cli, server: StubServer, monkeypatch: pytest.MonkeyPatch, recipe: str
) -> None:
    """By each dialect: what a server declines is left out, and scores are of one kind."""
    first, schema_error, has_probabilities, usage = DIALECTS[recipe]

    def answer(call: Call) -> Fault | Reply:
        if schema_error and "response_format" in call.body:
            return declined(schema_error)
        if "checklist" not in command and "judge" in command:
            logprobs = as_tokens() if has_probabilities and call.body.get("logprobs") else None
            return Reply(text=RATED, logprobs=logprobs, usage=usage)
        text = journalist(call).replace("The bridge closed.", "The dam broke after rain.")
        return Reply(text=text, usage=usage)

    monkeypatch.setenv("OPENAI_API_KEY", "unused")
    model = ("--backend", backends_of_recipes()[recipe], "--base-url", server.v1)
    server.answer = answer
    server.fail(*first)
    inputs = ("--summaries", "s.jsonl", "--aspect", "coverage", *model)

    command: tuple[str, ...] = ("build", "c.jsonl", "-o", "r.jsonl", *model)
    result = cli(*command, code=0)
    assert ("does not support 'response_format'" in result.err) == bool(schema_error)

    command = ("judge", "--references", "r.jsonl", *inputs, "--protocol", "likert",
             "--token-probabilities", "-o", "judged.jsonl")  # fmt: skip
    result = cli(*command, code=0)
    assert values() == pytest.approx([4.5, 4.5] if has_probabilities else [4.0, 4.0], abs=1e-3)
    assert ("No score comes from token probabilities" in result.out) != has_probabilities

    command = ("judge", "--references", "r.jsonl", *inputs, "--protocol", "checklist",
             "-o", "judged.jsonl")  # fmt: skip
    result = cli(*command, code=0)
    assert all(0 <= value <= 1 for value in values())
    checklists = [call.body for call in server.calls if '{"entries"' in text_of(call)]
    assert any("response_format" in body for body in checklists)


def test_too_small_context_is_detected_before_any_call(
    cli, server: StubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def short_context(call: Call) -> Reply:
        return Reply(text="Verdict: yes", input_tokens=min(4096, len(text_of(call)) // 4))

    monkeypatch.setenv("OPENAI_API_KEY", "unused")
    long = cluster()
    long["articles"][0]["content"] = "The spillway broke after days of rain. " * 2000
    write_jsonl(Path("c.jsonl"), [long])
    server.answer = short_context
    command = (*JUDGING, "--backend", "openai:qwen3:8b", "--base-url", server.v1)
    cli(*command, "--plan", "--json", "plan.json", code=0)
    assert server.calls == []
    result = cli(*command)
    rows = [json.loads(line) for line in Path("judged.jsonl").read_text().splitlines()]
    assert {row["unscored"] for row in rows} == {"too_long"}
    assert result.code in {0, 3}
