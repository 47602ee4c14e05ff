"""OpenAI's Decisions API, through langchain-openai."""

from __future__ import annotations

import asyncio
import warnings
from typing import Any

import openai
from langchain_core.messages import HumanMessage

from fairjudge.backends.http import (
    CONNECT_TIMEOUT_SECONDS,
    DEFAULT_TIMEOUT_SECONDS,
    PerLoop,
    api_key,
    check_target,
    is_loopback,
    one_line,
)
from fairjudge.backends.ports import Warn
from fairjudge.backends.sdk_errors import map_sdk_error
from fairjudge.backends.systemone_wire import distribution
from fairjudge.errors import ConfigurationError, MalformedReplyError
from fairjudge.protocols import (
    DecisionRefusal,
    DecisionRequest,
    Decisions,
    Distribution,
    ModelRef,
    Question,
    Usage,
)

try:
    from langchain_openai import decisions as api
except ImportError as error:
    raise ConfigurationError(
        "backend 'openai-decisions' needs langchain-openai 1.7 or later"
    ) from error

KEY_VARIABLE = "OPENAI_API_KEY"
OWN_URL = "https://api.openai.com/v1"


class OpenAIDecisionsBackend:
    """Answers typed questions through OpenAI's Decisions API or a server of its format.

    All questions of a request go in one call. The API describes no options of a yes-or-no question:
    descriptions are appended to its text.

    Parameters
    ----------
    target : ModelRef
        The model; its ``base_url`` None means OpenAI's own server.
    timeout_seconds : float, optional
        Longest wait for one whole reply.
    warn : callable, optional
        Not used.

    Raises
    ------
    ConfigurationError
        When OPENAI_API_KEY is not set and `target` names no other server.
    """

    def __init__(
        self,
        target: ModelRef,
        *,
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
        warn: Warn | None = None,  # noqa: ARG002
    ) -> None:
        self.target = target
        self._url = target.base_url or OWN_URL
        self._key = api_key(KEY_VARIABLE, target)
        self._timeout_seconds = timeout_seconds
        self._clients = PerLoop(self._make_client)
        warnings.filterwarnings("ignore", message="The class `OpenAIDecisions` is in beta")

    async def decide(self, request: DecisionRequest) -> Decisions:
        """Answer `request`, or raise a `fairjudge.errors.BackendError`."""
        check_target(request, self.target)
        asked = {
            "input": _input(request),
            "questions": {question.name: _as_wire(question) for question in request.questions},
        }
        client, _ = self._clients.get()
        try:
            async with asyncio.timeout(self._timeout_seconds):
                return _read_all(request, await client.ainvoke(asked))
        except Exception as error:
            ours = map_sdk_error(error, sdk=openai, where=self._url, secrets=(self._key,))
            raise ours from None

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        pair = self._clients.pop()
        if pair is not None:
            await pair[1].aclose()

    def _make_client(self) -> tuple[Any, Any]:
        http = openai.DefaultAsyncHttpxClient(trust_env=not is_loopback(self._url))
        client = api.OpenAIDecisions(
            model=self.target.model,
            api_key=self._key,
            base_url=self._url,
            max_retries=0,
            timeout=openai.Timeout(self._timeout_seconds, connect=CONNECT_TIMEOUT_SECONDS),
            http_async_client=http,
        )
        return client, http


def _input(request: DecisionRequest) -> Any:
    if len(request.messages) == 1:
        return request.messages[0].content
    if all(message.role == "user" for message in request.messages):
        return [HumanMessage(message.content) for message in request.messages]
    return [message.model_dump() for message in request.messages]


def _as_wire(question: Question) -> Any:
    if question.kind == "predicate":
        described = [f"{o.capitalize()}: {text}" for o, text in question.options.items() if text]
        return api.Predicate(instructions="\n".join([question.text, *described]))
    if question.kind == "choice":
        choices = {option: text or None for option, text in question.options.items()}
        return api.Choice(instructions=question.text, choices=choices)
    levels = [
        api.Level(label=option, description=text or None)
        for option, text in question.options.items()
    ]
    return api.Score(instructions=question.text, levels=levels)


def _read_all(request: DecisionRequest, reply: api.DecisionResponse) -> Decisions:
    return Decisions(
        answers={q.name: _read(q, reply.answers.get(q.name)) for q in request.questions},
        usage=Usage(input_tokens=reply.usage.input_tokens, output_tokens=reply.usage.output_tokens),
        served_model=reply.model,
    )


def _read(question: Question, answer: Any) -> Distribution | DecisionRefusal:
    if answer is None:
        return DecisionRefusal(why="the model gave no answer to this question")
    if answer.type == "refusal":
        why = (answer.model_extra or {}).get("refusal")
        return DecisionRefusal(why=one_line(why or "the model declined this question"))
    try:
        return distribution(question, _by_option(question, answer))
    except (AttributeError, IndexError, ValueError) as error:
        raise MalformedReplyError(
            f"the answer to {question.name!r} is not of its format: {error!r}"
        ) from None


def _by_option(question: Question, answer: Any) -> dict[str, float]:
    if question.kind == "predicate":
        return {"yes": answer.probability, "no": 1.0 - answer.probability}
    if question.kind == "choice":
        return {str(option): p for option, p in answer.probabilities.items()}
    levels = list(question.options)
    return {levels[index]: p for index, p in answer.probabilities.items()}
