"""``fairjudge report`` on what the commands leave behind: runs, their cost, a folder of files."""

from __future__ import annotations

from pathlib import Path

from cli_tools import building, judging, openai


def test_run_records_each_request(cli, references, summaries, server):
    command = (*judging(server), "--run", "run")
    assert cli(*command, "--max-calls", "4", "--max-unscored", "1").code == 0
    assert cli(*command).code == 0
    assert cli(*command).code == 0  # nothing is left to ask
    cli("report", "run", "--references", references, "-o", "report.html", code=0)
    page = Path("report.html").read_text("utf-8")
    request = page[page.index("Calls of models") :].split("</table>")[0]
    # 6 summaries in all: 4 calls, then the 2 that the limit left; then the run was finished
    calls = [row.split('class="right">')[1].split("<")[0] for row in request.split("<tr>")[2:]]
    assert calls == ["4", "2"]
    assert "unknown" in request  # the stub's model has no price
    assert "openai:stub-model" in page


def test_report_of_build_and_summarize_runs_and_their_folder(cli, clusters, server):
    assert cli(*building(server), "--run", "work/build").code == 0
    options = ("-o", "work/s.jsonl", "--run", "work/summarize", *openai(server))
    assert cli("summarize", clusters, *options).code == 0
    assert cli("report", "work", "-o", "report.html").code == 0
    page = Path("report.html").read_text("utf-8")
    assert "run of build" in page
    assert "run of summarize" in page
    assert "<caption>Calls of models<" in page
    assert "What about the rain?" in page


def test_unwritable_page_raises_first(cli, references):
    result = cli("report", references, "-o", "nowhere/page.html")
    assert (result.code, result.out) == (1, "")
    assert "the folder for this output does not exist" in result.err
    result = cli("report", "nowhere.jsonl", "-o", "page.html")
    assert (result.code, result.err) == (1, "error: nowhere.jsonl: no such file\n")
    assert cli("report", "-o", "page.html").code == 2
