"""Find replies in other fields than the content of a message.

A reasoning parser that takes the whole reply as thoughts leaves the content empty, and gateways
that force JSON by a function call leave it in the function's arguments. Such a text is the reply
only if all of it is JSON of the requested schema, which thoughts never are.
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
    """Return JSON of `schema` in another field of a chat message than its content, or None."""
    if schema is None:
        return None
    return next((text for _, text in _texts(message) if is_json_of(text, schema)), None)


def where_it_went(message: Mapping[str, Any]) -> str:
    """Return in which fields a message without content has text, with advice; "" if in none."""
    n_characters = {place: len(text.strip()) for place, text in _texts(message)}
    places = [f"{place!r} ({n:,} characters)" for place, n in n_characters.items() if n]
    return f"its text went into {' and '.join(places)}: {_ADVICE}" if places else ""


def is_json_of(text: str, schema: Mapping[str, Any]) -> bool:
    """Return whether the whole `text` is one JSON value that fits `schema`."""
    try:
        return fits(json.loads(text), schema)
    except (ValueError, RecursionError):
        return False


def fits(value: Any, schema: Mapping[str, Any]) -> bool:
    """Return whether `value` fits a JSON schema with the keywords that FairJudge uses.

    An object must have all required properties and no unknown ones.
    """
    if "anyOf" in schema:
        return any(fits(value, option) for option in schema["anyOf"])
    type_names = schema.get("type", [])
    kinds = [type_names] if isinstance(type_names, str) else list(type_names)
    right_kind = not kinds or any(_is_a(value, kind) for kind in kinds)
    if not right_kind or value not in schema.get("enum", [value]):
        return False
    if isinstance(value, list):
        return all(fits(item, schema.get("items", {})) for item in value)
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
    """Yield (name of the field, text) of the texts of a message besides its content."""
    for part in (message, message.get("provider_specific_fields")):
        if isinstance(part, Mapping):
            yield from ((name, part[name]) for name in _FIELDS if isinstance(part.get(name), str))
    for block in _objects(message.get("reasoning_details")):
        yield "reasoning_details", _joined(block)
    for block in _objects(message.get("content")):
        kind = block.get("type")
        if kind in {"thinking", "reasoning"}:
            yield kind, _joined(block.get(kind) or block)
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
    listed = values if isinstance(values, list) else []
    return [item for item in listed if isinstance(item, Mapping)]


def _joined(parts: Any) -> str:
    """Return the joined texts of a part with thoughts, a text, an object or a list of them."""
    if isinstance(parts, str):
        return parts
    if isinstance(parts, list):
        return "".join(map(_joined, parts))
    return _joined(parts.get("text") or "") if isinstance(parts, Mapping) else ""
