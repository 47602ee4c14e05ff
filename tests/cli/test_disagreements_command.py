"""The widest gaps between judge and people, in what calibrate shows and writes."""

from __future__ import annotations

from pathlib import Path

from cli_tools import write_jsonl
from json_files import read_json


def test_items_are_ordered_by_gap_with_both_reasons(cli):
    where = {"system": "s", "aspect": "coverage"}
    rows = [
        {**where, "eid": f"d{n}", "protocol": "likert", "judge": "j", "value": 1 + n % 5}
        for n in range(20)
    ]
    people = [{**where, "eid": f"d{n}", "annotator": "a", "value": 1 + n % 5} for n in range(20)]
    rows[4] |= {"raw": "Everything is covered."}
    people[4] |= {"value": 1, "note": "It is about something else."}
    write_jsonl(Path("judged.jsonl"), rows)
    write_jsonl(Path("labels.jsonl"), people)
    result = cli(
        "calibrate", "judged.jsonl", "--labels", "labels.jsonl", "--json", "out.json",
        "--resamples", "100", "--html", "page.html", code=0,
    )  # fmt: skip
    (group,) = read_json("out.json")["groups"]
    (entry,) = group["disagreements"]
    assert (entry["eid"], entry["gap"]) == ("d4", 4.0)
    assert entry["judge_reasons"] == ["Everything is covered."]
    assert entry["people_reasons"] == {"a": "It is about something else."}
    text = " ".join(result.out.split())
    assert "Largest disagreements, j, coverage, likert" in text
    assert "1 of 1 in the JSON" in text
    assert "It is about something else." in Path("page.html").read_text()


def test_causes_of_gaps_are_shown_with_their_overall_share(cli):
    """The judge is wrong about the three items of which it gave no reason, and right elsewhere."""
    where = {"system": "s", "aspect": "coverage"}
    rows = [
        {**where, "eid": f"d{n}", "protocol": "likert", "judge": "j",
         "value": 5 if n < 3 else 1 + n % 5, "raw": "5" if n < 3 else "Reasons. " * 9}
        for n in range(20)
    ]  # fmt: skip
    people = [
        {**where, "eid": f"d{n}", "annotator": "a", "value": 1 if n < 3 else 1 + n % 5}
        for n in range(20)
    ]
    write_jsonl(Path("judged.jsonl"), rows)
    write_jsonl(Path("labels.jsonl"), people)
    result = cli(
        "calibrate", "judged.jsonl", "--labels", "labels.jsonl", "--json", "out.json",
        "--resamples", "100", code=0,
    )  # fmt: skip
    (group,) = read_json("out.json")["groups"]
    assert group["disagreement_causes"] == [
        {"cause": "no_reason", "n_listed": 3, "listed": 3, "n_all": 3, "all": 20}
    ]
    assert "Common properties of the largest disagreements" in " ".join(result.out.split())
