"""From a sentence to its evidence: pages that commands write, opened in a browser."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from browser import PHONE, chromium, open_page, serious_faults  # noqa: F401
from cli_tools import write_jsonl
from json_files import read_json

pytestmark = pytest.mark.browser
HOSTILE = "</script><script>document.title='owned'</script>\u202e"


def fairjudge(folder: Path, *words: str) -> None:
    command = [sys.executable, "-m", "fairjudge", *words]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def judged(document: int, system: str, value: float, prompt: str) -> dict[str, object]:
    return {
        "eid": f"d{document}", "system": system, "aspect": "coverage", "protocol": "likert",
        "judge": "j", "value": value, "raw": f"Prompt {prompt} says {value}. {HOSTILE}",
        "signature": f"judge:j|prompt:{prompt}|scale:1-5|version:1",
    }  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    old = [judged(d, s, 1 + (d + len(s)) % 4, "v1") for d in range(12) for s in ("a", "bb")]
    new = [judged(d, s, 1 + (d + len(s)) % 4, "v2") for d in range(12) for s in ("a", "bb")]
    new[6] = judged(3, "a", 5, "v2")
    new[13] = judged(6, "bb", 5, "v2")
    write_jsonl(tmp_path / "old.jsonl", old)
    write_jsonl(tmp_path / "new.jsonl", new)
    options = ("--json", "compare.json", "--html", "compare.html")
    fairjudge(tmp_path, "compare", "old.jsonl", "new.jsonl", *options)
    return tmp_path


def follow_the_first_change(page) -> str:
    page.wait_for_selector("html[data-ready]")
    table = page.locator("table", has_text="Items that differ most").first
    link = table.locator("tbody a").first
    link.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog[open]")
    assert page.title() != "owned"
    assert serious_faults(page) == []
    return page.get_by_role("dialog").inner_text()


@pytest.mark.parametrize("options", [{}, {"viewport": PHONE, "color_scheme": "dark"}])
def test_changed_item_links_to_both_runs(folder, open_page, options):  # noqa: F811
    page = open_page((folder / "compare.html").as_uri(), **options)
    largest = read_json(folder / "compare.json")["groups"][0]["largest"]
    text = follow_the_first_change(page)
    assert f"{largest[0]['system']} on {largest[0]['eid']}" in text
    assert "j (first run)" in text
    assert HOSTILE.split("\u202e", maxsplit=1)[0] in text
    beside = page.locator("dialog table").first.inner_text()
    for run, name in (("first", "j (first run)"), ("second", "j (second run)")):
        (row,) = [line for line in beside.split("\n") if name in line]
        assert re.search(rf"\t{largest[0][run]:g}\t", row)
    root = "document.documentElement"
    assert page.evaluate(f"{root}.scrollWidth <= {root}.clientWidth")
    # the page holds what is listed, and nothing else of the runs
    page.keyboard.press("Escape")
    assert page.locator("#explorer [role=status]").first.inner_text() == "4 judgements"


def test_comparison_report_links_to_its_judgements(folder, open_page):  # noqa: F811
    fairjudge(folder, "report", "compare.json", "old.jsonl", "new.jsonl", "-o", "report.html")
    page = open_page((folder / "report.html").as_uri())
    text = follow_the_first_change(page)
    assert "prompt v1" in text  # the judge is told from itself by the prompt
    address = page.url
    other = open_page(address)
    other.wait_for_selector("dialog[open]")
    assert other.get_by_role("dialog").inner_text() == text


def test_item_without_judgements_has_no_link(folder, open_page):  # noqa: F811
    fairjudge(folder, "report", "compare.json", "-o", "report.html")
    page = open_page((folder / "report.html").as_uri())
    table = page.locator("table", has_text="Items that differ most").first
    assert table.locator("tbody tr").count() == 2
    assert table.locator("tbody a").count() == 0
