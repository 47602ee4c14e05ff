"""What stands between the marks of a family's thoughts is never a verdict; the answer after is."""

from __future__ import annotations

import pytest

from fairjudge.domain import Unscored
from fairjudge.parsing import read_verdict, without_reasoning
from fairjudge.scales import likert

ANSWER = '{"reasoning":"x","verdict":"4"}'
THOUGHTS = "It misses much.\nVerdict: 2\n"
FINAL = "<|end|><|start|>assistant<|channel|>final<|message|>"
FAMILIES = {
    "think": ("<think>", "</think>"),
    "with a budget": ('<think budget="100">', "</think>"),
    "thinking": ("<thinking>", "</thinking>"),
    "harmony": ("<|channel|>analysis<|message|>", FINAL),
    "harmony's commentary": ("<|channel|>commentary to=functions.x<|message|>", FINAL),
    "harmony, constrained": (
        "<|channel|>analysis<|message|>",
        "<|end|><|start|>assistant<|channel|>final <|constrain|>json<|message|>",
    ),
    "harmony without its marks": ("analysis", "assistantfinal"),
    "Cohere": ("<|START_THINKING|>", "<|END_THINKING|><|START_RESPONSE|>"),
    "Seed": ("<seed:think>", "</seed:think>"),
    "MiniMax": ("<mm:think>", "</mm:think>"),
    "Gemma": ("<|channel>thought\n", "<channel|>"),
    "MedGemma": ("<unused94>thought\n", "<unused95>"),
    "Reflection": ("<reflection>", "</reflection>"),
    "OpenThinker": ("<|begin_of_thought|>", "<|end_of_thought|>\n<|begin_of_solution|>"),
    "Kimi": ("◁think▷", "◁/think▷"),
    "Magistral": ("[THINK]", "[/THINK]"),
    "LongCat": ("<longcat_think>", "</longcat_think>"),
    "Granite": ("Here is my thought process:", "Here is my response:"),
    "GLM": ("<think>", "</think>\n<|begin_of_box|>"),
    "Apertus": ("<|inner_prefix|>", "<|inner_suffix|>"),
    "a monologue": ("<inner_monologue>", "</inner_monologue>"),
    "thoughts": ("<thoughts>", "</thoughts>"),
}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("answer", [ANSWER, "\nVerdict: 4", "\nVerdict: 4<|return|>"])
def test_answer_after_the_reasoning_is_read(family, answer):
    opening, closing = FAMILIES[family]
    assert read_verdict(opening + THOUGHTS + closing + answer, likert()) == 4
    assert read_verdict(THOUGHTS + closing + answer, likert()) == 4  # a template opens them


@pytest.mark.parametrize("family", FAMILIES)
def test_reasoning_alone_is_not_a_verdict(family):
    opening, closing = FAMILIES[family]
    for reply in (opening + THOUGHTS, opening + THOUGHTS + closing):
        assert isinstance(read_verdict(reply, likert()), Unscored)


@pytest.mark.parametrize(
    "reply",
    [
        "My analysis: it covers all.\nVerdict: 4",
        "Analysis\n\nAll of it is there.\n\nVerdict: 4",
        "<verdict>4</verdict>",
        "<final_thoughts>Verdict: 4</final_thoughts>",
        "The final channel is good. Verdict: 4",
    ],
)
def test_words_resembling_reasoning_tags_hide_nothing(reply):
    assert read_verdict(reply, likert()) == 4


@pytest.mark.parametrize("family", FAMILIES)
def test_character_positions_are_kept(family):
    opening, closing = FAMILIES[family]
    reply = opening + THOUGHTS + closing + ANSWER
    assert len(without_reasoning(reply)) == len(reply)
    assert without_reasoning(reply).endswith(ANSWER)
