"""Command and group classes: options in panels, plain error messages, default commands."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, get_args

import typer
from typer.core import TyperCommand, TyperGroup

from fairjudge.options.declaring import Panel

_PLAIN_MESSAGES = {
    "Value error, ": "",
    "Input should be a valid integer, unable to parse string as an integer": "not a whole number",
    "Input should be a valid number, unable to parse string as a number": "not a number",
}
_MAX_NAME_WIDTH = 30
"""Maximum width of the column of option names in Typer's help."""


class _PanelHelp:
    """A mixin of commands: help in panels, and plain error messages instead of pydantic's."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the command line."""
        try:
            parsed: list[str] = super().parse_args(ctx, args)  # type: ignore[misc]
        except typer.BadParameter as error:
            for pydantic_text, plain_text in _PLAIN_MESSAGES.items():
                error.message = error.message.replace(pydantic_text, plain_text)
            raise
        return parsed

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write one section per panel; ``--help`` itself is in the last one."""
        panels: dict[str | None, list[tuple[str, str]]] = defaultdict(list)
        for param in self.get_params(ctx):  # type: ignore[attr-defined]
            if callable(placeholder := getattr(param, "metavar", None)):
                param.metavar = placeholder()
            if (record := param.get_help_record(ctx)) is not None:
                panels[getattr(param, "rich_help_panel", None)].append(record)
        ungrouped = panels.pop(None, [])
        titles = sorted(panels, key=get_args(Panel).index) or ["Options"]
        panels[titles[-1]] += ungrouped
        width = min(_MAX_NAME_WIDTH, max(len(name) for rows in panels.values() for name, _ in rows))
        for title in titles:
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), text) for name, text in panels[title]])


class Command(_PanelHelp, TyperCommand):
    """A command; the help of a group's default command also lists the group's other commands."""

    sibling_commands: Mapping[str, Any] = {}
    """The other commands of the group whose default this is."""

    def make_parser(self, ctx: Any) -> Any:
        """Return a parser that rejects repeated options that take one value."""
        parser = super().make_parser(ctx)
        parse = parser.parse_args

        def parse_args(args: list[str]) -> Any:
            parsed = parse(args)
            for option, n in Counter(parsed[2]).items():
                if n > 1 and _takes_one_value(option):
                    flags = " / ".join(option.opts)
                    ctx.fail(
                        f"Option {flags!r} takes one value: run the command once per value ({n})"
                    )
            return parsed

        parser.parse_args = parse_args  # type: ignore[method-assign]
        return parser

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        """Write the usage of the command and of its group."""
        super().format_usage(ctx, formatter)
        if self.sibling_commands:
            formatter.write_usage(ctx.command_path, "COMMAND [ARGS]...", prefix="   or: ")

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options and the commands of its group."""
        super().format_options(ctx, formatter)
        if self.sibling_commands:
            _write_commands(self.sibling_commands, formatter)


class Group(_PanelHelp, TyperGroup):
    """A group with a default command, which runs unless the first word is another command.

    For example, ``fairjudge calibrate FILE`` runs the command ``calibrate calibrate FILE``.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.default: Any = None
        if self.name in self.commands:
            self.default = self.commands.pop(str(self.name))
            self.default.sibling_commands = self.commands

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        """Parse the command line, with the default command unless another one is specified."""
        complete = not args and extra.get("resilient_parsing", False)
        if self.default is None or complete or (args and args[0] in self.commands):
            return super().make_context(info_name, args, parent, **extra)
        return self.default.make_context(info_name, args, parent, **extra)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Complete the name of a command, or an option of the default command."""
        if self.default is None or not incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        return self.default.shell_complete(ctx, incomplete)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command; the error for an unknown name suggests commands of all groups."""
        name = args[0]
        if not (name in self.commands or name.startswith("-") or ctx.resilient_parsing):
            root = ctx.find_root()
            matches = " or ".join(
                f"'{root.command_path} {path}'" for path in _similar(name, root.command)
            )
            suggestion = f" Did you mean {matches}?" if matches else ""
            ctx.fail(f"No such command {name!r}.{suggestion}")
        return super().resolve_command(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options and the commands."""
        super().format_options(ctx, formatter)
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """List the commands, each with the full first sentence of its help."""
        _write_commands(self.commands, formatter)


def _takes_one_value(param: Any) -> bool:
    """Return whether `param` is a non-repeatable option with a value, or a pair of flags."""
    if param.param_type_name != "option" or param.multiple or param.count:
        return False
    return not param.is_flag or bool(param.secondary_opts)


def _write_commands(commands: Mapping[str, Any], formatter: Any) -> None:
    with formatter.section("Commands"):
        formatter.write_dl(
            [(name, command.get_short_help_str(limit=1000)) for name, command in commands.items()]
        )


def _similar(name: str, root: Any) -> list[str]:
    """Return the commands of all groups whose name is most similar to `name`."""
    paths: dict[str, list[str]] = defaultdict(list)
    for path in _paths(root):
        for key in {_sorted_words(path), _sorted_words(path.split()[-1])}:
            paths[key].append(path)
    return [
        path for key in get_close_matches(_sorted_words(name), paths, n=1) for path in paths[key]
    ]


def _paths(group: Any) -> Iterator[str]:
    for name, command in getattr(group, "commands", {}).items():
        yield name
        yield from (f"{name} {path}" for path in _paths(command))


def _sorted_words(name: str) -> str:
    """Return the words of a name in alphabetical order: 'load-batch' becomes 'batch load'."""
    return " ".join(sorted(re.split(r"[ -]", name)))
