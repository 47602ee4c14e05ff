"""The audits as commands: from stored and recorded judgements, and collected by real judges."""

from __future__ import annotations

import json

import pytest
from builders import make_judgement
from invoking import run
from json_files import read_json

from fairjudge.auditing.reports import position_report, verbosity_report
from fairjudge.errors import InputError
from fairjudge.records.sealed import seal
from fairjudge.scores.aggregate import with_pair_verdicts


def row(eid, value, *, system="s", other=None, **fields):
    systems = {"system": system} if other is None else {"system_a": system, "system_b": other}
    return make_judgement(eid=eid, value=value, **systems, **fields)


@pytest.mark.parametrize(
    ("aspect", "first", "second", "consistent"),
    [("consistency", 6.7, 25.2, 64.4), ("relevance", 22.0, 7.5, 66.9)],
)
def test_position_bias_of_the_recorded_judge(
    tmp_path, shared_data, aspect, first, second, consistent
):
    """Percentages counted independently over the same replies when the data were made."""
    imported, report = tmp_path / "j.jsonl", tmp_path / "audit.json"
    replies = shared_data / "summeval" / f"pairwise_gpt-3.5_{aspect}.jsonl"
    run("data", "import", replies, "-o", imported, "--protocol", "pairwise", "--options", "A,B,C")
    run("audit", "position", imported, "--json", report)
    (group,) = read_json(report)["groups"]
    assert group["n_pairs"] == 1100
    assert group["first"]["value"] == pytest.approx(first, abs=0.05)
    assert group["second"]["value"] == pytest.approx(second, abs=0.05)
    assert group["consistency"]["value"] == pytest.approx(consistent, abs=0.05)
    shares = [group[k]["value"] for k in ("first", "second", "consistency", "one_tie")]
    assert sum(shares) == pytest.approx(100.0)
    assert group["first"]["low"] < group["first"]["value"] < group["first"]["high"]
    assert group["first_minus_second"]["p_value"] < 0.001
    assert set(group["by_closeness"]) == {"close", "far apart"}
    assert len(group["by_systems"]) == 11


@pytest.mark.parametrize(
    ("file", "options", "n"),
    [
        ("rts", ["--scale", "1-5"], 2400),
        ("mcq", ["--options", "A,B,C,D,E"], 2700),  # 300 items were judged twice
        ("stareval", ["--stars"], 2400),
    ],
)
def test_at_least_99_5_percent_of_recorded_ratings_are_read(
    tmp_path, shared_data, file, options, n
):
    """At most 0.5 % unscored is what the import promises on these replies."""
    replies = shared_data / "summeval" / f"judge_gpt-3.5_{file}.jsonl"
    imported, report = tmp_path / "j.jsonl", tmp_path / "import.json"
    run(
        "data",
        "import",
        replies,
        "-o",
        imported,
        "--protocol",
        "likert",
        *options,
        "--json",
        report,
    )
    data = read_json(report)
    assert data["n_judgements"] == n
    assert len(data["unscored"]) <= 0.005 * n
    assert all(entry["reason"] and entry["detail"] for entry in data["unscored"])


def test_always_first_judge_has_full_position_bias():
    rows = []
    for eid in map(str, range(6)):
        rows += [row(eid, "a", order="ab", other="t"), row(eid, "b", order="ba", other="t")]
    (group,) = position_report(rows, labels=None, close_within=0.5)["groups"]
    assert group["first"]["value"] == 100.0
    assert group["consistency"]["value"] == 0.0
    # All six documents agree, the exact sign-flip test: 2 * 0.5 ** 6.
    assert group["first_minus_second"]["p_value"] == pytest.approx(2 * 0.5**6)
    assert group["shift"] is None


def test_closeness_uses_labels_of_the_same_aspect(tmp_path):
    labels = tmp_path / "labels.jsonl"
    lines = [
        {"eid": eid, "system": system, "aspect": "coverage", "annotator": "x", "value": value}
        for eid, system, value in [("1", "s", 5), ("1", "t", 1), ("2", "s", 3), ("2", "t", 3)]
    ]
    labels.write_text("\n".join(map(json.dumps, lines)))
    rows = []
    for eid in "12":
        rows += [row(eid, "a", order="ab", other="t"), row(eid, "a", order="ba", other="t")]
    (group,) = position_report(rows, labels=labels, close_within=0.5)["groups"]
    assert {name: items["n_pairs"] for name, items in group["by_closeness"].items()} == {
        "far apart": 1,
        "close": 1,
    }


