"""The worked example of docs/contributing/backend.md is a backend that keeps the contract."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "contributing" / "backend.md"
COPIED = ("fairjudge", "prompts", "graphs", "calibration", "tests")


def copy_of_the_tree(folder: Path) -> Path:
    for name in COPIED:
        ignored = shutil.ignore_patterns("__pycache__", "*.safetensors")
        shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def test_its_diff_adds_a_provider_that_the_contract_tests_find_and_pass(tmp_path):
    tree = copy_of_the_tree(tmp_path / "tree")
    diffs = re.findall(r"```diff\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert len(diffs) == 2
    for diff in diffs:
        subprocess.run(["git", "apply", "-"], input=diff.encode(), check=True, cwd=tree)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "mistral"]
    command.append("tests/backends/test_contract.py")
    ran = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tree)
    assert ran.returncode == 0, ran.stdout[-3000:]
    passed = re.search(r"(\d+) passed", ran.stdout)
    assert passed is not None
    # 8 failures that every provider has, a time-out, a missing server, two of keys, the wait that a
    # server asks for, and the ways a reply can end
    assert int(passed[1]) >= 14
    assert "skipped" not in ran.stdout
