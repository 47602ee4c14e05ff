"""The command: what it says, and how it refuses."""

from __future__ import annotations

import json
import subprocess
import sys

import httpx
import pytest
from annotation_tools import Annotator, rows, serve, write_world
from cli_tools import write_jsonl


@pytest.fixture
def run(cli_in):
    def annotate(folder, *arguments):
        result = cli_in(folder, "annotate", *arguments)
        return result.code, result.out + result.err

    return annotate


@pytest.fixture
def folder(tmp_path):
    write_world(tmp_path)
    return tmp_path


COVERAGE = ("references.json", "--task", "coverage", "--summaries", "summaries.jsonl")
OUT = ("-o", "labels.jsonl")


def test_dry_run_reports_items_and_writes_nothing(folder, run):
    code, output = run(folder, *COVERAGE, *OUT, "--dry-run", "--overlap", "0.5", "--raters", "3")
    assert code == 0
    # Twelve items, six of them by three people: 6 + 18.
    assert "12 items, 24 labels; 6 items by 3 annotators each" in output
    assert not (folder / "labels.jsonl").exists()
    assert not (folder / "labels.jsonl.db").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("references.json", "--task", "covrage", *OUT), 2, "coverage"),
        (("references.json", "--task", "coverage", *OUT), 1, "--summaries"),
        ((*COVERAGE, "-o", "labels.csv"), 1, ".jsonl"),
        ((*COVERAGE, "-o", "nowhere/labels.jsonl"), 1, "folder"),
        ((*COVERAGE, *OUT, "--budget", "10"), 2, "require each other"),
        ((*COVERAGE, *OUT, "--qualify", "0.8"), 1, "--qualify needs --controls"),
        ((*COVERAGE, *OUT, "--qualify", "80"), 2, "--qualify"),
        (("missing.json", "--task", "answers", *OUT), 1, "missing.json"),
        ((*COVERAGE, *OUT, "--host", "192.0.2.1"), 1, "--port"),
        ((*COVERAGE, *OUT, "--scale", "missing.toml"), 1, "missing.toml"),
    ],
)
def test_errors_are_one_line(folder, run, arguments, code, message):
    exit_code, text = run(folder, *arguments)
    assert exit_code == code
    assert message in text
    assert "Traceback" not in text


def test_control_with_invalid_answer_raises(folder, run):
    control = {
        "eid": "e0", "system": "secret-x", "aspect": "coverage", "annotator": "gold",
        "value": 4, "unit": "answer:0.0",
    }  # fmt: skip
    write_jsonl(folder / "gold.jsonl", [control])
    code, output = run(folder, *COVERAGE, *OUT, "--controls", "gold.jsonl")
    assert (code, "invalid value" in output, "gold.jsonl" in output) == (1, True, True)


def test_missing_extra_error_says_how_to_install_it(folder):
    code = (
        "import sys, importlib.util as u\n"
        "found = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'fastapi' else found(name, *a)\n"
        "from fairjudge.cli import main\n"
        f"sys.argv = ['fairjudge', 'annotate', *{json.dumps([*COVERAGE, *OUT])}]\n"
        "main()"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert process.returncode == 1
    assert "pip install 'fairjudge[annotate]'" in process.stderr


def test_custom_answers_are_read_from_a_file(folder):
    (folder / "tone.toml").write_text(
        'name = "tone"\nkind = "choice"\ninstruction = "How does the summary sound?"\n'
        '[[levels]]\nanswer = "hostile"\nvalue = -1\n'
        '[[levels]]\nanswer = "neutral"\nvalue = 0\nanchor = "takes no side"\n'
        '[[levels]]\nanswer = "friendly"\nvalue = 1\n',
        "utf-8",
    )
    server = serve(folder, "--scale", "tone.toml", "--aspect", "tone", task="rating")
    ann = Annotator(server.url, "ann")
    assert "How does the summary sound?" in ann.page.text
    assert "takes no side" in ann.page.text
    assert 'data-key="3"' in ann.page.text
    ann.label(0)
    server.interrupt()
    (row,) = rows(folder / "labels.jsonl")
    assert (row["aspect"], row["value"], row["unit"]) == ("tone", -1, "summary")


@pytest.mark.parametrize("host", ["0.0.0.0", "localhost"])  # noqa: S104  # how it is guarded
def test_the_printed_links_work(folder, host):
    server = serve(folder, "--host", host)
    try:
        for url in (server.url, server.progress):
            answer = httpx.get(url, follow_redirects=True, timeout=60)
            assert answer.status_code == 200, (url, answer.text)
    finally:
        server.kill()
