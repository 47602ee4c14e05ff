"""A backend for dry runs: it counts requests and returns simulated replies."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fairjudge.backends.caching import stored_reply
from fairjudge.backends.guarding import seal_request
from fairjudge.backends.keys import request_key
from fairjudge.backends.ports import AnyRequest
from fairjudge.backends.token_counts import count_tokens, likely_input_tokens
from fairjudge.backends.warming import prefix_key, shared_texts
from fairjudge.ports import (
    Cache,
    Completion,
    CompletionRequest,
    DecisionRequest,
    Decisions,
    Distribution,
    Usage,
)


@dataclass(slots=True, kw_only=True)
class PlanningBackend:
    """A counter of requests; replies are read from the cache, or simulated and not stored.

    Simulated replies are plausible, so that later steps can be counted too. ``requests`` are the
    requests that would be sent, by cache key, sealed with the cache's ``secret``.
    """

    cache: Cache
    secret: bytes
    requests: dict[str, AnyRequest] = field(default_factory=dict)
    cached: set[str] = field(default_factory=set)
    input_tokens: int = 0
    output_tokens: int = 0
    _prefix_tokens: dict[str, list[int]] = field(default_factory=dict)

    def usage(self, *, cached_from: int) -> Usage:
        """Return the billed usage if the provider caches prefixes shared by several requests.

        The first request writes a prefix of at least `cached_from` tokens, later ones read it.
        """
        shared_prefixes = [
            tokens
            for tokens in self._prefix_tokens.values()
            if len(tokens) > 1 and tokens[0] >= cached_from
        ]
        return Usage(
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            cached_input_tokens=sum(sum(tokens[1:]) for tokens in shared_prefixes),
            written_input_tokens=sum(tokens[0] for tokens in shared_prefixes),
        )

    async def complete(self, request: CompletionRequest) -> Completion:
        """Return the cached reply, or a simulated one."""
        cached_reply: Completion | None = self._read_stored(request)
        if cached_reply is not None:
            return cached_reply
        text = simulated_reply(request)
        self._count(request, count_tokens(text))
        return Completion(text=text)

    async def decide(self, request: DecisionRequest) -> Decisions:
        """Return the cached distributions, or uniform ones."""
        cached_reply: Decisions | None = self._read_stored(request)
        if cached_reply is not None:
            return cached_reply
        self._count(request, 0)
        return Decisions(
            answers={
                q.name: Distribution(probabilities=dict.fromkeys(q.options, 1.0 / len(q.options)))
                for q in request.questions
            }
        )

    def _read_stored(self, request: AnyRequest) -> Any:
        key = request_key(request)
        reply = stored_reply(key, request, self.cache.get(key), warn=None)
        if reply is not None:
            self.cached.add(key)
        return reply

    def _count(self, request: AnyRequest, output_tokens: int) -> None:
        key = request_key(request)
        if key not in self.requests:
            self.requests[key] = seal_request(request, self.secret)
            self.input_tokens += likely_input_tokens(request)
            self.output_tokens += output_tokens
            prefix = prefix_key(request)
            if prefix is not None:
                n_tokens = sum(map(count_tokens, shared_texts(request)))
                self._prefix_tokens.setdefault(prefix, []).append(n_tokens)


_REASONS = (
    "The summary states most of what is asked for and gets the central points right, but it "
    "leaves out one of the answers and puts another vaguely, without the detail that the "
    "sources give. Nothing in it contradicts the material."
)


def simulated_reply(request: CompletionRequest) -> str:
    """Return a simulated reply of usual length in the format of `request`."""
    schema = request.response_schema or {}
    properties: Mapping[str, Any] = schema.get("properties", {})
    for name, make_reply in _SIMULATORS.items():
        if name in properties:
            return json.dumps(make_reply(request, properties[name].get("items", {})))
    verdict: Mapping[str, Any] = properties.get("verdict", {})
    return json.dumps({"reasoning": _REASONS, "verdict": verdict.get("enum", ["?"])[0]})


def _simulated_questions(request: CompletionRequest, items: Mapping[str, Any]) -> dict[str, Any]:
    text = request.messages[-1].content
    if items.get("type") == "object":
        number = re.search(r"at most (\d{1,3})\b", text)
        n = int(number[1]) if number else 12
        return {
            "questions": [_simulated_question(i, len(_ARTICLE_TAG.findall(text))) for i in range(n)]
        }
    instruction = text.rpartition("</article ")[2]
    number = re.search(r"\b(\d{1,3})\b", instruction.partition(">")[2] or instruction)
    n = min(int(number[1]), 60) if number else 20
    return {"questions": [_ASPECT.format(i) for i in range(n)]}


_ASPECT = "What do the sources say about aspect number {}?"


def _simulated_question(number: int, n_articles: int) -> dict[str, Any]:
    sides = [list(range(first, n_articles + 1, 2)) for first in (1, 2)]
    answers = [{"answer": "Some of the sources say so.", "articles": side} for side in sides]
    return {"question": _ASPECT.format(number), "kind": "rivals", "answers": answers}


def _simulated_answers(request: CompletionRequest, items: Mapping[str, Any]) -> dict[str, Any]:
    text = request.messages[-1].content
    if items.get("type") != "object":
        return {"answers": [_passage(text)]}
    match = _QUESTIONS.search(text)
    n = len(re.findall(r"^\d+\. ", match[1], re.MULTILINE)) if match else 0
    voice = {"speaker": None, "stance": "endorses", "gloss": None}
    return {
        "answers": [
            {"question": i + 1, "quote": _passage(text, part=i, parts=n), **voice} for i in range(n)
        ]
    }


def _simulated_groups(request: CompletionRequest, _items: object) -> dict[str, Any]:
    n = len(re.findall(r"^<answer ", request.messages[-1].content, re.MULTILINE))
    return {"groups": [side for side in _alternate(range(1, n + 1)) if side]}


def _alternate(numbers: range) -> tuple[list[int], list[int]]:
    return list(numbers[::2]), list(numbers[1::2])


def _simulated_grouping(request: CompletionRequest, _items: object) -> dict[str, Any]:
    rows = []
    for number, lines in _TO_QUESTION.findall(request.messages[-1].content):
        numbers = [int(n) for n in re.findall(r"^(\d+)\. \(", lines, re.MULTILINE)]
        sides = _alternate(range(numbers[0], numbers[-1] + 1)) if numbers else ()
        groups = [
            {"label": f"Group {n} of the sources says this.", "answers": side, "disputed_by": []}
            for n, side in enumerate(sides, 1)
            if side
        ]
        rivals = [[1, 2]] if len(groups) > 1 else []
        rows.append({"question": int(number), "groups": groups, "rivals": rivals, "invalid": []})
    return {"sorted": rows}


def _simulated_completion(request: CompletionRequest, _items: object) -> dict[str, Any]:
    earlier = re.findall(r"; found before: ([\d, ]*)", request.messages[-1].content)
    says = [[int(n) for n in re.findall(r"\d+", numbers)] for numbers in earlier]
    return {"articles": [{"article": n, "says": s, "added": []} for n, s in enumerate(says, 1)]}


def _simulated_entries(request: CompletionRequest, items: Mapping[str, Any]) -> dict[str, Any]:
    prompt = next(message.content for message in request.messages if message.role == "user")
    make_entries = _statements if "statement" in items["properties"] else _entries
    return {"entries": make_entries(prompt)}


_SIMULATORS: Mapping[str, Callable[[CompletionRequest, Mapping[str, Any]], dict[str, Any]]] = {
    "questions": _simulated_questions,
    "answers": _simulated_answers,
    "groups": _simulated_groups,
    "sorted": _simulated_grouping,
    "articles": _simulated_completion,
    "diverse": lambda _request, _items: {"invalid": [], "diverse": True},
    "entries": _simulated_entries,
    "ranking": lambda _request, items: {"reasoning": _REASONS, "ranking": list(items["enum"])},
}
"""Simulators by a property of the reply's schema, called with the schema of its items."""
_ARTICLE_TAG = re.compile(r"^<article ", re.MULTILINE)
_ARTICLE = re.compile(r"^<article [^>]*>\n(.*?)\n</article ", re.DOTALL | re.MULTILINE)
_QUESTIONS = re.compile(r"^<questions [^>]*>\n(.*?)\n</questions ", re.DOTALL | re.MULTILINE)
_TO_QUESTION = re.compile(
    r"^<answers \w+ to question (\d+)>\n(.*?)\n</answers ", re.DOTALL | re.MULTILINE
)
_ANSWER_WORDS = 25
_SUMMARY = re.compile(r"^<summary [^>]*>\n(.*?)\n</summary ", re.DOTALL | re.MULTILINE)
_QUOTE_WORDS = 15


