"""Each figure and table of a page can be linked, by an id that other parts do not change."""

from __future__ import annotations

import re
from urllib.parse import unquote

import pytest

from fairjudge.reports.figures import forest, row
from fairjudge.reports.pages import anchors, page_html
from fairjudge.reports.parts import Fold, Group, Heading, Part, Section
from fairjudge.reports.tables import TextTable, columns


def table(title: str) -> TextTable:
    return TextTable(title=title, columns=columns("system"), rows=(("a",), ("b",)))


def section(*parts: Part) -> Section:
    return Section(id="trust", title="Trust in the judge", parts=parts)


PLOT = forest([row("a", {"value": 1.0, "low": 0.5, "high": 1.5})], title="Bias", x_label="points")
DEEP = Fold("Détails 漢字: 3 pairs", (Heading("Systems", 4), Group((PLOT, table("Bias")))))
QUALITY = (Heading("Quality, by gpt-4o"), table("Bias"), DEEP)
COVERAGE = (Heading("Coverage, by gpt-4o"), table("Bias"))


def test_id_has_kind_section_and_title():
    assert list(anchors([section(*QUALITY, *COVERAGE)])) == [
        "table-trust-quality-by-gpt-4o-bias",
        "figure-trust-quality-by-gpt-4o-détails-漢字-systems-bias",
        "table-trust-quality-by-gpt-4o-détails-漢字-systems-bias",
        "table-trust-coverage-by-gpt-4o-bias",
    ]


def test_earlier_section_does_not_change_ids():
    assert set(anchors([section(*COVERAGE)])) < set(anchors([section(*QUALITY, *COVERAGE)]))


def test_equal_titles_get_numbers_not_in_use():
    tables = [table(title) for title in ("Bias", "Bias 2", "Bias", "!")]
    assert list(anchors([section(*tables)])) == [
        "table-trust-bias",
        "table-trust-bias-2",
        "table-trust-bias-3",
        "table-trust",
    ]


def test_every_plot_and_table_has_a_unique_link(report_file):
    html = report_file.read_text("utf-8")
    ids = re.findall(r' id="((?:figure|table)-[^"]+)"', html)
    assert len(ids) == html.count("<figure") + html.count('<table class="sortable"') > 10
    assert len(set(re.findall(r' id="([^"]+)"', html))) == len(re.findall(r' id="[^"]+"', html))
    assert [unquote(link) for link in re.findall(r'class="anchor" href="#([^"]+)"', html)] == ids


@pytest.mark.browser
def test_link_opens_its_collapsed_section(open_page, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(page_html([section(*COVERAGE, *QUALITY)], title="Links"), "utf-8")
    page = open_page(path.as_uri())
    assert page.locator("details").get_attribute("open") is None
    deep = page.locator("figure")
    link = deep.locator(".anchor").get_attribute("href")
    other = open_page(f"{path.as_uri()}{link}")
    assert other.locator("details").get_attribute("open") is not None
    assert other.locator("figure").is_visible()
    assert other.locator(":target").get_attribute("id") == unquote(link[1:])
    page.evaluate("link => { location.hash = link; }", link)
    page.wait_for_selector("details[open]")
    page.get_by_role("link", name="Link to table: Bias").first.click()
    assert page.url.endswith("#table-trust-coverage-by-gpt-4o-bias")
    # a title that is copied or saved has no sign of the link
    assert page.locator("caption").first.text_content() == "Bias"
    broken = open_page(f"{path.as_uri()}#%E0%A4%A")
    assert broken.locator("html[data-ready]").count() == 1
