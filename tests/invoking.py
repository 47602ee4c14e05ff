"""Helpers that run commands in this process with typer's runner."""

from __future__ import annotations

from typing import Any

from typer.testing import CliRunner, Result

from fairjudge.cli._main import app


def invoke(*words: object, **options: Any) -> Result:
    """Run a command; `options` are those of `CliRunner.invoke`."""
    return CliRunner().invoke(app, [*map(str, words)], **options)


def run(*words: object, code: int = 0) -> Result:
    """Run a command; require the exit code `code`."""
    result = invoke(*words)
    assert result.exit_code == code, result.output
    return result
