"""Whatever stands in a file or a reply: a value, or an error of ours with words; never a crash."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Mapping
from typing import Any

import pytest
from fuzz_targets import ASKED, QUESTIONS, TARGETS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stub_server import Fault

from fairjudge.backends import decides, open_backend, resolve_target
from fairjudge.errors import BackendError
from fairjudge.ports import CompletionRequest, DecisionRequest

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
JUDGEMENT = {
    "eid": "e", "system": "s", "aspect": "coverage", "value": 3, "protocol": "likert",
    "judge": "j", "unit": "summary", "scored_by": "llm", "signature": "s",
}  # fmt: skip
VALUE = {"value": 0.5, "low": 0.1, "high": 0.9}
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
    {"eid": "e", "system": "s", "units": ["It rained."], "shares": {"left": 1.0}},
    {"group": "a", "gender": "female", "first_names": ["Ann"], "last_names": ["Lee"]},
    {"left": 0.5, "right": 0.5},
    {"task": "t", "judgement": JUDGEMENT},
    {"identity": {"command": "judge", "model": {"seed": 1}}, "schema": 1},
    {"n_calls": 1, "n_cached": 0, "cost_usd": 0.1, "when": "now"},
    {"eid": "e", "kept_aids": ["1"], "question_answers": [QUESTION]},
    {"measure": "coverage", "variant": "paper", "attribute": "a", "notes": [], "excluded": [],
     "systems": {"s": {"r_ec": VALUE, "equal_coverage": VALUE, "coverage_parity": VALUE}},
     "samples": [{"eid": "e", "system": "s", "coverage": 0.5, "equal_coverage": 0.1, "unfair": 0.1,
                  "by_value": {"x": {"coverage": 0.5, "documents": 2}}}]},
    {"measure": "proportional", "attribute": "a", "notes": [], "excluded": [],
     "systems": {"s": {"bur": VALUE, "uer": VALUE}},
     "samples": [{"eid": "e", "system": "s", "unfair": 0.1, "uer": 1.0, "auc": 1.0,
                  "values": ["x"], "wanted": [1.0], "summary": [1.0]}]},
    {"groups": [{"judge": "j", "aspect": "a", "n_pairs": 2, "first": VALUE, "second": VALUE,
                 "consistency": VALUE}]},
    {"id": "c", "model": "m", "usage": {"prompt_tokens": 1, "completion_tokens": 1},
     "choices": [{"index": 0, "finish_reason": "stop",
                  "message": {"role": "assistant", "content": "4"},
                  "logprobs": {"content": [{"token": "4", "logprob": -0.1, "top_logprobs": []}]}}]},
    {"model": "m", "usage": {"input_tokens": 1},
     "answers": {"a": {"type": "noul", "noul": 0.5},
                 "b": {"type": "choice", "probabilities": {"x": 0.5, "y": 0.5}},
                 "c": {"type": "score", "probabilities": {"0": 0.5, "1": 0.5}}}},
    {"entries": [{"group": 1, "quote": "Heavy rain", "wordings": [1, 2], "verdict": "covered"},
                 {"group": 2, "quote": "", "wordings": [], "verdict": "no"}]},
    {"id": "x", "tokens": ["a"], "pos": ["N"], "text": "a", "entities": [[0, 1]], "verdict": "4"},
)  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return where something stands in `value`."""
    items = [path]
    if isinstance(value, dict | list):
        inside = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in inside:
            items += places(inner, (*path, key))
    return items


def replaced(value: Any, path: tuple[Any, ...], by: Any) -> Any:
    if not path:
        return by
    key, *others = path
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[key] = replaced(value[key], tuple(others), by)
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
        else "\n".join(json.dumps(row, ensure_ascii=ascii_only) for row in rows)
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


# What no random search comes upon soon: numbers and nesting beyond what Python's parsers take.
BEYOND: Mapping[str, bytes] = {
    "lists": b"[" * 20_000 + b"]" * 20_000,
    "objects": b'{"a":' * 20_000 + b"1" + b"}" * 20_000,
    "lists in an object": b'{"eid":' + b"[" * 3_000 + b"]" * 3_000 + b"}",
    "digits": b'{"eid": ' + b"9" * 6_000 + b"}",
    "digits in a list": b"[" + b"9" * 6_000 + b"]",
    "more than a float": b'{"low":' + b"9" * 400 + b',"high":1}',
    "not a number": b'{"low":NaN,"high":1,"value":NaN}',
    "half a pair": rb'{"eid":"\ud800","system":"\udfff","text":"\ud800"}',
    "a NUL": rb'{"eid":"\u0000","system":"\u0000","text":"x"}',
    "TOML lists": b"a = " + b"[" * 5_000 + b"]" * 5_000,
    "TOML digits": b"a = " + b"9" * 6_000,
    "TOML no list": b"price = 3",
    "UTF-16": '{"eid":"e"}'.encode("utf-16"),
    "a long field": b'eid,system\n"' + b"a" * 200_000 + b'",b\n',
    "gzip": gzip.compress(b"[" * 3_000),
    "null": b"null",
    "a number": b"1",
    "a text": b'"x"',
    "a list of null": b"[null]",
}


@pytest.mark.parametrize("name", TARGETS)
def test_extreme_input_raises_only_package_errors(name):
    for data in BEYOND.values():
        TARGETS[name](data)


@pytest.mark.parametrize("name", TARGETS)
@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=anything)
def test_fuzzed_input_raises_only_package_errors(name, data):
    TARGETS[name](data)


# Through the clients themselves, from the socket on.
BACKENDS = ("openai:m", "anthropic:m", "systemone:m", "openai-decisions:m")
HEADERS = ("retry-after", "retry-after-ms", "content-type", "content-encoding", "x-request-id")


@pytest.mark.parametrize("model", BACKENDS)
@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(
    body=st.one_of(anything, st.sampled_from([*BEYOND.values()])),
    status=st.sampled_from([200, 200, 200, 201, 204, 302, 400, 401, 404, 413, 429, 500, 529, 599]),
    headers=st.dictionaries(
        st.sampled_from(HEADERS),
        st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=30)
        | st.sampled_from(["9" * 400, "gzip", "Mon, 01 Jan 9999 00:00:00 -2359", "-1", "nan"]),
        max_size=2,
    ),
)
def test_any_server_response_gives_a_reply_or_a_package_error(
    server, monkeypatch, model, body, status, headers
):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    target = resolve_target(model, base_url=server.v1)
    server.answer = lambda call: Fault(status=status, body=body, headers=headers)

    async def ask() -> None:
        backend = open_backend(target, timeout_seconds=60)
        try:
            if decides(target):
                request = DecisionRequest(target=target, messages=ASKED, questions=QUESTIONS)
                await backend.decide(request)
            else:
                await backend.complete(CompletionRequest(target=target, messages=ASKED))
        except BackendError as error:
            assert str(error)  # noqa: PT017  # either will do
        finally:
            await backend.aclose()

    asyncio.run(ask())
