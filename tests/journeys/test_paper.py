"""Figures and tables of a paper, from judgements and labels, by the command line."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from fairjudge.text.counting import pluralize


def fairjudge(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "fairjudge", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = random.Random(0)
    judgements, labels = [], []
    for document in range(30):
        for place, system in enumerate(("s0", "s1", "s2")):
            item = {"eid": f"d{document}", "system": system, "aspect": "coverage"}
            quality = 2 + place / 2 + rng.gauss(0, 1)
            score = min(5, max(1, round(quality + rng.gauss(0, 0.5))))
            judgements.append(item | {"protocol": "likert", "judge": "j", "value": score})
            for annotator in ("ann", "bob"):
                value = min(5, max(1, round(quality + rng.gauss(0, 0.5))))
                labels.append(item | {"annotator": annotator, "value": value})
    for name, rows in (("j.jsonl", judgements), ("l.jsonl", labels)):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return tmp_path


def test_plots_are_saved_in_three_formats_reproducibly(folder: Path) -> None:
    words = ["calibrate", "j.jsonl", "--labels", "l.jsonl", "--resamples", "100"]
    first = fairjudge(folder, *words, "--figures", "one", "--json", "-")
    assert first.returncode == 0, first.stderr
    json.loads(first.stdout)  # what is said of the figures is not in between
    files = sorted((folder / "one").iterdir())
    n = len(files) // 3
    assert n >= 4
    assert f"Written: one ({pluralize(n, 'figure')} as SVG, PDF, PNG)" in first.stderr
    assert {path.read_bytes()[:4] for path in files if path.suffix == ".pdf"} == {b"%PDF"}
    assert {path.read_bytes()[1:4] for path in files if path.suffix == ".png"} == {b"PNG"}
    svgs = [path.read_text("utf-8") for path in files if path.suffix == ".svg"]
    assert any("Spearman" in svg for svg in svgs)  # text stays text
    assert fairjudge(folder, *words, "--figures", "two").returncode == 0
    again = sorted((folder / "two").iterdir())
    assert [path.name for path in again] == [path.name for path in files]
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in files]


def test_report_writes_a_page_and_its_plots(folder: Path) -> None:
    result = fairjudge(folder, "report", "j.jsonl", "-o", "page.html", "--figures", "figures")
    assert result.returncode == 0, result.stderr
    assert (folder / "page.html").exists()
    assert len(list((folder / "figures").glob("*.png"))) >= 1
    report = fairjudge(folder, "report", "j.jsonl", "-o", "page.html", "--figures", "j.jsonl")
    assert report.returncode != 0
    assert "j.jsonl" in report.stderr
    assert "Traceback" not in report.stderr


def test_tables_of_any_command_in_paper_formats(folder: Path) -> None:
    words = ["calibrate", "j.jsonl", "--labels", "l.jsonl", "--resamples", "100"]
    text = fairjudge(folder, *words).stdout
    latex = fairjudge(folder, "--tables", "latex", *words)
    assert "In short" in text
    assert "In short" not in latex.stdout
    assert "In short" in latex.stderr
    assert latex.stdout.count(r"\toprule") == latex.stdout.count(r"\end{tabular}") >= 4
    table = fairjudge(folder, "--tables", "csv", "prompts", "list").stdout
    assert table.startswith("# ")
    typo = fairjudge(folder, "--tables", "tex", *words)
    assert typo.returncode == 2
    assert "'tex' is not one of 'text', 'markdown', 'latex', 'csv'" in typo.stderr
