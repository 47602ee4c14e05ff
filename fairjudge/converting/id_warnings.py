"""Warnings about ids that do not seem to be cluster ids, with a column that may have these."""

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
"""Minimum number of words of a text; shorter ones are names."""


def warnings_of(conversion: Converted, files: Files) -> Iterator[str]:
    """Yield warnings about doubtful ids: documents with several ids, summaries without clusters."""
    by_texts = defaultdict(list)
    clusters = (*conversion.clusters, *conversion.references)
    for cluster in clusters:
        by_texts[tuple(article.content for article in cluster.articles)].append(cluster.eid)
    summaries = [summary for summary in conversion.summaries if summary.system != REFERENCE]
    eids = {summary.eid for summary in summaries}
    if equal_eids := next((ids for ids in by_texts.values() if len(ids) > 1), None):
        yield (
            f"{pluralize(len(clusters), 'cluster')} of "
            f"{pluralize(len(by_texts), 'different document')}: "
            f"{equal_eids[0]!r} and {equal_eids[1]!r} have the same. {_advice(_by_document(files))}"
        )
    elif clusters and summaries and not eids & {cluster.eid for cluster in clusters}:
        yield (
            f"no summary belongs to a cluster: summaries have ids such as {summaries[0].eid!r}, "
            f"clusters such as {clusters[0].eid!r}. "
            f"{_advice(_by_ids(files, {cluster.eid for cluster in clusters}))}"
        )
    elif len(eids) == len(summaries) and len({summary.system for summary in summaries}) > 1:
        yield (
            "each cluster has one summary, though there are several systems. "
            f"{_advice(_by_system(files))}"
        )


def labels_without_texts(conversion: Converted) -> Iterator[str]:
    """Yield warnings about systems and clusters of labels without texts."""
    systems = {summary.system for summary in conversion.summaries}
    eids = {cluster.eid for cluster in (*conversion.clusters, *conversion.references)}
    eids |= {summary.eid for summary in conversion.summaries}
    rated_systems = {
        name
        for label in conversion.labels
        for name in (label.system, label.system_a, label.system_b)
        if name is not None
    }
    if systems and rated_systems - systems:
        yield _missing_warning(
            "system", sorted(rated_systems - systems), "no summary is by", sorted(systems)
        )
    label_eids = {label.eid for label in conversion.labels}
    if eids and label_eids - eids:
        yield _missing_warning("cluster", sorted(label_eids - eids), "no text is of", sorted(eids))
    if conversion.clusters and not systems and rated_systems:
        yield (
            f"labels are of summaries by {_first_names(sorted(rated_systems))}, but no summary was "
            "read: in a cluster's folder, name them summary_SYSTEM.txt; for columns, use --map "
            "text:SYSTEM=COLUMN"
        )


def _missing_warning(noun: str, names: Sequence[str], problem: str, ids: Sequence[str]) -> str:
    return (
        f"labels refer to {pluralize(len(names), noun)} that {problem}: {_first_names(names)}. "
        f"The texts have {_first_names(ids)}"
    )


def _first_names(names: Sequence[str]) -> str:
    suffix = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return ", ".join(map(repr, names[:MAX_NAMED])) + suffix


def _advice(columns: Iterator[str]) -> str:
    column = next(columns, None)
    if column is None:
        return "Specify the column of cluster ids: --map eid=COLUMN"
    return f"Column {column!r} seems to contain cluster ids: {map_option(f'eid={column}')}"


def _by_document(files: Files) -> Iterator[str]:
    """Yield columns whose values correspond one to one to documents."""
    for source, layout in files:
        if layout.roles is not None and layout.roles.documents:
            for column, rows in _unused(source, layout):
                values = {
                    (str(row[column]), str([row.get(name) for name in layout.roles.documents]))
                    for row in rows
                }
                names, documents = (
                    set(values_of_column) for values_of_column in zip(*values, strict=True)
                )
                if len(names) == len(documents) == len(values) < len(rows):
                    yield column


def _by_ids(files: Files, eids: Collection[str]) -> Iterator[str]:
    """Yield columns whose values are cluster ids."""
    for source, layout in files:
        if "summaries" in layout.kinds or "labels" in layout.kinds:
            for column, rows in _unused(source, layout):
                if {str(row[column]) for row in rows} <= {*eids}:
                    yield column


def ids_advice(source: Source | None, layout: Layout, eids: Collection[str]) -> str:
    """Return advice on the column of cluster ids."""
    return _advice(_by_ids([(source, layout)] if source else (), eids))


def _by_system(files: Files) -> Iterator[str]:
    """Yield columns of which each value occurs with several systems."""
    for source, layout in files:
        if layout.roles is not None and layout.roles.system:
            for column, rows in _unused(source, layout):
                systems = defaultdict(set)
                for row in rows:
                    systems[str(row[column])].add(str(row.get(layout.roles.system)))
                if len(systems) > 1 and all(
                    len(value_systems) > 1 for value_systems in systems.values()
                ):
                    yield column


def possible_texts(files: Files) -> Iterator[str]:
    """Yield advice on unused columns of texts next to documents, which may be summaries."""
    for source, layout in files:
        if layout.roles is None or layout.kinds != {"clusters"} or not layout.roles.documents:
            continue
        names = [name for name, rows in _unused(source, layout) if _are_texts(name, rows)]
        if names:
            option = map_option(",".join(map(_text_mapping, names)))
            yield (
                f"Columns with texts are not read: {', '.join(map(repr, names))}. If they contain "
                f"summaries, one system each: {option}"
            )


def _text_mapping(column: str) -> str:
    """Return the mapping of a column of summaries, with the system ``gpt`` for ``summary_gpt``."""
    system = short_name(column)
    return f"text:{system}={column}" if system not in {"", column} else f"text={column}"


def _are_texts(column: str, rows: Sequence[Json]) -> bool:
    texts = [row[column] for row in rows]
    return (
        all(isinstance(text, str) and len(text.split()) >= _MIN_WORDS for text in texts)
        and len(set(texts)) > len(texts) / 2
    )


def _unused(source: Source, layout: Layout) -> Iterator[tuple[str, list[Json]]]:
    """Yield each unused column without missing values, with the rows."""
    rows = source.objects
    for column in layout.unused():
        values = ["" if row.get(column) is None else str(row[column]) for row in rows]
        if column not in LABEL_STUDIO and all(map(str.strip, values)):
            yield column, rows
