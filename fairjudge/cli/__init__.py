"""The command line: one short module a command."""

from __future__ import annotations


def main() -> None:
    """Run the ``fairjudge`` command; the only place where errors become exit codes."""
    from fairjudge.cli._main import run

    run()
