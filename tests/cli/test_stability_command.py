"""How stable a judge is, from files."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_tools import write_jsonl
from json_files import read_json


def judged(n: int, value: float | None, **more: object) -> dict:
    row = {"eid": f"d{n // 2}", "system": f"s{n % 2}", "aspect": "coverage", "judge": "j"}
    unscored = None if value is not None else "refused"
    return {**row, "protocol": "likert", "value": value, "unscored": unscored, **more}


def measured(cli, *more: str) -> tuple[dict, str]:
    result = cli("audit", "stability", "judged.jsonl", "--json", "out.json", *more, code=0)
    (group,) = read_json("out.json")["groups"]
    return group, result.out


def test_repeats_in_a_file_are_compared(cli):
    """Of 20 items 5 get another value the second time; one refusal is counted and left out."""
    rows = [judged(n, 1 + n % 4, repeat=0) for n in range(20)]
    rows += [judged(n, 1 + n % 4 + (n < 5), repeat=1) for n in range(20)]
    write_jsonl(Path("judged.jsonl"), [*rows, judged(0, None, repeat=2)])
    group, out = measured(cli)
    assert group["flips"]["value"] == pytest.approx(0.25)
    assert group["unanimous"]["value"] == pytest.approx(0.75)
    assert group["n_unscored"] == 1
    assert "Stability of j, coverage, likert" in out
    assert "Effect of repeats on a mean" in out


def test_stored_sample_replies_are_parsed_again(cli):
    """Each item has three replies: 4, 4 and 5; of three pairs two differ."""
    rows = [judged(n, 4.33, samples=["4", "Score: 4", "5"]) for n in range(12)]
    write_jsonl(Path("judged.jsonl"), rows)
    group, _ = measured(cli)
    assert group["n_judgements"] == 36
    assert group["flips"]["value"] == pytest.approx(2 / 3)


def test_always_agreeing_prompts_are_suspected_copies(cli):
    rows = [judged(n, 1 + n % 4, prompt=p) for n in range(12) for p in ("plain", "reasons")]
    write_jsonl(Path("judged.jsonl"), rows)
    group, out = measured(cli, "--variant", "prompt")
    assert group["alike"]
    assert "copies of one another" in " ".join(out.split())


def test_both_orders_of_a_pair_are_not_repeats(cli):
    pair = {"eid": "d", "system_a": "x", "system_b": "y", "aspect": "coverage", "judge": "j"}
    pair["protocol"] = "pairwise"
    write_jsonl(
        Path("judged.jsonl"),
        [{**pair, "order": "ab", "value": "a"}, {**pair, "order": "ba", "value": "b"}],
    )
    result = cli("audit", "stability", "judged.jsonl", code=1)
    assert "no item was judged more than once" in result.err
