"""What a checklist or a list of statements rests on is shown, and accuses nobody wrongly."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from browser import serious_faults
from cli_tools import write_jsonl
from report_study import EVIL, reference, run

from fairjudge.analysis.reporting import make_report

QUOTE = "It cost three million."


def _entry(unit: str, covered: float, **rest) -> dict:
    return {"unit": unit, "covered": covered, "credited": [], "answers": []} | rest


def _judged(c: int, value: float, *entries: dict) -> dict:
    return {
        "eid": f"c{c}", "system": "alpha", "aspect": "coverage", "protocol": "checklist",
        "judge": "local", "value": value, "scored_by": "embedding", "checklist": list(entries),
    }  # fmt: skip


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """In c0 and c1 outlet1's answer is covered in its words, outlet2's in these alone."""
    write_jsonl(tmp_path / "references.jsonl", [reference(c) for c in range(2)])
    text = f"The council met. {QUOTE} Nobody blames {EVIL}."
    write_jsonl(
        tmp_path / "summaries.jsonl",
        [{"eid": f"c{c}", "system": "alpha", "text": text} for c in range(2)],
    )
    rows = [
        _judged(
            c,
            1 / 3,
            _entry("answer:0.0", 0),
            _entry("answer:0.1", 1, quote=QUOTE, credited=[f"c{c}a1"], answers=[0], support=0.83),
            _entry("answer:1.0", 0),
        )
        for c in range(2)
    ]
    write_jsonl(tmp_path / "judgements.jsonl", rows)
    make_report(tmp_path).save(tmp_path / "page.html")
    return tmp_path / "page.html"


def test_paraphrased_outlets_are_not_reported_as_omitted(page):
    """outlet2 says what outlet1 says, and that is covered: it is in the weaker class."""
    html = page.read_text("utf-8")
    assert "alpha leaves out 4 of 6 groups of answers" in html
    start = html.index("Outlets without any covered answer")
    table = html[start : html.index("</table>", start)]
    assert "outlet3.example" in table
    assert "outlet1.example" not in table
    assert "outlet2.example" not in table
    assert '"how":"covered, not in this outlet\'s words"' in html
    assert html.count('"how":"left out"') == 4


def test_terminal_also_counts_groups(page, capsys):
    folder = page.parent
    run("audit", "covered", folder / "judgements.jsonl", "--references",
        folder / "references.jsonl", "--json", folder / "found.json")  # fmt: skip
    again = make_report(folder / "found.json").html
    assert "alpha leaves out 4 of 6 groups of answers" in again


@pytest.mark.browser
def test_checklist_shows_groups_by_verdict_and_highlights_quote(page, open_page):
    opened = open_page(page.as_uri())
    assert "is not known" not in opened.locator("#coverage").inner_text()
    opened.locator("#explorer .open").first.click()
    dialog = opened.locator("dialog")
    heads = dialog.locator("h4").all_inner_texts()
    assert heads == ["left out (2 of 3)", "covered (1 of 3)"]
    assert dialog.locator("mark").all_inner_texts() == [QUOTE]
    text = dialog.inner_text()
    assert "outlet1.example (in this outlet's words)" in text
    assert re.search(r"About three million\. outlet2\.example(?! \(in)", text)
    assert "Local judge's probability: 0.83." in text
    assert "Unedited reply" not in text
    assert "[object" not in text
    assert opened.title() == "FairJudge report"
    assert serious_faults(opened) == []


@pytest.mark.browser
def test_each_answer_group_has_its_checklist_verdict(page, open_page):
    opened = open_page(page.as_uri())
    verdicts = opened.locator("#questions .verdict").all_inner_texts()
    assert [re.sub(r"^\W+", "", verdict) for verdict in verdicts] == [
        "alpha: left out",
        "alpha: covered",
        "alpha: left out",
    ]
    left_out = opened.locator("#uncovered tbody tr")
    assert left_out.count() == 4
    opened.locator("#uncovered").get_by_label("How").select_option("all")
    assert left_out.count() == 6
