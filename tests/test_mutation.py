"""The script that looks for faults which no test sees: what it changes, runs and says."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import mutation
import pytest
from mutation import ROOT, candidates, draw, is_program, relevant_tests


def changed(source: str) -> list[str]:
    text = source.encode()
    result = candidates("m.py", text)
    return [mutant.lines(text)[1] for mutant in result if is_program(mutant, text)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = a < b", ["x = a <= b", "x = a >= b"]),
        ("x = a is  not b", ["x = a is b"]),
        ("x = a in b", ["x = a not in b"]),
        ("x = a + b * c", ["x = a - b * c", "x = a + b / c"]),
        ("x += y", ["x -= y"]),
        ("x = a and b", ["x = a or b"]),
        ("x = not a", ["x = a"]),
        ("x = -a", ["x = +a"]),
        ("x = 3", ["x = 4"]),
        ("x = True", ["x = False"]),
        ("def f():\n    return x", ["return None"]),
        ("if x:\n    y()", ["if not (x):"]),
        ("x = [é for é in a if é]", ["x = [é for é in a if not (é)]"]),
        ("f(\n    a\n    # of\n    < 2)", ["<= 2)", ">= 2)", "< 3)"]),
    ],
)
def test_each_mutant_has_one_change(source, expected):
    assert changed(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        '"""Of 3 < 4."""',
        "x: int | None",
        "Either = int | None",
        "def f(x: int | None = None) -> None:\n    pass",
        "@dataclass(frozen=True)\nclass A:\n    pass",
        "raise ValueError(f'{3 < 4}')",
        "if TYPE_CHECKING:\n    x = 1",
        "zip(a, b, strict=True)",
        "x = 'a %d' % y",
        "def f():\n    return None",
    ],
)
def test_unobservable_code_is_not_mutated(source):
    assert changed(source) == []


def test_every_mutant_is_valid_python():
    source = (ROOT / "fairjudge/text/closest.py").read_bytes()
    result = candidates("c.py", source)
    assert len(result) > 20
    assert all(is_program(mutant, source) for mutant in result)


def test_seed_is_reproducible_and_a_line_gets_all_its_mutants():
    places = ("text", "cache")
    sample, again, other = (draw(ROOT, places, n=20, seed=seed) for seed in (1, 1, 2))
    assert sample == again != other
    assert len(set(sample)) == 20
    (first, *_) = sample
    line = draw(ROOT, [f"{first.path}:{first.line}"], n=0, seed=0)
    assert first in line
    assert {mutant.line for mutant in line} == {first.line}
    with pytest.raises(SystemExit, match="nothing called 'nowhere'"):
        draw(ROOT, ["nowhere"], n=1, seed=0)


def test_relevant_tests_per_module():
    texts = {
        "tests/stats/test_levels.py": "",
        "tests/stats/test_other.py": "from fairjudge.stats import bootstrap, levels",
        "tests/fairness/test_near.py": "from fairjudge.stats.levels import level",
        "tests/fairness/test_levels.py": "",
        "tests/cli/test_levels.py": "from fairjudge.stats.levels import level",
        "tests/stats/test_far.py": "from fairjudge.stats.levelsets import level",
    }
    assert relevant_tests("fairjudge/stats/levels.py", texts) == [
        ["tests/stats/test_levels.py", "tests/stats/test_other.py", "tests/fairness/test_near.py"],
        ["tests/stats/test_far.py"],
    ]
    assert relevant_tests("graphs/judge.py", texts) == []
    commands = {"tests/cli/test_calibrate_command.py": "", "tests/cli/test_fairness.py": ""}
    assert relevant_tests("calibration/drift.py", commands) == [
        ["tests/cli/test_calibrate_command.py"]
    ]


def test_equivalent_mutants_refer_to_existing_lines():
    listed = tomllib.loads((ROOT / "tests/equivalent_mutants.toml").read_text("utf-8"))["mutant"]
    absent = [
        (mutant["path"], mutant["before"])
        for mutant in listed
        if mutant["before"] not in (ROOT / mutant["path"]).read_text("utf-8")
    ]
    assert listed
    assert absent == []


MODULE = "def half(n: int) -> float:\n    return n / 2\n\n\ndef unseen() -> int:\n    return 7\n"
TESTS = """
import pathlib, time
from fairjudge.stats.tiny import half
def test_half():
    assert half(4) == 2
