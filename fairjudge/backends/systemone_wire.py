"""The System One format: typed questions about a state, answered with probabilities.

Requests map question names to ``noul`` (yes or no), ``choice`` (one of several) or ``score``
(ordered levels); answers have the same names. A question that the model declines is missing
from the answers. See https://docs.litellm.ai/docs/decisions/systemone_format and
https://console.upstage.ai/api/systemone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from fairjudge.backends.http import one_line
from fairjudge.backends.reply_bodies import check_reply
from fairjudge.backends.usage import read_messages_usage
from fairjudge.errors import MalformedReplyError
from fairjudge.ports import (
    DecisionRefusal,
    DecisionRequest,
    Decisions,
    Distribution,
    Question,
)

ROUNDING = 0.02
"""Maximum deviation of a sum of probabilities from 1: some servers round to two digits."""


def state_json(request: DecisionRequest) -> Any:
    """Return the text of a single message, or all messages as JSON."""
    if len(request.messages) == 1:
        return request.messages[0].content
    return [message.to_json() for message in request.messages]


def questions_json(request: DecisionRequest) -> dict[str, dict[str, Any]]:
    """Return the request's questions as JSON, by name."""
    return {question.name: _as_wire(question) for question in request.questions}


def _as_wire(question: Question) -> dict[str, Any]:
    descriptions = {option: text or None for option, text in question.options.items()}
    if question.kind == "predicate":
        wire: dict[str, Any] = {"type": "noul", "instructions": question.text}
        if any(descriptions.values()):
            wire["criteria"] = {"true": descriptions["yes"], "false": descriptions["no"]}
        return wire
    if question.kind == "choice":
        return {"type": "choice", "instructions": question.text, "criteria": descriptions}
    levels = [f"{level}: {text}" if text else level for level, text in descriptions.items()]
    return {"type": "score", "instructions": question.text, "criteria": levels}


def read_decisions(
    request: DecisionRequest, reply: Any, *, server_name: str = "the server"
) -> Decisions:
    """Parse the answers of a reply in the System One format, or raise its error.

    `server_name` is for messages. Invalid answers raise `MalformedReplyError`.
    """
    if not isinstance(reply, Mapping) or not isinstance(reply.get("answers"), Mapping):
        check_reply(reply, "answers", server_name=server_name)
        raise MalformedReplyError("the reply contains no answers")
    model = reply.get("model")
    return Decisions(
        answers={q.name: _read_answer(q, reply["answers"].get(q.name)) for q in request.questions},
        usage=read_messages_usage(reply.get("usage")),
        served_model=model if isinstance(model, str) else None,
    )


def _read_answer(question: Question, answer: Any) -> Distribution | DecisionRefusal:
    if answer is None:
        return DecisionRefusal(why="the model did not answer this question")
    try:
        if answer.get("type") == "refusal":
            reason = answer.get("refusal") or "the model declined this question"
            return DecisionRefusal(why=one_line(reason))
        return distribution(question, _probability_by_option(question, answer))
    except (AttributeError, KeyError, TypeError, IndexError, ValueError) as error:
        raise MalformedReplyError(
            f"the answer to {question.name!r} has an invalid format: {error!r}"
        ) from None


def _probability_by_option(question: Question, answer: Mapping[str, Any]) -> dict[str, float]:
    if question.kind == "predicate":
        return {"yes": answer["noul"], "no": 1.0 - answer["noul"]}
    probabilities = answer["probabilities"]
    if question.kind == "choice":
        return {str(option): p for option, p in probabilities.items()}
    levels = list(question.options)
    return {levels[int(index)]: p for index, p in probabilities.items()}


def distribution(question: Question, probabilities: Mapping[str, float]) -> Distribution:
    """Return the distribution over all options; options without a probability have 0.

    Unknown options, numbers outside [0, 1], and sums other than 1 raise `ValueError`.
    """
    unknown_options = set(probabilities) - set(question.options)
    if unknown_options:
        raise ValueError(f"no such options: {sorted(unknown_options)}")
    if not all(math.isfinite(p) and 0 <= p <= 1 for p in probabilities.values()):
        raise ValueError("not probabilities")
    total = math.fsum(probabilities.values())
    if abs(total - 1) > ROUNDING:
        raise ValueError(f"probabilities that add up to {total:.4g}")
    return Distribution(
        probabilities={
            option: probabilities.get(option, 0.0) / total for option in question.options
        }
    )
