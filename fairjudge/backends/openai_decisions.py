"""OpenAI's Decisions API, through langchain-openai."""

from __future__ import annotations

import asyncio
import warnings
from typing import Any

import httpx2
import openai
from langchain_core.messages import HumanMessage

from fairjudge.backends.http_transport import sdk_http_client
from fairjudge.backends.openai import OWN_URL
from fairjudge.backends.reply_bodies import check_reply, read_json
from fairjudge.backends.server_client import ServerClient
from fairjudge.backends.systemone_wire import read_decisions, state_json
from fairjudge.errors import ConfigurationError
from fairjudge.ports import DecisionRequest, Decisions, Question

try:
    from langchain_openai import decisions as api
except ImportError as error:
    raise ConfigurationError(
        "backend 'openai-decisions' needs langchain-openai 1.7 or later"
    ) from error


class OpenAIDecisionsBackend(ServerClient):
    """A decision model behind OpenAI's Decisions API or a compatible server.

    All questions of a request are sent in one call. The API has no field for descriptions of the
    options of a yes-or-no question; they are appended to its text. See `ServerClient` for the
    parameters.
    """

    key_variable = "OPENAI_API_KEY"
    own_url = OWN_URL

    async def decide(self, request: DecisionRequest) -> Decisions:
        """Answer `request`, or raise a `fairjudge.errors.BackendError`."""
        body = {
            "input": _input(request),
            "questions": {question.name: _as_wire(question) for question in request.questions},
        }
        try:
            async with asyncio.timeout(self._timeout_seconds):
                reply: api.DecisionResponse = await self._connection.ainvoke(body)
            answers = {name: _as_systemone(answer) for name, answer in reply.answers.items()}
            reply_json = {"answers": answers, "usage": reply.usage, "model": reply.model}
            return read_decisions(request, reply_json, server_name=self._url)
        except Exception as error:
            raise self._map_error(error) from None

    def _connect(self) -> Any:
        warnings.filterwarnings("ignore", message="The class `OpenAIDecisions` is in beta")
        client = sdk_http_client(openai, self._url, warn=self._warn)
        # LangChain discards bodies that are not replies.
        client.event_hooks = {"response": [self._check_body]}
        return api.OpenAIDecisions(
            model=self.target.model,
            api_key=self._key,
            base_url=self._url,
            max_retries=0,
            timeout=self._timeout_seconds,
            http_async_client=client,
        )

    async def _check_body(self, response: httpx2.Response) -> None:
        """Raise the error in a reply of status 200 without answers."""
        if response.status_code == 200:
            content, charset = await response.aread(), response.charset_encoding
            body = read_json(content, server_name=self._url, charset=charset)
            check_reply(body, "answers", server_name=self._url)

    async def _close(self, connection: Any) -> None:
        await connection.http_async_client.aclose()


def _input(request: DecisionRequest) -> Any:
    if len(request.messages) > 1 and all(message.role == "user" for message in request.messages):
        return [HumanMessage(message.content) for message in request.messages]
    return state_json(request)


def _as_wire(question: Question) -> Any:
    if question.kind == "predicate":
        descriptions = [f"{o.capitalize()}: {text}" for o, text in question.options.items() if text]
        return api.Predicate(instructions="\n".join([question.text, *descriptions]))
    if question.kind == "choice":
        choices = {option: text or None for option, text in question.options.items()}
        return api.Choice(instructions=question.text, choices=choices)
    levels = [
        api.Level(label=option, description=text or None)
        for option, text in question.options.items()
    ]
    return api.Score(instructions=question.text, levels=levels)


def _as_systemone(answer: Any) -> dict[str, Any]:
    """Return an answer as JSON in the System One format."""
    if answer.type == "refusal":
        return {"type": "refusal", "refusal": (answer.model_extra or {}).get("refusal")}
    if answer.type == "predicate":
        return {"noul": answer.probability}
    return {"probabilities": answer.probabilities}