def test_that_fails_always():
    assert False
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    for folder in ("fairjudge/stats", "tests/stats"):
        (root / folder).mkdir(parents=True)
    (root / "fairjudge/__init__.py").touch()
    (root / "fairjudge/stats/__init__.py").touch()
    (root / "fairjudge/stats/tiny.py").write_text(MODULE)
    (root / "tests/stats/test_tiny.py").write_text(TESTS)
    (root / "tests/equivalent_mutants.toml").write_text(
        '[[mutant]]\npath = "fairjudge/stats/tiny.py"\nbefore = "return 7"\n'
        'after = "return 8"\nwhy = "seven is as good"\n'
    )
    return root


def run(root: Path, *options: str) -> subprocess.Popen[str]:
    program = f"import mutation, pathlib; mutation.HEAVY = (); raise SystemExit(mutation.main({[*options]!r}, root=pathlib.Path({str(root)!r})))"  # noqa: E501
    return subprocess.Popen(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": str(ROOT / "tests"), "TMPDIR": str(root.parent)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_survivors_are_reported_and_the_tree_is_unchanged(tree):
    before = {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()}
    out, err = (process := run(tree, "stats")).communicate(timeout=300)
    assert err == ""
    assert process.returncode == 1
    output = out.splitlines()
    assert [line.split(" (")[0] for line in output if "stats/tiny.py:" in line] == [
        "killed: fairjudge/stats/tiny.py:2",
        "killed: fairjudge/stats/tiny.py:2",
        "killed: fairjudge/stats/tiny.py:2",
        "equivalent: fairjudge/stats/tiny.py:6",
        "lived: fairjudge/stats/tiny.py:6",
    ]
    assert output[-4:-2] == ["  - return 7", "  + return None"]
    assert "equivalent: fairjudge/stats/tiny.py:6 (seven is as good)" in output
    assert output[-2:] == [
        "left out, since it fails without a mutant: "
        "tests/stats/test_tiny.py::test_that_fails_always",
        "5 mutants: 1 equivalent, 3 killed, 1 lived",
    ]
    assert {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()} == before
    assert list(tree.parent.iterdir()) == [tree]


def test_an_interrupt_leaves_nothing_behind(tree):
    folder = tree.parent / "begun"
    os.mkfifo(folder)
    waiting = f"\nopen({str(folder)!r}, 'w').close()\ntime.sleep(600)\n"
    (tree / "tests/stats/test_tiny.py").write_text(TESTS + waiting)
    process = run(tree, "stats")
    with folder.open():  # the tests of the first mutant have begun
        process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert err == "interrupted; what was run stands above\n"
    assert process.returncode == 130
    assert sorted(tree.parent.iterdir()) == [folder, tree]


def test_hanging_test_times_out_its_mutant(tmp_path, monkeypatch):
    """Not the run as a whole, whose tests may be many: each has its own time."""
    monkeypatch.setattr(mutation, "MAX_TEST_SECONDS", 1)
    copy = tmp_path / "tree"
    copy.mkdir()
    (copy / "test_waits.py").write_text("import time\n\ndef test_it():\n    time.sleep(600)\n")
    assert mutation.run_tests(copy, ["test_waits.py"]) == mutation.Outcome("timed out")
    (copy / "test_waits.py").write_text("def test_it():\n    pass\n")
    assert mutation.run_tests(copy, ["test_waits.py"]) == mutation.Outcome("lived")