def test_position_audit_without_pairs_raises():
    with pytest.raises(InputError, match="pairwise"):
        position_report([row("1", 3)], labels=None, close_within=0.5)


def test_probes_are_distinguished():
    """The longer text scores higher when repeated, lower with unsupported facts."""
    rows = [
        judgement
        for eid in "123"
        for judgement in (
            row(eid, 3),
            row(eid, 4, system="s:extended"),
            row(eid, 2, system="s:unsupported"),
        )
    ]
    groups = {group["probe"]: group for group in verbosity_report(rows)["groups"]}
    assert set(groups) == {"extended", "unsupported"}
    assert groups["extended"]["extended"]["value"] == 100.0
    assert groups["unsupported"]["original"]["value"] == 100.0
    assert groups["unsupported"]["n"] == 3


def test_verbosity_audit_without_probes_raises():
    with pytest.raises(InputError, match="X:extended"):
        verbosity_report([row("1", 3)])


def test_pair_rows_survive_the_audit_of_a_run(tmp_path):
    """An earlier run's folder is as good as a file of judgements."""
    rows = with_pair_verdicts(
        [row("1", "a", order="ab", other="t"), row("1", "a", order="ba", other="t")]
    )
    folder = tmp_path / "run"
    folder.mkdir()
    lines = [seal({"task": str(n), "judgement": r.to_json()}) for n, r in enumerate(rows)]
    (folder / "judgements.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    report = tmp_path / "audit.json"
    run("audit", "position", "--run", folder, "--json", report)
    (group,) = read_json(report)["groups"]
    assert group["consistency"]["value"] == 100.0


def test_audit_needs_something_to_audit():
    result = run("audit", "position", code=2)
    assert "judgements" in result.output


def test_length_adjustment_removes_what_length_alone_explains(tmp_path):
    """The longer one wins 8 of 10 times whoever wrote it, and s is longer 3 of 4 times.

    As judged s wins 0.75 * 0.8 + 0.25 * 0.2 = 65 %; at equal length neither does better.
    """
    summaries, judgements = tmp_path / "s.jsonl", tmp_path / "j.jsonl"
    texts, rows = [], []
    for n in range(40):
        long, short = ("s", "t") if n % 4 else ("t", "s")
        texts += [
            {"eid": str(n), "system": long, "text": "word " * 20},
            {"eid": str(n), "system": short, "text": "word " * 10},
        ]
        won = "a" if (long == "s") is (n // 4 % 5 != 0) else "b"
        rows += [row(str(n), won, order=order, other="t") for order in ("ab", "ba")]
    summaries.write_text("\n".join(map(json.dumps, texts)))
    judgements.write_text("\n".join(json.dumps(row.to_json()) for row in rows))
    report = tmp_path / "length.json"
    run("audit", "length", judgements, "--summaries", summaries, "--json", report)
    (group,) = read_json(report)["groups"]
    (pair,) = group["win_rates"]
    assert pair["raw"]["value"] == pytest.approx(65.0)
    assert pair["adjusted"]["value"] == pytest.approx(50.0, abs=0.5)
    assert group["length_effect"]["value"] > 1.0
    assert 0.0 <= pair["raw"]["low"] <= pair["raw"]["high"] <= 100.0


def test_too_few_pairs_raise_with_the_reason(tmp_path):
    summaries, judgements = tmp_path / "s.jsonl", tmp_path / "j.jsonl"
    summaries.write_text('{"eid": "1", "system": "s", "text": "a"}')
    judgements.write_text(json.dumps(row("1", "a", order="ab", other="t").to_json()))
    report = tmp_path / "length.json"
    run("audit", "length", judgements, "--summaries", summaries, "--json", report)
    (group,) = read_json(report)["groups"]
    assert group["win_rates"] == []
    assert "30 are needed" in group["why"]
    assert group["n_left_out"] == 1
