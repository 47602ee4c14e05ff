"""The worked examples of docs/contributing apply, and the tests that each page names pass."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "contributing"
COPIED = ("fairjudge", "prompts", "graphs", "calibration", "tests", "docs")
LEAST_PASSED = {
    # 8 failures that every provider has, a time-out, a missing server, two of keys, the wait that a
    # server asks for, and the ways a reply can end
    "backend": 14,
    # its two protocols, its prompt, requests and refusal by the local judge, and the hashes
    "judge": 15,
    # told by content under three names, as JSON and compressed, and what may be wrong with a row
    "importer": 4,
    # JSON, tables, page, plots, comparison and Python, for both commands; and what the pages name
    "measure": 15,
    # the command of the call, its two bounded options, and what the new one does; of the field,
    # what it does, its keyword in each call, and identities of earlier runs
    "option": 15,
}


def copy_of_the_tree(folder: Path) -> Path:
    for name in COPIED:
        ignored = shutil.ignore_patterns("__pycache__", "*.safetensors")
        shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def test_every_page_is_tried():
    assert {page.stem for page in PAGES.glob("*.md")} == LEAST_PASSED.keys()


@pytest.mark.parametrize("name", LEAST_PASSED)
def test_the_diffs_of_a_page_apply_and_its_tests_pass(tmp_path, name):
    tree = copy_of_the_tree(tmp_path / "tree")
    page = (PAGES / f"{name}.md").read_text("utf-8")
    diffs = re.findall(r"```diff\n(.*?)```", page, re.DOTALL)
    assert len(diffs) >= 2
    for diff in diffs:
        subprocess.run(["git", "apply", "-C1", "-"], input=diff.encode(), check=True, cwd=tree)
    commands = re.findall(r"^    python (-m pytest .+)$", page, re.MULTILINE)
    assert sum(passed_tests(command, tree) for command in commands) >= LEAST_PASSED[name]


def passed_tests(command: str, tree: Path) -> int:
    result = subprocess.run(
        [sys.executable, *shlex.split(command), "-q", "-p", "no:cacheprovider"],
        check=False,
        capture_output=True,
        text=True,
        cwd=tree,
    )
    assert result.returncode == 0, result.stdout[-3000:]
    assert "skipped" not in result.stdout
    passed = re.search(r"(\d+) passed", result.stdout)
    assert passed is not None
    return int(passed[1])
