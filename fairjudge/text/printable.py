"""Text from files and servers, made fit to be shown on a terminal."""

from __future__ import annotations

import sys
from pathlib import Path


def printable(text: str) -> str:
    """Put a space for every control character of `text` but line breaks.

    So that what others wrote cannot move the cursor, change colours, set the window's title, write
    to the clipboard, or turn the direction of what follows. Unicode's controls (C0, C1), formats
    (bidirectional overrides among them), private and unassigned characters all count.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else " " for c in text)


def shows_on_terminal(path: str | Path) -> bool:
    """Whether what is written to `path` shows on a terminal, which texts of others may steer."""
    return str(path) == "-" and sys.stdout.isatty()
