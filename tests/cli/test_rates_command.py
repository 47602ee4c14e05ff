"""What calibrate says of a yes-or-no judge's errors."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_tools import write_jsonl
from json_files import read_json


def row(n: int, **more: object) -> dict:
    return {"eid": f"d{n // 2}", "system": f"s{n % 2}", "aspect": "coverage", **more}


def judged(n: int, value: float) -> dict:
    return row(n, protocol="binary", judge="j", value=value)


def test_rates_and_corrected_share_are_in_table_and_json(cli):
    """Of 50 labelled yes 40 are found, of 50 no 45; the other 100 get 38 yes: corrected 0.4."""
    answers = [1] * 40 + [0] * 10 + [1] * 5 + [0] * 45 + [1] * 38 + [0] * 62
    people = [1] * 50 + [0] * 50
    write_jsonl(Path("judged.jsonl"), [judged(n, value) for n, value in enumerate(answers)])
    write_jsonl(
        Path("labels.jsonl"), [row(n, annotator="a", value=v) for n, v in enumerate(people)]
    )
    result = cli(
        "calibrate", "judged.jsonl", "--labels", "labels.jsonl", "--json", "out.json",
        "--resamples", "100", code=0,
    )  # fmt: skip
    (group,) = read_json("out.json")["groups"]
    rates = group["rates"]
    assert rates["sensitivity"]["value"] == pytest.approx(0.8)
    assert rates["specificity"]["value"] == pytest.approx(0.9)
    assert rates["prevalence"]["corrected"]["value"] == pytest.approx(0.4)
    assert rates["prevalence"]["judged"]["value"] == pytest.approx(0.38)
    assert set(rates["by_system"]) == {"s0", "s1"}
    assert "Error rates, j, coverage, binary" in result.out
    assert "Rogan and Gladen" in result.out


def test_ratings_have_no_rates(cli):
    rows = [row(n, protocol="likert", judge="j", value=n % 5 + 1) for n in range(20)]
    write_jsonl(Path("judged.jsonl"), rows)
    labels = [row(n, annotator="a", value=n % 4 + 1) for n in range(20)]
    write_jsonl(Path("labels.jsonl"), labels)
    result = cli(
        "calibrate", "judged.jsonl", "--labels", "labels.jsonl", "--json", "out.json",
        "--resamples", "100", code=0,
    )  # fmt: skip
    assert read_json("out.json")["groups"][0]["rates"] is None
    assert "Error rates" not in result.out
