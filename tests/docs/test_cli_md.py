"""docs/cli.md is what the commands say of themselves."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("terminal", [{}, {"COLUMNS": "200", "TERM": "xterm", "FORCE_COLOR": "1"}])
def test_cli_md_is_up_to_date_for_any_terminal(terminal: dict[str, str]) -> None:
    result = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "generate_docs.py"), "--check"],
        env=dict(os.environ) | terminal,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr


def test_cli_md_lists_the_commands_without_colour() -> None:
    text = (ROOT / "docs" / "cli.md").read_text("utf-8")
    assert "\x1b" not in text
    for command in (
        "build",
        "judge",
        "summarize",
        "data import",
        "calibrate apply",
        "cache export",
    ):
        assert f"\n## fairjudge {command}\n" in text
