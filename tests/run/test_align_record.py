"""The record of openings: what counts as the same, what is refused, what is counted."""

from __future__ import annotations

import pytest

from fairjudge.aligning.record import (
    AlignRecord,
    Opening,
    check_sealed,
    read_record,
    write_record,
)
from fairjudge.errors import InputError, RunError

ONE, TWO = "1" * 64, "2" * 64


def opening(documents=("a", "b"), *, test=ONE, candidates=ONE, chosen="x", report=None) -> Opening:
    return Opening(
        when="2026-01-01 00:00 UTC",
        test=test,
        documents=documents,
        candidates=candidates,
        names=("x", "y"),
        chosen=chosen,
        report=report,
    )


RECORD = AlignRecord(openings=(opening(),))


@pytest.mark.parametrize(
    ("other", "refused"),
    [
        (opening(), False),
        (opening(candidates=TWO), True),
        (opening(chosen="y"), True),
        (opening(("b", "c"), test=TWO), True),
        (opening(("c", "d"), test=TWO), False),
    ],
)
def test_splits_sharing_documents_raise_unless_equal(other, refused):
    fields = {name: getattr(other, name) for name in ("test", "candidates", "chosen")}
    if refused:
        with pytest.raises(RunError, match="used 1 time before"):
            check_sealed(RECORD, other.documents, reopen=False, **fields)
    else:
        check_sealed(RECORD, other.documents, reopen=False, **fields)
    check_sealed(RECORD, other.documents, reopen=True, **fields)


def test_another_split_raises_before_candidates_are_made():
    with pytest.raises(RunError):
        check_sealed(RECORD, ("b", "c"), reopen=False, test=TWO)
    check_sealed(RECORD, ("a", "b"), reopen=False, test=ONE)


def test_test_uses_are_counted_by_shared_documents():
    record = RECORD.with_opening(opening(("b", "c"), test=TWO)).with_opening(
        opening(("z",), test="3" * 64)
    )
    assert len(record.other_openings(opening(candidates=TWO))) == 2
    assert len(record.other_openings(opening())) == 1
    assert record.other_openings(opening(("q",), candidates=TWO)) == ()


def test_report_replaces_its_test_use_and_round_trips(tmp_path):
    record = RECORD.with_opening(opening(report={"kept": True}))
    write_record(tmp_path, record)
    assert read_record(tmp_path) == record
    assert len(record.openings) == 1
    assert record.find(opening()).report == {"kept": True}
    assert read_record(tmp_path / "nowhere") == AlignRecord()


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{}x",
        '{"fairjudge_align": 2, "openings": []}',
        '{"fairjudge_align": 1, "openings": [{}]}',
        '{"fairjudge_align": 1, "openings": [], "more": 1}',
    ],
)
def test_invalid_record_raises(tmp_path, text):
    (tmp_path / "align.json").write_text(text)
    with pytest.raises(InputError, match="align"):
        read_record(tmp_path)
