"""The stub model of `compare_commands`: it answers any prompt of the library, deterministically."""

from __future__ import annotations

import contextlib
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from _command_world import number_from
from cli_tools import journalist, text_of
from stub_server import Call, Reply, StubServer


@dataclass(frozen=True)
class Models:
    """The stub's URL, and the command-line options that select its models."""

    url: str

    def fill(self, line: str, name: str) -> str:
        """Return a line of the table with its placeholders filled in."""
        chat = f"--base-url {self.url}/v1"
        return line.format(
            name=name,
            llm=f"--backend openai:stub-model {chat}",
            silent=f"--backend openai:silent {chat}",
            claude=f"--backend anthropic:stub-model --base-url {self.url}",
            decisions=f"--backend openai-decisions:stub-model {chat}",
            systemone=f"--backend systemone:stub-model --base-url {self.url}",
        )


@contextlib.contextmanager
def open_models() -> Iterator[Models]:
    """Serve the models on a free port of loopback."""
    server = StubServer()
    server.answer = answer
    try:
        yield Models(server.url)
    finally:
        server.close()


def answer(call: Call) -> Any:
    """Return a verdict in the schema, or else in the form that the prompt requires."""
    if "questions" in call.body:
        return {}
    text = text_of(call)
    if call.body["model"] == "silent":
        return Reply(text="I cannot say.")
    if '"sets"' in text:
        sets = [[f"Level {level} of set {n}" for level in range(1, 6)] for n in range(2)]
        return Reply(text=json.dumps({"sets": [{"anchors": anchors} for anchors in sets]}))
    reply = _by_schema(call, text)
    if reply is None:
        return Reply(text=journalist(call))
    asks_logprobs = call.body.get("logprobs")
    return Reply(text=reply, logprobs=_tokens(reply) if asks_logprobs else None)


def _by_schema(call: Call, text: str) -> str | None:
    form = call.body.get("response_format", {}).get("json_schema", {}).get("schema", {})
    fields = form.get("properties", {})
    if "verdict" in fields:
        return json.dumps(_verdict(fields["verdict"], text))
    verdicts = {
        name: _verdict(field["properties"]["verdict"], f"{name} {text}")
        for name, field in fields.items()
        if "verdict" in field.get("properties", {})
    }
    return json.dumps(verdicts) if verdicts else None


def _verdict(field: dict[str, Any], text: str) -> dict[str, str]:
    answers = [answer for answer in field["enum"] if answer is not None]
    topics = len(re.findall(r"The \w+ matters, says", text.rpartition("<summary")[2]))
    place = (
        min(len(answers) - 1, topics)
        if number_from(text, 3)
        else number_from(f"any {text}", len(answers))
    )
    return {"reasoning": "So it is.", "verdict": answers[place]}


def _tokens(reply: str) -> list[dict[str, Any]]:
    verdict = json.loads(reply)["verdict"]
    before, _, after = reply.rpartition(verdict)
    parts = ((before, {before: 1.0}), (verdict, {verdict: 0.7, "2": 0.2}), (after, {after: 1.0}))
    return [
        {
            "token": token,
            "logprob": math.log(odds[token]),
            "top_logprobs": [
                {"token": alternative, "logprob": math.log(p)} for alternative, p in odds.items()
            ],
        }
        for token, odds in parts
    ]
