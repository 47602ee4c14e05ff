"""Counts and percentages as texts write them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fairjudge.text.counting import percentage, pluralize

ROOT = Path(__file__).parents[2]
SOURCES = [
    path
    for folder in ("fairjudge", "calibration")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if path.name != "requirements.py"  # a prompt, which is part of every request's key
]
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md", ROOT / "SKILL.md"]


@pytest.mark.parametrize(
    ("share", "digits", "text"),
    [(0.33, 0, "33 %"), (1 / 3, 1, "33.3 %"), (0.0, 0, "0 %"), (1.0, 0, "100 %")],
)
def test_a_percentage_has_a_space_before_its_sign(share, digits, text):
    assert percentage(share, digits=digits) == text


def test_no_source_formats_a_percentage_by_itself():
    assert len(SOURCES) > 400
    items = [
        f"{path.relative_to(ROOT)}: {hit[0]}"
        for path in SOURCES
        for hit in re.finditer(
            r"\{[^{}\n]*:[^{}\n]*%\}|(?<![\"\d])\d+%(?=[ .,;:)\"'])", path.read_text("utf-8")
        )
    ]
    assert items == []


def test_no_page_of_the_docs_has_a_percentage_without_a_space():
    pages = {path: path.read_text("utf-8") for path in PAGES}
    items = [
        f"{path.relative_to(ROOT)}: {hit[0]}"
        for path, text in pages.items()
        for hit in re.finditer(r"\d%(?![0-9A-F]{2}|\w)", text)
    ]
    assert items == []


def test_a_count_of_one_has_no_plural():
    assert (pluralize(1, "box", "boxes"), pluralize(1234, "box", "boxes")) == (
        "1 box", "1,234 boxes"
    )  # fmt: skip
