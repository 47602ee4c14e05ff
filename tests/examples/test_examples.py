"""Every script in examples/ runs and shows what it says."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(script: str, *arguments: str, cwd: Path) -> str:
    result = subprocess.run(
        [sys.executable, str(EXAMPLES / script), *arguments],
        cwd=cwd,
        env=dict(os.environ) | {"XDG_CACHE_HOME": str(cwd / "cache")},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_all_scripts_are_tested() -> None:
    scripts = {path.relative_to(EXAMPLES).as_posix() for path in EXAMPLES.rglob("*.py")}
    assert scripts == {"scripted_judge.py", "own_criterion/judge_tone.py", "build_and_judge.py"}


def test_constant_judge_distinguishes_no_systems(tmp_path: Path) -> None:
    # whoever stands first wins, so each pair is won once by either side: a tie, worth 0.5 each
    lines = run("scripted_judge.py", cwd=tmp_path).splitlines()
    assert len(lines) == 3
    assert all("mean=0.5," in line and "n_unscored=0" in line for line in lines)


def test_custom_criterion_is_judged_on_its_own_scale(tmp_path: Path) -> None:
    *verdicts, signature = run("own_criterion/judge_tone.py", cwd=tmp_path).splitlines()
    assert len(verdicts) == 6
    assert {float(line.split()[-1]) for line in verdicts} <= {1.0, 2.0, 3.0}
    assert "|prompt:judge/tone.v1@" in signature
    assert "|scale:tone@" in signature


@pytest.mark.local_model
def test_references_are_built_and_used(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs the extra [local]")
    out = run("build_and_judge.py", "made", cwd=tmp_path)
    assert "Voices that one-sided leaves out" in out
    assert (tmp_path / "made" / "report.html").stat().st_size > 10_000
    assert (tmp_path / "made" / "references.jsonl").read_text("utf-8").count("\n") == 2
    assert (tmp_path / "made" / "coverage.jsonl").read_text("utf-8").count("\n") == 6
