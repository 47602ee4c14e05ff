"""Balance: how far a summary covers each source, and the sources that it covers least.

No reference is needed. Of a source, its statements are what is to be covered; its share is their
mean. The least covered sources tell whose voice is left out, which a mean over sources hides: a
summary that copies one source covers that one surely and the rest by half.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from fairjudge.domain import SourceCovered
from fairjudge.text.statements import statement_texts

BALANCE = "balance"
"""The aspect; measured without an LLM as below, or rated by one, against all articles at once."""
MAX_STATEMENTS = 12
"""Statements read of a source; of a longer one as many, spread evenly over it."""


def statements_of(content: str, *, limit: int = MAX_STATEMENTS) -> tuple[str, ...]:
    """Return the statements of a source that are to be covered, in order."""
    found = tuple(dict.fromkeys(statement_texts(content)))
    if len(found) <= limit:
        return found
    return tuple(found[place * len(found) // limit] for place in range(limit))


def least_covered(sources: Sequence[SourceCovered]) -> tuple[SourceCovered, ...]:
    """Return the half of the sources that is covered least, rounded up, the least first."""
    ordered = sorted(sources, key=lambda source: source.covered)
    return tuple(ordered[: -(-len(ordered) // 2)])


def balance_of(sources: Sequence[SourceCovered]) -> float:
    """Return the mean share over the sources that are covered least, in [0, 1]."""
    return fmean(one.covered for one in least_covered(sources))


def mean_covered(sources: Sequence[SourceCovered]) -> float:
    """Return the mean share over all sources, in [0, 1]."""
    return fmean(source.covered for source in sources)
