"""The command line: one short module a command."""

from __future__ import annotations


def main() -> None:
    """Run the ``fairjudge`` command; the only place where errors become exit codes."""
    try:
        from fairjudge.cli.ending import ending

        with ending():
            from fairjudge.cli._main import run

            run()
    except KeyboardInterrupt:  # before there was anything that could say so, or be kept
        raise SystemExit(130) from None
