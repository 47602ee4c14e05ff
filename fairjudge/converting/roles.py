"""Which columns of a table hold what, by their names and contents, and as the user says."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, replace

from fairjudge.converting.columns import (
    ATTRIBUTES,
    FIELDS,
    Columns,
    folded,
    holds_documents,
    system_of,
)
from fairjudge.converting.layouts import Settings
from fairjudge.converting.ratings import Rating, rating_columns
from fairjudge.converting.records import Kind
from fairjudge.converting.texts import MARKS, only_value
from fairjudge.importing.sources import Json, Source

REFERENCE = "reference"
"""The system of summaries that people wrote."""
BY_KEYS = ""
"""The system of a cell that holds a summary by each of several, as an object or a list."""
_SEVERAL = frozenset({"summaries", "candidates", "predictions", "outputs"})
"""Columns whose cells may hold several summaries."""
_BY_PEOPLE = frozenset({"summary", "text"})
"""Columns beside documents that hold what people wrote; others hold what a system wrote."""
_DOCUMENTS = frozenset(map(folded, FIELDS["documents"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """Which columns hold what of a table; ``texts`` are summaries, each with its system's name.

    The name is None where ``system`` holds it, and `BY_KEYS` where a cell holds several summaries.
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
        """Return the columns that something is made of."""
        return {
            self.eid, self.group, self.content, self.aid, self.system,
            self.reference, self.annotator, self.unit, self.aspect, self.value,
            *self.attributes, *self.documents,
            *(rating.column for rating in self.ratings), *(column for column, _ in self.texts),
        }  # fmt: skip

    @property
    def gives(self) -> frozenset[Kind]:
        """The kinds of records that come of the rows."""
        sources: dict[Kind, object] = {
            "clusters": self.documents or self.group,
            "summaries": self.texts or self.reference,
            "labels": self.ratings or (self.aspect and self.value),
        }
        return frozenset(kind for kind, source in sources.items() if source)


def grouped_roles(sample: list[Json], columns: Columns, settings: Settings) -> Roles | None:
    """Return the roles where each row is an article of a group."""
    group = settings.group or next(iter(columns.mapped.get("group", ())), None)
    content = columns.column("content")
    if group is None:
        if settings.split or columns.fields & {"documents", "text", "system"}:
            return None
        ids = () if _documents(sample, columns) else columns.mapped.get("eid", ())
        candidates = (*ids, *columns.candidates("group"))
        group = next((name for name in candidates if _repeats(sample, name)), None)
        summarized = columns.column("system") or any(c != content for c in columns.columns("text"))
        a_review = content is not None and folded(content).startswith("review")
        if group is None or (summarized and not a_review):
            return None
    if content is None or content == group:
        return None
    aid = next((name for name in columns.columns("aid") if name not in {group, content}), None)
    attributes = settings.attributes or tuple(
        name
        for name in columns.names
        if folded(name) in ATTRIBUTES
        and not any(isinstance(only_value(row.get(name)), list | dict) for row in sample)
    )
    return Roles(group=group, content=content, aid=aid, attributes=attributes)


def _repeats(sample: list[Json], column: str) -> bool:
    """Say whether some value of a column stands in several rows."""
    counts = Counter(str(row[column]) for row in sample if row.get(column) is not None)
    return any(n > 1 for n in counts.values())


def row_roles(
    source: Source, sample: list[Json], columns: Columns, settings: Settings
) -> Roles | None:
    """Return the roles where each row is a cluster, a summary or a label."""
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
    return roles if roles.gives else None


def _eid(columns: Columns, documents: tuple[str, ...], settings: Settings) -> str | None:
    """Return the column of clusters' ids: first the one that names the clusters of another file."""
    if "eid" in columns.mapped:
        return columns.column("eid")
    keys = {folded(settings.group)} if settings.group else {*settings.keys}
    names = (
        *(name for name in columns.names if folded(name) in keys),
        *columns.candidates("eid"),
    )
    return next((name for name in names if name not in documents), None)


def _are_summaries(roles: Roles) -> bool:
    """Say whether rows without documents and systems hold summaries, such as predictions."""
    names = {folded(column) for column, _ in roles.texts}
    return bool(names - _BY_PEOPLE) or (bool(names - {"text"}) and roles.eid is not None)


def _documents(sample: list[Json], columns: Columns) -> tuple[str, ...]:
    """Return the columns of a cluster's documents, recognized by name and content."""
    if "documents" in columns.mapped:
        return columns.columns("documents")
    for name in columns.candidates("documents"):
        if holds_documents(sample, name):
            return (name,)
    if numbered := _numbered_documents(sample, columns):
        return numbered
    text = next((name for name in columns.names if folded(name) == "text"), None)
    summarized = {*columns.columns("text"), *columns.columns("reference")} - {text}
    return (text,) if text and summarized and holds_documents(sample, text) else ()


def _numbered_documents(sample: list[Json], columns: Columns) -> tuple[str, ...]:
    """Return columns such as ``Article 1`` and ``Article 2``."""
    mapped_columns = columns.mapped_columns
    by_base = defaultdict(list)
    for name in columns.names:
        match = re.fullmatch(r"(\D+?)\d+", folded(name))
        if match and match[1] in _DOCUMENTS and name not in mapped_columns:
            by_base[match[1]].append(name)
    for names in by_base.values():
        if len(names) > 1 and all(holds_documents(sample, name) for name in names):
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
    if folded(name) in _SEVERAL and cells and all(isinstance(c, dict | list) for c in cells):
        return ((name, BY_KEYS),)
    by_people = documents and columns.column("reference") is None and folded(name) in _BY_PEOPLE
    return ((name, settings.system or (REFERENCE if by_people else system_of(source.path))),)


def description_of(first: Json, roles: Roles) -> str:
    """Describe which column was read as which field."""
    if roles.group:
        description = f"one article per row: texts in {roles.content!r}, grouped by {roles.group!r}"
        names = ", ".join(map(repr, roles.attributes))
        return f"{description}, attributes {names}" if names else description
    parts = [f"ids in {roles.eid!r}" if roles.eid else "ids are the numbers of rows"]
    if roles.documents:
        cells = [cell for name in roles.documents if isinstance(cell := first.get(name), str)]
        mark = next((m for m in MARKS if any(m in cell for cell in cells)), None)
        places = ", ".join(map(repr, roles.documents))
        parts.append(f"documents in {places}" + (f" split at {mark!r}" if mark else ""))
    parts += [
        f"summaries in {column!r}"
        + (f" by {system!r}" if system else ", one a system" if system == BY_KEYS else "")
        for column, system in roles.texts
    ]
    parts += [f"summaries in {roles.reference!r} by {REFERENCE!r}"] if roles.reference else []
    parts += [f"systems in {roles.system!r}"] if roles.system else []
    rated = list(map(str, roles.ratings))
    parts += [f"ratings in {', '.join(rated)}"] if rated else []
    parts += [f"labels in {roles.value!r}"] if roles.value else []
    kind = "cluster" if roles.documents and not roles.system else "summary"
    kind = "label" if roles.value and not roles.texts else kind
    return f"{_data_set(first)}one {kind} per row: {', '.join(parts)}"


def _data_set(first: Json) -> str:
    """Return the name of a well-known data set that has such rows, for the first words."""
    fields = {"wiki_links", "reference_urls"} & first.keys()
    if fields and "articles" in first:
        return "WCEP, "
    if first.keys() == {"document", "summary"} and MARKS[0] in str(first["document"]):
        return "Multi-News, "
    return ""
