"""First lines that the tables below them bear out: one rule for both, at its borders."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest
from calibration_study import judged, study

from fairjudge.calibration.agreement import Resampling
from fairjudge.calibration.analysis import Settings, analyse
from fairjudge.calibration.to_json import analysis_json
from fairjudge.domain import Estimate, Judgement, Label, Summary
from fairjudge.reports.calibration_tables import calibration_tables, replaceability_note
from fairjudge.reports.decision_tables import decisions_tables, verdict
from fairjudge.reports.findings import board_findings, page_boards
from fairjudge.reports.label_tables import mean_tables
from fairjudge.reports.tables import to_text
from fairjudge.scores.leaderboards import leaderboards
from fairjudge.stats.levels import Scores, mean_correlations


def printed(tables) -> str:
    return " ".join(" ".join(to_text(table, width=400) for table in tables).split())


def by_length(*, follows_people: float) -> dict:
    """Six systems, longer ones better to people; the judge counts words, or follows people."""
    rng = random.Random(4)
    judgements, labels, summaries = [], [], []
    for document in range(30):
        for system in range(6):
            n_words = 20 + 8 * system + rng.randrange(5)
            label = min(5, max(1, round(1 + 0.7 * system + rng.gauss(0, 0.8))))
            value = n_words / 12 + follows_people * label
            where = {"eid": f"d{document}", "system": f"s{system}"}
            summaries.append(Summary(**where, text=" ".join(["word"] * n_words)))
            score = min(5, max(1, round(value / (1 + follows_people))))
            judgements.append(judged(where["eid"], where["system"], score, "j"))
            labels.append(Label(**where, aspect="coverage", annotator="ann", value=label))
    settings = Settings(resampling=Resampling(n_resamples=200))
    analysis = analyse(judgements, labels, settings=settings, summaries=summaries)
    return analysis_json(analysis, signature={}, list_all=False)


def test_length_based_judge_gets_no_unqualified_yes_for_ranking():
    (group,) = by_length(follows_people=0.0)["groups"]
    ranks, *_ = group["decisions"]
    assert ranks["figure"]["low"] >= 0.5  # which alone would be a yes
    assert ranks["answer"] == "too few to tell"
    gain = group["over_baselines"]["systems"]
    assert gain["best"] == "longest"
    assert gain["gain"]["low"] <= 0.0
    text = verdict(group)
    assert text.startswith("rank systems: too few to tell (the baseline 'longest' may do as well")
    # The sentence and the table below it are of the same figures.
    assert ranks["reason"] in text
    assert ranks["reason"] in printed(decisions_tables([group]))


def test_human_and_judge_ranks_are_shown_side_by_side():
    report = study()
    (table,) = mean_tables(report)
    means = {row["system"]: row for row in report["groups"][0]["ppi"] if row["kind"] == "mean"}
    people = sorted(means, key=lambda name: -means[name]["classical"]["value"])
    judge = sorted(means, key=lambda name: -means[name]["naive"]["value"])
    assert [row[0] for row in table.rows] == people
    assert [int(row[3]) for row in table.rows] == [1, 2, 3]
    assert [int(row[5]) for row in table.rows] == [1 + judge.index(name) for name in people]


def test_few_systems_in_equal_order_have_no_interval():
    rng = np.random.default_rng(0)

    def tau(n_systems: int) -> Estimate:
        systems = np.tile(np.arange(n_systems), 20)
        documents = np.repeat(np.arange(20), n_systems)
        values = 10.0 * systems + rng.normal(size=systems.size)
        data = Scores(
            first=values, second=10.0 * systems, documents=documents, systems=systems.tolist()
        )
        result = mean_correlations(
            [data], "system", n_documents=20, rng=rng, n_resamples=200, method="expanded"
        )
        return result["kendall"]

    few, many = tau(4), tau(5)
    assert (few.value, few.low, few.high) == (pytest.approx(1.0), None, None)
    assert "every resample has one order, and 4 systems are too few" in few.method
    assert (many.low, many.high) == (pytest.approx(1.0), pytest.approx(1.0))


def test_the_reason_for_no_interval_is_printed():
    report = study(systems=("a", "b"), noise=0.01)
    (group,) = report["groups"]
    assert group["decisions"][0]["figure"]["low"] is None
    assert "[1.00, 1.00]" not in printed(decisions_tables([group])).partition("score single")[0]
    for tables in (decisions_tables([group]), calibration_tables(report)):
        assert "every resample has one order, and 2 systems are too few" in printed(tables)


@pytest.mark.parametrize(
    ("answer", "passes", "outcome"),
    [
        ("too few to tell", True, "too few to tell (beats"),
        ("too few to tell", False, "too few to tell (beats"),
        ("yes", True, "passed (beats"),
        ("no", False, "not passed (beats"),
    ],
)
def test_annotator_test_text_matches_its_decision(answer, passes, outcome):
    group = {
        "replaceability": {"winning_rate": float(passes), "advantage_probability": 0.5,
                           "epsilon": 0.2, "passes": passes},
        "decisions": [{"question": "replace_annotator", "answer": answer, "reason": ""}],
    }  # fmt: skip
    assert f"Alternative-annotator test: {outcome}" in replaceability_note(group)
    assert f": {'passed' if passes else 'not passed'}" in replaceability_note(
        group | {"decisions": []}
    )


def test_bias_names_only_groups_whose_interval_excludes_0():
    report = study(noise=1.5, systems=tuple("abcdef"))
    (group,) = report["groups"]
    errors = group["fairness"]["groups"]["system"]
    # Only the size of the errors of "a" differs, and only the mean error of "b".
    for place, (gap, low, high, p) in {
        0: ("absolute_error_gap", 0.2, 0.6, 0.001), 1: ("error_gap", -0.6, -0.2, 0.001)
    }.items():  # fmt: skip
        for name in ("error_gap", "absolute_error_gap"):
            none = {"value": 0.02, "low": -0.2, "high": 0.24, "level": 0.95}
            errors[place][name] = none
            errors[place]["adjusted_p_values"][name] = 0.8
        errors[place][gap] = {"value": (low + high) / 2, "low": low, "high": high, "level": 0.95}
        errors[place]["adjusted_p_values"][gap] = p
        errors[place]["flagged"] = True
    text = printed(calibration_tables(report))
    bias = re.search(r"Judge bias differs by system: .*? \(FDR 5 %\)", text)[0]
    size = re.search(r"The judge's absolute error differs by system: .*? \(FDR 5 %\)", text)[0]
    assert "b -0.40 [-0.60, -0.20]" in bias
    assert not re.search(r"\ba [-\d]", bias)
    assert "a 0.40 [0.20, 0.60]" in size


@pytest.mark.parametrize(
    ("protocol", "values", "constant"),
    [
        ("likert", [4] * 12, True),
        ("likert", [4] * 11 + [5], False),
        ("likert", [4] * 9, False),  # too few items
        ("likert", [4] * 10 + [None] * 2, True),  # of those with a score
        ("binary", [0] * 12, True),
    ],
)
def test_constant_scores_are_not_reported_as_tie(protocol, values, constant):
    rows = [
        Judgement.model_validate(
            {"eid": f"d{n // 3}", "system": "abc"[n % 3], "aspect": "x", "judge": "j",
             "protocol": protocol, "value": value}
            | ({"unscored": "refused"} if value is None else {})
        )
        for n, value in enumerate(values)
    ]  # fmt: skip
    (board,) = page_boards(leaderboards(rows), ())
    text = " ".join(board_findings(board))
    n = sum(value is not None for value in values)
    assert (f"In x the judge gave one score to all {n} items: no system leads." in text) == constant
    assert ("first place" in text or "highest mean" in text) != constant


def test_system_order_is_attributed_to_the_judge():
    rng = random.Random(0)
    rows = [
        Judgement.model_validate(
            {"eid": f"d{n // 3}", "system": "abc"[n % 3], "aspect": "x", "judge": "j",
             "protocol": "likert", "value": 2 + n % 3 - rng.randrange(2)}
        )
        for n in range(60)
    ]  # fmt: skip
    boards = leaderboards(rows)
    (alone,), (beside,) = page_boards(boards, ()), page_boards(boards, {("j", "x", "likert")})
    words = "That is the judge's ranking; check whether it may rank systems."
    assert words not in board_findings(alone)
    assert words in board_findings(beside)
