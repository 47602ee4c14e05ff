"""What the terminal says beside a leaderboard stands on the page and in a notebook's table too."""

from __future__ import annotations

from types import SimpleNamespace

from json_files import read_json

from fairjudge.cli.judge_display import _leaderboard
from fairjudge.domain import Judgement
from fairjudge.reports.leaderboard_table import combined_table, leaderboard_parts
from fairjudge.scorers.trained_record import FOLDER, RECORD
from fairjudge.scores.aggregate import system_scores
from fairjudge.scores.leaderboards import (
    WEIGHTING,
    leaderboard,
    leaderboards,
    unranked_note,
    weak_judge_caveat,
)
from fairjudge.scores.missing import count_missing


def judged(eid: str, system: str, value: float | None) -> Judgement:
    missing = {} if value is not None else {"unscored": "refused", "detail": "no"}
    return Judgement(
        eid=eid,
        system=system,
        aspect="coverage",
        unit="summary",
        protocol="likert",
        judge="embedded",
        value=value,
        scored_by="embedding",
        signature="s",
        **missing,
    )


ROWS = [
    *(judged(eid, "whole", value) for eid, value in zip("abc", (2, 4, None), strict=True)),
    *(judged(eid, "thorough", value) for eid, value in zip("abc", (3, 4, 5), strict=True)),
    judged("a", "once", 5),
]


def of_terminal() -> str:
    outcome = SimpleNamespace(
        plan=SimpleNamespace(aspect="coverage", protocol="likert", reference_unit="qa_pairs"),
        ratings=ROWS,
        n_unscored=1,
        missing=count_missing(ROWS),
        scale_range=(1.0, 5.0),
    )
    return " ".join(_leaderboard(outcome, leaderboard(ROWS, unit="summary")).notes)


def test_each_terminal_caveat_is_on_the_page_and_in_tables():
    boards = leaderboards(ROWS, n_resamples=50)
    page = " ".join(str(part) for part in leaderboard_parts(boards))
    table = " ".join(combined_table(boards).notes)
    beside = unranked_note(standing.score for standing in boards[0].standings)
    assert beside == "Not ranked: once, whole, scored on fewer than 90 % of 3 clusters."
    bounds = "the mean if every unscored item had the minimum or the maximum"
    for caveat in (beside, weak_judge_caveat("coverage"), WEIGHTING, bounds):
        assert caveat in of_terminal()
        assert caveat in page
    for caveat in (beside, weak_judge_caveat("coverage"), bounds):
        assert caveat in table


def test_no_caveat_if_all_are_ranked():
    assert unranked_note(system_scores(ROWS[:2], scale_range=(1.0, 5.0))) is None


def test_caveat_of_weak_judge_states_the_measured_agreement():
    """The figures are those of the record that ships with the weights."""
    measured = read_json(FOLDER / RECORD)["measured"]
    accuracy = measured["coverage"]["realsumm"]["balanced accuracy"]["value"]
    areas = [
        row["value"]
        for name, row in measured["statements about documents"].items()
        if name.endswith(": AUC") and "alone" not in name
    ]
    for aspect, of, figure in (
        ("coverage", "at detecting covered answers,", f"balanced accuracy {accuracy:.2f}"),
        (
            "balance",
            "at detecting covered statements of sources,",
            f"balanced accuracy {accuracy:.2f}",
        ),
        ("faithfulness", "", f"right against wrong summaries {min(areas):.2f} to {max(areas):.2f}"),
    ):
        caveat = weak_judge_caveat(aspect)
        assert f"a weak judge of {aspect}: " in caveat
        assert of in caveat
        assert figure in caveat
