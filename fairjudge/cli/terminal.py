"""Print text that may contain untrusted input: names, labels, paths, server messages."""

from __future__ import annotations

import shutil
import sys
import textwrap

import typer

from fairjudge.text.printable import printable


def say(message: str, *, err: bool = False) -> None:
    """Print `message` and a line break, without control characters.

    On a terminal, sentences are wrap at words; commands (starting with ``$`` or a space) are not.
    """
    text = printable(message)
    if (sys.stderr if err else sys.stdout).isatty():
        width = shutil.get_terminal_size().columns
        text = "\n".join(wrap(line, width) for line in text.split("\n"))
    typer.echo(text, err=err)


def wrap(line: str, width: int) -> str:
    """Wrap `line` at spaces if it is longer than `width` and not a command."""
    if len(line) <= width or line[:1] in {"$", " "}:
        return line
    return textwrap.fill(line, width, break_long_words=False, break_on_hyphens=False)
