"""The gate on a changed judge, as a command and as a pytest fixture."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from cli_tools import write_jsonl
from json_files import read_json

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
    items = [row | {"judge": "new"} for i, row in enumerate(right) if i % 3]
    write_jsonl(Path("wrong.jsonl"), [*wrong, *items])
    silent = [row | {"value": None, "unscored": "refused"} for row in right[::3]]
    write_jsonl(Path("silent.jsonl"), [*silent, *(r for i, r in enumerate(right) if i % 3)])


def check(cli, new: str, *more: str):
    return cli("check", new, "--baseline", "old.jsonl", "--labels", "labels.jsonl", *more)


def test_worse_judge_exits_with_4_and_equal_judge_with_0(cli):
    write_anchors()
    result = check(cli, "wrong.jsonl", "--json", "out.json")
    assert result.code == 4, result.err
    assert "Worse. It agrees with human labels less than before" in result.out
    (group,) = read_json("out.json")["groups"]
    assert (group["before"], group["after"]) == (1.0, pytest.approx(2 / 3))
    assert (group["judge_before"], group["judge_after"]) == ("j", "new")
    result = check(cli, "old.jsonl")
    assert result.code == 0, result.err
    assert "Same. It agrees with human labels as before" in result.out


def test_newly_unscored_anchors_are_counted_and_exit_with_3(cli):
    write_anchors()
    result = check(cli, "silent.jsonl")
    assert result.code == 3
    assert "20 of 60 anchors (33.3 %) without a score after." in result.out


def test_few_anchors_give_cannot_tell_and_fail_on_request(cli):
    write_anchors(4)
    lax = check(cli, "wrong.jsonl")
    assert lax.code == 0
    text = " ".join(lax.out.split())
    assert text.startswith(
        "In short: Cannot tell whether agreement with human labels fell by more than"
    )
    assert "4 anchors in 4 documents are too few; about " in text
    assert "Passed" not in lax.out
    result = check(cli, "wrong.jsonl", "--strict")
    assert result.code == 4
    assert "Failed by --strict: cannot tell whether agreement" in " ".join(result.out.split())


def test_saved_baseline_has_no_texts_and_gives_equal_results(cli):
    write_anchors()
    assert check(cli, "wrong.jsonl", "--save", "next.jsonl").code == 4
    assert "secret words" not in Path("next.jsonl").read_text()
    result = cli(
        "check", "old.jsonl", "--baseline", "next.jsonl", "--labels", "labels.jsonl", code=0
    )
    assert "Better." in result.out


def test_disjoint_runs_raise_an_error_listing_both(cli):
    write_anchors()
    pair = {"system": None, "system_a": "x", "system_b": "y", "order": "ab"}
    write_jsonl(
        Path("other.jsonl"), [JUDGED | pair | {"eid": "e1", "protocol": "pairwise", "value": "a"}]
    )
    result = check(cli, "other.jsonl", "--label-scale", "0-1")
    assert result.code == 1
    assert "coverage by binary" in result.err
    assert "coverage by pairwise" in result.err


def test_pytest_fixture_fails_with_the_table(cli):
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
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_judge.py"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "1 failed, 1 passed" in result.stdout, result.stdout + result.stderr
    assert "fairjudge: worse" in result.stdout
    assert "agreement with human labels" in result.stdout


def write_ratings(**values: list[int]) -> None:
    """Labels from 1 to 5 of 36 anchors, three a document, and judgements with these values."""
    eids = [f"e{i // 3:02}" for i in range(36)]
    systems = ["xyz"[i % 3] for i in range(36)]
    for name, column in values.items():
        own = {"annotator": "ann"} if name == "labels" else {"protocol": "likert", "judge": "j"}
        rows = [
            {"eid": eid, "system": system, "aspect": "coverage", "value": value, **own}
            for eid, system, value in zip(eids, systems, column, strict=True)
        ]
        write_jsonl(Path(f"{name}.jsonl"), rows)


PEOPLE = [1 + (7 * i) % 5 for i in range(36)]
GOOD = [min(5, max(1, label + (-1, 0, 0, 1)[i % 4])) for i, label in enumerate(PEOPLE)]


@pytest.mark.parametrize("old", [GOOD, [2] * 36], ids=["good before", "constant before"])
@pytest.mark.parametrize(
    ("new", "reason"),
    [
        ([4] * 36, "the judge gave one score to all 36 anchors"),
        ([4] * 34 + [5, 3], "the judge gave one score to 34 of 36 anchors"),
    ],
    ids=["constant", "nearly constant"],
)
@pytest.mark.parametrize("since", [(), ("--since", "looks.jsonl")], ids=["once", "watched"])
def test_constant_judge_fails_for_any_score(cli, old, new, reason, since):
    write_ratings(labels=PEOPLE, old=old, new=new)
    result = check(cli, "new.jsonl", "--json", "out.json", *since)
    text = " ".join(result.out.split())
    assert result.code == 4, text
    assert f"In short: Failed: {reason}." in text
    assert "too few" not in text
    data = read_json("out.json")
    (group,) = data["groups"]
    assert (data["outcome"], group["verdict"], group["reason"]) == ("constant", "constant", reason)
    assert group["agreement"]["low"] <= group["agreement"]["value"] <= group["agreement"]["high"]


def test_constant_labels_do_not_fail_the_judge(cli):
    write_ratings(labels=[3] * 36, old=GOOD, new=[4] * 36)
    result = check(cli, "new.jsonl", "--label-scale", "1-5")
    text = " ".join(result.out.split())
    assert result.code == 0, result.err
    assert "Cannot tell whether agreement with human labels fell" in text
    assert "people gave one label to all 36 anchors" in text


def test_always_yes_judge_fails_even_if_most_labels_are_yes(cli):
    """The share of the same answer falls by a thirtieth only, which the margin would allow."""
    of = [OF | {"eid": f"e{i:02}"} for i in range(60)]
    labels = [row | {"annotator": "ann", "value": int(i > 1)} for i, row in enumerate(of)]
    write_jsonl(Path("labels.jsonl"), labels)
    write_jsonl(Path("old.jsonl"), [JUDGED | row | {"value": row["value"]} for row in labels])
    write_jsonl(Path("new.jsonl"), [JUDGED | row | {"value": 1} for row in of])
    result = check(cli, "new.jsonl", "--margin", "0.2")
    assert result.code == 4, result.out
    assert "the judge gave one score to all 60 anchors" in " ".join(result.out.split())


def test_changed_values_need_not_change_agreement(cli):
    """Two of three values are one higher: that is seen, and whether agreement fell is not."""
    raised = [min(5, value + (i % 3 > 0)) for i, value in enumerate(GOOD)]
    write_ratings(labels=PEOPLE, old=GOOD, new=raised)
    result = check(cli, "new.jsonl", "--margin", "0.01")
    text = " ".join(result.out.split())
    assert result.code == 0, result.err
    assert "36 anchors in 12 documents are too few; about " in text
    assert "the judge's values of the same anchors changed by 0." in text
