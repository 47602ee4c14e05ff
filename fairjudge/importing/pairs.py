"""How judges of pairs answer in other tools."""

from __future__ import annotations

from fairjudge.scales import Level, Scale, pairwise

LETTERS = pairwise(("A", "B", "C"))
"""``[[A]]``, ``[[B]]`` or, for a tie, ``[[C]]``, as FastChat's prompts ask."""
OUTPUTS = Scale(
    name="pairwise-outputs",
    kind="pair",
    levels=(
        Level(answer="Output (a)", value="first", aliases=("(a)",)),
        Level(answer="Output (b)", value="second", aliases=("(b)",)),
    ),
)
"""``Output (a)`` or ``Output (b)``, as LLMBar's prompts ask."""
ARENA = Scale(
    name="pairwise-arena-hard",
    kind="pair",
    levels=(
        Level(answer="A>B", value="first", aliases=("A>>B",)),
        Level(answer="B>A", value="second", aliases=("B>>A",)),
        Level(answer="A=B", value="tie"),
    ),
)
"""``[[A>>B]]`` to ``[[B>>A]]``, as Arena-Hard's prompts ask."""
