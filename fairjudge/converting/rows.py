"""Rows of any table: each a cluster with its documents, an article, a summary, or a label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from fairjudge.converting.columns import Columns
from fairjudge.converting.layouts import Layout, Settings
from fairjudge.converting.ratings import labels_of
from fairjudge.converting.records import Entry
from fairjudge.converting.roles import (
    BY_KEYS,
    REFERENCE,
    Roles,
    description_of,
    grouped_roles,
    row_roles,
)
from fairjudge.converting.texts import article, articles_of, cluster, id_of, summary
from fairjudge.domain import Article
from fairjudge.importing.records import Skipped
from fairjudge.importing.sources import Json, Source

N_SAMPLE = 200
"""Number of rows by which a layout is recognised."""


def sample_of(source: Source) -> list[Json]:
    """Return the rows by which a layout is recognised."""
    return [row.value for row in source.rows[:N_SAMPLE] if isinstance(row.value, dict)]


def layout_of(source: Source, settings: Settings) -> Layout | None:
    """Return the layout of the rows, None if it does not follow from their columns.

    Raises
    ------
    ConfigurationError
        If a mapped field is unknown.
    """
    sample = sample_of(source)
    if not sample:
        return None
    columns = Columns.from_rows(sample, settings.columns)
    roles = grouped_roles(sample, columns, settings) or row_roles(source, sample, columns, settings)
    if roles is None:
        return None
    fields = (columns.column(name) for name in ("title", "url", "domain") if roles.group)
    used = roles.used() | set(fields)
    return Layout(
        name=description_of(sample[0], roles),
        kinds=roles.kinds,
        entries=lambda: (
            _articles(source, roles, columns)
            if roles.group
            else _records(source, roles, settings.split)
        ),
        unused=lambda: _unused(columns.names, used),
        group=roles.group,
        roles=roles,
        n_numbered=None if roles.group or roles.eid else len(set(source.numbers) or source.rows),
    )


def _unused(names: Iterable[str], used: set[str | None]) -> tuple[str, ...]:
    """Return the unused columns; an object counts as used if one of its fields is."""
    parents = {
        name[:position]
        for name in used
        if name
        for position, character in enumerate(name)
        if character == "."
    }
    return tuple(name for name in names if name not in used and name not in parents)


def _records(source: Source, roles: Roles, split: str | None) -> Iterator[Entry]:
    """Yield the cluster, the summaries and the labels of each row."""
    row_counts: Counter[tuple[str, str, str]] = Counter()
    for number, line, row in source.numbered_records():
        with source.locate_errors(line):
            eid = id_of(row, roles.eid) or str(number)
            if roles.documents:
                cells = [row.get(name) for name in roles.documents]
                articles = articles_of(*cells, split=split, attributes=roles.attributes)
                if not articles:
                    yield Skipped(line=line, why="a cluster without an article that has text")
                else:
                    yield cluster(eid, articles)
            yield from _summaries(line, row, eid, roles)
            yield from labels_of(line, row, eid, roles, source=source, row_counts=row_counts)


def _summaries(line: int, row: Json, eid: str, roles: Roles) -> Iterator[Entry]:
    for column, system in roles.texts:
        if system == BY_KEYS:
            cell = row.get(column) or {}
            if not isinstance(cell, dict):
                cell = {f"system-{number}": text for number, text in enumerate(cell, 1)}
            yield from (summary(eid, name, text) for name, text in cell.items())
            continue
        name = system or id_of(row, roles.system)
        if row.get(column) is None or not name:
            yield Skipped(
                line=line, why="a row without a summary" if name else "a summary without a system"
            )
        else:
            yield summary(eid, name, row[column])
    if roles.reference and (texts := row.get(roles.reference)) is not None:
        for number, text in enumerate(texts if isinstance(texts, list) else [texts], 1):
            yield summary(eid, REFERENCE if number == 1 else f"{REFERENCE}-{number}", text)


def _articles(source: Source, roles: Roles, columns: Columns) -> Iterator[Entry]:
    """Yield the cluster of each group, in the order in which groups begin."""
    groups: dict[str, list[Article]] = {}
    article_ids: set[tuple[str, str]] = set()
    for line, row in source.records():
        with source.locate_errors(line):
            eid = id_of(row, roles.group)
            if eid is None:
                yield Skipped(line=line, why="an article without a group")
                continue
            if not any(map(str.isalnum, str(row.get(roles.content or "") or ""))):
                yield Skipped(line=line, why="an article without text")
                continue
            articles = groups.setdefault(eid, [])
            aid = id_of(row, roles.aid) or str(len(articles) + 1)
            aid = aid if (eid, aid) not in article_ids else f"{aid}#{len(articles) + 1}"
            article_ids.add((eid, aid))
            articles.append(article(row, columns, aid=aid, attributes=roles.attributes))
    for eid, articles in groups.items():
        yield cluster(eid, articles)
