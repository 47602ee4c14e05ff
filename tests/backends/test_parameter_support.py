"""What OpenAI's strict mode takes: https://platform.openai.com/docs/guides/structured-outputs."""

from __future__ import annotations

import pytest

from fairjudge.backends.parameter_support import is_strict


def of(required=("a",), closed=False, **properties):
    return {
        "type": "object",
        "properties": properties or {"a": {"type": "string"}},
        "required": list(required),
        "additionalProperties": closed,
    }


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (of(), True),
        (of(closed=True), False),
        (of(required=()), False),
        (of(required=("a", "b")), False),
        ({"type": "object", "additionalProperties": False}, True),
        ({"type": "object"}, False),
        ({"type": "array", "items": of()}, True),
        ({"type": "array", "items": of(closed=True)}, False),
        (of(a=of(closed=True)), False),
        ({"anyOf": [{"type": "null"}, of(required=())]}, False),
        ({"anyOf": ({"type": "null"}, of(required=()))}, False),
        ({"anyOf": [{"type": "null"}, of()]}, True),
        ({"type": "string", "enum": ["yes", "no"]}, True),
    ],
)
def test_every_object_lists_and_requires_all_it_may_hold(schema, strict):
    assert is_strict(schema) == strict
