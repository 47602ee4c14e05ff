"""Make text from files and servers safe to print on a terminal."""

from __future__ import annotations

import sys
from pathlib import Path


def printable(text: str) -> str:
    """Replace every control character of `text` except line breaks by a space.

    Foreign text then cannot move the cursor, change colours, set the window's title, write to the
    clipboard, or reverse the direction of the following text. Replaced are Unicode's control (C0,
    C1), format (such as bidirectional overrides), private-use and unassigned characters.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else " " for c in text)


def shows_on_terminal(path: str | Path) -> bool:
    """Return whether output to `path` goes to a terminal, which foreign text could control."""
    return str(path) == "-" and sys.stdout.isatty()
