"""The command line, one short module per command."""

from __future__ import annotations

import gc


def main() -> None:
    """Run the ``fairjudge`` command; the only place where errors become exit codes."""
    thresholds = gc.get_threshold()
    # Most objects belong to imported modules, which live until the command ends.
    gc.set_threshold(200_000, 20, 50)
    try:
        from fairjudge.cli.exits import handle_exit

        with handle_exit():
            from fairjudge.cli._main import run

            run()
    except KeyboardInterrupt:  # during imports: nothing to report or save
        raise SystemExit(130) from None
    finally:
        gc.set_threshold(*thresholds)
