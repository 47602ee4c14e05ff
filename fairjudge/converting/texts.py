"""Parse the documents of a cluster in a cell: one text, texts joined by a mark, or a list."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from fairjudge.converting.columns import Columns
from fairjudge.datasets._json import JsonError, parse
from fairjudge.datasets._problems import validate_record
from fairjudge.domain import Article, Cluster, Summary
from fairjudge.errors import InputError

MARKS = ("|||||", "story_separator_special_tag", "<doc-sep>", "[DOC_SEP]")
"""What joins the documents of a cluster in Multi-News and what was made after it."""
_LINE_BREAK = "NEWLINE_CHAR"
"""The mark of a line break in Multi-News' files of lines."""


def articles_of(
    *cells: object, split: str | None, attributes: Iterable[str] = ()
) -> tuple[Article, ...]:
    """Return the documents that `cells` hold; texts without a letter or digit are none."""
    several = [cell for cell in cells if cell is not None] if len(cells) > 1 else cells
    documents = (document for cell in several for document in _documents(_unpacked(cell), split))
    return tuple(_numbered(documents, tuple(attributes)))


def _documents(cell: object, split: str | None) -> Iterator[Mapping[str, Any]]:
    if isinstance(cell, str):
        marks = (split,) if split else MARKS
        mark = next((mark for mark in marks if mark in cell), None)
        yield from ({"content": part} for part in (cell.split(mark) if mark else [cell]))
    elif isinstance(cell, Mapping):
        yield from _one_or_columns(cell)
    elif isinstance(cell, list):
        for item in cell:
            yield item if isinstance(item, dict) else {"content": item}
    else:
        raise InputError("expected a text or a list of documents")


def _one_or_columns(cell: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the one document that an object is, or those of an object of lists, as Arrow has it."""
    lists = {name: value for name, value in cell.items() if isinstance(value, list)}
    if lists and len({len(value) for value in lists.values()}) == 1:
        for values in zip(*lists.values(), strict=True):
            yield dict(zip(lists, values, strict=True))
    else:
        yield cell


def _numbered(
    documents: Iterable[Mapping[str, Any]], attributes: tuple[str, ...]
) -> Iterator[Article]:
    aids: set[str] = set()
    for number, document in enumerate(documents, 1):
        columns = Columns.of([document], {})
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
    """Return the article that a row, or an object within one, is."""
    details = {
        name: row[column]
        for name in ("title", "url", "domain")
        if (column := columns.column(name)) is not None and isinstance(row.get(column), str)
    }
    values = {name: only_value(row.get(name)) for name in attributes}
    values = {name: value for name, value in values.items() if value not in (None, "")}
    own = row.get("attributes")
    values = {**(own if isinstance(own, dict) else {}), **values}
    content = cleaned(row.get(columns.column("content") or ""))
    fields = {"aid": aid, "content": content, **details}
    return validate_record(Article, fields | ({"attributes": values} if values else {}))


def id_of(row: Mapping[str, Any], column: str | None) -> str | None:
    """Return an id as text: a whole number that a data frame made a float of is that number."""
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
    """Return the summary; one of several lines or bullets may be a list."""
    joined = "\n".join(map(str, text)) if isinstance(text, list) else text
    return validate_record(Summary, {"eid": eid, "system": system, "text": cleaned(joined)})


def cleaned(text: object) -> object:
    """Return a text with line breaks where their stand-in stands."""
    return text.replace(_LINE_BREAK, "\n").strip() if isinstance(text, str) else text


def _unpacked(cell: object) -> object:
    """Return the list that a table's cell holds in the words of JSON or of Python."""
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
