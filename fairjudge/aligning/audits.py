"""Results of the test of an old and a new prompt, as JSON: the decision and the audits of both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from fairjudge.aligning.decision import decide, fit_both
from fairjudge.aligning.items import Sides
from fairjudge.calibration.audits import PositionBias, audit_position
from fairjudge.calibration.calibrators import Calibrator
from fairjudge.calibration.groups import GroupError, errors_by_group, quantile_groups
from fairjudge.calibration.items import JoinedItems
from fairjudge.calibration.labels import system_name
from fairjudge.calibration.rates import report_rates
from fairjudge.domain import Cluster, Estimate, Judgement, Summary, Undefined
from fairjudge.fairness.values import label_corpus
from fairjudge.protocols import PROTOCOLS
from fairjudge.records.results import to_json
from fairjudge.stats._arrays import FloatArray
from fairjudge.text.counting import pluralize
from fairjudge.text.scripts import count_words

_LENGTH_GROUPS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """The word count of each (eid, system), and the group of each document by attribute."""

    words: Mapping[tuple[str, str], int]
    attributes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def grouping_of(
    summaries: Iterable[Summary], attributes: Mapping[str, Mapping[str, str]]
) -> Grouping:
    """Return the grouping for audits of `summaries`."""
    words = {(summary.eid, summary.system): count_words(summary.text) for summary in summaries}
    return Grouping(words=words, attributes=attributes)


def groups_by_attribute(clusters: Sequence[Cluster], attribute: str) -> dict[str, str]:
    """Return the majority value of the articles of each document, if there is one.

    Values are parsed as in ``fairjudge fairness``. Raises InputError (as
    `fairjudge.fairness.values.label_corpus`).
    """
    value_by_eid = {}
    for labelled_set in label_corpus(clusters, attribute=attribute, min_values=1).sets:
        values = Counter(value for value in labelled_set.labels if value is not None)
        for value, n in values.most_common(1):
            if 2 * n > len(labelled_set.labels):
                value_by_eid[labelled_set.eid] = value
    return value_by_eid


def opened_report(
    development: Sides, test: Sides, grouping: Grouping, *, seed: int, level: float = 0.95
) -> dict[str, Any]:
    """Return the decision on the test, and the audits of both prompts on it, as JSON."""
    verdict = decide(development.paired, test.paired, rng=np.random.default_rng(seed), level=level)
    decision = {**to_json(verdict), "gain": asdict(verdict.gain), "why_not": list(verdict.why_not)}
    return {"decision": decision, "audits": audits_of(development, test, grouping, level=level)}


def audits_of(
    development: Sides, test: Sides, grouping: Grouping, *, level: float
) -> dict[str, Any]:
    """Return each audit with the results of the old and the new prompt.

    Errors are of calibrated scores, with calibrators fitted on development.
    """
    return {
        "position": _position(test, level=level),
        "unscored": {name: dict(side.counts.unscored) for name, side in _sides_by_name(test)},
        "errors": _group_errors(development, test, grouping, level=level),
        "rates": {
            name: None
            if (rates := report_rates(side, level=level)) is None
            else to_json(rates.errors)
            for name, side in _sides_by_name(test)
        },
        "attributes": sorted(grouping.attributes),
    }


def _sides_by_name(sides: Sides) -> tuple[tuple[str, JoinedItems], ...]:
    return ("old", sides.old), ("new", sides.new)


def _position(test: Sides, *, level: float) -> dict[str, Any]:
    if not PROTOCOLS[test.old.protocol].paired:
        why = "one summary is judged at a time: position bias does not apply"
        return {"why": why, "old": None, "new": None}
    old, new = (_position_of(rows, level=level) for rows in test.judged)
    return {"why": None, "old": old, "new": new}


def _position_of(rows: Sequence[Judgement], *, level: float) -> dict[str, Any]:
    """Return position bias over all pairs judged in both orders; ``changed`` is 1 - consistency."""
    (audit,) = audit_position(rows, level=level)
    counts = {"n_pairs": audit.bias.n_pairs, "n_one_order": audit.n_one_order}
    return counts | {"changed": to_json(_changed(audit.bias))} | {
        name: to_json(getattr(audit.bias, name))
        for name in ("first", "second", "one_tie", "first_minus_second")
    }  # fmt: skip


def _changed(bias: PositionBias) -> Estimate | Undefined:
    consistency = bias.consistency
    if isinstance(consistency, Undefined):
        return consistency
    low, high = (
        None if bound is None else 1.0 - bound for bound in (consistency.high, consistency.low)
    )
    return replace(consistency, value=1.0 - consistency.value, low=low, high=high)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    """Rows with one grouping; ``old`` and ``new`` are compared with ``human``, shapes (n,)."""

    kind: str
    old: FloatArray
    new: FloatArray
    human: FloatArray
    groups: Sequence[str | None]
    documents: Sequence[str]
    attribute: str | None = None


def _group_errors(
    development: Sides, test: Sides, grouping: Grouping, *, level: float
) -> dict[str, Any]:
    calibrators = fit_both(development.paired)
    if isinstance(calibrators, Undefined):
        return {"why": calibrators.why, "groups": [], "notes": []}
    tables = _pair_tables if PROTOCOLS[test.old.protocol].paired else _rating_tables
    rows_by_table = {
        (table.kind, table.attribute): list(_rows(table, level=level))
        for table in tables(test, calibrators, grouping)
    }
    return {
        "why": None,
        "groups": [row for rows in rows_by_table.values() for row in rows],
        "notes": [
            note
            for name, groups in grouping.attributes.items()
            for note in _notes(name, groups, test, has_rows=bool(rows_by_table["attribute", name]))
        ],
    }


def _notes(name: str, groups: Mapping[str, str], test: Sides, *, has_rows: bool) -> Iterator[str]:
    documents = {key[0] for key in test.keys}
    if not has_rows:
        yield f"{name}: fewer than 2 groups of documents in the test"
    if n_left_out := len(documents - groups.keys()):
        documents_text = pluralize(n_left_out, "document")
        yield f"{name}: {documents_text} without a value that most of the articles have, excluded"


def _rating_tables(
    test: Sides, calibrators: tuple[Calibrator, Calibrator], grouping: Grouping
) -> Iterator[_Table]:
    """Yield calibrated and human scores, by length, system and attribute."""
    paired = test.paired
    base = _Table(
        kind="length",
        old=calibrators[0](paired.old),
        new=calibrators[1](paired.new),
        human=paired.human,
        groups=_lengths([grouping.words.get((key[0], key[1])) for key in test.keys], "words"),
        documents=[key[0] for key in test.keys],
    )
    yield base
    yield replace(base, kind="system", groups=[system_name(key) for key in test.keys])
    yield from _by_attribute(base, grouping)


def _pair_tables(
    test: Sides, calibrators: tuple[Calibrator, Calibrator], grouping: Grouping
) -> Iterator[_Table]:
    """Yield calibrated probabilities and human shares, oriented by group.

    They are of preferring the longer summary (by length) or the system (by system). By attribute
    of a document there is no orientation: the values are squared errors, compared with 0.
    """
    paired, keys = test.paired, test.keys
    share = paired.measure.target(paired.human)
    old, new = calibrators[0](paired.old), calibrators[1](paired.new)
    length_differences = [_length_difference(grouping, key[0], key[1], key[2]) for key in keys]
    is_reversed = np.array([n is not None and n < 0 for n in length_differences], dtype=bool)
    base = _Table(
        kind="length",
        old=np.where(is_reversed, 1.0 - old, old),
        new=np.where(is_reversed, 1.0 - new, new),
        human=np.where(is_reversed, 1.0 - share, share),
        groups=_lengths([abs(n) if n else None for n in length_differences], "words longer"),
        documents=[key[0] for key in keys],
    )
    yield base
    yield _Table(
        kind="system",
        old=np.r_[old, 1.0 - old],
        new=np.r_[new, 1.0 - new],
        human=np.r_[share, 1.0 - share],
        groups=[*(key[1] for key in keys), *(key[2] for key in keys)],
        documents=[*base.documents, *base.documents],
    )
    squared_errors = [(side - share) ** 2 for side in (old, new)]
    errors = replace(base, old=squared_errors[0], new=squared_errors[1], human=np.zeros_like(share))
    yield from _by_attribute(errors, grouping)


def _length_difference(grouping: Grouping, eid: str, first: str, second: str) -> int | None:
    first_words, second_words = (grouping.words.get((eid, name)) for name in (first, second))
    return None if first_words is None or second_words is None else first_words - second_words


def _by_attribute(base: _Table, grouping: Grouping) -> Iterator[_Table]:
    for name, group_by_document in grouping.attributes.items():
        groups = [group_by_document.get(eid) for eid in base.documents]
        yield replace(base, kind="attribute", attribute=name, groups=groups)


def _lengths(counts: Sequence[int | None], unit: str) -> list[str | None]:
    known_counts = [float(count) for count in counts if count is not None]
    bins = iter(quantile_groups(known_counts, n_groups=_LENGTH_GROUPS, unit=unit))
    return [None if count is None else next(bins) for count in counts]


def _rows(table: _Table, *, level: float) -> Iterable[dict[str, Any]]:
    """Yield one row per group, if there are at least two."""
    old, new = (
        errors_by_group(side, table.human, table.groups, documents=table.documents, level=level)
        for side in (table.old, table.new)
    )
    if len(old) < 2:
        return
    for old_error, new_error in zip(old, new, strict=True):
        yield {
            "kind": table.kind,
            "attribute": table.attribute,
            "group": old_error.group,
            "n": old_error.n,
            "n_documents": old_error.n_documents,
            "old": _error(old_error),
            "new": _error(new_error),
        }


def _error(group_error: GroupError) -> dict[str, Any]:
    return {
        "error": to_json(group_error.error),
        "gap": to_json(group_error.error_gap),
        "flagged": group_error.flagged,
    }
