"""Rows of any table: each a cluster with its documents, an article, a summary, or a label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from fairjudge.converting.columns import ASPECTS, ATTRIBUTES, Columns, folded, holds_documents
from fairjudge.converting.layouts import Layout, Settings
from fairjudge.converting.names import system_of
from fairjudge.converting.records import Entry, Kind
from fairjudge.converting.texts import MARKS, alone, article, articles_of, cluster, summary
from fairjudge.domain import Article
from fairjudge.importing.records import Skipped, make_label
from fairjudge.importing.sources import Source, score

Row = Mapping[str, Any]
REFERENCE = "reference"
"""The system of summaries that people wrote."""
BY_KEYS = ""
"""The system of a cell that holds a summary by each of several, as an object or a list."""
_SEVERAL = frozenset({"summaries", "candidates", "predictions", "outputs"})
"""Columns whose cells may hold several summaries."""
_SAMPLE = 200
"""Number of rows by which a layout is recognised."""
_BY_PEOPLE = frozenset({"summary", "text"})
"""Columns beside documents that hold what people wrote; others hold what a system wrote."""
LABEL_STUDIO = frozenset({"annotation_id", "lead_time", "created_at", "updated_at"})
"""What Label Studio's JSON-MIN has beside a task's data and its ratings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """Which columns hold what of a table; ``texts`` are summaries, each with its system's name.

    The name is None where ``system`` holds it, and `BY_KEYS` where a cell holds several summaries.
    """

    eid: str | None = None
    group: str | None = None
    documents: str | None = None
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
    ratings: tuple[str, ...] = ()

    def used(self) -> set[str | None]:
        """Return the columns that something is made of."""
        return {
            self.eid, self.group, self.documents, self.content, self.aid, self.system,
            self.reference, self.annotator, self.unit, self.aspect, self.value,
            *self.attributes, *self.ratings, *(column for column, _ in self.texts),
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


def sample_of(source: Source) -> list[Row]:
    """Return the rows by which a layout is recognised."""
    return [row.value for row in source.rows[:_SAMPLE] if isinstance(row.value, dict)]


def layout_of(source: Source, settings: Settings) -> Layout | None:
    """Return how the rows are read, None where their columns do not tell.

    Raises
    ------
    ConfigurationError
        A field that the user names is not there.
    """
    sample = sample_of(source)
    if not sample:
        return None
    columns = Columns.of(sample, settings.columns)
    roles = _grouped(sample, columns, settings) or _by_row(source, sample, columns, settings)
    if roles is None:
        return None
    merged = roles

    def entries() -> Iterator[Entry]:
        if merged.group:
            return _articles(source, merged, columns)
        return _records(source, merged, settings.split)

    fields = (columns.one(name) for name in ("title", "url", "domain") if roles.group)
    used = roles.used() | set(fields)
    return Layout(
        name=_name(sample[0], roles),
        gives=roles.gives,
        entries=entries,
        unused=lambda: tuple(name for name in columns.names if name not in used),
        group=roles.group,
        roles=roles,
        numbered=None if roles.group or roles.eid else len(source.rows),
    )


def _grouped(sample: list[Row], columns: Columns, settings: Settings) -> Roles | None:
    """Return the roles where each row is an article of a group."""
    group = settings.group or next(iter(columns.mapped.get("group", ())), None)
    content = columns.one("content")
    if group is None:
        if settings.split or columns.mapped.keys() & {"documents", "text", "system"}:
            return None
        ids = () if _documents(sample, columns) else columns.mapped.get("eid", ())
        candidates = (*ids, *columns.candidates("group"))
        group = next((name for name in candidates if _repeats(sample, name)), None)
        summarized = columns.one("system") or any(c != content for c in columns.several("text"))
        a_review = content is not None and folded(content).startswith("review")
        if group is None or (summarized and not a_review):
            return None
    if content is None or content == group:
        return None
    aid = next((name for name in columns.several("aid") if name not in {group, content}), None)
    attributes = settings.attributes or tuple(
        name
        for name in columns.names
        if folded(name) in ATTRIBUTES
        and not any(isinstance(alone(row.get(name)), list | dict) for row in sample)
    )
    return Roles(group=group, content=content, aid=aid, attributes=attributes)


def _repeats(sample: list[Row], column: str) -> bool:
    """Say whether some value of a column stands in several rows."""
    counts = Counter(str(row[column]) for row in sample if row.get(column) is not None)
    return any(n > 1 for n in counts.values())


def _by_row(
    source: Source, sample: list[Row], columns: Columns, settings: Settings
) -> Roles | None:
    """Return the roles where each row is a cluster, a summary or a label."""
    documents = _documents(sample, columns)
    system, aspect, value = (columns.one(name) for name in ("system", "aspect", "value"))
    is_label = system is not None and aspect is not None and value is not None
    roles = Roles(
        eid=_eid(columns, documents, settings),
        documents=documents,
        system=system,
        texts=_texts(source, sample, columns, documents, settings),
        reference=None if system else columns.one("reference"),
        annotator=columns.one("annotator"),
        unit=columns.one("unit"),
        aspect=aspect if is_label else None,
        value=value if is_label else None,
        attributes=settings.attributes,
    )
    if not documents and not system and not _are_summaries(roles):
        return None
    if not is_label:
        roles = replace(roles, ratings=tuple(_ratings(sample, columns, roles)))
    return roles if roles.gives else None


def _eid(columns: Columns, documents: str | None, settings: Settings) -> str | None:
    """Return the column of clusters' ids: first the one that names the clusters of another file."""
    if "eid" in columns.mapped:
        return columns.one("eid")
    keys = {folded(settings.group)} if settings.group else {*settings.keys}
    names = (
        *(name for name in columns.names if folded(name) in keys),
        *columns.candidates("eid"),
    )
    return next((name for name in names if name != documents), None)


def _are_summaries(roles: Roles) -> bool:
    """Say whether rows without documents and systems hold summaries, such as predictions."""
    names = {folded(column) for column, _ in roles.texts}
    return bool(names - _BY_PEOPLE) or (bool(names - {"text"}) and roles.eid is not None)


def _documents(sample: list[Row], columns: Columns) -> str | None:
    """Return the column of a cluster's documents, recognized by name and content."""
    if "documents" in columns.mapped:
        return columns.one("documents")
    for name in columns.candidates("documents"):
        if holds_documents(sample, name):
            return name
    text = next((name for name in columns.names if folded(name) == "text"), None)
    summarized = {*columns.several("text"), *columns.several("reference")} - {text}
    return text if text and summarized and holds_documents(sample, text) else None


def _texts(
    source: Source,
    sample: list[Row],
    columns: Columns,
    documents: str | None,
    settings: Settings,
) -> tuple[tuple[str, str | None], ...]:
    """Return the columns of summaries, each with the name of its system."""
    names = [name for name in columns.several("text") if name != documents]
    if columns.one("system"):
        return tuple((name, None) for name in names)
    if len(names) > 1:
        return tuple((name, name) for name in names)
    if names and folded(names[0]) in _SEVERAL:
        cells = [row[names[0]] for row in sample if row.get(names[0]) is not None]
        if cells and all(isinstance(cell, dict | list) for cell in cells):
            return ((names[0], BY_KEYS),)
    by_people = documents and columns.one("reference") is None
    return tuple(
        (
            name,
            settings.system
            or (REFERENCE if by_people and folded(name) in _BY_PEOPLE else system_of(source.path)),
        )
        for name in names
    )


def _ratings(sample: list[Row], columns: Columns, roles: Roles) -> Iterator[str]:
    """Yield the columns that hold a rating of the row's summary, each of another aspect."""
    if not roles.system and not roles.texts:
        return
    any_name = len(LABEL_STUDIO & {*columns.names}) > 1
    ignored = roles.used() | LABEL_STUDIO | {"id"}
    for name in columns.mapped.get("value", columns.names):
        if name in columns.mapped.get("value", ()):
            yield name
        elif name not in ignored and (any_name or folded(name) in ASPECTS):
            values = [row[name] for row in sample if row.get(name) is not None]
            if values and all(_rating(value) is not None for value in values):
                yield name


def _rating(value: object) -> float | None:
    """Parse a rating; a list of one choice counts as its element."""
    if isinstance(value, dict):
        value = next(iter(value.values()), None)
    if isinstance(value, list):
        value = value[0] if len(value) == 1 else None
    return score(value)


def _records(source: Source, roles: Roles, split: str | None) -> Iterator[Entry]:
    """Yield what each row has: a cluster, summaries, labels."""
    seen: Counter[tuple[str, str, str]] = Counter()
    numbers = {row.line: number for number, row in enumerate(source.rows, 1)}
    for line, row in source.records():
        with source.at(line):
            eid = _id(row, roles.eid) or str(numbers[line])
            if roles.documents:
                articles = articles_of(
                    row.get(roles.documents), split=split, attributes=roles.attributes
                )
                if not articles:
                    yield Skipped(line=line, why="a cluster without an article that has text")
                else:
                    yield cluster(eid, articles)
            yield from _summaries(line, row, eid, roles)
            yield from _labels(line, row, eid, roles, seen)


def _summaries(line: int, row: Row, eid: str, roles: Roles) -> Iterator[Entry]:
    for column, system in roles.texts:
        if system == BY_KEYS:
            cell = row.get(column) or {}
            by_name = cell.items() if isinstance(cell, dict) else enumerate(cell, 1)
            for name, text in by_name:
                yield summary(eid, name if isinstance(cell, dict) else f"system-{name}", text)
            continue
        name = system or _id(row, roles.system)
        if row.get(column) is None or not name:
            yield Skipped(
                line=line, why="a row without a summary" if name else "a summary without a system"
            )
        else:
            yield summary(eid, name, row[column])
    if roles.reference and (texts := row.get(roles.reference)) is not None:
        for number, text in enumerate(texts if isinstance(texts, list) else [texts], 1):
            yield summary(eid, REFERENCE if number == 1 else f"{REFERENCE}-{number}", text)


def _labels(
    line: int, row: Row, eid: str, roles: Roles, seen: Counter[tuple[str, str, str]]
) -> Iterator[Entry]:
    system = _id(row, roles.system) or next((name for _, name in roles.texts), None)
    if not roles.gives & {"labels"} or not system:
        return
    unit = _id(row, roles.unit) or "summary"
    seen[eid, system, unit] += 1
    annotator = _id(row, roles.annotator) or f"annotator{seen[eid, system, unit]}"
    rated = {name: row.get(name) for name in roles.ratings}
    if roles.aspect and roles.value:
        rated = {str(row.get(roles.aspect)): row.get(roles.value)}
    for aspect, text in rated.items():
        value = _rating(text)
        if value is None:
            yield Skipped(line=line, why=f"a rating of {aspect!r} that is no number")
        else:
            item = {"eid": eid, "system": system, "aspect": aspect, "annotator": annotator}
            item |= {"unit": unit} if roles.unit else {}
            yield make_label(**item, value=int(value) if value.is_integer() else value)


def _articles(source: Source, roles: Roles, columns: Columns) -> Iterator[Entry]:
    """Yield the cluster of each group, in the order in which groups begin."""
    groups: dict[str, list[Article]] = {}
    taken: set[tuple[str, str]] = set()
    for line, row in source.records():
        with source.at(line):
            eid = _id(row, roles.group)
            if eid is None:
                yield Skipped(line=line, why="an article without a group")
                continue
            if not any(map(str.isalnum, str(row.get(roles.content or "") or ""))):
                yield Skipped(line=line, why="an article without text")
                continue
            articles = groups.setdefault(eid, [])
            aid = _id(row, roles.aid) or str(len(articles) + 1)
            aid = aid if (eid, aid) not in taken else f"{aid}#{len(articles) + 1}"
            taken.add((eid, aid))
            articles.append(article(row, columns, aid=aid, attributes=roles.attributes))
    for eid, articles in groups.items():
        yield cluster(eid, articles)


def _id(row: Row, column: str | None) -> str | None:
    """Return an id as text: a whole number that a data frame made a float of is that number."""
    value = row.get(column) if column else None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool | dict | list) or value is None or not str(value).strip():
        return None
    return str(value).strip()


