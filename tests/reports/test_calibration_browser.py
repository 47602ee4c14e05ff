"""The page of ``calibrate --html`` in a real browser: legible, sortable, without serious faults."""

from __future__ import annotations

import pytest
from browser import DESKTOP, PHONE, serious_faults, unfold
from calibration_study import EVIL, study

from fairjudge.reports.calibration_page import calibration_page

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("calibration") / "page.html"
    path.write_text(calibration_page(study(EVIL)), "utf-8")
    return path


def test_details_of_each_judge_are_collapsed(open_page, tmp_path):
    report = study("one")
    report["groups"] += study("other", noise=1.5)["groups"]
    (tmp_path / "page.html").write_text(calibration_page(report), "utf-8")
    page = open_page((tmp_path / "page.html").as_uri())
    assert page.evaluate("document.documentElement.scrollHeight") < 4000
    # each judge's verdict stands unfolded, and a heading of the detail opens it by keyboard
    for judge in ("one", "other"):
        section = page.locator("main > section", has_text=f"{judge}, coverage")
        assert section.locator("p strong").first.is_visible()
    summary = page.get_by_text("Reliability before and after calibration").first
    figures = page.locator("details", has=summary).locator("svg, table")
    assert not any(item.is_visible() for item in figures.all())
    summary.focus()
    page.keyboard.press("Enter")
    assert any(item.is_visible() for item in figures.all())


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_no_serious_accessibility_violation_and_no_overflow(open_page, page_file, scheme, viewport):
    page = open_page(page_file.as_uri(), viewport=viewport, color_scheme=scheme)
    unfold(page)
    assert serious_faults(page) == []
    root = "document.documentElement"
    assert page.evaluate(f"{root}.scrollWidth <= {root}.clientWidth")


def test_text_in_plots_is_large_enough_on_a_phone(open_page, page_file):
    pytest.importorskip("matplotlib", reason="needs the extra [plots]")
    page = open_page(page_file.as_uri(), viewport=PHONE)
    unfold(page)
    # 12 units of the plot's own; on the screen at least 11 pixels
    heights = page.evaluate(
        "[...document.querySelectorAll('svg')].map(svg => 12 * svg.getScreenCTM().a)"
    )
    assert min(heights) >= 11


def test_tables_sort_and_scripts_in_names_are_escaped(open_page, page_file):
    page = open_page(page_file.as_uri())
    unfold(page)
    errors = page.locator("table.sortable", has_text="error minus rest").first
    heading = errors.locator("th", has_text="mean error")
    heading.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "descending"
    assert page.locator("main img, main b").count() == 0
    assert EVIL in page.locator("h2").all_inner_texts()[1]