def _passage(prompt: str, *, part: int = 0, parts: int = 1) -> str:
    """Return a passage from one of `parts` equal parts of the article in a prompt.

    It must be verbatim, since quotes that are not in the article are dropped.
    """
    article = _ARTICLE.search(prompt)
    words = (article[1] if article else prompt).split()
    words = words[part * len(words) // parts : (part + 1) * len(words) // parts]
    start = max(0, (len(words) - _ANSWER_WORDS) // 2)
    return " ".join(words[start : start + _ANSWER_WORDS])


def _statements(prompt: str) -> list[dict[str, Any]]:
    """Return placeholder statements, two per sentence; one is supported if there is an article."""
    sentences = re.findall(r"^\[(\d+)\] (.+)$", prompt, re.MULTILINE)
    quote = " ".join(_passage(prompt).split()[:_QUOTE_WORDS]) if _ARTICLE.search(prompt) else ""
    absent_entry = {"articles": [], "quote": "", "verdict": "absent", "grave": False}
    first_entry = (
        {**absent_entry, "articles": [1], "quote": quote, "verdict": "supported"}
        if quote
        else absent_entry
    )
    return [
        {"sentence": int(number), "statement": statement, **verdict}
        for number, statement in sentences
        for verdict in (first_entry, absent_entry)
    ]


def _entries(prompt: str) -> list[dict[str, Any]]:
    """Return one entry per answer group, half of them with a quote."""
    summary = (match[1] if (match := _SUMMARY.search(prompt)) else "").split()
    return [
        {
            "group": number,
            "quote": " ".join(summary[:_QUOTE_WORDS]) if number % 2 else "",
            "wordings": [],
            "verdict": "covered" if number % 2 and summary else "no",
        }
        for number in range(1, len(set(re.findall(r"^Group (\d+)\b", prompt, re.MULTILINE))) + 1)
    ]
