"""A team watches its judge for weeks, with ``check --since``, on SummEval's labels of relevance.

The judge is a recorded one (gpt-3.5 that reasons and then scores; Shen et al. 2023), the silent
update the same model under another prompt (it picks a letter). Anchors are the first 50 articles;
new summaries are those of the other 50.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from cli_tools import write_jsonl
from json_files import read_json, read_rows

SUMMEVAL = Path(__file__).resolve().parents[3] / "shared" / "data" / "summeval"
pytestmark = pytest.mark.skipif(not SUMMEVAL.is_dir(), reason="needs ../shared/data/summeval")
CHECK = ("check", "new.jsonl", "--baseline", "baseline.jsonl", "--labels", "labels.jsonl")
WATCH = ("--since", "looks.jsonl", "--live", "live.jsonl", "--json", "out.json")


def again(rows: list[dict[str, object]], seed: int) -> list[dict[str, object]]:
    """Judge anew: every tenth rating is one point off, up or down as often."""
    rng = random.Random(seed)
    return [
        row | {"value": min(5, max(1, row["value"] + rng.choice((-1, 1))))}
        if rng.random() < 0.1
        else row
        for row in rows
    ]


@pytest.fixture
def judged(cli) -> dict[str, list[dict[str, object]]]:
    """Anchors and new summaries, as the judge and as its update rate them; labels beside them."""
    by_name = {}
    for name, more in (("rts", ("--scale", "1-5")), ("mcq", ("--options", "A,B,C,D,E"))):
        recorded = SUMMEVAL / f"judge_gpt-3.5_{name}.jsonl"
        cli(
            *("data", "import", recorded, "--protocol", "likert", "--repeats", "last"),
            *("-o", f"{name}.jsonl", *more),
            code=0,
        )
        rows = [row for row in read_rows(f"{name}.jsonl") if row["aspect"] == "relevance"]
        first = set(sorted({row["eid"] for row in rows})[:50])
        by_name[name] = [row for row in rows if row["eid"] in first]
        by_name[f"{name} live"] = [row for row in rows if row["eid"] not in first]
    anchors = {row["eid"] for row in by_name["rts"]}
    write_jsonl(
        Path("labels.jsonl"),
        [
            row
            for row in read_rows(SUMMEVAL / "labels.jsonl")
            if row["eid"] in anchors
            and row["aspect"] == "relevance"
            and str(row["annotator"]).startswith("expert")
        ],
    )
    write_jsonl(Path("baseline.jsonl"), by_name["rts"])
    return by_name


@pytest.fixture
def look(cli, judged):
    """Judge anchors and new summaries, and look."""

    def run(anchors, live, *more: str):
        write_jsonl(Path("new.jsonl"), anchors)
        write_jsonl(Path("live.jsonl"), live)
        return cli(*CHECK, *WATCH, *more)

    return run


def watch() -> dict[str, object]:
    (group,) = read_json("out.json")["groups"]
    return group["watch"]


def test_history_separates_judge_update_from_worse_systems(cli, judged, look):
    for week in range(1, 5):
        result = look(again(judged["rts"], week), again(judged["rts live"], 100 + week))
        assert result.code == 0, result.err
        assert f"Check {week} of looks.jsonl." in result.out
        assert watch()["moved"] == "neither"

    same = look(again(judged["rts"], 4), again(judged["rts live"], 104))  # the job ran twice
    assert "Check 4 of looks.jsonl, the same as last time." in same.out
    assert len(read_rows("looks.jsonl")) == 5  # the plan, and four looks

    worse = [row | {"value": max(1, row["value"] - 1)} for row in judged["rts live"]]
    result = look(again(judged["rts"], 5), worse)
    assert result.code == 0, result.err  # agreement decides, and the judge is as it was
    assert "The systems changed" in result.out
    assert watch()["systems"]["high"] < 0

    result = look(judged["mcq"], judged["mcq live"])
    assert result.code in (0, 4)
    assert "The judge changed" in result.out
    assert watch()["moved"] == "judge"
    # by hand: the mean over documents of the change of ratings, as a part of four points
    before = {(row["eid"], row["system"]): row["value"] for row in judged["rts"]}
    moved: dict[object, list[float]] = {}
    for row in judged["mcq"]:
        change = row["value"] - before[row["eid"], row["system"]]
        moved.setdefault(row["eid"], []).append(change / 4)
    means = [sum(items) / len(items) for items in moved.values()]
    assert watch()["shift"]["value"] == pytest.approx(sum(means) / len(means))

    rng = random.Random(0)
    noise = [row | {"value": rng.randint(1, 5)} for row in judged["rts"]]
    result = look(noise, judged["rts live"])
    assert result.code == 4
    assert "Failed: it agrees with human labels less than before." in result.out
    result = look(again(judged["rts"], 8), again(judged["rts live"], 108), "--figures", "weeks")
    assert result.code == 0
    assert "It was worse at check 7." in " ".join(result.out.split())
    by_look = watch()["by_look"]
    assert [item["agreement"]["value"] is None for item in by_look] == [False] * 8
    assert by_look[6]["agreement"]["high"] < 0 < by_look[7]["agreement"]["high"]
    assert by_look[7]["agreement"] == watch()["agreement"]
    pytest.importorskip("matplotlib", reason="needs the extra [plots]")
    sample = sorted(path.stem for path in Path("weeks").glob("*.svg"))
    assert [name.partition("-relevance")[0] for name in sample] == [
        "01-monitored-agreement-with-human-labels", "02-monitored-the-judge-s-values-of-anchors",
        "03-monitored-the-systems-by-values-of-new-summaries-minus-those",
    ]  # fmt: skip
    assert Path("weeks", f"{sample[0]}.svg").read_text("utf-8").count("check 7: -") == 1


def test_history_needs_one_baseline_one_plan_and_no_gaps(cli, judged, look):
    assert look(judged["rts"], judged["rts live"]).code == 0
    record = Path("looks.jsonl")
    remaining = record.read_bytes()

    record.write_bytes(remaining + remaining[:40])  # a kill in the middle of writing
    assert look(again(judged["rts"], 2), judged["rts live"]).code == 0
    assert "Check 2" in look(again(judged["rts"], 2), judged["rts live"]).out
    assert record.read_bytes().startswith(remaining)

    result = look(judged["rts"], judged["rts live"], "--looks", "12")
    assert result.code == 1
    assert "looks (52 there, now 12)" in result.err
    write_jsonl(Path("baseline.jsonl"), judged["mcq"])
    result = look(judged["rts"], judged["rts live"])
    assert result.code == 1
    assert "it differs in anchors" in result.err
    write_jsonl(Path("baseline.jsonl"), judged["rts"])

    damaged = record.read_bytes()
    record.write_bytes(damaged.replace(b'"agreement"', b'"agreemenT"', 1))
    result = look(judged["rts"], judged["rts live"])
    assert result.code == 1
    assert "looks.jsonl" in result.err
    record.write_text("a note of mine")
    result = look(judged["rts"], judged["rts live"])
    assert result.code == 1
    assert record.read_text() == "a note of mine"


def test_new_summaries_of_another_judge_raise(judged, look):
    live = [row | {"judge": "another"} for row in judged["rts live"]]
    result = look(judged["rts"], live)
    assert result.code == 1
    assert "no live judgement with a score belongs to the checked groups" in result.err
    assert not Path("looks.jsonl").exists()


def test_new_summaries_need_a_history(cli, judged):
    write_jsonl(Path("new.jsonl"), judged["rts"])
    result = cli(*CHECK, "--live", "new.jsonl", code=1)
    assert "live: requires since" in result.err
