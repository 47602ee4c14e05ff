"""No sentence without its figure on the page: what is said first is compared with the tables."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

import pytest
from cli_tools import write_jsonl
from recorded_pairs import recorded_pairs
from report_study import run
from sentence_checker import without_figure

from fairjudge.analysis.reporting import make_report

DATA = Path(__file__).parents[3] / "shared" / "data" / "summeval"


@dataclass
class Table:
    heads: list[str]
    rows: list[list[str]]


class Page(HTMLParser):
    """The paragraphs of the first section, and every table of the page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.sentences: list[str] = []
        self.tables: list[Table] = []
        self._section = ""
        self._text: list[str] | None = None
        self._is_note = False
        self.notes: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in {"section", "h2"}:
            self._section = dict(attrs).get("id") or ""
        if tag == "table":
            self.tables.append(Table([], []))
        if tag == "tr" and self.tables:
            self.tables[-1].rows.append([])
        if tag in {"p", "td", "th"}:
            self._text = []
            self._is_note = dict(attrs).get("class") == "note"

    def handle_data(self, data: str) -> None:
        if self._text is not None:
            self._text.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag not in {"p", "td", "th"} or self._text is None:
            return
        text, self._text = " ".join("".join(self._text).split()), None
        if tag == "p" and self._section == "short":
            self.sentences.append(text)
        elif tag == "p" and self._is_note and self.tables:  # a table's own notes have figures too
            self.notes.append(text)
        elif tag in {"td", "th"} and self.tables and self.tables[-1].rows:
            self.tables[-1].rows[-1].append(text)
        elif tag == "th" and self.tables:
            self.tables[-1].heads.append(text)


def unbacked(page: Page) -> list[str]:
    """Return the sentences that have a number which no table of the page has."""
    cells = [cell for table in page.tables for row in table.rows for cell in row]
    return without_figure(page.sentences, [*cells, *page.notes])


def wrong_leaders(page: Page) -> list[str]:
    """Return the sentences that name a leader whom the first row of no table has."""
    first = {table.rows[1][0] for table in page.tables if len(table.rows) > 1 and table.rows[1]}
    ranked = {
        row[1] for table in page.tables for row in table.rows[1:] if row[:1] and row[0][:1] == "1"
    }
    out = []
    for sentence in page.sentences:
        result = re.match(r"(.+?) (?:has the highest (?:mean|strength)|ranks first)\b", sentence)
        if result and result[1] not in first | ranked:
            out.append(sentence)
    return out


@pytest.fixture(scope="module")
def pages(study, tmp_path_factory) -> dict[str, Page]:
    """The study's page, and one of every other command on the same judgements."""
    folder = tmp_path_factory.mktemp("results")
    rows = [
        json.loads(item)
        for item in (study / "judgements.jsonl").read_text("utf-8").split("\n")
        if item
    ]
    pairs = [row for row in rows if row["protocol"] == "pairwise"]
    whole = [row for row in rows if row["protocol"] == "likert" and row["unit"] == "summary"]
    whole = [row for row in whole if row["unscored"] is None]
    first = write_jsonl(folder / "one.jsonl", whole)
    two = write_jsonl(folder / "two.jsonl", [{**row, "value": 6 - row["value"]} for row in whole])
    run("rank", write_jsonl(folder / "pairs.jsonl", pairs), "--json", folder / "rank.json")
    run("compare", first, two, "--json", folder / "compare.json")
    by_name = {
        "study": make_report(study).html,
        "rank": make_report(folder / "rank.json").html,
        "compare": make_report(folder / "compare.json").html,
    }
    return {name: Page(html) for name, html in by_name.items()}


@pytest.mark.parametrize("name", ["study", "rank", "compare"])
def test_every_number_in_a_sentence_is_in_a_table(pages, name):
    assert pages[name].sentences
    assert unbacked(pages[name]) == []


@pytest.mark.parametrize("name", ["study", "rank"])
def test_leader_in_findings_comes_first_in_a_table(pages, name):
    assert wrong_leaders(pages[name]) == []


def test_summary_sentence_mentions_missing_scores(pages):
    page = pages["study"]
    heads = {cell for table in page.tables for row in table.rows[:1] for cell in row}
    assert "unscored" in heads or "without a score" in heads
    assert not any("Every item has a score" in item for item in page.sentences)


def test_checker_finds_numbers_missing_from_tables():
    """It can fail: a number of no table, and a leader of no table."""
    page = Page(
        '<section id="short"><p>a has the highest mean in x; b leaves out 7 of 9.</p></section>'
        "<table><tr><th>system</th><th>mean</th></tr><tr><td>b</td><td>4.00</td></tr></table>"
    )
    assert unbacked(page) == ["'a has the highest mean in x; b leaves out 7 of 9.' has ['7', '9']"]
    assert wrong_leaders(page) == ["a has the highest mean in x; b leaves out 7 of 9."]


@pytest.mark.skipif(not DATA.exists(), reason="the shared SummEval data are not here")
def test_numbers_in_sentences_on_real_pairs_are_in_tables(tmp_path):
    rows = recorded_pairs(DATA / "pairwise_gpt-3.5_consistency.jsonl")
    page = Page(make_report(write_jsonl(tmp_path / "pairs.jsonl", rows)).html)
    assert unbacked(page) == []
    assert wrong_leaders(page) == []
