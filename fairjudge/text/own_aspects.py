"""Advice on labels with an aspect that no built-in prompt judges."""

from __future__ import annotations

from collections.abc import Iterable

from fairjudge.prompting import released_templates


def built_in_aspects() -> frozenset[str]:
    """Return the aspects that released prompts judge."""
    names = (template.name for template in released_templates() if template.task == "judge")
    return frozenset(name.removesuffix("-single") for name in names if name.endswith("-single"))


def own_aspects_advice(aspects: Iterable[str]) -> str:
    """Return advice on judging custom aspects, or renaming their labels."""
    names = sorted(aspects)
    choices = " or ".join(map(repr, names))
    return (
        f"no built-in prompt judges {choices}: judge by a criterion of your own under that name, "
        "stated by --rule or a --criterion file (docs/judges.md, 'A criterion of your own'). "
        "Labels that mean a built-in aspect are renamed by 'fairjudge convert --map "
        f"value:ASPECT={names[0]}'"
    )