def _name(first: Row, roles: Roles) -> str:
    """Describe which column was read as which field."""
    if roles.group:
        description = f"one article per row: texts in {roles.content!r}, grouped by {roles.group!r}"
        named = ", ".join(map(repr, roles.attributes))
        return f"{description}, attributes {named}" if named else description
    parts = [f"ids in {roles.eid!r}" if roles.eid else "ids are the numbers of rows"]
    if roles.documents:
        joined = isinstance(first.get(roles.documents), str)
        mark = next((m for m in MARKS if joined and m in first[roles.documents]), None)
        parts.append(f"documents in {roles.documents!r}" + (f" split at {mark!r}" if mark else ""))
    parts += [
        f"summaries in {column!r}"
        + (f" by {system!r}" if system else ", one a system" if system == BY_KEYS else "")
        for column, system in roles.texts
    ]
    parts += [f"summaries in {roles.reference!r} by {REFERENCE!r}"] if roles.reference else []
    parts += [f"systems in {roles.system!r}"] if roles.system else []
    parts += [f"ratings in {', '.join(map(repr, roles.ratings))}"] if roles.ratings else []
    parts += [f"labels in {roles.value!r}"] if roles.value else []
    kind = "cluster" if roles.documents and not roles.system else "summary"
    kind = "label" if roles.value and not roles.texts else kind
    return f"{_data_set(first)}one {kind} per row: {', '.join(parts)}"


def _data_set(first: Row) -> str:
    """Return the name of a well-known data set that has such rows, for the first words."""
    known = {"wiki_links", "reference_urls"} & first.keys()
    if known and "articles" in first:
        return "WCEP, "
    if first.keys() == {"document", "summary"} and MARKS[0] in str(first["document"]):
        return "Multi-News, "
    return ""
