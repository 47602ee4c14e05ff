"""Terminal, page, Python and data frame show one leaderboard, with 1 reply of 30 unreadable."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from cli_tools import openai, write_jsonl
from stub_server import Call, Reply

import fairjudge as fj
from fairjudge.domain import Judgement
from fairjudge.reports.figures import interval
from fairjudge.reports.tables import number, to_csv

MARKS = {"alpha": "QUALITYA", "beta": "QUALITYB", "gamma": "QUALITYC"}
N = 10
HEADS = ["system", "rank", "mean [95 %]", "difference to best", "clusters", "unscored", "judged",
         "worst", "best"]  # fmt: skip


def answer(call: Call) -> Reply:
    """Rate alpha 5, beta 4 and gamma 2, one less in odd towns; gamma's in town 7 is no rating."""
    text = json.dumps(call.body["messages"])
    system = next((name for name, mark in MARKS.items() if mark in text), "")
    if not system:  # asked what rating the reply of town 7 means
        return Reply(text="None.")
    town = next(n for n in range(N) if f"town-{n} " in text)
    if (system, town) == ("gamma", 7):
        return Reply(text="I would rather not say.")
    return Reply(text=f"Score: {({'alpha': 5, 'beta': 4, 'gamma': 2}[system]) - town % 2}")


class Tables(HTMLParser):
    """The cells of every table of a page, by caption."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.rows: list[list[str]] = []
        self.open, self.caption = "", ""

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag == "table":
            self.rows, self.caption = [], ""
        elif tag == "tr":
            self.rows.append([])
        elif tag in {"td", "th"}:
            self.rows[-1].append("")
        self.open = tag if tag in {"td", "th", "caption"} else self.open

    def handle_endtag(self, tag: str) -> None:
        self.open = "" if tag in {"td", "th", "caption"} else self.open
        if tag == "table":
            self.tables[self.caption] = self.rows

    def handle_data(self, data: str) -> None:
        if self.open == "caption":
            self.caption += data
        elif self.open:
            self.rows[-1][-1] += data


@pytest.fixture
def run(cli, server, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    server.answer = answer
    clusters = [
        {"eid": f"e{n}", "articles": [
            {"aid": f"a{n}", "content": f"The bridge of town-{n} is closed, and will stay closed."}
        ]}
        for n in range(N)
    ]  # fmt: skip
    summaries = [
        {"eid": f"e{n}", "system": system, "text": f"The bridge of town-{n} is closed. {mark}"}
        for n in range(N)
        for system, mark in MARKS.items()
    ]
    write_jsonl(Path("c.jsonl"), clusters)
    write_jsonl(Path("s.jsonl"), summaries)

    def judge(*before: str) -> str:
        result = cli(*before, "judge", "--references", "c.jsonl", "--summaries", "s.jsonl",
                   "--aspect", "faithfulness", "--protocol", "likert", "-o", "j.jsonl",
                   *openai(server), "--max-unscored", "1", "--json", "found.json",
                   code=0)  # fmt: skip
        return result.out

    return judge


def test_three_tables_have_equal_cells(run, cli):
    lines = run("--tables", "csv").splitlines()
    place = next(n for n, line in enumerate(lines) if line.startswith("system,"))
    rows = [json.loads(line) for line in Path("j.jsonl").read_text("utf-8").splitlines()]
    board = fj.JudgeResult(tuple(map(Judgement.model_validate, rows))).leaderboard()
    in_python = to_csv(board.shown).splitlines()[1:]
    assert lines[place : place + 4] == in_python
    cli("report", "j.jsonl", "-o", "r.html", code=0)
    page = Tables()
    page.feed(Path("r.html").read_text("utf-8"))
    cells = next(rows for rows in page.tables.values() if rows and rows[0][0] == "system")
    assert cells[0] == HEADS
    assert cells == [list(cells[0]), *map(list, board.shown.rows)]
    data = json.loads(Path("found.json").read_text("utf-8"))["systems"]
    means = {
        name: {"value": system["mean"], **system["mean_interval"]} for name, system in data.items()
    }
    column = HEADS.index("mean [95 %]")
    assert {name: interval(mean) for name, mean in means.items()} == {
        row[0]: row[column] for row in board.shown.rows
    }
    assert {(mean["level"], mean["resampled"]) for mean in means.values()} == {(0.95, "clusters")}
    for cell, row in zip(cells[1:], board, strict=True):  # the data frame has the same unrounded
        best, worst = row["best_rank"], row["worst_rank"]
        star = "(*)" if row["significant"] else ""  # of 9 clusters
        figures = [
            interval({"value": row[name], "low": row[f"{name}_low"], "high": row[f"{name}_high"]})
            for name in ("mean", "behind")
        ]
        assert cell == [
            row["system"],
            f"{best}" if best == worst else f"{best}-{worst}",
            figures[0],
            f"{figures[1]}{star}",
            *(str(row[name]) for name in ("n_clusters", "n_unscored", "n_judged")),
            number(row["worst"]),
            number(row["best"]),
        ]


def test_by_hand(run):
    """Alpha has 5, 4, 5, ..., mean 4.5; gamma 2, 1, 2, ... but not its last but one 1: 14 / 9.

    In every town that all three share, alpha is 1 above beta and 3 above gamma: so says every
    resample, and no interval has a width.
    """
    result = run()
    rows = [line.split() for line in result.splitlines() if line.strip().startswith(tuple(MARKS))]
    assert [row[:3] for row in rows] == [
        ["alpha", "1", "4.50"], ["beta", "2", "3.50"], ["gamma", "3", "1.56"]
    ]  # fmt: skip
    assert "1.00 [1.00, 1.00](*)" in result
    assert "3.00 [3.00, 3.00](*)" in result
    assert (
        "(*) the 95 % interval excludes 0, but intervals from 9 clusters are too narrow." in result
    )
    assert "significant" not in result
    assert "over the 9 clusters that all ranked systems were scored on" in result
    assert "alpha has the highest mean over shared clusters in faithfulness" in result
    assert "not ranked" not in result
    assert all(len(line) <= 80 for line in result.splitlines() if line.startswith(" "))
    assert "Columns hidden (terminal too narrow): judged, worst, best." in result
