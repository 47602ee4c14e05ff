"""The table of docs/your-data.md comes of its script, and has every layout of the page."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from data_page import PAGE, layouts

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "layouts.py"


def _rows(page: Path) -> dict[str, list[str]]:
    measured = page.read_text("utf-8").partition("<!-- measured: begin -->")[2]
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in measured.splitlines()
        if line.startswith("| ")
    ]
    return {title: row for title, *row in cells[1:]}


def test_every_layout_gives_a_leaderboard():
    rows = _rows(PAGE)
    assert [*rows] == [layout.title for layout in layouts()]
    for title, (n_commands, *_, n_ranked, error) in rows.items():
        assert error == "none", title
        assert int(n_commands) <= 3
        assert int(n_ranked) >= 1, title


def test_script_runs_for_two_layouts(tmp_path):
    """Of the bundled example: one that needs a writer, and one whose labels need an LLM."""
    page = tmp_path / "your-data.md"
    page.write_text(PAGE.read_text("utf-8"), "utf-8")
    titles = ("Reviews", "A table of rated summaries")
    result = subprocess.run(
        [sys.executable, SCRIPT, "--page", page, "--only", *titles],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    rows = _rows(page)
    assert [*rows] == [*titles]
    n_commands, _, n_summaries, n_ranked, error = rows["Reviews"]
    assert (n_commands, n_summaries, n_ranked, error) == ("3", "2", "1", "none")
    n_commands, _, n_summaries, n_ranked, error = rows["A table of rated summaries"]
    assert (n_commands, n_summaries, n_ranked, error) == ("2", "6", "3", "none")
    assert (
        page.read_text("utf-8").partition("<!-- measured")[0]
        == (PAGE.read_text("utf-8").partition("<!-- measured")[0])
    )
