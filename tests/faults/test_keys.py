"""Keys are nowhere but in the header of a call, whatever servers make of them."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest
from cli_tools import finish, reference, start, summary, write_jsonl
from stub_server import Fault, Reply

KEY = "sk-planted/4711+do-not-show=="
"""With signs that JSON may escape."""
PROVIDERS = {
    "openai": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "openai-decisions": "OPENAI_API_KEY",
    "systemone": "SYSTEMONE_API_KEY",
    "litellm": "OPENAI_API_KEY",
}
NEEDS = {"litellm": "litellm"}


def escaped(key: str) -> str:
    """Write `key` as JSON may have it: a slash behind a backslash, other signs by their code."""
    return key.replace("/", "\\/").replace("-", "\\u002d").replace("+", "\\u002B")


def chat(text: str) -> bytes:
    """Return a chat completion with `text` put into its JSON as it is, in every place."""
    return (
        f'{{"id": "x", "model": "m {text}", "choices": [{{"index": 0, "finish_reason": "stop", '
        f'"message": {{"role": "assistant", "content": "By {text}.\\nVerdict: 4"}}}}]}}'
    ).encode()


def judging(provider: str, url: str) -> tuple[str, ...]:
    inputs = ("--references", "references.jsonl", "--summaries", "summaries.jsonl")
    options = ("--aspect", "faithfulness", "--protocol", "likert", "--concurrency", "1")
    model = "openai/stub" if provider == "litellm" else "stub"
    server = ("--backend", f"{provider}:{model}", "--base-url", url)
    return ("judge", *inputs, *options, *server, "-o", "judgements.jsonl", "--max-unscored", "1")


@pytest.fixture
def inputs():
    write_jsonl(Path("references.jsonl"), [reference()])
    write_jsonl(Path("summaries.jsonl"), [summary(f"s{n}") for n in range(12)])


def nowhere(folder: Path, text: str) -> None:
    assert KEY not in text
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) > 4
    for form in (KEY, escaped(KEY), json.dumps(KEY)[1:-1]):
        assert [path for path in files if form.encode() in path.read_bytes()] == []


@pytest.mark.parametrize("provider", PROVIDERS)
def test_api_key_echoed_by_a_server_is_removed(
    server, inputs, tmp_path, monkeypatch, provider, cli
):
    if provider in NEEDS and importlib.util.find_spec(NEEDS[provider]) is None:
        pytest.skip(f"no {NEEDS[provider]}")
    monkeypatch.setenv(PROVIDERS[provider], KEY)
    page = f"<html>502: the proxy got 'authorization: Bearer {KEY}'</html>".encode()
    echoes = iter(
        [
            Fault(status=500, message=f"crashed with {KEY}"),
            Fault(status=502, body=page, headers={"content-type": "text/html"}),
            Fault(body=page, headers={"content-type": "text/html"}),
            Fault(status=400, message=f"bad request by Bearer {KEY}", param=KEY, code=KEY),
            Fault(status=400, body=f'{{"error": {{"message": "{escaped(KEY)}"}}}}'.encode()),
            Fault(status=400, body=f'{{"detail": [{{"{KEY}": "{escaped(KEY)}"}}]}}'.encode()),
            Fault(body=f'{{"error": {{"message": "{escaped(KEY)}"}}}}'.encode()),
            Fault(body=f'{{"choices": "{escaped(KEY)}", "answers": "{escaped(KEY)}"}}'.encode()),
            Fault(body=f'["{escaped(KEY)}"]'.encode()),
        ]
    )

    def answer(call):
        fault = next(echoes, None)
        if fault is not None:
            return fault
        if "questions" in call.body:
            questions = call.body["questions"]
            names = (
                questions if isinstance(questions, dict) else [item["name"] for item in questions]
            )
            return dict.fromkeys(names)  # refuses
        return Reply(text=f"{KEY} says so.\nVerdict: 4", refusal=None)

    server.answer = answer
    url = server.url if provider == "anthropic" else server.v1
    result = finish(start(*judging(provider, url), "--run", "run", "--json", "report.json"))
    assert result.code == 0, result.err
    assert next(echoes, None) is None
    headers = [value for call in server.calls for value in call.headers.values()]
    assert any(KEY in value for value in headers)
    assert KEY not in "".join(json.dumps(call.body) for call in server.calls)
    again = cli(*judging(provider, url), "--run", "again")
    report = cli("report", "run", "-o", "report.html")
    nowhere(tmp_path, f"{result}{again}{report}")


def test_escaped_api_key_is_removed(server, inputs, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server.answer = lambda call: Fault(body=chat(escaped(KEY)))
    result = finish(start(*judging("openai", server.v1), "--run", "run"))
    assert result.code == 0, result.err
    rows = [json.loads(line) for line in Path("judgements.jsonl").read_text().splitlines()]
    assert {row["raw"] for row in rows} == {"By [key].\nVerdict: 4"}
    nowhere(tmp_path, result.out + result.err)


@pytest.mark.parametrize("key", ["x", "4", "token", "none"])
def test_placeholder_keys_of_custom_servers_do_not_alter_replies(
    server, inputs, monkeypatch, key, cli
):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    server.answer = lambda call: Reply(text="None of it is explained in tokens.\nVerdict: 4")
    cli(*judging("openai", server.v1), code=0)
    rows = [json.loads(line) for line in Path("judgements.jsonl").read_text().splitlines()]
    assert {row["value"] for row in rows} == {4}
    assert {row["raw"] for row in rows} == {"None of it is explained in tokens.\nVerdict: 4"}


@pytest.mark.parametrize(
    "url",
    [
        "http://judge:{}@127.0.0.1:9/v1",
        "judge:{}@127.0.0.1/v1",
        "http//judge:{}@127.0.0.1",
        "http://judge:{}@[::1/v1",
        "http://judge:{}@127.0.0.1:port/v1",
        "http://127.0.0.1:9/v1?key={}",
        "http://127.0.0.1:9/v1#{}",
        "localhost:8000/v1?key={}",
        "ftp://h/v1?key={}",
        "http://h:port/v1?key={}",
        "x#{}",
    ],
)
def test_password_in_a_url_is_not_repeated(inputs, tmp_path, url, cli):
    data = url.format("s3cret-passphrase")
    result = cli(*judging("openai", data), code=1)
    assert result.err.startswith("error: ")
    assert result.err.count("\n") == 1
    assert "s3cret-passphrase" not in result.out + result.err


@pytest.mark.parametrize("url", ["http://[::1/v1", "http://host:port/v1", "http://h:0/v1", "x"])
def test_invalid_url_gives_one_error(inputs, url, cli):
    result = cli(*judging("openai", url), code=1)
    (line,) = result.err.splitlines()
    assert "is not a base URL" in line


def test_proxy_password_is_not_printed(server, inputs, tmp_path, monkeypatch, cli):
    """What refuses a call on its way may name the way, and the way may hold a password."""
    server.answer = lambda call: Fault(status=407, message="who are you")
    place = server.url.removeprefix("http://")
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"):
        monkeypatch.setenv(name, f"http://judge:s3cret-passphrase@{place}")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    for scheme in ("http", "https"):
        result = cli(*judging("openai", f"{scheme}://192.0.2.1/v1"), "--timeout", "5")
        assert "s3cret-passphrase" not in result.out + result.err
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or b"s3cret-passphrase" not in path.read_bytes()
