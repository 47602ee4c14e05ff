"""A real browser for tests: Debian's Chromium, driven by Playwright.

Import the fixtures into the `conftest.py` of the tests that use them::

    from browser import chromium, open_page  # noqa: F401

and mark the tests with ``browser``. Without Playwright or Chromium they are skipped with a reason.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from missing import missing

PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1280, "height": 800}
PATIENCE_MS = 60_000
"""A machine that is busy draws late; nothing that works is waited for so long."""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Yield one Chromium for all tests of a module.

    It is not session-wide: while Playwright is open, its event loop runs in the tests' thread, and
    `asyncio.run` would fail in other tests.
    """
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("Playwright is not installed (pip install playwright)")
    path = os.environ.get("FAIRJUDGE_CHROMIUM") or shutil.which("chromium")
    if path is None:
        missing("there is no Chromium (apt-get install chromium), nor FAIRJUDGE_CHROMIUM")
    # Chromium's sandbox refuses to run as root, as containers do; the pages are our own.
    arguments = ["--no-sandbox", "--disable-dev-shm-usage"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=arguments, timeout=3 * PATIENCE_MS
        )
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium: Any) -> Iterator[Callable[..., Any]]:
    """Return a function that opens a page in a new context; its options are the context's.

    ``open_page(url, viewport=PHONE, color_scheme="dark")``. At teardown the test fails if a page
    logged an error or an exception of a script.
    """
    contexts: list[Any] = []
    complaints: list[str] = []

    def opened(url: str | None = None, **options: Any) -> Any:
        options = {"viewport": DESKTOP, "reduced_motion": "reduce"} | options
        contexts.append(chromium.new_context(**options))
        page = contexts[-1].new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on("pageerror", lambda error: complaints.append(f"{page.url}: {error}"))
        page.on(
            "console", lambda message: message.type == "error" and complaints.append(message.text)
        )
        if url is not None:
            page.goto(url)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


def unfold(page: Any) -> None:
    """Open all collapsed elements, and wait until the page has handled the events."""
    page.evaluate(
        """() => Promise.all(
            [...document.querySelectorAll("details:not([open])")].map(one => new Promise(done => {
                one.addEventListener("toggle", done, {once: true});
                one.open = true;
            }))).then(() => null)"""
    )


def serious_faults(page: Any) -> list[str]:
    """Return axe-core's violations of serious or critical impact on the current page."""
    from axe_playwright_python.sync_playwright import Axe

    result = Axe().run(page).response["violations"]
    return [
        f"{item['impact']}: {item['id']}: {item['help']}: {node['target']}"
        for item in result
        if item["impact"] in {"serious", "critical"}
        for node in item["nodes"]
    ]


def shift_of_layout(page: Any) -> float:
    """Return the cumulative layout shift since the page began to load (Chromium's own measure)."""
    return float(
        page.evaluate(
            """() => new Promise(done => {
                let sum = 0;
                new PerformanceObserver(list => {
                    for (const entry of list.getEntries()) sum += entry.value;
                }).observe({type: "layout-shift", buffered: true});
                setTimeout(() => done(sum), 300);
            })"""
        )
    )
