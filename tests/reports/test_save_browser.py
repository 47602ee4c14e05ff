"""What a reader saves from a page: figures as SVG and PNG, tables as CSV."""

from __future__ import annotations

import csv
import io
import struct
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from browser import PHONE, serious_faults, unfold

from fairjudge.reports.pages import page_html
from fairjudge.reports.parts import Plot, Section
from fairjudge.reports.point_plots import Cell, MatrixPlot
from fairjudge.reports.tables import TextTable, columns, to_csv

pytestmark = pytest.mark.browser

SVG = "{http://www.w3.org/2000/svg}"
TABLE = TextTable(
    title="Systems, best first",
    columns=columns("system", "mean [95 %]", "change", numbers=("change",)),
    rows=(
        ('=HYPERLINK("evil")', "4.10 [3.90, 4.30]", "-0.5"),
        ("-2+3|cmd", "-0.20 [-0.40, 0.10]", "-"),
        ("@name, of two words", 'said "so"', "+12"),
        ("مجلس", "新しい", "50%"),
    ),
    notes=("A note.",),
)
FIGURE = MatrixPlot(
    name="Wins, coverage: alpha: beta 60%", rows=["alpha", "新しい"], columns=["beta", "gamma"],
    cells=[[Cell(text="60%", share=0.6, note="n 10"), None], [None, Cell(text="0%", share=0.0)]],
    row_title="wins of", column_title="against",
)  # fmt: skip


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("page") / "page.html"
    section = Section(id="a", title="A", parts=(Plot(FIGURE, "What it shows."), TABLE))
    path.write_text(page_html([section], title="Page"), "utf-8")
    return path


@pytest.fixture
def page(open_page, file):
    def opened(**options):
        page = open_page(file.as_uri(), **options)
        page.wait_for_selector("html[data-ready]")
        return page

    return opened


def saved(page, name: str) -> tuple[str, bytes]:
    """Press the button by the keyboard, and return the file's name and content."""
    page.get_by_role("button", name=name).first.focus()
    with page.expect_download() as coming:
        page.keyboard.press("Enter")
    return coming.value.suggested_filename, Path(coming.value.path()).read_bytes()


def test_table_is_saved_in_the_format_of_commands(page):
    text = page()
    name, content = saved(text, f"Save as CSV: {TABLE.title}")
    assert name == "systems-best-first.csv"
    rows = list(csv.reader(io.StringIO(content.decode("utf-8"), newline="")))
    expected = list(csv.reader(io.StringIO(to_csv(TABLE))))
    assert rows[0] == ["# Systems", " best first"]
    assert rows == expected
    assert [row[0][0] for row in rows[2:5]] == ["'"] * 3  # no formula
    assert [row[2] for row in rows[2:]] == ["-0.5", "-", "+12", "50%"]
    text.locator(".sort", has_text="change").click()
    changes = [row.split(",")[-1] for row in saved(text, "Save as CSV")[1].decode().splitlines()]
    assert changes[2:] == ["50%", "+12", "-0.5", "-"]  # as the page sorts them


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_figure_is_saved_as_standalone_svg(page, open_page, tmp_path, scheme):
    pytest.importorskip("matplotlib", reason="needs the extra [plots]")
    text = page(color_scheme=scheme)
    name, content = saved(text, "Save as SVG: Wins, coverage")
    assert name == "wins-coverage.svg"
    root = ET.fromstring(content)  # noqa: S314  # our own
    assert root.tag == f"{SVG}svg"
    texts = root.findall(f".//{SVG}text")
    assert {"60%", "n 10", "新しい", "–"} <= {"".join(text.itertext()) for text in texts}
    assert {text.get("font-size") for text in texts} == {"12px"}
    assert all("sans-serif" in text.get("font-family") for text in texts)
    assert root.find(f"{SVG}title").text == FIGURE.name
    # alone it is drawn as on a light page, letter by letter in its place
    (tmp_path / name).write_bytes(content)
    alone = open_page((tmp_path / name).as_uri())
    boxes = "svg => [...svg.querySelectorAll('text')].map(t => [t.getBBox().x, t.getBBox().width])"
    in_text = text.locator("figure svg").evaluate(boxes)
    apart = alone.locator("svg").evaluate(boxes)
    assert [x for box in apart for x in box] == pytest.approx(
        [x for box in in_text for x in box], abs=0.6
    )


def test_figure_is_saved_as_png_at_double_size(page):
    pytest.importorskip("matplotlib", reason="needs the extra [plots]")
    image = pytest.importorskip("PIL.Image", reason="needs Pillow")
    text = page(color_scheme="dark")
    name, content = saved(text, "Save as PNG: Wins, coverage")
    assert name == "wins-coverage.png"
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    box = [float(x) for x in text.locator("figure svg").get_attribute("viewBox").split()]
    assert list(struct.unpack(">II", content[16:24])) == [2 * box[2], 2 * box[3]]
    sample = image.open(io.BytesIO(content)).convert("RGB")
    colors = {color for _, color in sample.getcolors(1 << 24)}
    assert sample.getpixel((0, 0)) == (255, 255, 255)  # on white, in a dark browser too
    assert (178, 209, 240) in {(r, g, b) for r, g, b in colors} or len(colors) > 20
    assert min(map(sum, colors)) < 60  # letters are drawn


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [None, PHONE])
def test_buttons_are_labelled_and_pass_accessibility_checks(page, scheme, viewport):
    text = page(color_scheme=scheme, **({"viewport": viewport} if viewport else {}))
    assert serious_faults(text) == []
    names = text.locator(".save button").evaluate_all("all => all.map(one => one.ariaLabel)")
    assert len(names) == len(set(names)) == text.locator("figure svg").count() * 2 + 1
    width = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    assert text.evaluate(width)


def test_print_has_no_buttons(page):
    text = page()
    text.emulate_media(media="print")
    assert not text.locator(".save").first.is_visible()


def test_without_a_script_there_are_no_buttons(open_page, file):
    text = open_page(file.as_uri(), java_script_enabled=False)
    assert text.get_by_role("button").count() == 0


def test_every_figure_and_table_of_a_report_has_its_buttons(open_page, report_file):
    text = open_page(report_file.as_uri())
    text.wait_for_selector("html[data-ready]")
    unfold(text)
    assert text.locator("figure:not(:has(.save))").count() == 0
    tables = text.locator("table.sortable")
    assert tables.count() > 5
    assert tables.evaluate_all("all => all.every(one => one.nextElementSibling.matches('.save'))")
    name, content = saved(text, "Save as CSV: ")
    assert name.endswith(".csv")
    assert content.startswith(b"# ")


def test_a_list_is_saved_with_all_its_pages(open_page, report_file):
    text = open_page(report_file.as_uri())
    text.wait_for_selector("html[data-ready]")
    unfold(text)
    name, content = saved(text, "Save as CSV: Omitted answers")
    assert name == "omitted-answers.csv"
    title, _heads, *rows = csv.reader(io.StringIO(content.decode("utf-8"), newline=""))
    assert title == ["# Omitted answers"]
    listed = text.locator("#uncovered [role=status]").first.inner_text()
    assert int(listed.partition(" ")[0]) == len(rows) > 0
