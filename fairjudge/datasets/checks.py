"""What no single file can tell: do records fit together, and can a reference be built."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from fairjudge.datasets._loading import Loaded
from fairjudge.domain import Article, Cluster, Summary
from fairjudge.errors import InputError


def check_summaries(
    summaries: Loaded[Summary] | Iterable[Summary], clusters: Iterable[Cluster]
) -> None:
    """Check that every summary is of a cluster that was given.

    Raises
    ------
    InputError
        For the first summary of an unknown ``eid``, with its file and line where they are known.
    """
    known = {cluster.eid for cluster in clusters}
    for index, summary in enumerate(summaries):
        if summary.eid in known:
            continue
        close = get_close_matches(summary.eid, known, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise InputError(
            f"the summary by {summary.system!r} is of cluster {summary.eid!r}, "
            f"which is not among the {len(known)} given{hint}",
            path=summaries.path if isinstance(summaries, Loaded) else None,
            line=summaries.lines[index] if isinstance(summaries, Loaded) else None,
            field="eid",
        )


def check_distinct(files: Sequence[Loaded[Summary]]) -> None:
    """Check that no two files hold a summary of the same cluster by the same system.

    Raises
    ------
    InputError
        For the first summary that an earlier file has, with the places of both.
    """
    first: dict[tuple[str, str], str] = {}
    for file in files:
        found = {
            (summary.eid, summary.system): f"{file.path}:{line}"
            for summary, line in zip(file.records, file.lines, strict=True)
        }
        for (eid, system), place in found.items():
            if (eid, system) in first:
                raise InputError(
                    f"a second summary of {eid!r} by {system!r} (first at {first[eid, system]})",
                    path=place,
                )
        first |= found


def empty_articles(cluster: Cluster) -> tuple[Article, ...]:
    """Return the articles whose ``content`` holds nothing but white space, NULs and the like."""
    return tuple(article for article in cluster.articles if not _has_text(article.content))


def why_not_buildable(cluster: Cluster) -> str | None:
    """Say why no reference can be built from ``cluster``, or return None.

    Articles must be able to differ: two of them need text.
    """
    n_articles, n_empty = len(cluster.articles), len(empty_articles(cluster))
    if n_articles == 1:
        return f"cluster {cluster.eid!r} has one article; a reference needs at least 2 that differ"
    if n_empty == n_articles:
        return f"cluster {cluster.eid!r}: all {n_articles} articles are empty"
    if n_empty == n_articles - 1:
        return f"cluster {cluster.eid!r}: {n_empty} of {n_articles} articles are empty, one is left"
    return None


def _has_text(content: str) -> bool:
    return any(character.isalnum() for character in content)
