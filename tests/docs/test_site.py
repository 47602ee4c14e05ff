"""The site is built of docs/ as it is: every page in its navigation, every link and anchor kept."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from missing import missing

ROOT = Path(__file__).parents[2]


@pytest.fixture
def builds(tmp_path: Path) -> subprocess.CompletedProcess[str]:
    if importlib.util.find_spec("mkdocs") is None:
        missing("mkdocs (the group 'docs')")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_site_builds_without_a_warning(
    builds: subprocess.CompletedProcess[str], tmp_path: Path
) -> None:
    assert builds.returncode == 0, builds.stderr
    first = (tmp_path / "index.html").read_text("utf-8")
    assert "Evaluate multi-document summaries" in first
    assert 'href="servers/"' in first
    assert (tmp_path / "examples" / "trusting_a_judge.ipynb").is_file()
    assert "https://fonts" not in first
