"""Warnings where ids do not seem to be those of clusters, with the column that has them."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fairjudge.converting.layouts import Layout
from fairjudge.converting.records import Converted
from fairjudge.converting.rows import LABEL_STUDIO, REFERENCE
from fairjudge.importing.sources import Source
from fairjudge.text.counting import pluralize

Files = Sequence[tuple[Source, Layout]]


def warnings_of(converted: Converted, files: Files) -> Iterator[str]:
    """Yield what makes ids doubtful: documents under several, or summaries that share none."""
    by_texts = defaultdict(list)
    clusters = (*converted.clusters, *converted.references)
    for cluster in clusters:
        by_texts[tuple(article.content for article in cluster.articles)].append(cluster.eid)
    summaries = [one for one in converted.summaries if one.system != REFERENCE]
    eids = {one.eid for one in summaries}
    if same := next((ids for ids in by_texts.values() if len(ids) > 1), None):
        yield (
            f"{pluralize(len(clusters), 'cluster')} of "
            f"{pluralize(len(by_texts), 'different document')}: "
            f"{same[0]!r} and {same[1]!r} hold the same. {_advice(_by_document(files))}"
        )
    elif clusters and summaries and not eids & {cluster.eid for cluster in clusters}:
        yield (
            f"no summary is of a cluster: ids of summaries are such as {summaries[0].eid!r}, those "
            f"of clusters such as {clusters[0].eid!r}. "
            f"{_advice(_by_ids(files, {cluster.eid for cluster in clusters}))}"
        )
    elif len(eids) == len(summaries) and len({one.system for one in summaries}) > 1:
        yield (
            "each cluster has one summary, though there are several systems. "
            f"{_advice(_by_system(files))}"
        )


def _advice(columns: Iterator[str]) -> str:
    column = next(columns, None)
    if column is None:
        return "Name the column that holds the cluster of each row: --map eid=COLUMN"
    option = f"--map {shlex.quote(f'eid={column}')}"
    return f"Column {column!r} seems to hold the cluster of each row: {option}"


def _by_document(files: Files) -> Iterator[str]:
    """Yield columns with one value for each document, in all of its rows."""
    for source, layout in files:
        if layout.roles is not None and layout.roles.documents:
            for column, rows in _unused(source, layout):
                values = {(str(row[column]), str(row.get(layout.roles.documents))) for row in rows}
                names, documents = (set(several) for several in zip(*values, strict=True))
                if len(names) == len(documents) == len(values) < len(rows):
                    yield column


def _by_ids(files: Files, eids: set[str]) -> Iterator[str]:
    """Yield columns whose values are ids of clusters."""
    for source, layout in files:
        if "summaries" in layout.gives:
            for column, rows in _unused(source, layout):
                if {str(row[column]) for row in rows} <= eids:
                    yield column


def _by_system(files: Files) -> Iterator[str]:
    """Yield columns each value of which stands beside several systems."""
    for source, layout in files:
        if layout.roles is not None and layout.roles.system:
            for column, rows in _unused(source, layout):
                systems = defaultdict(set)
                for row in rows:
                    systems[str(row[column])].add(str(row.get(layout.roles.system)))
                if len(systems) > 1 and all(len(several) > 1 for several in systems.values()):
                    yield column


def _unused(source: Source, layout: Layout) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
    """Yield each unused column that all rows have a value in, with the rows."""
    rows: list[Mapping[str, Any]] = [
        row.value for row in source.rows if isinstance(row.value, dict)
    ]
    for column in layout.unused():
        values = ["" if row.get(column) is None else str(row[column]) for row in rows]
        if column not in LABEL_STUDIO and all(map(str.strip, values)):
            yield column, rows
