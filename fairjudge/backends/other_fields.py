"""Find replies in fields other than the content of a message.

A reasoning parser that classifies the whole reply as reasoning leaves the content empty, and
gateways that force JSON with a function call return it in the function's arguments. Such a text is
the reply only if all of it is JSON of the requested schema, which reasoning never is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

_FIELDS = ("reasoning_content", "reasoning", "thinking", "reasoning_text", "thoughts")
_ADVICE = (
    "disable the server's reasoning parser (vLLM, SGLang: no --reasoning-parser for this model; "
    "llama.cpp: --reasoning-format none), or raise --max-output-tokens"
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


def json_in_other_fields(
    message: Mapping[str, Any], schema: Mapping[str, Any] | None
) -> str | None:
    """Return JSON of `schema` from a field of a chat message other than its content, or None."""
    if schema is None:
        return None
    return next((text for _, text in _texts(message) if is_json_of(text, schema)), None)


def locate_text(message: Mapping[str, Any]) -> str:
    """Return which fields of a message without content have text, with advice, or ""."""
    n_characters = {name: len(text.strip()) for name, text in _texts(message)}
    fields = [f"{name!r} ({n:,} characters)" for name, n in n_characters.items() if n]
    return f"its text is in {' and '.join(fields)}: {_ADVICE}" if fields else ""


def is_json_of(text: str, schema: Mapping[str, Any]) -> bool:
    """Return whether the whole `text` is one JSON value that matches `schema`."""
    try:
        return matches_schema(json.loads(text), schema)
    except (ValueError, RecursionError):
        return False


def matches_schema(value: Any, schema: Mapping[str, Any]) -> bool:
    """Return whether `value` matches a JSON schema with the keywords that FairJudge uses.

    An object must have all required properties and no unknown ones.
    """
    if "anyOf" in schema:
        return any(matches_schema(value, option) for option in schema["anyOf"])
    type_names = schema.get("type", [])
    kinds = [type_names] if isinstance(type_names, str) else list(type_names)
    has_type = not kinds or any(_has_type(value, kind) for kind in kinds)
    if not has_type or value not in schema.get("enum", [value]):
        return False
    if isinstance(value, list):
        return all(matches_schema(item, schema.get("items", {})) for item in value)
    if not isinstance(value, dict):
        return True
    parts = schema.get("properties", {})
    has_all = all(name in value for name in schema.get("required", ()))
    return has_all and all(
        name in parts and matches_schema(v, parts[name]) for name, v in value.items()
    )


def _has_type(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _TYPES.get(kind, ()))


def _texts(message: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (name of the field, text) of the texts of a message besides its content."""
    for part in (message, message.get("provider_specific_fields")):
        if isinstance(part, Mapping):
            yield from ((name, part[name]) for name in _FIELDS if isinstance(part.get(name), str))
    for block in _objects(message.get("reasoning_details")):
        yield "reasoning_details", _reasoning_text(block)
    for block in _objects(message.get("content")):
        kind = block.get("type")
        if kind in {"thinking", "reasoning"}:
            yield kind, _reasoning_text(block.get(kind) or block)
        elif kind == "tool_use":
            yield kind, json.dumps(block.get("input"), ensure_ascii=False)
    for call in (message, *_objects(message.get("tool_calls"))):
        function = call.get("function_call") or call.get("function")
        if isinstance(function, Mapping):
            arguments = function.get("arguments")
            text = arguments if isinstance(arguments, str) else json.dumps(arguments)
            yield "tool_calls", text


def _objects(values: Any) -> list[Mapping[str, Any]]:
    """Return the objects in `values` if it is a list, else none."""
    items = values if isinstance(values, list) else []
    return [item for item in items if isinstance(item, Mapping)]


def _reasoning_text(parts: Any) -> str:
    """Return the concatenated texts of a reasoning part: a text, an object, or a list of them."""
    if isinstance(parts, str):
        return parts
    if isinstance(parts, list):
        return "".join(map(_reasoning_text, parts))
    return _reasoning_text(parts.get("text") or "") if isinstance(parts, Mapping) else ""
