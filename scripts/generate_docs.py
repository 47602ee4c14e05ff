"""Write docs/cli.md from the commands' own help, and draw the graphs in design/README.md.

    scripts/generate-docs            writes both
    scripts/generate-docs --check    exits with 1 if one is out of date

Help is always rendered at 80 columns and without colour, so that the file does not depend on the
terminal.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ |= {"COLUMNS": "80", "TERM": "dumb", "NO_COLOR": "1"}

import typer

from fairjudge.cli._main import app
from fairjudge.graphs.by_article import build_article_graph
from fairjudge.graphs.judge import build_judge_graph
from fairjudge.graphs.reference import build_reference_graph

ROOT = Path(__file__).resolve().parents[1]
COMMANDS = ROOT / "docs" / "cli.md"
DESIGN = ROOT / "design" / "README.md"
DRAWN = re.compile(r"(<!-- drawn: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
GRAPHS = {
    "by_article": build_article_graph,
    "reference": build_reference_graph,
    "judge": build_judge_graph,
}
WIDTH = 80
OPENING = """\
# Commands

Written by `scripts/generate-docs` from `--help`; change the commands' help, not this file.
Files and exit codes are in [formats.md](formats.md).
"""


def sections(command: Any, name: str, parent: Any = None) -> Iterator[tuple[str, str]]:
    """Yield (name, help) of a command and of all its subcommands, in the order of the help."""
    width = {"terminal_width": WIDTH, "max_content_width": WIDTH}
    settings = {"parent": parent, "resilient_parsing": True, **width}
    shown = getattr(command, "default", None) or command
    with shown.make_context(name, [], **settings) as context:
        context.color = False
        yield context.command_path, str(shown.get_help(context)).rstrip()
    below = getattr(command, "commands", {})
    if below:
        with command.make_context(name, [*below][:1], **settings) as context:
            for each in below:
                yield from sections(below[each], each, context)


def commands() -> str:
    """Return the text of docs/cli.md."""
    parts = [OPENING]
    for name, text in sections(typer.main.get_command(app), "fairjudge"):
        trimmed = "\n".join(line.rstrip() for line in text.splitlines())
        parts.append(f"## {name}\n\n```text\n{trimmed}\n```\n")
    return "\n".join(parts)


def design() -> str:
    """Return the text of design/README.md with the current graphs."""

    def draw(match: re.Match[str]) -> str:
        drawing = GRAPHS[match[2]]().get_graph(xray=True).draw_mermaid().strip()
        return f"{match[1]}```mermaid\n{drawing}\n```\n{match[3]}"

    return DRAWN.sub(draw, DESIGN.read_text("utf-8"))


def main(arguments: list[str]) -> int:
    """Write the files, or check whether they are up to date."""
    stale = 0
    for target, text in ((COMMANDS, commands()), (DESIGN, design())):
        if arguments != ["--check"]:
            target.write_text(text, "utf-8")
        elif not target.is_file() or target.read_text("utf-8") != text:
            print(f"{target} is out of date; run scripts/generate-docs", file=sys.stderr)
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
