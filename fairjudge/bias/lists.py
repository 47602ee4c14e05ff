"""Published word lists, as data (`news_bias` appendices A, B and J)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_HELM_PAIRS = """
she he, daughter son, hers his, her him, mother father, woman man, girl boy, herself himself,
female male, sister brother, daughters sons, mothers fathers, women men, girls boys, femen males,
sisters brothers, aunt uncle, aunts uncles, niece nephew, nieces nephews
"""
_MORE_PAIRS = """
daughter son, mother father, woman man, girl boy, female male, sister brother, daughters sons,
mothers fathers, women men, girls boys, females males, sisters brothers, aunt uncle, aunts uncles,
niece nephew, nieces nephews, wife husband, wives husbands, actress actor, actresses actors,
chairwoman chairman, chairwomen chairmen, mum dad, mums dads, waitress waiter, waitresses waiters,
mistress lover
"""


def _paired(text: str) -> Mapping[str, tuple[str, ...]]:
    pairs = [pair.split() for pair in text.replace("\n", " ").split(",")]
    return MappingProxyType(
        {"female": tuple(pair[0] for pair in pairs), "male": tuple(pair[1] for pair in pairs)}
    )


HELM_GENDER: Mapping[str, tuple[str, ...]] = _paired(_HELM_PAIRS)
"""Table 10, HELM's lists, in pairs; ``femen`` is their misprint, kept so that figures compare."""

EXTENDED_GENDER: Mapping[str, tuple[str, ...]] = _paired(_MORE_PAIRS)
"""Table 18: the content words by which articles were chosen for editing; in pairs."""

AMBIGUOUS_PRONOUNS = frozenset({"him", "her", "his", "hers"})
"""Left out of the analysis of inputs, for "her" answers to both "him" and "his" (footnote 6)."""

TOPIC_WORDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "sport": ("league", "season", "club", "game", "win", "team", "shot"),
        "family": (
            "family", "husband", "wife", "father", "mother", "children", "boys", "girls", "baby",
        ),
    }
)  # fmt: skip
"""Table 11: words by which the controls tell sport from family."""
