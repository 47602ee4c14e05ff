"""Families of models by their names."""

from __future__ import annotations

import pytest

from fairjudge.text.model_families import model_family, own_family_warning


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("openai:gpt-4o-mini", "GPT"),
        ("ChatGPT", "GPT"),
        ("openai:o3-mini", "GPT"),
        ("anthropic:claude-sonnet-4-5", "Claude"),
        ("litellm:gemini/gemini-2.5-pro", "Gemini"),
        ("openai:meta-llama/Llama-3.1-70B-Instruct", "Llama"),
        ("Mixtral-8x7B", "Mistral"),
        ("transformers:Qwen/Qwen2.5-7B-Instruct", "Qwen"),
        ("flan-t5-xl", "T5"),
        ("deepseek-r1-distill-qwen-14b", None),
        ("local", None),
        ("M12", None),
        ("graphite", None),
        ("openai:my-own", None),
        ("photon", None),
    ],
)
def test_model_names_determine_families(name, family):
    assert model_family(name) == family


def test_a_judge_and_its_own_family_are_named():
    text = own_family_warning("openai:gpt-4o", ["gpt-3.5", "claude-3", "gpt-3.5", "gpt-4o"])
    assert "openai:gpt-4o" in text
    assert "gpt-3.5, gpt-4o are" in text
    assert own_family_warning("openai:gpt-4o", ["claude-3", "M1"]) == ""
    assert own_family_warning("local", ["local"]) == ""
