"""The recorded replies of a real judge (SummEval), read in place from the shared data folder."""

from __future__ import annotations

import csv
import gzip
import json
import os
from collections import Counter
from pathlib import Path

import pytest
from json_files import read_rows

from fairjudge.domain import Unscored
from fairjudge.parsing import read_verdict
from fairjudge.scales import Scale, likert, options, pairwise, stars

HERE = Path(__file__).parent
SCALES: dict[str, Scale] = {
    "judge_gpt-3.5_rts.jsonl": likert(),
    "judge_gpt-3.5_stareval.jsonl": stars(),
    "judge_gpt-3.5_mcq.jsonl": options("ABCDE"),
    "pairwise_gpt-3.5_consistency.jsonl": pairwise("ABC"),
    "pairwise_gpt-3.5_relevance.jsonl": pairwise("ABC"),
}


@pytest.fixture(scope="module")
def replies() -> dict[str, list[dict]]:
    default = HERE.parents[1].parent / "shared" / "data"
    folder = Path(os.environ.get("FAIRJUDGE_SHARED_DATA", default)) / "summeval"
    if not folder.is_dir():
        pytest.skip(f"the recorded replies are not at {folder}; set FAIRJUDGE_SHARED_DATA")
    return {name: read_rows(folder / name) for name in SCALES}


def test_two_hundred_replies_match_human_reading(replies):
    """A stratified random sample, 40 a file, read by a person before the parser saw it."""
    with (HERE / "hand_checked.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 200
    wrong = []
    for row in rows:
        reply = replies[row["file"]][int(row["line"]) - 1]
        keys = [k for k in ("eid", "system", "system_a", "system_b", "aspect") if row[k]]
        assert [reply[k] for k in keys] == [row[k] for k in keys], "the data file has changed"
        records = read_verdict(reply["response"], SCALES[row["file"]])
        expected = row["expected"] if "pairwise" in row["file"] else float(row["expected"])
        if records != expected:
            wrong.append((row["file"], row["line"], expected, records))
    assert wrong == []


def test_at_most_one_reply_in_two_hundred_is_unscored(replies):
    unscored = []
    total = 0
    for name, rows in replies.items():
        for number, row in enumerate(rows, 1):
            total += 1
            records = read_verdict(row["response"], SCALES[name])
            if isinstance(records, Unscored):
                unscored.append((name, number, records.reason, records.detail))
    assert total == 11_900
    assert len(unscored) <= 0.005 * total, unscored


def test_letters_and_head_to_head_answers_agree_with_their_first_letter(replies):
    """These three files always open with the letter chosen, so a count needs no parser."""
    letters = Counter(row["response"].strip()[0] for row in replies["judge_gpt-3.5_mcq.jsonl"])
    result = Counter(
        read_verdict(row["response"], SCALES["judge_gpt-3.5_mcq.jsonl"])
        for row in replies["judge_gpt-3.5_mcq.jsonl"]
    )
    assert result == {float("ABCDE".index(letter) + 1): n for letter, n in letters.items()}
    for name in ("pairwise_gpt-3.5_consistency.jsonl", "pairwise_gpt-3.5_relevance.jsonl"):
        for row in replies[name]:
            expected = {"A": "first", "B": "second", "C": "tie"}[row["response"].strip()[0]]
            assert read_verdict(row["response"], SCALES[name]) == expected


def test_pair_debates_match_the_reading_of_their_tool():
    """LLMBar's chains of thought, both orders; what its tool took for no choice is left out."""
    default = HERE.parents[1].parent / "shared" / "data"
    folder = Path(os.environ.get("FAIRJUDGE_SHARED_DATA", default)) / "recorded_judges" / "llmbar"
    if not folder.is_dir():
        pytest.skip(f"the recorded judges are not at {folder}; set FAIRJUDGE_SHARED_DATA")
    sides = ("first", "second")
    counts: Counter[str] = Counter()
    for path in sorted([*folder.glob("*.CoT.json.gz"), *folder.glob("*.Vanilla.json.gz")]):
        for item in json.loads(gzip.decompress(path.read_bytes())):
            for swap, order in (("swap = False", sides), ("swap = True", sides[::-1])):
                text = item["results"][0][swap]
                if text["winner"] not in {"1", "2"}:
                    continue
                records = read_verdict(text["completion"][0], pairwise("AB"))
                expected = order[int(text["winner"]) - 1]
                unscored = isinstance(records, Unscored)
                counts["unscored" if unscored else "same" if records == expected else "other"] += 1
    assert counts["same"] > 3_300
    assert counts["other"] == 0
    assert counts["unscored"] <= 0.005 * counts.total()
