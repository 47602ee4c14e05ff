"""What is answered is kept: the store, the labels file, and what a kill leaves."""

from __future__ import annotations

import os
import sqlite3
import threading
from pathlib import Path

import pytest
from annotation_tools import PATIENCE_SECONDS, Annotator, rows, serve, write_world

from fairjudge.annotation import moves
from fairjudge.annotation.desk import LabelService
from fairjudge.annotation.items import build_items, digest
from fairjudge.annotation.labels_file import LabelWriter
from fairjudge.annotation.planning import JobOptions, match_controls, plan_job
from fairjudge.annotation.store import Store
from fairjudge.annotation.tasks import label_task
from fairjudge.datasets import read_labels, read_references, read_summaries
from fairjudge.domain import Label
from fairjudge.errors import InputError, RunError


class Office:
    """A desk in a folder, and moves by name."""

    def __init__(self, folder: Path, name: str = "coverage", **job) -> None:
        if not (folder / "references.json").exists():
            write_world(folder)
        self.folder = folder
        self.task = label_task(name)
        references = list(read_references(folder / "references.json"))
        summaries = list(read_summaries(folder / "summaries.jsonl"))
        self.items = build_items(self.task, references, summaries)
        probabilities = job.pop("probabilities", None)
        self.desk = LabelService(
            plan_job(self.items, options=job.pop("options", JobOptions(overlap=0.0)), **job),
            LabelWriter(items=self.items, probabilities=probabilities),
            store=Store(
                folder / "labels.jsonl.db",
                identity=digest(self.task, self.items),
                items=[item.id for item in self.items],
            ),
            path=folder / "labels.jsonl",
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.desk.close()

    def do(self, act):
        return self.desk.submit(act).result(timeout=PATIENCE_SECONDS)

    def begin(self, who="ann"):
        return self.do(lambda turn: moves.next_position(turn, who))

    def label(self, position, level, who="ann", **more):
        return self.do(
            lambda turn: moves.label(turn, who, position, task=self.task, level=level, **more)
        )

    def undo(self, who="ann"):
        return self.do(lambda turn: moves.undo(turn, who))

    def rows(self):
        return rows(self.folder / "labels.jsonl")


def test_file_follows_the_label_format_of_the_docs(tmp_path):
    with Office(tmp_path) as office:
        assert office.begin() == 1
        assert office.label(1, 1, note="clear\ncase ", seconds=2.5) == 2
        item = office.items[office.desk.read(lambda board: board.history("ann"))[0]]
        assert office.rows() == [
            {
                "eid": item.eid,
                "system": item.systems[0],
                "aspect": "coverage",
                "annotator": "ann",
                "value": 1,
                "unit": item.unit,
                "note": "clear\ncase",
            }
        ]
        (label,) = read_labels(tmp_path / "labels.jsonl")
        assert label.value == 1


def test_pair_label_names_systems_and_the_first_shown(tmp_path):
    with Office(tmp_path, "preference") as office:
        positions = set()
        for name in ("ann", "bo", "cy", "di", "ed", "fo"):
            position = office.begin(name)
            if position is None:
                continue
            office.label(position, 0, name)  # the first shown is better
        for row in office.rows():
            positions.add((row["order"], row["value"]))
            assert {row["system_a"], row["system_b"]} == {"secret-x", "secret-y"}
        assert positions <= {("ab", "a"), ("ba", "b")}


def test_undo_and_changed_answers_keep_the_file_correct(tmp_path):
    with Office(tmp_path) as office:
        office.begin()
        for position in (1, 2, 3):
            office.label(position, 1)
        assert office.undo() == 3
        assert [row["value"] for row in office.rows()] == [1, 1]
        assert office.label(1, 0) == 2  # back to the first, and on to the second
        assert [row["value"] for row in office.rows()] == [1, 0]
        assert office.undo() == 1  # the change was the latest
        assert [row["value"] for row in office.rows()] == [1]
        content = (tmp_path / "labels.jsonl").read_bytes()
    with Office(tmp_path) as office:
        assert (tmp_path / "labels.jsonl").read_bytes() == content
        assert office.begin() == 1


def test_repeated_answer_adds_no_event(tmp_path):
    with Office(tmp_path) as office:
        office.begin()
        office.label(1, 1)
        content = (tmp_path / "labels.jsonl").read_bytes()
        assert office.label(1, 1) == 2  # as when a key was pressed twice
        assert (tmp_path / "labels.jsonl").read_bytes() == content


def test_control_answers_are_not_written(tmp_path):
    write_world(tmp_path)
    control = {
        "eid": "e0", "system": "secret-x", "aspect": "coverage", "annotator": "gold",
        "value": 1, "unit": "answer:0.0",
    }  # fmt: skip
    task = label_task("coverage")
    items = build_items(
        task,
        list(read_references(tmp_path / "references.json")),
        list(read_summaries(tmp_path / "summaries.jsonl")),
    )
    controls = match_controls(items, [Label.model_validate(control)])
    with Office(tmp_path, controls=controls) as office:
        position = office.begin()
        while position is not None:
            position = office.label(position, 1)
        assert len(office.rows()) == len(items) - 1
        assert len(office.desk.read(lambda board: board.done("ann"))) == len(items)
    other = Label.model_validate(control | {"value": 0})
    with pytest.raises(InputError, match="differ"):
        match_controls(items, [Label.model_validate(control), other])
    with pytest.raises(InputError, match="no control matches"):
        match_controls(items, [Label.model_validate(control | {"eid": "nowhere"})])


def test_sampling_probability_is_in_the_label(tmp_path):
    with Office(tmp_path, order=[0, 1], probabilities=[0.25] * 12) as office:
        position = office.begin()
        while position is not None:
            position = office.label(position, 0)
        assert [row["probability"] for row in office.rows()] == [0.25, 0.25]
    # A larger draw keeps the labels and gives them their new chance; a smaller one leaves out.
    with Office(tmp_path, order=[0, 1, 2], probabilities=[0.5] * 12) as office:
        assert [row["probability"] for row in office.rows()] == [0.5, 0.5]
        assert office.begin() == 3
    with Office(tmp_path, order=[1], probabilities=[0.1] * 12) as office:
        assert [row["probability"] for row in office.rows()] == [0.1]


def test_truncated_line_is_repaired_and_foreign_one_raises(tmp_path):
    path = tmp_path / "labels.jsonl"
    with Office(tmp_path) as office:
        office.begin()
        office.label(1, 1)
        office.label(2, 1)
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    with Office(tmp_path):
        assert path.read_bytes() == whole
    path.unlink()
    with Office(tmp_path):
        assert path.read_bytes() == whole
    path.write_bytes(whole + b'{"eid": "mine"}\n')
    with pytest.raises(InputError, match="not written by this job") as caught:
        Office(tmp_path)
    assert caught.value.line == 3
    assert path.read_bytes() == whole + b'{"eid": "mine"}\n'


@pytest.mark.parametrize("cut", [0, 1, 20])
def test_foreign_labels_raise_even_without_final_newline(tmp_path, cut):
    path = tmp_path / "labels.jsonl"
    line = b'{"eid": "mine", "system": "s", "aspect": "a", "annotator": "me", "value": 1}\n'
    path.write_bytes(line[: len(line) - cut])
    with pytest.raises(InputError, match="not written by this job"):
        Office(tmp_path)
    assert path.read_bytes() == line[: len(line) - cut]


def test_store_belongs_to_one_job_and_one_process(tmp_path):
    with Office(tmp_path), pytest.raises(RunError, match="another 'fairjudge annotate'"):
        Office(tmp_path)
    with pytest.raises(RunError, match="another task"):
        Office(tmp_path, "faithfulness")


def test_unsaved_answer_is_not_acknowledged_and_work_continues(tmp_path, monkeypatch):
    with Office(tmp_path) as office:
        office.begin()
        append = Store.append

        def full(*_, **__):
            raise RunError("no space")

        monkeypatch.setattr(Store, "append", full)
        with pytest.raises(RunError, match="no space"):
            office.label(1, 1)
        assert office.rows() == []
        monkeypatch.setattr(Store, "append", append)
        assert office.label(1, 0) == 2
        assert [row["value"] for row in office.rows()] == [0]


def test_random_order_mixes_grouped_items(tmp_path):
    write_world(tmp_path, n_clusters=6)
    with Office(tmp_path, options=JobOptions(overlap=0.0, order="grouped")) as office:
        blocks = office.desk.job.blocks
        assert all(len({office.items[n].block for n in block}) == 1 for block in blocks)
        assert len(blocks) == 6 * 2
    mixed = plan_job(office.items, options=JobOptions(overlap=0.0, order="random"))
    assert sorted(n for block in mixed.blocks for n in block) == list(range(len(office.items)))
    assert all(len(block) == 1 for block in mixed.blocks)


def test_no_acknowledged_label_is_lost_by_kill_9(tmp_path):
    """Eight annotators label until the server is killed; what was answered is in file and store."""
    write_world(tmp_path, n_clusters=60)
    server = serve(tmp_path, "--overlap", "0", "--highlight", "none")
    acknowledged: set[tuple[str, int, int]] = set()
    lock, enough = threading.Lock(), threading.Event()

    def work(number: int) -> None:
        annotator = Annotator(server.url, f"p{number}")
        try:
            while annotator.position is not None:
                position, level = annotator.position, (number + annotator.position) % 2
                if annotator.label(level).status_code == 200:
                    with lock:
                        acknowledged.add((f"p{number}", position, level))
                        if len(acknowledged) >= 120:
                            enough.set()
        except Exception:  # noqa: S110  # the server is gone: that is the test
            pass
        finally:
            enough.set()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    assert enough.wait(PATIENCE_SECONDS)
    server.kill()
    for thread in threads:
        thread.join(PATIENCE_SECONDS)
    assert len(acknowledged) >= 120
    in_file = rows_even_if_torn(tmp_path / "labels.jsonl")
    with Office(tmp_path) as office:
        stored = {
            (name, position, int(event.value or 0))
            for name in office.desk.read(lambda board: board.annotators())
            for position, item in enumerate(office.desk.read(lambda b, w=name: b.history(w)), 1)
            if (event := office.desk.read(lambda b, w=name: b.done(w)).get(item)) is not None
        }
        assert acknowledged <= stored
        assert len(office.rows()) == len(stored)
    # The file itself had them all before anything was mended.
    assert len(in_file) >= len(acknowledged)


def rows_even_if_torn(path: Path) -> list[bytes]:
    return [line for line in path.read_bytes().split(b"\n")[:-1] if line]


OTHERS = b'{"eid": "x", "system": "s", "aspect": "coverage", "annotator": "script", "value": 3}\n'


def test_lines_appended_by_another_program_are_kept(tmp_path):
    path = tmp_path / "labels.jsonl"
    with Office(tmp_path) as office:
        office.begin()
        office.label(1, 1)
        with path.open("ab") as file:
            file.write(OTHERS)
        office.label(2, 1)
        office.undo()
        assert OTHERS in path.read_bytes()
        with path.open("ab") as file:
            file.write(OTHERS.replace(b"3", b"4").rstrip())  # no line end yet
        office.label(2, 1)
        office.undo()
        office.label(2, 0)
        lines = path.read_bytes().splitlines(keepends=True)
        assert OTHERS in lines
        assert OTHERS.replace(b"3", b"4") in lines
        assert [row["annotator"] for row in rows(path)].count("ann") == 2


def test_appended_lines_are_kept_after_a_failed_write(tmp_path):
    path = tmp_path / "labels.jsonl"
    with Office(tmp_path) as office:
        office.begin()
        office.label(1, 1)
        with path.open("ab") as file:
            file.write(OTHERS)
        office.desk._file.close()  # as a disk that went away
        with pytest.raises(RunError):
            office.label(2, 1)
        office.begin()
        assert path.read_bytes().count(OTHERS) == 1
        assert len(rows(path)) == 3


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE events SET item = 'no such item'",
        "UPDATE events SET value = '{'",
        "UPDATE events SET kind = 'dance'",
        "DROP TABLE events; CREATE TABLE events (number INTEGER)",
        "DROP TABLE facts; CREATE TABLE facts (name TEXT PRIMARY KEY, other TEXT)",
        "UPDATE facts SET value = '99' WHERE name = 'version'",
    ],
)
def test_damaged_store_raises_one_error_naming_it(tmp_path, damage):
    with Office(tmp_path) as office:
        office.begin()
        office.label(1, 1)
    store = tmp_path / "labels.jsonl.db"
    with sqlite3.connect(store) as database:
        database.executescript(damage)
    database.close()
    with pytest.raises(RunError, match=r"labels\.jsonl\.db"):
        Office(tmp_path)


@pytest.mark.parametrize("at", [0, 20, 100])
def test_non_database_store_raises_one_error_naming_it(tmp_path, at):
    with Office(tmp_path) as office:
        office.begin()
        for position in range(1, 4):
            office.label(position, 1)
    store = tmp_path / "labels.jsonl.db"
    data = store.read_bytes()
    store.write_bytes(data[:at] + b"\xff" * 60 + data[at + 60 :])
    with pytest.raises((RunError, InputError), match=r"labels\.jsonl"):
        Office(tmp_path)


def test_pipe_as_store_raises_without_reading(tmp_path):
    write_world(tmp_path)
    os.mkfifo(tmp_path / "labels.jsonl.db")
    with pytest.raises(InputError, match="a pipe or a device"):
        Office(tmp_path)
