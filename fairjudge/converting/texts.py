"""Parse the documents of a cluster in a cell: one text, separated texts, or a list."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from fairjudge.converting.columns import Columns
from fairjudge.datasets._json import JsonError, parse
from fairjudge.datasets._problems import validate_record
from fairjudge.domain import Article, Cluster, Summary
from fairjudge.errors import InputError

SEPARATORS = ("|||||", "story_separator_special_tag", "<doc-sep>", "[DOC_SEP]")
"""Separators of the documents of a cluster in Multi-News and later data sets."""
_LINE_BREAK = "NEWLINE_CHAR"
"""The placeholder of a line break in Multi-News' files of lines."""


def articles_of(
    *cells: object, split: str | None, attributes: Iterable[str] = ()
) -> tuple[Article, ...]:
    """Return the documents in `cells`; texts without a letter or digit are ignored."""
    present_cells = [cell for cell in cells if cell is not None] if len(cells) > 1 else cells
    documents = (
        document for cell in present_cells for document in _documents(_parse_list(cell), split)
    )
    return tuple(_number_articles(documents, tuple(attributes)))


def _documents(cell: object, split: str | None) -> Iterator[Mapping[str, Any]]:
    if isinstance(cell, str):
        separators = (split,) if split else SEPARATORS
        separator = next((separator for separator in separators if separator in cell), None)
        yield from ({"content": part} for part in (cell.split(separator) if separator else [cell]))
    elif isinstance(cell, Mapping):
        yield from _one_or_columns(cell)
    elif isinstance(cell, list):
        for item in cell:
            yield item if isinstance(item, dict) else {"content": item}
    else:
        raise InputError("expected a text or a list of documents")


def _one_or_columns(cell: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the object as one document, or the documents of an object of lists (as in Arrow)."""
    lists = {name: value for name, value in cell.items() if isinstance(value, list)}
    if lists and len({len(value) for value in lists.values()}) == 1:
        for values in zip(*lists.values(), strict=True):
            yield dict(zip(lists, values, strict=True))
    else:
        yield cell


def _number_articles(
    documents: Iterable[Mapping[str, Any]], attributes: tuple[str, ...]
) -> Iterator[Article]:
    aids: set[str] = set()
    for number, document in enumerate(documents, 1):
        columns = Columns.from_rows([document], {})
        content = document.get(columns.column("content") or "")
        if not isinstance(content, str) or not any(map(str.isalnum, content)):
            continue
        aid = str(document.get(columns.column("aid") or "", number))
        aid = aid if aid and aid not in aids else f"{aid}#{number}"
        aids.add(aid)
        yield article(document, columns, aid=aid, attributes=attributes)


def article(
    row: Mapping[str, Any], columns: Columns, *, aid: str, attributes: Iterable[str] = ()
) -> Article:
    """Return the article in a row, or in an object within a row."""
    details = {
        name: row[column]
        for name in ("title", "url", "domain")
        if (column := columns.column(name)) is not None and isinstance(row.get(column), str)
    }
    values = {name: only_value(row.get(name)) for name in attributes}
    values = {name: value for name, value in values.items() if value not in (None, "")}
    own_attributes = row.get("attributes")
    values = {**(own_attributes if isinstance(own_attributes, dict) else {}), **values}
    content = replace_line_breaks(row.get(columns.column("content") or ""))
    fields = {"aid": aid, "content": content, **details}
    return validate_record(Article, fields | ({"attributes": values} if values else {}))


def id_of(row: Mapping[str, Any], column: str | None) -> str | None:
    """Return an id as text; a whole number that a data frame stored as a float has no fraction."""
    value = row.get(column) if column else None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool | dict | list) or value is None or not str(value).strip():
        return None
    return str(value).strip()


def only_value(value: object) -> object:
    """Return the element of a list of one, and any other value unchanged."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def cluster(eid: str, articles: Iterable[Article]) -> Cluster:
    """Return the cluster of `articles`."""
    return validate_record(Cluster, {"eid": eid, "articles": tuple(articles)})


def summary(eid: str, system: object, text: object) -> Summary:
    """Return the summary; `text` may be a list of lines or bullets."""
    content = "\n".join(map(str, text)) if isinstance(text, list) else text
    return validate_record(
        Summary, {"eid": eid, "system": system, "text": replace_line_breaks(content)}
    )


def replace_line_breaks(text: object) -> object:
    """Return a text with line breaks in place of their placeholder; other values unchanged."""
    return text.replace(_LINE_BREAK, "\n").strip() if isinstance(text, str) else text


def _parse_list(cell: object) -> object:
    """Return the list in a table's cell that is JSON or a Python literal, else the cell."""
    if not (isinstance(cell, str) and cell.startswith("[") and cell.rstrip().endswith("]")):
        return cell
    for parser in (parse, ast.literal_eval):
        try:
            value = parser(cell)
        except (JsonError, ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(value, list):
            return value
    return cell
