"""The case study in the documentation is what its script writes from the data."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_the_case_study_is_current(shared_data, tmp_path):
    out = tmp_path / "case-study.md"
    subprocess.run(
        [
            sys.executable,
            ROOT / "benchmarks" / "case_study.py",
            shared_data / "summeval",
            "-o",
            out,
        ],
        check=True,
    )
    assert out.read_text("utf-8") == (ROOT / "docs" / "case-study.md").read_text("utf-8")
