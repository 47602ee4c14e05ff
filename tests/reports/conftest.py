"""A browser for the pages, and a study that makes every part of a report appear."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from browser import chromium, open_page  # noqa: F401
from report_study import write_study


@pytest.fixture(scope="session")
def study(tmp_path_factory) -> Path:
    """A folder with judgements, references, summaries, labels and the JSON of other commands."""
    return write_study(tmp_path_factory.mktemp("study"))


@pytest.fixture(scope="session")
def report_file(study) -> Path:
    """The page that is made of the study."""
    from fairjudge.analysis.reporting import make_report

    path = study.parent / "report.html"
    make_report(study).save(path)
    return path


@pytest.fixture(scope="session")
def page_data(report_file) -> dict:
    """What the page's script reads."""
    html = report_file.read_text("utf-8")
    start = html.index('id="data">') + len('id="data">')
    return json.loads(html[start : html.index("</script>", start)])
