"""Warnings where ids do not seem to be those of clusters, with the column that has them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from fairjudge.converting.layouts import Layout
from fairjudge.converting.ratings import LABEL_STUDIO, Files, map_option, short_name
from fairjudge.converting.records import Converted
from fairjudge.converting.roles import REFERENCE
from fairjudge.importing.sources import Json, Source
from fairjudge.text.counting import pluralize

MAX_NAMED = 5
_MIN_WORDS = 3
"""A column with shorter texts than this holds names."""


def warnings_of(converted: Converted, files: Files) -> Iterator[str]:
    """Yield what makes ids doubtful: documents under several, or summaries that share none."""
    by_texts = defaultdict(list)
    clusters = (*converted.clusters, *converted.references)
    for cluster in clusters:
        by_texts[tuple(article.content for article in cluster.articles)].append(cluster.eid)
    summaries = [summary for summary in converted.summaries if summary.system != REFERENCE]
    eids = {summary.eid for summary in summaries}
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
    elif len(eids) == len(summaries) and len({summary.system for summary in summaries}) > 1:
        yield (
            "each cluster has one summary, though there are several systems. "
            f"{_advice(_by_system(files))}"
        )


def labels_without_texts(converted: Converted) -> Iterator[str]:
    """Yield which systems and clusters labels name that the texts lack."""
    systems = {summary.system for summary in converted.summaries}
    eids = {cluster.eid for cluster in (*converted.clusters, *converted.references)}
    eids |= {summary.eid for summary in converted.summaries}
    rated = {
        name
        for label in converted.labels
        for name in (label.system, label.system_a, label.system_b)
        if name is not None
    }
    if systems and rated - systems:
        yield _lacking("system", sorted(rated - systems), "no summary is by", sorted(systems))
    of_labels = {label.eid for label in converted.labels}
    if eids and of_labels - eids:
        yield _lacking("cluster", sorted(of_labels - eids), "no text is of", sorted(eids))
    if converted.clusters and not systems and rated:
        yield (
            f"labels are of summaries by {_first_names(sorted(rated))}, but no summary was read: "
            "texts of a cluster's folder are named summary_SYSTEM.txt, columns "
            "--map text:SYSTEM=COLUMN"
        )


def _lacking(noun: str, names: Sequence[str], lack: str, ids: Sequence[str]) -> str:
    return (
        f"labels name {pluralize(len(names), noun)} that {lack}: {_first_names(names)}. "
        f"The texts have {_first_names(ids)}"
    )


def _first_names(names: Sequence[str]) -> str:
    suffix = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return ", ".join(map(repr, names[:MAX_NAMED])) + suffix


def _advice(columns: Iterator[str]) -> str:
    column = next(columns, None)
    if column is None:
        return "Name the column that holds the cluster of each row: --map eid=COLUMN"
    return f"Column {column!r} seems to hold the cluster of each row: {map_option(f'eid={column}')}"


def _by_document(files: Files) -> Iterator[str]:
    """Yield columns with one value for each document, in all of its rows."""
    for source, layout in files:
        if layout.roles is not None and layout.roles.documents:
            for column, rows in _unused(source, layout):
                values = {
                    (str(row[column]), str([row.get(name) for name in layout.roles.documents]))
                    for row in rows
                }
                names, documents = (set(several) for several in zip(*values, strict=True))
                if len(names) == len(documents) == len(values) < len(rows):
                    yield column


def _by_ids(files: Files, eids: Collection[str]) -> Iterator[str]:
    """Yield columns whose values are ids of clusters."""
    for source, layout in files:
        if "summaries" in layout.gives or "labels" in layout.gives:
            for column, rows in _unused(source, layout):
                if {str(row[column]) for row in rows} <= {*eids}:
                    yield column


def ids_advice(source: Source | None, layout: Layout, eids: Collection[str]) -> str:
    """Return how to name the column that holds ids of clusters, or that there is to be one."""
    return _advice(_by_ids([(source, layout)] if source else (), eids))


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


def possible_texts(files: Files) -> Iterator[str]:
    """Yield the options that read columns of text beside documents as summaries."""
    for source, layout in files:
        if layout.roles is None or layout.gives != {"clusters"} or not layout.roles.documents:
            continue
        names = [name for name, rows in _unused(source, layout) if _are_texts(name, rows)]
        if names:
            option = map_option(",".join(map(_text_of, names)))
            yield (
                f"Columns with texts are not read: {', '.join(map(repr, names))}. If they hold "
                f"summaries, each of a system: {option}"
            )


def _text_of(column: str) -> str:
    """Return how a column of summaries is mapped, with its system: ``gpt`` of ``summary_gpt``."""
    system = short_name(column)
    return f"text:{system}={column}" if system not in {"", column} else f"text={column}"


def _are_texts(column: str, rows: Sequence[Json]) -> bool:
    texts = [row[column] for row in rows]
    return (
        all(isinstance(text, str) and len(text.split()) >= _MIN_WORDS for text in texts)
        and len(set(texts)) > len(texts) / 2
    )


def _unused(source: Source, layout: Layout) -> Iterator[tuple[str, list[Json]]]:
    """Yield each unused column that all rows have a value in, with the rows."""
    rows = source.objects
    for column in layout.unused():
        values = ["" if row.get(column) is None else str(row[column]) for row in rows]
        if column not in LABEL_STUDIO and all(map(str.strip, values)):
            yield column, rows
