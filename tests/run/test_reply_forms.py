"""Every prompt names the form of reply that the schema sent with it enforces, and no other."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from cli_tools import cluster, reference, summary, write_jsonl

from fairjudge.backends.scripted import ScriptedBackend
from fairjudge.domain import Answer, JudgeTask
from fairjudge.judges.criteria import builtin_criterion
from fairjudge.judges.llm import LlmJudge
from fairjudge.judges.ports import Reply
from fairjudge.options.building import BuildOptions
from fairjudge.options.judging import JudgeOptions
from fairjudge.options.models import Model
from fairjudge.ports import CompletionRequest, ModelRef
from fairjudge.references.asker import Asker
from fairjudge.references.grouping import LlmGrouper
from fairjudge.references.ports import AnswerSet
from fairjudge.run.planning import plan_building, plan_judging
from fairjudge.run.splitting import split_units

TARGET = ModelRef(provider="scripted", model="m")
_FENCED = re.compile(r"^<(\w+) [0-9a-f]{12}.*?^</\1 [0-9a-f]{12}>$", re.DOTALL | re.MULTILINE)
_TYPES = {
    "boolean": bool,
    "string": str,
    "integer": int,
    "array": list,
    "object": dict,
    "null": type(None),
}


def instructions(request: CompletionRequest) -> str:
    """Return what a prompt says in words of ours."""
    return _FENCED.sub("", "\n".join(message.content for message in request.messages))


def examples(text: str) -> Iterator[Any]:
    """Yield every JSON object in `text`; dots may say that a list goes on."""
    text, at = text.replace(", ...]", "]"), 0
    while (at := text.find('{"', at)) >= 0:
        value, at = json.JSONDecoder().raw_decode(text, at)
        yield value


def fits(value: Any, schema: Mapping[str, Any]) -> bool:
    """Say whether an example has the shape of `schema`; its words are not looked at."""
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not isinstance(value, tuple(_TYPES[name] for name in types)):
        return False
    if isinstance(value, dict):
        properties = schema["properties"]
        return list(value) == list(properties) and all(
            fits(field, properties[name]) for name, field in value.items()
        )
    return not isinstance(value, list) or all(fits(item, schema["items"]) for item in value)


def check(request: CompletionRequest) -> None:
    text, schema = instructions(request), request.response_schema
    assert schema is not None
    assert "JSON alone" in text
    forms = list(examples(text))
    assert forms
    assert all(fits(item, schema) for item in forms)
    assert not re.search(r"verdict\s*:|last line|one line that", text, re.IGNORECASE)


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Model:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nobody")
    return Model(target="openai:m", cache=tmp_path / "cache")


@pytest.mark.parametrize(
    ("aspect", "protocol", "unit"),
    [
        *((aspect, how, None) for aspect in ("coverage", "faithfulness")
          for how in ("likert", "binary", "pairwise")),
        ("coverage", "likert", "qa_pair"),
        ("coverage", "binary", "qa_pair"),
        ("faithfulness", "binary", "articles"),
        ("coverage", "checklist", None),
        ("faithfulness", "checklist", None),
    ],
)  # fmt: skip
def test_reply_forms_of_judges(tmp_path, model, aspect, protocol, unit):
    references = write_jsonl(tmp_path / "r.jsonl", [reference()])
    summaries = write_jsonl(tmp_path / "s.jsonl", [summary("s"), summary("t")])
    (plan,) = plan_judging(
        references,
        summaries,
        options=JudgeOptions(aspect=aspect, protocol=protocol, reference_unit=unit),
        models=[model],
        skip_bad=False,
        seconds_per_call=1.0,
    )
    assert plan.requests
    for request in plan.requests.values():
        check(request)


@pytest.mark.parametrize("pipeline", ["article", "paper"])
def test_reply_forms_of_references(tmp_path, model, pipeline):
    (plan,), _ = plan_building(
        write_jsonl(tmp_path / "c.jsonl", [cluster()]),
        options=BuildOptions(pipeline=pipeline, consolidation="llm", complete=True),
        model=model,
        skip_bad=False,
        seconds_per_call=1.0,
    )
    by_name = {
        next(iter(request.response_schema["properties"])) for request in plan.requests.values()
    }
    assert by_name >= {"questions", "answers", "groups" if pipeline == "paper" else "sorted"}
    for request in plan.requests.values():
        check(request)


async def test_reply_forms_of_answers_in_parts():
    group = {"label": "x", "answers": [1], "disputed_by": []}
    row = {"question": 1, "groups": [group], "rivals": [], "invalid": []}
    backend = ScriptedBackend(lambda _: json.dumps({"sorted": [row]}))
    grouper = LlmGrouper(asker=Asker(backend=backend, target=TARGET), batch_size=1)
    answers = tuple(Answer(aid="a", answer=word) for word in ("x", "y"))
    await grouper.group([AnswerSet(index=0, answers=answers)], ["Why?"], [])
    assert len(backend.requests) == 2
    for request in backend.requests:
        check(request)


async def test_reply_forms_of_units():
    backend = ScriptedBackend(lambda _: "no list")
    await split_units("It rained. It snowed.", backend=backend, target=TARGET)
    check(backend.requests[0])


@pytest.mark.parametrize("protocol", ["likert", "binary", "pairwise"])
async def test_reply_forms_of_repairs_allow_no_verdict(protocol):
    backend = ScriptedBackend(lambda _: '{"reasoning": "It says 4, or no.", "verdict": null}')
    judge = LlmJudge(
        backend=backend,
        target=TARGET,
        criterion=builtin_criterion("coverage", protocol, per_answer=False),
    )
    systems = ("s", "t") if protocol == "pairwise" else ("s",)
    task = JudgeTask(
        eid="e",
        systems=systems,
        texts=systems,
        aspect="coverage",
        protocol=protocol,
        unit="summary",
    )
    result = await judge.repair(task, Reply(text="It depends."))
    (request,) = backend.requests
    check(request)
    assert request.response_schema["properties"]["verdict"]["enum"][-1] is None
    assert "null" in instructions(request)
    assert judge.read(task, result).reason == "unparseable"
