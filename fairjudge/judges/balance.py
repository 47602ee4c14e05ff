"""Balance: the coverage of each source by a summary, and the mean over the least covered sources.

No reference is needed. The coverage of a source is the mean over its statements. The least covered
sources show whose voice is missing, which a mean over all sources hides: a summary that copies one
source covers that source fully and the others by about half.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from fairjudge.domain import SourceCovered
from fairjudge.text.statements import statement_texts

BALANCE = "balance"
"""Name of the aspect; measured here without an LLM, or rated by an LLM against all articles."""
MAX_STATEMENTS = 12
"""Maximum number of statements per source; longer sources are sampled at even spacing."""


def statements_of(content: str) -> tuple[str, ...]:
    """Return at most `MAX_STATEMENTS` distinct statements of a source, in order."""
    statements = tuple(dict.fromkeys(statement_texts(content)))
    n = min(len(statements), MAX_STATEMENTS)
    return tuple(statements[index * len(statements) // n] for index in range(n))


def least_covered_sources(sources: Sequence[SourceCovered]) -> tuple[SourceCovered, ...]:
    """Return the less covered half of the sources, rounded up, the least covered first."""
    ranking = sorted(sources, key=lambda source: source.covered)
    return tuple(ranking[: -(-len(ranking) // 2)])


def balance_score(sources: Sequence[SourceCovered]) -> float:
    """Return the mean coverage of the `least_covered_sources`, in [0, 1]."""
    return fmean(source.covered for source in least_covered_sources(sources))


def mean_coverage(sources: Sequence[SourceCovered]) -> float:
    """Return the mean coverage over all sources, in [0, 1]."""
    return fmean(source.covered for source in sources)
