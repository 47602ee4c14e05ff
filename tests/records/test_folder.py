"""Run folders lose at most a torn row, belong to one run, and are used by one process."""

from __future__ import annotations

import errno
import os

import pytest

from fairjudge.errors import RunError
from fairjudge.records.folder import RunFolder, write_atomically

IDENTITY = {"command": "judge", "aspect": "coverage"}


def test_rows_come_back_in_order_after_reopening(tmp_path):
    with RunFolder(tmp_path / "run", identity=IDENTITY) as run:
        run.append("rows", {"n": 1, "text": "ä\n"})
        run.append("rows", {"n": 2})
    with RunFolder(tmp_path / "run", identity=IDENTITY) as run:
        run.append("rows", {"n": 3})
        assert list(run.read("rows")) == [{"n": 1, "text": "ä\n"}, {"n": 2}, {"n": 3}]
        assert list(run.read("other")) == []


def test_truncated_last_row_is_removed_and_others_kept(tmp_path):
    with RunFolder(tmp_path, identity=IDENTITY) as run:
        run.append("rows", {"n": 1})
    with (tmp_path / "rows.jsonl").open("ab") as file:
        file.write(b'{"n": 2, "te')
    with RunFolder(tmp_path, identity=IDENTITY) as run:
        assert list(run.read("rows")) == [{"n": 1}]
        run.append("rows", {"n": 2})
        assert list(run.read("rows")) == [{"n": 1}, {"n": 2}]


def test_folder_of_another_run_raises_and_names_the_difference(tmp_path):
    with RunFolder(tmp_path, identity=IDENTITY):
        pass
    other = IDENTITY | {"aspect": "faithfulness", "seed": 1}
    with (
        pytest.raises(
            RunError,
            match=r"differs in aspect \('coverage' there, now 'faithfulness'\), seed \(None there",
        ),
        RunFolder(tmp_path, identity=other),
    ):
        pass


def test_a_second_process_sees_that_the_folder_is_in_use(tmp_path):
    with (
        RunFolder(tmp_path, identity=IDENTITY),
        pytest.raises(RunError, match="another run is using"),
        RunFolder(tmp_path, identity=IDENTITY),
    ):
        pass


def test_invalid_manifest_raises(tmp_path):
    (tmp_path / "manifest.json").write_text("[]")
    with (
        pytest.raises(RunError, match="not a run's manifest"),
        RunFolder(tmp_path, identity=IDENTITY),
    ):
        pass


def test_file_instead_of_the_folder_raises(tmp_path):
    (tmp_path / "run").write_text("")
    with (
        pytest.raises(RunError, match="cannot use this run folder"),
        RunFolder(tmp_path / "run", identity=IDENTITY),
    ):
        pass


def test_full_disk_leaves_no_partial_row(tmp_path, monkeypatch):
    write = os.write
    with RunFolder(tmp_path, identity=IDENTITY) as run:
        run.append("rows", {"n": 1})
        monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[:4]))
        with pytest.raises(RunError, match=os.strerror(errno.ENOSPC)):
            run.append("rows", {"n": 2})
        monkeypatch.undo()
        run.append("rows", {"n": 3})
        assert list(run.read("rows")) == [{"n": 1}, {"n": 3}]


def test_an_interrupted_write_leaves_the_old_file(tmp_path):
    file = tmp_path / "out.json"
    write_atomically(file, "old")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(file, "\ud800")
    assert file.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


def test_rows_are_read_by_position_even_after_closing(tmp_path):
    with RunFolder(tmp_path, identity=IDENTITY) as run:
        places = [run.append("rows", {"n": n, "text": "ä" * n}) for n in range(5)]
        assert [place for place, _ in run.rows_with_offsets("rows")] == places
    rows = run.rows_at("rows", [places[3], places[0]])
    assert rows == [{"n": 3, "text": "äää"}, {"n": 0, "text": ""}]
    with pytest.raises(RunError, match="was changed after it was written"):
        run.rows_at("rows", [places[1] + 1])


@pytest.mark.parametrize("damaged", [0, 2, 4])
def test_positions_are_valid_after_removing_damaged_rows(tmp_path, damaged):
    with RunFolder(tmp_path, identity=IDENTITY) as run:
        for n in range(5):
            run.append("rows", {"n": n})
    file = tmp_path / "rows.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    lines[damaged] = b'{"n": 9, "checksum": "made up"}\n'
    file.write_bytes(b"".join(lines) + b'{"n": 5, "te')
    with RunFolder(tmp_path, identity=IDENTITY) as run:
        result = list(run.rows_with_offsets("rows"))
        run.append("rows", {"n": 6})
    sound = [{"n": n} for n in range(5) if n != damaged]
    assert [row for _, row in result] == sound
    assert run.rows_at("rows", [place for place, _ in result]) == sound
    assert len(file.read_bytes().splitlines()) == 5
