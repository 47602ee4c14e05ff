"""Labels that differ in hedging alone: "It is false that ..." and "It is doubtful that ..."."""

from __future__ import annotations

from typing import TypeAlias

from fairjudge.text.tokens import words

Claim: TypeAlias = tuple[bool, tuple[str, ...]]
"""Whether a label denies, and its words without denials, hedges and what introduces a clause."""

_WEAK_DENIALS = frozenset({"doubtful", "unlikely", "questionable"})
_DENIALS = _WEAK_DENIALS | {"not", "no", "never", "false", "untrue"}
_HEDGES = frozenset(
    {"probably", "probable", "likely", "apparently", "presumably", "reportedly", "generally"}
)
_FRAME = frozenset(
    """it is are was were be that a an the do does did true so""".split()  # noqa: SIM905  # shorter
)


def claim_of(label: str) -> Claim:
    """Return what `label` says, whatever its strength.

    Two denials ("It is doubtful that X was not seen") may cancel out: such labels keep their words.
    """
    label_words = _words(label)
    if sum(word in _DENIALS for word in label_words) > 1:
        return False, tuple(label_words)
    content_words = (word for word in label_words if word not in _DENIALS | _HEDGES | _FRAME)
    return not _DENIALS.isdisjoint(label_words), tuple(content_words)


def weaker(label: str, other: str) -> str:
    """Return the label that claims less of two: `other` if it alone is hedged."""
    return other if _is_hedged(other) and not _is_hedged(label) else label


def _is_hedged(label: str) -> bool:
    return not (_WEAK_DENIALS | _HEDGES).isdisjoint(_words(label))


def _words(label: str) -> list[str]:
    return list(words(label.replace("\u2019", "'").replace("n't", " not")))
