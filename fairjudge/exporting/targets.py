"""The formats that judgements, references and summaries can be written in."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from fairjudge.datasets.writers import write_bytes
from fairjudge.domain import (
    AnswerGroup,
    Judgement,
    Record,
    Reference,
    Summary,
    replace_lone_surrogates,
)
from fairjudge.errors import InputError

TARGETS = {
    "csv": "flat:write_csv",
    "parquet": "flat:write_parquet",
    "inspect-scores": "inspect_scores:write",
    "otel": "otel:write",
    "label-studio": "label_studio:write",
    "trec-eval": "trec_eval:write",
    "nuggetizer-assignments": "nuggetizer:write_assignments",
}
"""Name to the function, ``"module:function"``, that writes judgements."""
REFERENCE_TARGETS = {
    "nuggetbank": "nuggetbank:write",
    "nuggetizer": "nuggetizer:write",
    "argkp": "argkp:write",
}
SUMMARY_TARGETS = {"trec-run": "trec_run:write"}
"""The same of references, and of summaries."""
R = TypeVar("R", bound=Record)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Input of an export; ``texts`` maps (eid, system) to a summary's text."""

    judgements: Sequence[Judgement]
    texts: dict[tuple[str, str], str] = field(default_factory=dict)
    references: dict[str, Reference] = field(default_factory=dict)
    observed_unix_nano: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportResult:
    """Result of an export; the format cannot hold ``n_left_out`` judgements."""

    n_rows: int
    n_left_out: int = 0


Writer: TypeAlias = Callable[[Request], tuple[Iterable[bytes], ExportResult]]
"""Returns the file in parts, and what became of the judgements."""


def export_judgements(
    judgements: Iterable[Judgement],
    path: str | Path,
    *,
    to: str,
    summaries: Iterable[Summary] = (),
    references: Iterable[Reference] = (),
    observed_unix_nano: int = 0,
) -> ExportResult:
    """Write judgements for another tool.

    Parameters
    ----------
    judgements : iterable of Judgement
        At least one.
    path : str or Path
        The file to write; ``.gz`` packs it (but for Parquet), ``-`` is standard output.
    to : str
        One of `TARGETS`.
    summaries : iterable of Summary
        For Label Studio, and for nuggetizer: the texts that were judged.
    references : iterable of Reference
        For nuggetizer's assignments: what checklists are of.
    observed_unix_nano : int
        For OpenTelemetry: when the events were made, in nanoseconds since 1970; 0 is not known.

    Returns
    -------
    ExportResult
        How many rows were written, and how many judgements the format cannot hold.

    Raises
    ------
    InputError
        No such target, no judgements, or judgements that the format has no place for; the path
        cannot be written to.
    MissingExtraError
        Parquet without pyarrow.
    """
    if to not in TARGETS:
        raise InputError(f"no target {to!r}; known are {', '.join(TARGETS)}", field="--to")
    rows = tuple(judgements)
    if not rows:
        raise InputError("there are no judgements to export")
    request = Request(
        judgements=rows,
        texts={(summary.eid, summary.system): summary.text for summary in summaries},
        references={reference.eid: reference for reference in references},
        observed_unix_nano=observed_unix_nano,
    )
    writer: Writer = _function(TARGETS[to])
    parts, exported = writer(request)
    write_bytes(path, parts)
    return exported


def export_records(records: Iterable[R], path: str | Path, *, to: str) -> ExportResult:
    """Write references, or summaries, for another tool.

    Parameters
    ----------
    records
        References, or summaries.
    path
        The file to write, as in `export_judgements`.
    to
        One of `REFERENCE_TARGETS` or `SUMMARY_TARGETS`.

    Raises
    ------
    InputError
        Records that the format has no place for, or a path that cannot be written to.
    """
    writer: Callable[[Sequence[R]], tuple[Iterable[bytes], ExportResult]]
    writer = _function({**REFERENCE_TARGETS, **SUMMARY_TARGETS}[to])
    parts, exported = writer(tuple(records))
    write_bytes(path, parts)
    return exported


def _function(name: str) -> Any:
    module, _, function = name.partition(":")
    return getattr(import_module(f"fairjudge.exporting.{module}"), function)


def csv_line(cells: Iterable[Any]) -> bytes:
    """Return a line of CSV in UTF-8; None is an empty cell."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerow(map(replace_lone_surrogates, cells))
    return text.getvalue().encode()


def words_of(group: AnswerGroup) -> str:
    """Return what a group of answers says: its label, or else its first answer."""
    return group.label or next((answer.answer for answer in group.answers), "")


def extra_text(judgement: Judgement, name: str) -> str | None:
    """Return a further field of a judgement, None where it is no text or empty."""
    value = (judgement.model_extra or {}).get(name)
    return value if isinstance(value, str) and value else None


def select(
    judgements: Iterable[Judgement],
    *,
    aspect: str | None = None,
    system: str | None = None,
    judge: str | None = None,
) -> Iterator[Judgement]:
    """Yield the judgements of one aspect, system (of a pair: either) and judge, None for all."""
    for judgement in judgements:
        systems = {judgement.system, judgement.system_a, judgement.system_b}
        if (
            (aspect is None or judgement.aspect == aspect)
            and (system is None or system in systems)
            and (judge is None or judgement.judge == judge)
        ):
            yield judgement
