"""Who gets which item: the rules of the board hold whatever annotators do."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairjudge.annotation.board import (
    CONTROL_EVERY,
    LEASE_SECONDS,
    Board,
    Event,
    Job,
    replay,
)


def act(board: Board, annotator: str, kind: str, item: int, at: float = 0.0, **more) -> Event:
    event = Event(annotator=annotator, item=item, kind=kind, at=at, **more)
    board.apply(event)
    return event


def take(board: Board, annotator: str, now: float = 0.0) -> int | None:
    item = board.choose(annotator, now=now)
    if item is not None:
        act(board, annotator, "assign", item, now)
    return item


def label_all(board: Board, who: str, now: float = 0.0) -> list[int]:
    items = []
    while (item := take(board, who, now)) is not None:
        act(board, who, "label", item, now, value=1.0)
        items.append(item)
    return items


def test_one_annotator_gets_every_item_once_in_order():
    job = Job(blocks=((2, 0), (1, 3)), wanted=(1, 1, 1, 2))
    assert label_all(Board(job), "ann") == [2, 0, 1, 3]


def test_two_annotators_share_blocks_and_overlap_where_required():
    board = Board(Job(blocks=((0, 1), (2, 3)), wanted=(1, 2, 1, 1)))
    assert take(board, "ann") == 0
    assert take(board, "bo") == 2  # the first block is Ann's
    act(board, "ann", "label", 0, value=1.0)
    act(board, "bo", "label", 2, value=1.0)
    assert take(board, "ann") == 1
    assert take(board, "bo") == 3
    act(board, "bo", "label", 3, value=1.0)
    assert take(board, "bo") == 1  # nothing else is left, and it wants two
    act(board, "ann", "label", 1, value=0.0)
    assert take(board, "ann") is None


def test_item_is_reassigned_if_its_annotator_leaves():
    board = Board(Job(blocks=((0,),), wanted=(1,)))
    assert take(board, "ann", now=0.0) == 0
    assert board.choose("bo", now=LEASE_SECONDS - 1) is None
    assert board.choose("bo", now=LEASE_SECONDS) == 0


def test_skipped_item_goes_to_one_other_annotator():
    board = Board(Job(blocks=((0,),), wanted=(1,)))
    for name in ("ann", "bo"):
        assert take(board, name) == 0
        act(board, name, "skip", 0, reason="broken")
        assert take(board, name) is None
    assert take(board, "cy") is None


def test_undo_returns_the_latest_answer_first():
    board = Board(Job(blocks=((0, 1, 2),), wanted=(1, 1, 1)))
    assert label_all(board, "ann") == [0, 1, 2]
    act(board, "ann", "label", 0, value=0.0)  # changed her mind about the first
    assert list(board.done("ann")) == [1, 2, 0]
    act(board, "ann", "undo", 0)
    assert board.current("ann") == 0
    assert board.n_labelled() == 2
    act(board, "ann", "undo", 2)
    assert board.current("ann") == 0  # earlier in her list
    assert [event.item for event in board.decisions("label")] == [1]


def test_every_annotator_gets_every_control_among_items():
    job = Job(blocks=(tuple(range(40)),), wanted=(1,) * 40 + (0, 0), controls={40: 1.0, 41: 0.0})
    board = Board(job)
    result = label_all(board, "ann")
    assert sorted(result) == list(range(42))
    places = [result.index(40), result.index(41)]
    assert sorted(place // CONTROL_EVERY for place in places) == [0, 1]  # one in each ten
    assert sorted(label_all(board, "bo")) == [40, 41]  # nothing else is left for him
    assert board.n_labelled() == job.n_wanted == 40
    assert board.progress() == (40 + 4, 40 + 4)


@pytest.mark.parametrize(
    ("answers", "least", "qualified"),
    [
        ((1.0, 0.0, 1.0), 1.0, True),
        ((1.0, 1.0, 1.0), 1.0, False),
        ((1.0, 1.0, 1.0), 2 / 3, True),
        ((0.0, 1.0, 0.0), 0.0, True),
        ((1.0, None, 1.0), 0.9, False),  # skipped
    ],
)
def test_unqualified_annotator_gets_only_controls(answers, least, qualified):
    labels = {4: 1.0, 5: 0.0, 6: 1.0}
    job = Job(blocks=((0, 1, 2, 3),), wanted=(1,) * 4 + (0,) * 3, controls=labels, qualify=least)
    board, values = Board(job), dict(zip(labels, answers, strict=True))
    first = []
    for _ in labels:
        first.append(item := take(board, "ann"))
        value = values[item]
        more = {"value": value} if value is not None else {"reason": "another reason"}
        act(board, "ann", "skip" if value is None else "label", item, **more)
    assert sorted(first) == [4, 5, 6]
    assert board.is_qualified("ann") is qualified
    assert take(board, "ann") == (0 if qualified else None)
    assert take(board, "bo") in labels  # everybody begins with them


def test_displayed_count_does_not_reveal_controls():
    job = Job(blocks=(tuple(range(40)),), wanted=(1,) * 40 + (0, 0), controls={40: 1.0, 41: 0.0})
    board, positions = Board(job), []
    while (item := take(board, "ann")) is not None:
        act(board, "ann", "label", item, value=1.0)
        positions.append(board.progress())
    assert positions == [(n, 42) for n in range(1, 43)]


def test_display_order_is_drawn_once_per_annotator_and_item():
    board = Board(Job(blocks=((0,),), wanted=(1,), seed=3))
    items = [board.display_order(f"ann{n}", 0) for n in range(400)]
    assert items == [board.display_order(f"ann{n}", 0) for n in range(400)]
    # 400 fair draws: 200 with standard deviation 10.
    assert 150 < items.count("ab") < 250


MOVES = st.lists(
    st.tuples(
        st.sampled_from(["ann", "bo", "cy"]),
        st.sampled_from(["take", "label", "label", "skip", "undo", "wait"]),
        st.integers(0, 5),
    ),
    max_size=60,
)


@settings(deadline=None, max_examples=150)
@given(MOVES, st.lists(st.integers(1, 2), min_size=6, max_size=6))
def test_invariants_hold_for_any_annotator_actions(moves, wanted):
    """No item is given to more people than it wants at a time; replaying changes nothing."""
    job = Job(blocks=((0, 1, 2), (3, 4), (5,)), wanted=tuple(wanted), controls={})
    board, events, now = Board(job), [], 0.0
    for name, move, nth in moves:
        now += LEASE_SECONDS if move == "wait" else 1.0
        if move == "take" and board.current(name) is None:
            item = board.choose(name, now=now)
            if item is not None:
                assert item not in board.history(name)
                events.append(act(board, name, "assign", item, now))
        elif move in {"label", "skip"} and board.history(name):
            item = board.history(name)[nth % len(board.history(name))]
            events.append(act(board, name, move, item, now, value=float(nth % 2), reason="why"))
        elif move == "undo" and board.done(name):
            events.append(act(board, name, "undo", list(board.done(name))[-1], now))
    again = replay(job, events)
    for name in ("ann", "bo", "cy"):
        assert again.history(name) == board.history(name)
        assert again.done(name) == board.done(name)
        assert again.choose(name, now=now) == board.choose(name, now=now)
    counted = [0] * 6
    for event in board.decisions("label"):
        counted[event.item] += 1
    assert board.n_labelled() == sum(min(n, w) for n, w in zip(counted, wanted, strict=True))


@pytest.mark.parametrize("people", [1, 2, 7, 50])
def test_exactly_the_required_labels_are_collected(people):
    n = 60
    job = Job(
        blocks=tuple(tuple(range(b, b + 6)) for b in range(0, n, 6)),
        wanted=tuple(2 if item % 5 == 0 else 1 for item in range(n)),
    )
    board = Board(job)
    names = [f"p{k}" for k in range(people)]
    going = True
    while going:
        going = False
        for name in names:
            item = take(board, name)
            if item is not None:
                act(board, name, "label", item, value=1.0)
                going = True
    counted = [0] * n
    for event in board.decisions("label"):
        counted[event.item] += 1
    n_needed = job.wanted if people > 1 else (1,) * n
    assert tuple(counted) == n_needed
