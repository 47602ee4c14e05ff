"""A criterion of one's own: an aspect by two small files and no code."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from fairjudge.cli._main import app
from fairjudge.datasets import example_path
from fairjudge.errors import InputError
from fairjudge.judges.criterion_files import read_criterion_file

PROMPT = """+++
task = "own"
name = "tone"
version = 1
about = "Asks about tone."
+++
## user
{{text}}

How neutral is the tone?

{{scale}}
"""
SCALE = """name = "tone"
kind = "choice"
[[levels]]
answer = "slanted"
value = 1
[[levels]]
answer = "neutral"
value = 3
"""


@pytest.fixture
def criterion(tmp_path):
    (tmp_path / "tone.md").write_text(PROMPT)
    (tmp_path / "scale.toml").write_text(SCALE)
    file = tmp_path / "tone.toml"
    file.write_text('aspect = "tone"\nprompt = "tone.md"\nscale = "scale.toml"\n')
    return file


def test_any_aspect_can_be_judged(tmp_path, criterion, stub, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    stub.answer = lambda call: "It takes no side.\nVerdict: neutral"
    args = ["judge", "--references", example_path("references.json")]
    args += ["--summaries", example_path("summaries.jsonl"), "--criterion", criterion]
    args += ["--backend", "openai:m", "--base-url", stub.v1, "--cache", tmp_path / "c"]
    args += ["--reference-unit", "articles", "-o", tmp_path / "out.jsonl"]
    result = CliRunner().invoke(app, [str(arg) for arg in args])
    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert {(row["aspect"], row["protocol"], row["value"]) for row in rows} == {
        ("tone", "likert", 3.0)
    }
    assert "How neutral is the tone?" in str(stub.calls[0].body)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('aspect = "tone"\nprompt = "tone.md"\n', "scale"),
        ('aspect = "tone"\nprompt = "no.md"\nscale = "scale.toml"\n', "no.md"),
        ('aspect = ""\nprompt = "tone.md"\nscale = "scale.toml"\n', "aspect"),
        ('colour = "x"\n', "colour"),
        ("aspect =", "TOML"),
    ],
)
def test_what_is_wrong_with_the_file_is_named(criterion, text, said):
    criterion.write_text(text)
    with pytest.raises(InputError, match=said):
        read_criterion_file(criterion)
