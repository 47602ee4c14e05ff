"""Fixtures: a browser for the pages, and a study with every part of a report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from browser import chromium, open_page  # noqa: F401
from report_study import write_study


@pytest.fixture(scope="session")
def study(tmp_path_factory) -> Path:
    """Return a folder with judgements, references, summaries, labels and JSON of other commands."""
    return write_study(tmp_path_factory.mktemp("study"))


@pytest.fixture(scope="session")
def report_file(study) -> Path:
    """Return the report page of the study."""
    from fairjudge.analysis.reporting import make_report

    path = study.parent / "report.html"
    make_report(study).save(path)
    return path


@pytest.fixture(scope="session")
def page_data(report_file) -> dict:
    """Return the data of the page's script."""
    html = report_file.read_text("utf-8")
    start = html.index('id="data">') + len('id="data">')
    return json.loads(html[start : html.index("</script>", start)])
