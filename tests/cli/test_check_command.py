"""The gate on a changed judge, as a command and as a pytest fixture."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from cli_tools import write_jsonl

OF = {"system": "x", "aspect": "coverage"}
JUDGED = OF | {"protocol": "binary", "judge": "j", "unit": "summary"}


def write_anchors(n: int = 60) -> None:
    """Labels; a judge that is always right; one that is wrong on every third; one unscored."""
    write_jsonl(
        Path("labels.jsonl"),
        [OF | {"eid": f"e{i}", "annotator": "ann", "value": i % 2} for i in range(n)],
    )
    right = [JUDGED | {"eid": f"e{i}", "value": i % 2, "raw": "secret words"} for i in range(n)]
    write_jsonl(Path("old.jsonl"), right)
    wrong = [row | {"value": 1 - row["value"], "judge": "new"} for row in right[::3]]
    kept = [row | {"judge": "new"} for i, row in enumerate(right) if i % 3]
    write_jsonl(Path("wrong.jsonl"), [*wrong, *kept])
    silent = [row | {"value": None, "unscored": "refused"} for row in right[::3]]
    write_jsonl(Path("silent.jsonl"), [*silent, *(r for i, r in enumerate(right) if i % 3)])


def check(cli, new: str, *more: str):
    return cli("check", new, "--baseline", "old.jsonl", "--labels", "labels.jsonl", *more)


def test_a_worse_judge_ends_with_4_and_the_same_with_0(cli):
    write_anchors()
    done = check(cli, "wrong.jsonl", "--json", "out.json")
    assert done.code == 4, done.err
    assert "Worse. It agrees with people less than before" in done.out
    (group,) = json.loads(Path("out.json").read_text())["groups"]
    assert (group["before"], group["after"]) == (1.0, pytest.approx(2 / 3))
    assert (group["judge_before"], group["judge_after"]) == ("j", "new")
    done = check(cli, "old.jsonl")
    assert done.code == 0, done.err
    assert "Same. It agrees with people as before" in done.out


def test_anchors_that_lost_their_score_are_counted_and_end_with_3(cli):
    write_anchors()
    done = check(cli, "silent.jsonl")
    assert done.code == 3
    assert "20 of 60 anchors (33.3 %) without a score after." in done.out


def test_few_anchors_cannot_tell_and_fail_where_asked_to(cli):
    write_anchors(4)
    lax = check(cli, "wrong.jsonl")
    assert lax.code == 0
    assert lax.out.startswith("In short: Cannot tell: the anchors are too few to tell, which fails")
    assert "Passed" not in lax.out
    done = check(cli, "wrong.jsonl", "--strict")
    assert done.code == 4
    assert "too few to tell whether the loss is within the margin" in " ".join(done.out.split())


def test_a_saved_baseline_has_no_texts_and_checks_the_same(cli):
    write_anchors()
    assert check(cli, "wrong.jsonl", "--save", "next.jsonl").code == 4
    assert "secret words" not in Path("next.jsonl").read_text()
    done = cli("check", "old.jsonl", "--baseline", "next.jsonl", "--labels", "labels.jsonl")
    assert done.code == 0
    assert "Better." in done.out


def test_nothing_in_common_is_an_error_that_says_what_each_has(cli):
    write_anchors()
    pair = {"system": None, "system_a": "x", "system_b": "y", "order": "ab"}
    write_jsonl(
        Path("other.jsonl"), [JUDGED | pair | {"eid": "e1", "protocol": "pairwise", "value": "a"}]
    )
    done = check(cli, "other.jsonl", "--label-scale", "0-1")
    assert done.code == 1
    assert "coverage by binary" in done.err
    assert "coverage by pairwise" in done.err


def test_the_fixture_fails_with_the_table(cli):
    write_anchors()
    Path("conftest.py").write_text(
        'pytest_plugins = ["fairjudge.pytest_plugin"]\n', encoding="utf-8"
    )
    Path("test_judge.py").write_text(
        "def test_worse(fairjudge_check):\n"
        "    fairjudge_check('wrong.jsonl', 'labels.jsonl', baseline='old.jsonl')\n"
        "def test_same(fairjudge_check):\n"
        "    found = fairjudge_check('old.jsonl', 'labels.jsonl', baseline='old.jsonl')\n"
        "    assert found['verdict'] == 'same'\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_judge.py"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "fairjudge: worse" in done.stdout
    assert "agreement with people" in done.stdout
