"""A run's judgements stay in its rows; what is in memory says which tasks are done, and how."""

from __future__ import annotations

import pytest
from builders import make_task

from fairjudge.domain import JudgeTask
from fairjudge.engine.recorded import ROWS, JudgementBook
from fairjudge.errors import RunError
from fairjudge.judges.llm import judgement_of
from fairjudge.records.folder import RunFolder
from fairjudge.scores.aggregate import system_scores, with_pair_verdicts

IDENTITY = {"command": "judge"}


def task(cluster: int, system: str, **changes) -> JudgeTask:
    fields = {"eid": f"e{cluster}", "systems": (system,), "aspect": "coverage"}
    return make_task("text", **fields | changes)


def judgement_with(task: JudgeTask, **outcome):
    return judgement_of(task, judge="j", scored_by="llm", signature="s", **outcome)


TASKS = [task(cluster, system) for cluster in range(400) for system in "ab"]


def test_judgements_follow_task_order_for_any_row_order(tmp_path):
    with RunFolder(tmp_path, identity=IDENTITY) as run:
        book = JudgementBook(run, TASKS)
        for position in reversed(range(len(TASKS))):
            book.record(
                position, judgement_with(TASKS[position], value=float(position % 5), raw="a reply")
            )
        judgements, ratings = book.judgements(), book.ratings
    expected = [
        judgement_with(task, value=float(n % 5), raw="a reply") for n, task in enumerate(TASKS)
    ]
    assert list(judgements) == expected  # read when the run is closed already
    assert judgements[0] == expected[0]
    assert judgements[-1] == expected[-1]
    assert judgements[511:514] == tuple(expected[511:514])
    with pytest.raises(IndexError):
        judgements[len(TASKS)]
    assert system_scores(ratings) == system_scores(expected)


def test_pair_is_read_completely_with_its_verdict(tmp_path):
    pair = {"systems": ("a", "b"), "texts": ("x", "y"), "protocol": "pairwise"}
    tasks = [task(n, "", **pair, order=order) for n in range(300) for order in ("ab", "ba")]
    expected = [judgement_with(task, value="a" if n % 3 else "tie") for n, task in enumerate(tasks)]
    with RunFolder(tmp_path, identity=IDENTITY) as run:
        book = JudgementBook(run, tasks)
        for position, judgement in enumerate(expected):
            book.record(position, judgement)
    assert tuple(book.judgements()) == with_pair_verdicts(expected)
    assert system_scores(book.ratings) == system_scores(expected)


def test_retryable_items_are_reopened_and_the_last_row_counts(tmp_path):
    tasks = TASKS[:3]
    with RunFolder(tmp_path, identity=IDENTITY) as run:
        book = JudgementBook(run, tasks)
        book.record(0, judgement_with(tasks[0], value=1.0))
        book.record(1, judgement_with(tasks[1], unscored="budget"))
        book.record(2, judgement_with(tasks[2], unscored="refused"))
        assert (book.n_done, book.n_retryable, book.is_finished) == (3, 1, False)
    with RunFolder(tmp_path, identity=IDENTITY) as run:
        book = JudgementBook(run, tasks)
        book.reopen_retryable()
        assert [book.is_done(n) for n in range(3)] == [True, False, True]
        book.record(1, judgement_with(tasks[1], value=2.0))
        assert book.is_finished
    with RunFolder(tmp_path, identity=IDENTITY) as run:
        book = JudgementBook(run, tasks)
        assert (book.n_done, book.is_finished) == (3, True)
        assert [judgement.value for judgement in book.judgements()] == [1.0, 2.0, None]


def test_modified_row_is_reported_and_skipped(tmp_path):
    with RunFolder(tmp_path, identity=IDENTITY) as run:
        book = JudgementBook(run, TASKS[:1])
        book.record(0, judgement_with(TASKS[0], value=1.0))
        judgements = book.judgements()
    file = tmp_path / f"{ROWS}.jsonl"
    file.write_bytes(file.read_bytes().replace(b"1.0", b"5.0"))
    with pytest.raises(RunError, match="was changed after it was written"):
        list(judgements)


def test_invalid_rows_raise_one_error(tmp_path):
    with RunFolder(tmp_path, identity=IDENTITY) as run:
        run.append(ROWS, {"task": TASKS[0].id, "judgement": {"value": 3}})
        with pytest.raises(RunError, match="did not write"):
            JudgementBook(run, TASKS[:1])
