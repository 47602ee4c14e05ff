"""Whatever stands in a file or a reply: a value, or an error of ours with words; never a crash."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fuzz_targets import TARGETS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

MARKUP = ["<think>", "```json", "Verdict:", "[[", '{"verdict": ', "</reply>", "\x1b[2J", "٣", "½"]
words = st.one_of(st.text(max_size=12), st.sampled_from([*MARKUP, "eid", "likert", "tie", "1"]))
json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), words),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(words, inner, max_size=4)),
    max_leaves=12,
)

ARTICLE = {"aid": "1", "title": "t", "url": "u", "domain": "d", "content": "It rained."}
QUESTION = {"question": "Why?", "answer_groups": [[{"aid": "1", "answer": "Rain."}]]}
CLUSTER = {"eid": "e", "articles": [ARTICLE, ARTICLE | {"aid": "2"}]}
LABEL = {"eid": "e", "system": "s", "aspect": "coverage", "annotator": "x", "value": 3}
MESSAGE = {"role": "user", "content": "c"}
REQUEST = {"target": {"provider": "p", "model": "m"}, "messages": [MESSAGE]}
SOUND: tuple[dict[str, Any], ...] = (
    CLUSTER,
    CLUSTER | {"question_answers": [QUESTION]},
    {"eid": "e", "system": "s", "text": "t"},
    LABEL,
    LABEL | {"protocol": "likert", "judge": "j", "unscored": None, "raw": "r", "unit": "summary"},
    {"eid": "e", "system": "s", "response": "Score: 4", "aspect": "coverage"},
    {"key": "a" * 64, "request": REQUEST, "reply": {"text": "t"}, "value": {"reply": {}}},
    {
        "custom_id": "a",
        "error": None,
        "response": {"status_code": 200, "body": {"choices": [{"message": {"content": "x"}}]}},
    },
    {"low": 0.2, "high": 0.8, "fairjudge_calibrators": [{"method": "linear"}]},
    {"questions": ["Why?"], "answers": ["Rain"], "groups": [[1, 2]], "invalid": [], "diverse": 1},
    {"id": "x", "tokens": ["a"], "pos": ["N"], "text": "a", "entities": [[0, 1]], "verdict": "4"},
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return where something stands in `value`."""
    found = [path]
    if isinstance(value, dict | list):
        inside = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in inside:
            found += places(inner, (*path, key))
    return found


def replaced(value: Any, path: tuple[Any, ...], by: Any) -> Any:
    if not path:
        return by
    key, *rest = path
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[key] = replaced(value[key], tuple(rest), by)
    return copy


@st.composite
def nearly_sound(draw: st.DrawFn) -> bytes:
    """A sound row with something else in one place, alone or between sound rows."""
    row = draw(st.sampled_from(SOUND))
    bad = replaced(row, draw(st.sampled_from(places(row))), draw(json_values))
    rows = draw(st.sampled_from([[bad], [row, bad], [bad, row]]))
    as_list = draw(st.booleans())
    ascii_only = draw(st.booleans())
    text = (
        json.dumps(rows, ensure_ascii=ascii_only)
        if as_list
        else "\n".join(json.dumps(one, ensure_ascii=ascii_only) for one in rows)
    )
    return text.encode("utf-8", "surrogatepass")


@st.composite
def cut_or_patched(draw: st.DrawFn) -> bytes:
    data = draw(nearly_sound())
    begin = draw(st.integers(0, len(data)))
    end = draw(st.integers(begin, len(data)))
    return data[:begin] + draw(st.binary(max_size=8)) + data[end:]


anything = st.one_of(
    st.binary(max_size=300),
    nearly_sound(),
    cut_or_patched(),
    st.lists(words, max_size=12).map(lambda some: " ".join(some).encode("utf-8", "surrogatepass")),
)


@pytest.mark.parametrize("name", TARGETS)
@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=anything)
def test_nothing_but_errors_of_ours(name, data):
    TARGETS[name](data)
