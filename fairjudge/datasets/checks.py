"""What no single file can tell: do records fit together, and can a reference be built."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from fairjudge.datasets._loading import Loaded
from fairjudge.domain import Article, Cluster, Summary
from fairjudge.errors import InputError
from fairjudge.records.matching import with_ids_of
from fairjudge.text.suggestions import did_you_mean


def match_summaries(summaries: Loaded[Summary], clusters: Iterable[Cluster]) -> Loaded[Summary]:
    """Return `summaries`, their eids spelled as those of `clusters` where a table made them floats.

    Raises `InputError` for the first summary of a cluster that is not among those given.
    """
    sources = tuple(clusters)
    eids = {cluster.eid for cluster in sources}
    matched = replace(summaries, records=with_ids_of(summaries, sources))
    for index, summary in enumerate(matched):
        if summary.eid in eids:
            continue
        raise InputError(
            f"the summary by {summary.system!r} is of cluster {summary.eid!r}, "
            f"which is not among the {len(eids)} given{did_you_mean(summary.eid, eids)}",
            path=summaries.path,
            line=summaries.lines[index],
            field="eid",
        )
    return matched


def check_distinct(files: Sequence[Loaded[Summary]]) -> None:
    """Raise `InputError` for the first summary, by cluster and system, that an earlier file has."""
    first: dict[tuple[str, str], str] = {}
    for file in files:
        rows = zip(file.records, file.lines, strict=True)
        places = {(row.eid, row.system): f"{file.path}:{line}" for row, line in rows}
        for (eid, system), place in places.items():
            if (eid, system) in first:
                raise InputError(
                    f"a second summary of {eid!r} by {system!r} (first at {first[eid, system]})",
                    path=place,
                )
        first |= places


def empty_articles(cluster: Cluster) -> tuple[Article, ...]:
    """Return the articles with blank ``content`` (white space, control characters)."""
    return tuple(
        article for article in cluster.articles if not any(map(str.isalnum, article.content))
    )


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
