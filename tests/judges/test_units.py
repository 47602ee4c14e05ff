"""Splitting to units: what is read, what is refused, and what sentences stand in for."""

from __future__ import annotations

import json

import pytest

from fairjudge.backends.scripted import ScriptedBackend
from fairjudge.errors import RefusedError
from fairjudge.ports import Completion, ModelRef
from fairjudge.run.splitting import read_units, split_units

TARGET = ModelRef(provider="scripted", model="m")
TEXT = "The mayor and the council resigned. A vote follows in May."
UNITS = ["The mayor resigned.", "The council resigned.", "A vote follows in May."]


async def split(reply, text=TEXT):
    backend = ScriptedBackend(lambda request: reply)
    return await split_units(text, backend=backend, target=TARGET), backend


async def test_an_llm_splits_with_demonstrations():
    units, backend = await split(json.dumps({"units": UNITS}))
    assert (units.units, units.split_by, units.why) == (tuple(UNITS), "llm", None)
    prompt = backend.requests[0].messages[-1].content
    assert "Units:\n" in prompt
    assert TEXT in prompt


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ('{"units": []}', "no unit"),
        ('{"units": "all"}', "no unit"),
        ('{"units": ["It rained."]}', "lose too much"),
        (RefusedError("no"), "refused"),
    ],
)
async def test_sentences_replace_failed_units_with_reason(reply, why):
    units, _ = await split(reply)
    assert units.split_by == "sentences"
    assert units.units == ("The mayor and the council resigned.", "A vote follows in May.")
    assert why in units.why


async def test_fragments_of_a_truncated_reply_are_no_units():
    text = '{"units": ["The mayor resigned.", "The council resigned.", "A vote follows in M'
    units, _ = await split(Completion(text=text, finish_reason="length"))
    assert units.split_by == "sentences"
    assert units.why.startswith("not all units; it was cut off by the limit on its tokens")


async def test_reasoning_contains_no_units():
    thoughts = "<think>\nThe mayor and the council resigned, and a vote follows.\n</think>\n"
    units, _ = await split(thoughts + "\n".join(f"- {unit}" for unit in UNITS))
    assert (units.units, units.split_by) == (tuple(UNITS), "llm")


async def test_sentences_are_units_without_a_model_and_empty_text_has_none():
    result = await split_units("Prices rose 3.5 percent. Mr. Bell left.", backend=None, target=None)
    assert result.units == ("Prices rose 3.5 percent.", "Mr. Bell left.")
    assert result.why is None
    empty, backend = await split("{}", text=" ")
    assert empty.units == ()
    assert backend.requests == []


def test_lists_and_fences_are_parsed_once():
    assert read_units("Units:\n1. A fell.\n- B rose.\n2. A fell.") == ("A fell.", "B rose.")
    assert read_units('```json\n{"units": ["A fell."]}\n```') == ("A fell.",)
    assert read_units("") == ()
