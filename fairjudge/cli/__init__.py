"""The command line: one short module a command."""

from __future__ import annotations

import gc


def main() -> None:
    """Run the ``fairjudge`` command; the only place where errors become exit codes."""
    before = gc.get_threshold()
    # Most of what a command makes are the modules that it imports, which stay until its end.
    gc.set_threshold(200_000, 20, 50)
    try:
        from fairjudge.cli.ending import ending

        with ending():
            from fairjudge.cli._main import run

            run()
    except KeyboardInterrupt:  # before there was anything that could say so, or be kept
        raise SystemExit(130) from None
    finally:
        gc.set_threshold(*before)
