"""The roles of a table's columns, by their names and contents and the user's settings."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, replace

from fairjudge.converting.columns import (
    ATTRIBUTES,
    FIELDS,
    Columns,
    contains_documents,
    name_key,
    system_name,
)
from fairjudge.converting.layouts import Settings
from fairjudge.converting.ratings import Rating, rating_columns
from fairjudge.converting.records import Kind
from fairjudge.converting.texts import SEPARATORS, only_value
from fairjudge.importing.sources import Json, Source

REFERENCE = "reference"
"""The system of human summaries."""
BY_KEYS = ""
"""The system of a cell with one summary per system, as an object or a list."""
_COLUMNS_OF_SUMMARIES = frozenset({"summaries", "candidates", "predictions", "outputs"})
"""Columns whose cells may have several summaries."""
_COLUMNS_OF_HUMANS = frozenset({"summary", "text"})
"""Columns next to documents with human summaries; other columns have a system's summaries."""
_DOCUMENTS = frozenset(map(name_key, FIELDS["documents"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """The roles of a table's columns; ``texts`` are columns of summaries, with their systems.

    A system is None if column ``system`` has it, and `BY_KEYS` if a cell has several summaries.
    """

    eid: str | None = None
    group: str | None = None
    documents: tuple[str, ...] = ()
    content: str | None = None
    aid: str | None = None
    attributes: tuple[str, ...] = ()
    system: str | None = None
    texts: tuple[tuple[str, str | None], ...] = ()
    reference: str | None = None
    annotator: str | None = None
    unit: str | None = None
    aspect: str | None = None
    value: str | None = None
    ratings: tuple[Rating, ...] = ()

    def used(self) -> set[str | None]:
        """Return the columns with a role."""
        return {
            self.eid, self.group, self.content, self.aid, self.system,
            self.reference, self.annotator, self.unit, self.aspect, self.value,
            *self.attributes, *self.documents,
            *(rating.column for rating in self.ratings), *(column for column, _ in self.texts),
        }  # fmt: skip

    @property
    def kinds(self) -> frozenset[Kind]:
        """The kinds of records in the rows."""
        sources: dict[Kind, object] = {
            "clusters": self.documents or self.group,
            "summaries": self.texts or self.reference,
            "labels": self.ratings or (self.aspect and self.value),
        }
        return frozenset(kind for kind, source in sources.items() if source)


def grouped_roles(sample: list[Json], columns: Columns, settings: Settings) -> Roles | None:
    """Return the roles if each row is an article of a group, else None."""
    group = settings.group or next(iter(columns.mapping.get("group", ())), None)
    content = columns.column("content")
    if group is None:
        if settings.split or columns.fields & {"documents", "text", "system"}:
            return None
        ids = () if _documents(sample, columns) else columns.mapping.get("eid", ())
        candidates = (*ids, *columns.candidates("group"))
        group = next((name for name in candidates if _repeats(sample, name)), None)
        has_summaries = columns.column("system") or any(
            c != content for c in columns.columns("text")
        )
        is_review = content is not None and name_key(content).startswith("review")
        if group is None or (has_summaries and not is_review):
            return None
    if content is None or content == group:
        return None
    aid = next((name for name in columns.columns("aid") if name not in {group, content}), None)
    attributes = settings.attributes or tuple(
        name
        for name in columns.names
        if name_key(name) in ATTRIBUTES
        and not any(isinstance(only_value(row.get(name)), list | dict) for row in sample)
    )
    return Roles(group=group, content=content, aid=aid, attributes=attributes)


def _repeats(sample: list[Json], column: str) -> bool:
    """Return whether several rows have the same value in a column."""
    counts = Counter(str(row[column]) for row in sample if row.get(column) is not None)
    return any(n > 1 for n in counts.values())


def row_roles(
    source: Source, sample: list[Json], columns: Columns, settings: Settings
) -> Roles | None:
    """Return the roles if each row is a cluster, a summary or a label, else None."""
    documents = _documents(sample, columns)
    system, aspect, value = (columns.column(name) for name in ("system", "aspect", "value"))
    is_label = system is not None and aspect is not None and value is not None
    roles = Roles(
        eid=_eid(columns, documents, settings),
        documents=documents,
        system=system,
        texts=_texts(source, sample, columns, documents, settings),
        reference=None if system else columns.column("reference"),
        annotator=columns.column("annotator"),
        unit=columns.column("unit"),
        aspect=aspect if is_label else None,
        value=value if is_label else None,
        attributes=settings.attributes,
    )
    if not documents and not system and not _are_summaries(roles):
        return None
    if not is_label:
        roles = replace(roles, ratings=tuple(rating_columns(source, sample, columns, roles)))
    return roles if roles.kinds else None


def _eid(columns: Columns, documents: tuple[str, ...], settings: Settings) -> str | None:
    """Return the column of cluster ids, preferably one shared with another file."""
    if "eid" in columns.mapping:
        return columns.column("eid")
    keys = {name_key(settings.group)} if settings.group else {*settings.keys}
    names = (
        *(name for name in columns.names if name_key(name) in keys),
        *columns.candidates("eid"),
    )
    return next((name for name in names if name not in documents), None)


def _are_summaries(roles: Roles) -> bool:
    """Return whether rows without documents and systems are summaries, such as predictions."""
    names = {name_key(column) for column, _ in roles.texts}
    return bool(names - _COLUMNS_OF_HUMANS) or (bool(names - {"text"}) and roles.eid is not None)


def _documents(sample: list[Json], columns: Columns) -> tuple[str, ...]:
    """Return the columns of a cluster's documents, recognized by name and content."""
    if "documents" in columns.mapping:
        return columns.columns("documents")
    for name in columns.candidates("documents"):
        if contains_documents(sample, name):
            return (name,)
    if numbered_columns := _numbered_documents(sample, columns):
        return numbered_columns
    text = next((name for name in columns.names if name_key(name) == "text"), None)
    summary_columns = {*columns.columns("text"), *columns.columns("reference")} - {text}
    return (text,) if text and summary_columns and contains_documents(sample, text) else ()


def _numbered_documents(sample: list[Json], columns: Columns) -> tuple[str, ...]:
    """Return columns such as ``Article 1`` and ``Article 2``."""
    mapped_columns = columns.mapped_columns
    by_base = defaultdict(list)
    for name in columns.names:
        match = re.fullmatch(r"(\D+?)\d+", name_key(name))
        if match and match[1] in _DOCUMENTS and name not in mapped_columns:
            by_base[match[1]].append(name)
    for names in by_base.values():
        if len(names) > 1 and all(contains_documents(sample, name) for name in names):
            return tuple(names)
    return ()


def _texts(
    source: Source,
    sample: list[Json],
    columns: Columns,
    documents: tuple[str, ...],
    settings: Settings,
) -> tuple[tuple[str, str | None], ...]:
    """Return the columns of summaries, each with the name of its system."""
    text_columns = {
        column: system for column, system in columns.targets("text") if column not in documents
    }
    names = list(text_columns)
    if columns.column("system"):
        return tuple((name, None) for name in names)
    if len(names) > 1 or any(text_columns.values()):
        return tuple((name, system or name) for name, system in text_columns.items())
    if not names:
        return ()
    (name,) = names
    cells = [row[name] for row in sample if row.get(name) is not None]
    if (
        name_key(name) in _COLUMNS_OF_SUMMARIES
        and cells
        and all(isinstance(c, dict | list) for c in cells)
    ):
        return ((name, BY_KEYS),)
    is_human = (
        documents and columns.column("reference") is None and name_key(name) in _COLUMNS_OF_HUMANS
    )
    return ((name, settings.system or (REFERENCE if is_human else system_name(source.path))),)


def description_of(first: Json, roles: Roles) -> str:
    """Return a description of the columns' roles."""
    if roles.group:
        description = f"one article per row: texts in {roles.content!r}, grouped by {roles.group!r}"
        names = ", ".join(map(repr, roles.attributes))
        return f"{description}, attributes {names}" if names else description
    parts = [f"ids in {roles.eid!r}" if roles.eid else "ids are the numbers of rows"]
    if roles.documents:
        cells = [cell for name in roles.documents if isinstance(cell := first.get(name), str)]
        separator = next((m for m in SEPARATORS if any(m in cell for cell in cells)), None)
        columns = ", ".join(map(repr, roles.documents))
        parts.append(f"documents in {columns}" + (f" split at {separator!r}" if separator else ""))
    parts += [
        f"summaries in {column!r}"
        + (f" by {system!r}" if system else ", one per system" if system == BY_KEYS else "")
        for column, system in roles.texts
    ]
    parts += [f"summaries in {roles.reference!r} by {REFERENCE!r}"] if roles.reference else []
    parts += [f"systems in {roles.system!r}"] if roles.system else []
    ratings = list(map(str, roles.ratings))
    parts += [f"ratings in {', '.join(ratings)}"] if ratings else []
    parts += [f"labels in {roles.value!r}"] if roles.value else []
    kind = "cluster" if roles.documents and not roles.system else "summary"
    kind = "label" if roles.value and not roles.texts else kind
    return f"{_data_set(first)}one {kind} per row: {', '.join(parts)}"


def _data_set(first: Json) -> str:
    """Return the name of a well-known data set with such rows as a prefix, else ""."""
    fields = {"wiki_links", "reference_urls"} & first.keys()
    if fields and "articles" in first:
        return "WCEP, "
    if first.keys() == {"document", "summary"} and SEPARATORS[0] in str(first["document"]):
        return "Multi-News, "
    return ""
