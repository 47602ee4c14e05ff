"""The names that people give columns and files: which column holds which field, and what a file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairjudge.errors import ConfigurationError
from fairjudge.judges import asking

FIELDS: Mapping[str, tuple[str, ...]] = {
    "eid": (
        "eid", "doc_id", "document_id", "cluster_id", "event_id", "topic_id", "article_id",
        "example_id", "item_id", "instance_id", "source_id", "query_id", "docid", "qid", "id",
    ),
    "documents": (
        "documents", "document", "docs", "articles", "article", "source_documents", "sources",
        "source_texts", "source_text", "source", "src", "reviews", "texts", "dialogue",
        "transcript", "input", "context", "doc",
    ),
    "group": (
        "group", "cluster", "cluster_id", "event", "event_id", "story", "story_id", "topic",
        "topic_id", "product_id", "business_id", "parent_asin", "asin", "restaurant_id",
        "hotel_id", "listing_id", "product", "restaurant", "hotel", "business", "item_id", "eid",
    ),
    "content": (
        "content", "review_text", "review_body", "review", "article_text", "full_text", "body",
        "maintext", "document_text", "text", "tweet", "comment", "argument", "document", "article",
    ),
    "title": ("title", "headline", "review_title"),
    "url": ("url", "link"),
    "domain": ("domain", "outlet", "publisher", "news_outlet", "site"),
    "aid": ("aid", "article_id", "document_id", "doc_id", "review_id", "tweet_id", "id"),
    "system": ("system", "model", "model_id", "model_name", "system_id", "summarizer", "generator"),
    "text": (
        "decoded", "prediction", "predicted_summary", "generated_summary", "system_summary",
        "model_summary", "model_output", "output", "hypothesis", "candidate", "generated",
        "summaries", "candidates", "predictions", "outputs", "summary", "text",
    ),
    "reference": (
        "reference", "reference_summary", "references", "reference_summaries", "gold",
        "gold_summary", "highlights", "target", "tgt", "human_summary", "human_summaries",
    ),
    "annotator": (
        "annotator", "annotator_id", "rater", "rater_id", "worker_id", "worker", "coder", "user",
    ),
    "aspect": ("aspect", "criterion", "dimension", "metric"),
    "value": ("value", "score", "rating", "label"),
    "unit": ("unit",),
}  # fmt: skip
"""Field to the usual names of its column, the more particular first; spelled in any way."""

NAMED = frozenset({"text", "value"})
"""Fields that may be mapped with a name: ``text:SYSTEM``, ``value:ASPECT``."""
ASPECTS = frozenset({
    *asking.ASPECTS, "overall", "overallquality", "informativeness", "factuality", "conciseness",
    "readability", "nonredundancy", "grammaticality", "structure", "fairness",
})  # fmt: skip
"""Names, folded, of columns that hold a rating of a summary."""
ATTRIBUTES = frozenset({
    "stars", "starrating", "rating", "score", "sentiment", "gender", "sex", "party", "politics",
    "leaning", "politicalleaning", "bias", "stance", "race", "ethnicity", "agegroup", "dialect",
    "country", "language",
})  # fmt: skip
"""Names, folded, of columns of articles that are social attributes."""
DOCUMENTS, TARGETS = ("src", "source"), ("tgt", "target")
OUTPUTS = ("hypo", "hyp", "out", "pred", "decoded", "txt")
"""Ends of names of files of lines."""
TABLES = ("json", "jsonl", "ndjson", "csv", "tsv", "parquet")
_SUFFIXES = frozenset((*DOCUMENTS, *TARGETS, *OUTPUTS, *TABLES, "gz", "md", "text", "cleaned"))
_MIN_WORDS = 12
"""A column named "source" or "input" holds documents where its texts are longer than a name is."""


def folded(name: str) -> str:
    """Return a column's name without case, spaces and signs."""
    return re.sub(r"[\W_]+", "", name.casefold())


def leaf(name: str) -> str:
    """Return the last part of the name of a nested field: ``story`` of ``meta.story``."""
    last = name.rpartition(".")[2]
    return name if not last or last[0].isspace() else last


def system_of(path: Path) -> str:
    """Return a file's name without known extensions: ``gpt-3.5.jsonl.gz`` is of ``gpt-3.5``."""
    name = path.name
    while "." in name.strip("."):
        base, _, suffix = name.rpartition(".")
        if suffix.lower() not in _SUFFIXES:
            break
        name = base
    return name


def column_names(columns: str | Sequence[str]) -> tuple[str, ...]:
    """Return the columns that a field is mapped to: one by its name, or several."""
    return (columns,) if isinstance(columns, str) else tuple(columns)


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a file, and those of them that the user says hold a field."""

    names: tuple[str, ...]
    mapped: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(
        cls, rows: Iterable[Mapping[str, Any]], mapping: Mapping[str, str | Sequence[str]]
    ) -> Columns:
        """Return the columns that `rows` have; `mapping` says which holds a field, or several.

        Raises
        ------
        ConfigurationError
            For a field that there is not.
        """
        names = tuple(dict.fromkeys(name for row in rows for name in row))
        mapped = {name: column_names(columns) for name, columns in mapping.items()}
        for name in mapped:
            field, colon, target = name.partition(":")
            if field not in FIELDS or (colon and (field not in NAMED or not target.strip())):
                choices = ", ".join((*FIELDS, "text:SYSTEM", "value:ASPECT"))
                raise ConfigurationError(f"--map: no field {name!r}; there are {choices}")
        return cls(names, mapped)

    @property
    def fields(self) -> set[str]:
        """The fields that are mapped."""
        return {name.partition(":")[0] for name in self.mapped}

    @property
    def mapped_columns(self) -> set[str]:
        """The columns that are mapped to some field."""
        return {column for columns in self.mapped.values() for column in columns}

    def targets(self, field: str) -> tuple[tuple[str, str | None], ...]:
        """Return the columns of a field, each with the name after ``text:`` or ``value:``.

        Without mapped columns these are of `columns` for texts, and none for ratings.
        """
        mapped = tuple(self._mapped(field))
        usual = self.columns(field) if field == "text" else ()
        return mapped or tuple((column, None) for column in usual)

    def _mapped(self, field: str) -> Iterator[tuple[str, str | None]]:
        for name, columns in self.mapped.items():
            kind, _, target = name.partition(":")
            if kind == field:
                yield from ((column, target or None) for column in columns)

    def columns(self, field: str) -> tuple[str, ...]:
        """Return the columns of a field: those that are mapped, else the one with a usual name."""
        if field in self.fields:
            return tuple(column for column, _ in self._mapped(field))
        return tuple(self.candidates(field))[:1]

    def column(self, field: str) -> str | None:
        """Return the column of a field, None where there is none."""
        return next(iter(self.columns(field)), None)

    def candidates(self, field: str) -> Iterator[str]:
        """Yield the columns with a usual name for a field, the best first, mapped ones left out."""
        mapped_columns = self.mapped_columns
        by_name = {
            folded(leaf(name)): name for name in reversed(self.names) if name not in mapped_columns
        }
        yield from (by_name[name] for name in map(folded, FIELDS[field]) if name in by_name)


def holds_documents(rows: Sequence[Mapping[str, Any]], column: str) -> bool:
    """Say whether a column has texts, or lists, and not names."""
    values = [row[column] for row in rows if row.get(column) is not None]
    return any(
        isinstance(value, list | dict) or len(str(value).split()) >= _MIN_WORDS for value in values
    )
