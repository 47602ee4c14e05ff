"""Answers that a server put elsewhere than into the text of a message.

A reasoning parser that takes all of a reply for thoughts leaves the text empty, and gateways that
force JSON by a function leave it in the function's arguments. What stands there is the answer only
where it is, from its first sign to its last, JSON of the schema that was asked for: thoughts are
never one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

_FIELDS = ("reasoning_content", "reasoning", "thinking", "reasoning_text", "thoughts")
_ADVICE = (
    "let the server leave replies as they are (vLLM, SGLang: no --reasoning-parser for this model; "
    "llama.cpp: --reasoning-format none), or allow more by --max-output-tokens"
)
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
}


def answer_elsewhere(message: Mapping[str, Any], schema: Mapping[str, Any] | None) -> str | None:
    """Return the JSON of `schema` that a chat message has in another place than its content."""
    if schema is None:
        return None
    return next((text for _, text in _texts(message) if is_json_of(text, schema)), None)


def where_it_went(message: Mapping[str, Any]) -> str:
    """Say where the text of a message without content went, and what to change; "" if nowhere."""
    found = {place: len(text.strip()) for place, text in _texts(message)}
    told = [f"{place!r} ({n:,} characters)" for place, n in found.items() if n]
    return f"its text went into {' and '.join(told)}: {_ADVICE}" if told else ""


def is_json_of(text: str, schema: Mapping[str, Any]) -> bool:
    """Say whether all of `text` is one JSON value that fits `schema`."""
    try:
        return fits(json.loads(text), schema)
    except (ValueError, RecursionError):
        return False


def fits(value: Any, schema: Mapping[str, Any]) -> bool:
    """Say whether `value` fits a JSON schema, as far as prompts of FairJudge use these.

    An object must have what is required, and nothing that is not named.
    """
    if "anyOf" in schema:
        return any(fits(value, one) for one in schema["anyOf"])
    named = schema.get("type", [])
    kinds = [named] if isinstance(named, str) else list(named)
    right_kind = not kinds or any(_is_a(value, kind) for kind in kinds)
    if not right_kind or value not in schema.get("enum", [value]):
        return False
    if isinstance(value, list):
        return all(fits(one, schema.get("items", {})) for one in value)
    if not isinstance(value, dict):
        return True
    parts = schema.get("properties", {})
    has_all = all(name in value for name in schema.get("required", ()))
    return has_all and all(name in parts and fits(v, parts[name]) for name, v in value.items())


def _is_a(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _TYPES.get(kind, ()))


def _texts(message: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the texts of a message that are not its content, each with the name of its place."""
    for part in (message, message.get("provider_specific_fields")):
        if isinstance(part, Mapping):
            yield from ((name, part[name]) for name in _FIELDS if isinstance(part.get(name), str))
    for one in _objects(message.get("reasoning_details")):
        yield "reasoning_details", _joined(one)
    for one in _objects(message.get("content")):
        kind = one.get("type")
        if kind in {"thinking", "reasoning"}:
            yield kind, _joined(one.get(kind) or one)
        elif kind == "tool_use":
            yield kind, json.dumps(one.get("input"), ensure_ascii=False)
    for call in (message, *_objects(message.get("tool_calls"))):
        function = call.get("function_call") or call.get("function")
        if isinstance(function, Mapping):
            arguments = function.get("arguments")
            text = arguments if isinstance(arguments, str) else json.dumps(arguments)
            yield "tool_calls", text


def _objects(values: Any) -> list[Mapping[str, Any]]:
    """Return the objects of what may be a list."""
    listed = values if isinstance(values, list) else []
    return [one for one in listed if isinstance(one, Mapping)]


def _joined(parts: Any) -> str:
    """Return the texts within a part that holds thoughts, which has them as one or as several."""
    if isinstance(parts, str):
        return parts
    if isinstance(parts, list):
        return "".join(map(_joined, parts))
    return _joined(parts.get("text") or "") if isinstance(parts, Mapping) else ""
