"""Recognise the fields of columns, and the contents of files, by their usual names."""

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
"""Usual column names of each field, the most specific first; compared by `name_key`."""

QUALIFIED_FIELDS = frozenset({"text", "value"})
"""Fields that may be mapped with a qualifier: ``text:SYSTEM``, ``value:ASPECT``."""
ASPECTS = frozenset({
    *asking.ASPECTS, "overall", "overallquality", "informativeness", "factuality", "conciseness",
    "readability", "nonredundancy", "grammaticality", "structure", "fairness",
})  # fmt: skip
"""Keys of the usual names of columns with ratings of summaries."""
ATTRIBUTES = frozenset({
    "stars", "starrating", "rating", "score", "sentiment", "gender", "sex", "party", "politics",
    "leaning", "politicalleaning", "bias", "stance", "race", "ethnicity", "agegroup", "dialect",
    "country", "language",
})  # fmt: skip
"""Keys of the usual names of article columns with social attributes."""
DOCUMENTS, TARGETS = ("src", "source"), ("tgt", "target")
OUTPUTS = ("hypo", "hyp", "out", "pred", "decoded", "txt")
"""Extensions of files with one text per line."""
TABLES = ("json", "jsonl", "ndjson", "csv", "tsv", "parquet")
_SUFFIXES = frozenset((*DOCUMENTS, *TARGETS, *OUTPUTS, *TABLES, "gz", "md", "text", "cleaned"))
_MIN_WORDS = 12
"""Minimum length of a document; shorter texts in a column "source" or "input" are names."""


def name_key(name: str) -> str:
    """Return a column's name in lower case, without spaces and punctuation."""
    return re.sub(r"[\W_]+", "", name.casefold())


def leaf(name: str) -> str:
    """Return the last part of the name of a nested field: ``story`` of ``meta.story``."""
    last = name.rpartition(".")[2]
    return name if not last or last[0].isspace() else last


def system_name(path: Path) -> str:
    """Return a file's name without known extensions: ``gpt-3.5`` for ``gpt-3.5.jsonl.gz``."""
    name = path.name
    while "." in name.strip("."):
        base, _, suffix = name.rpartition(".")
        if suffix.lower() not in _SUFFIXES:
            break
        name = base
    return name


def column_names(columns: str | Sequence[str]) -> tuple[str, ...]:
    """Return the columns that a field is mapped to, as a tuple."""
    return (columns,) if isinstance(columns, str) else tuple(columns)


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a file, and the user's mapping from fields to columns."""

    names: tuple[str, ...]
    mapping: Mapping[str, tuple[str, ...]]

    @classmethod
    def from_rows(
        cls, rows: Iterable[Mapping[str, Any]], mapping: Mapping[str, str | Sequence[str]]
    ) -> Columns:
        """Return the columns of `rows`, with the user's `mapping` from fields to columns.

        Raises
        ------
        ConfigurationError
            If a field is unknown.
        """
        names = tuple(dict.fromkeys(name for row in rows for name in row))
        columns_by_field = {name: column_names(columns) for name, columns in mapping.items()}
        for name in columns_by_field:
            field, colon, target = name.partition(":")
            if field not in FIELDS or (
                colon and (field not in QUALIFIED_FIELDS or not target.strip())
            ):
                choices = ", ".join((*FIELDS, "text:SYSTEM", "value:ASPECT"))
                raise ConfigurationError(f"--map: unknown field {name!r}; choose from {choices}")
        return cls(names, columns_by_field)

    @property
    def fields(self) -> set[str]:
        """The mapped fields."""
        return {name.partition(":")[0] for name in self.mapping}

    @property
    def mapped_columns(self) -> set[str]:
        """The columns that are mapped to some field."""
        return {column for columns in self.mapping.values() for column in columns}

    def targets(self, field: str) -> tuple[tuple[str, str | None], ...]:
        """Return the columns of a field, each with the qualifier after ``text:`` or ``value:``.

        Without mapped columns, those of `columns` are returned for texts, and none for ratings.
        """
        mapped_targets = tuple(self._mapped_targets(field))
        usual = self.columns(field) if field == "text" else ()
        return mapped_targets or tuple((column, None) for column in usual)

    def _mapped_targets(self, field: str) -> Iterator[tuple[str, str | None]]:
        for name, columns in self.mapping.items():
            kind, _, target = name.partition(":")
            if kind == field:
                yield from ((column, target or None) for column in columns)

    def columns(self, field: str) -> tuple[str, ...]:
        """Return the mapped columns of a field, or else the one with a usual name."""
        if field in self.fields:
            return tuple(column for column, _ in self._mapped_targets(field))
        return tuple(self.candidates(field))[:1]

    def column(self, field: str) -> str | None:
        """Return the first column of a field, or None."""
        return next(iter(self.columns(field)), None)

    def candidates(self, field: str) -> Iterator[str]:
        """Yield unmapped columns with a usual name for a field, the best first."""
        mapped_columns = self.mapped_columns
        by_name = {
            name_key(leaf(name)): name
            for name in reversed(self.names)
            if name not in mapped_columns
        }
        yield from (by_name[name] for name in map(name_key, FIELDS[field]) if name in by_name)


def contains_documents(rows: Sequence[Mapping[str, Any]], column: str) -> bool:
    """Return whether a column has lists or long texts, rather than names."""
    values = [row[column] for row in rows if row.get(column) is not None]
    return any(
        isinstance(value, list | dict) or len(str(value).split()) >= _MIN_WORDS for value in values
    )
