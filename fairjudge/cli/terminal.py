"""Printing what others wrote: names, labels, file names, the words of servers."""

from __future__ import annotations

import typer

from fairjudge.text.printable import printable


def say(message: str, *, err: bool = False) -> None:
    """Print `message` on a line of its own, without control characters."""
    typer.echo(printable(message), err=err)
