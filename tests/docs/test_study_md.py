"""The study file that docs/study.md shows is one."""

from __future__ import annotations

from pathlib import Path

from fairjudge.studies.files import read_study
from fairjudge.studies.graph import make_steps

PAGE = Path(__file__).parents[2] / "docs" / "study.md"


def test_study_file_on_the_page_gives_the_documented_output(tmp_path):
    text = PAGE.read_text("utf-8")
    path = tmp_path / "study.toml"
    path.write_text(text.partition("```toml\n")[2].partition("```")[0], "utf-8")
    steps = make_steps(read_study(path), tmp_path / "study")
    by_name = {
        make.relative_to(tmp_path / "study").as_posix() for step in steps for make in step.makes
    }
    for name in (
        "references.jsonl", "summaries/main-direct.jsonl", "judgements/coverage.jsonl",
        "judgements/faithfulness-likert.jsonl", "audits/coverage.checks.json",
        "calibration.json", "calibrators.json", "calibrated/coverage.jsonl",
        "fairness/outlet_type.coverage.json", "report.html",
    ):  # fmt: skip
        assert name in by_name
