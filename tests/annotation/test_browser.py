"""The page in a real browser, by keyboard."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from annotation_tools import Server, rows, serve, write_world
from browser import DESKTOP, PHONE, serious_faults, shift_of_layout

pytestmark = pytest.mark.browser

READY = "html[data-ready]"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_world(tmp_path)
    return tmp_path


@pytest.fixture
def server(folder: Path):
    running = serve(folder, "--overlap", "0")
    yield running
    if running.process.poll() is None:
        running.interrupt()


def sign_in(page: Any, name: str) -> None:
    page.get_by_label("Your name").fill(name)
    page.keyboard.press("Enter")
    page.wait_for_url("**/item/*")


def press(page: Any, key: str, *, then: str) -> None:
    """Press a key as soon as the page listens, and wait for where it leads."""
    page.wait_for_selector(READY)
    page.wait_for_timeout(200)  # keys pressed right after a page came belong to the one before
    page.keyboard.press(key)
    page.wait_for_url(then)


def test_ten_items_by_keyboard_with_reload_and_undo(server: Server, folder: Path, open_page):
    page = open_page(server.url)
    sign_in(page, "ann")
    keys = "ynyynnyyny"
    for number, key in enumerate(keys[:6], 1):
        press(page, key, then=f"**/item/{number + 1}")
    page.reload()
    assert page.url.endswith("/item/7")
    press(page, "y", then="**/item/8")
    press(page, "u", then="**/item/7?undone")
    assert page.get_by_role("status").inner_text() == "Your answer to this item was taken back."
    assert [row["value"] for row in rows(folder / "labels.jsonl")] == [1, 0, 1, 1, 0, 0]
    for number, key in enumerate(keys[6:], 7):
        press(page, key, then=f"**/item/{number + 1}")
    assert [row["value"] for row in rows(folder / "labels.jsonl")] == [
        int(key == "y") for key in keys
    ]
    # Back by arrow: the answer shows; another one replaces it.
    press(page, "ArrowLeft", then="**/item/10")
    pressed = page.locator("button[aria-pressed=true]")
    assert pressed.inner_text().startswith("Covered")
    press(page, "n", then="**/item/11")
    assert rows(folder / "labels.jsonl")[-1]["value"] == 0
    # The last two, and the end.
    press(page, "y", then="**/item/12")
    press(page, "y", then="**/item/end")
    assert page.get_by_role("heading", level=1).inner_text() == "All is done"
    server.interrupt()
    result = rows(folder / "labels.jsonl")
    assert len({(row["eid"], row["system"], row["unit"]) for row in result}) == 12
    assert {row["annotator"] for row in result} == {"ann"}


def test_a_note_and_a_skip_by_keyboard(server: Server, folder: Path, open_page):
    page = open_page(server.url)
    sign_in(page, "ann")
    page.wait_for_selector(READY)
    page.wait_for_timeout(200)
    page.keyboard.press("c")
    page.keyboard.type("yes, but only in part")  # its letters are no answers
    page.keyboard.press("Escape")
    press(page, "y", then="**/item/2")
    page.wait_for_selector(READY)
    page.wait_for_timeout(200)
    page.keyboard.press("s")
    page.keyboard.press("ArrowDown")  # the second reason
    page.keyboard.press("Enter")
    page.wait_for_url("**/item/3")
    (row,) = rows(folder / "labels.jsonl")
    assert row["note"] == "yes, but only in part"
    page.goto(server.progress)
    assert "1: the statement is unclear" in page.locator("main").inner_text()


def test_concurrent_annotators_never_label_the_same_item(server: Server, folder: Path, open_page):
    pages = {name: open_page(server.url) for name in ("ann", "bo")}
    for name, page in pages.items():
        sign_in(page, name)
    going = set(pages)
    while going:
        for name in sorted(going):
            page = pages[name]
            if page.url.endswith("/end"):
                going.discard(name)
                continue
            number = int(page.url.rsplit("/", 1)[1])
            page.wait_for_selector(READY)
            page.wait_for_timeout(200)
            page.keyboard.press("y" if name == "ann" else "n")
            page.wait_for_url(lambda url, n=number: not url.endswith(f"/{n}"))
    result = rows(folder / "labels.jsonl")
    assert len(result) == 12
    assert len({(row["eid"], row["system"], row["unit"]) for row in result}) == 12
    assert {(row["annotator"], row["value"]) for row in result} == {("ann", 1), ("bo", 0)}


def test_scripts_in_articles_are_escaped(server: Server, open_page):
    page = open_page(server.url)
    sign_in(page, "ann")
    assert page.title().startswith("Item 1")
    assert page.locator("main img").count() == 0
    assert page.locator("main script").count() == 0
    assert "<script>document.title='taken over'</script>" in page.locator("main").inner_text()


def test_the_similar_passage_is_in_view_in_its_column(folder: Path, open_page):
    clusters = json.loads((folder / "references.json").read_text("utf-8"))
    for cluster in clusters:
        for article in cluster["articles"]:
            article["content"] = "Filler stands here. " * 400 + "The council blames the rain."
    (folder / "references.json").write_text(json.dumps(clusters), "utf-8")
    server = serve(folder, task="faithfulness")
    page = open_page(server.url)
    sign_in(page, "ann")
    press(page, "y", then="**/item/2")
    page.wait_for_selector(READY)
    mark = page.locator("mark.m-best")
    assert mark.inner_text() == "The council blames the rain."
    assert mark.bounding_box()["y"] < DESKTOP["height"]
    top = page.locator(".scroll").last.evaluate("box => box.scrollTop")
    page.keyboard.press("ArrowUp")
    page.wait_for_function(
        "top => [...document.querySelectorAll('.scroll')].pop().scrollTop < top", arg=top
    )
    server.interrupt()


def test_annotation_works_without_javascript(server: Server, folder: Path, open_page):
    page = open_page(server.url, java_script_enabled=False)
    sign_in(page, "ann")
    page.get_by_role("button", name="Not covered").click()
    page.wait_for_url("**/item/2")
    assert [row["value"] for row in rows(folder / "labels.jsonl")] == [0]


@pytest.mark.parametrize(
    ("scheme", "viewport"), [("dark", PHONE), ("light", DESKTOP)], ids=["phone", "desktop"]
)
def test_no_serious_accessibility_violation(folder: Path, open_page, scheme, viewport):
    server = serve(folder, "--overlap", "0", task="faithfulness")
    page = open_page(server.url, viewport=viewport, color_scheme=scheme)
    assert serious_faults(page) == []
    sign_in(page, "ann")
    page.wait_for_selector(READY)
    assert serious_faults(page) == []  # with the guidelines open
    page.get_by_role("button", name="Not present").click()
    page.wait_for_url("**/item/2")
    page.wait_for_selector(READY)
    assert serious_faults(page) == []
    assert shift_of_layout(page) < 0.01
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= viewport["width"]  # nothing sticks out
    page.locator("#skip summary").click()
    assert serious_faults(page) == []
    page.goto(f"{server.url}item/1")
    assert serious_faults(page) == []  # an answer is shown as given
    page.goto(server.progress)
    assert serious_faults(page) == []
    page.goto(f"{server.url}item/end")
    assert serious_faults(page) == []
    server.interrupt()


def test_progress_page_refreshes_itself(server: Server, open_page):
    watcher = open_page(server.progress)
    page = open_page(server.url)
    sign_in(page, "ann")
    press(page, "y", then="**/item/2")
    rows = watcher.get_by_role("row").filter(has=watcher.get_by_role("rowheader", name="ann"))
    row = rows.first  # a later table counts ann's answers
    # without a reload; it may have stood there before, with no label yet
    row.locator("td:first-of-type", has_text=re.compile("^1$")).wait_for()
    assert row.inner_text().split()[:2] == ["ann", "1"]


def test_focus_is_visible(server: Server, open_page):
    page = open_page(server.url)
    sign_in(page, "ann")
    page.wait_for_selector(READY)
    pages = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        style = page.evaluate(
            """(() => {
                const found = document.activeElement, s = getComputedStyle(found);
                return [found.tagName, s.outlineStyle, parseFloat(s.outlineWidth)];
            })()"""
        )
        if style[0] == "BODY":  # once round
            break
        pages.add(style[0])
        assert style[1] != "none", style
        assert style[2] >= 2, style
    assert {"BUTTON", "A", "SUMMARY", "TEXTAREA", "DIV"} <= pages


BARS = """() => {
    let covered = 0;
    for (let y = 0; y < innerHeight; y += 2) {
        const found = document.elementFromPoint(innerWidth / 2, y);
        if (found?.closest("header, footer, fieldset")) covered += 2;
    }
    return covered / innerHeight;
}"""


@pytest.mark.parametrize(
    ("viewport", "most"),
    [(PHONE, 0.2), ({"width": 640, "height": 400}, 0.32), ({"width": 960, "height": 540}, 0.25)],
    ids=["phone", "zoom", "wide-zoom"],
)
def test_a_small_screen_shows_the_text_and_the_answers(server: Server, open_page, viewport, most):
    """At 200 % a laptop has 640 by 400 pixels: bars may not take them from the text."""
    page = open_page(server.url, viewport=viewport)
    sign_in(page, "ann")
    assert page.locator("#guide").get_attribute("open") is not None
    press(page, "y", then="**/item/2")
    page.wait_for_selector(READY)
    assert page.locator("#guide").get_attribute("open") is None  # folded after the first item
    assert page.evaluate(BARS) <= most
    statement = page.locator(".statement").bounding_box()
    assert statement["y"] + statement["height"] < viewport["height"] / 2
    assert page.get_by_role("button", name="Not covered").is_visible()
    bottom = page.get_by_role("button", name="Not covered").bounding_box()
    assert bottom["y"] + bottom["height"] <= viewport["height"]
    page.locator("#note").scroll_into_view_if_needed()  # the rest is below
    assert page.locator("#note").is_visible()


def test_landmarks_are_unique_and_text_direction_is_automatic(folder: Path, open_page):
    references = json.loads((folder / "references.json").read_text("utf-8"))
    for reference in references:
        reference["question_answers"][0]["answer_groups"][0][0]["answer"] = "الأمطار الغزيرة"
    (folder / "references.json").write_text(json.dumps(references), "utf-8")
    server = serve(folder, "--overlap", "0")
    page = open_page(server.url)
    sign_in(page, "ann")
    page.wait_for_selector(READY)
    from axe_playwright_python.sync_playwright import Axe

    rules = {"runOnly": {"type": "rule", "values": ["landmark-unique", "region"]}}
    assert Axe().run(page, options=rules).response["violations"] == []
    directions = {
        item.inner_text(): item.evaluate("one => getComputedStyle(one).direction")
        for item in page.locator(".statement, .question").all()
    }
    assert set(directions.values()) == {"ltr", "rtl"}
    server.interrupt()
