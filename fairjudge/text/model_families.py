"""Families of language models, recognised by their names."""

from __future__ import annotations

import re
from collections.abc import Iterable

_FAMILIES = {
    "GPT": "gpt|chatgpt|davinci|o[134]|codex",
    "Claude": "claude",
    "Gemini": "gemini|gemma|palm|bard",
    "Llama": "llama|vicuna|alpaca",
    "Mistral": "mistral|mixtral|ministral|magistral",
    "Qwen": "qwen|qwq",
    "DeepSeek": "deepseek",
    "Command": "command-[ar]|cohere|aya",
    "Phi": "phi",
    "Grok": "grok",
    "Nova": "nova",
    "GLM": "glm|chatglm",
    "Kimi": "kimi|moonshot",
    "Granite": "granite",
    "T5": "t5|flan",
}
_NAMES = {
    family: re.compile(rf"(?<![a-z])(?:{names})(?![a-z])", re.IGNORECASE)
    for family, names in _FAMILIES.items()
}


def model_family(name: str) -> str | None:
    """Return the family in the name of a model or system; None if it contains none, or several.

    ``"openai:gpt-4o-mini"`` and ``"chatgpt"`` are of one family. The name of a distilled model may
    contain several families, so that its own is unknown.
    """
    families = [family for family, names in _NAMES.items() if names.search(name)]
    return families[0] if len(families) == 1 else None


def own_family_warning(judge: str, systems: Iterable[str]) -> str:
    """Return a warning if the judge and a summarizing system are of one family, else "".

    Judges prefer what their own family writes (Panickssery, Bowman and Feng 2024).
    """
    family = model_family(judge)
    own_systems = [
        system for system in dict.fromkeys(systems) if family and model_family(system) == family
    ]
    if not own_systems:
        return ""
    return (
        f"the judge {judge} and the summaries by {', '.join(own_systems)} are of one family of "
        f"models ({family}): judges tend to favour their own"
    )
