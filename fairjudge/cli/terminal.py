"""Print text from outside: names, labels, file names, messages of servers."""

from __future__ import annotations

import shutil
import sys
import textwrap

import typer

from fairjudge.text.printable import printable


def say(message: str, *, err: bool = False) -> None:
    """Print `message` on a line of its own, without control characters.

    On a terminal sentences wrap at words; commands, which begin with ``$`` or a space, do not.
    """
    text = printable(message)
    if (sys.stderr if err else sys.stdout).isatty():
        width = shutil.get_terminal_size().columns
        text = "\n".join(wrapped(line, width) for line in text.split("\n"))
    typer.echo(text, err=err)


def wrapped(line: str, width: int) -> str:
    """Return `line` broken at spaces, where it is longer than `width` and no command."""
    if len(line) <= width or line[:1] in {"$", " "}:
        return line
    return textwrap.fill(line, width, break_long_words=False, break_on_hyphens=False)
