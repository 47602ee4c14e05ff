"""Checks shared by all commands: duplicate options, unreadable inputs, overwritten inputs."""

from __future__ import annotations

import functools
import inspect
import os
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import typer

from fairjudge.cli.groups import Command, Group
from fairjudge.cli.parameters import with_options
from fairjudge.errors import InputError
from fairjudge.files import check_regular, file_mode

R = TypeVar("R")

WRITTEN = frozenset(
    {
        "output",
        "ask",
        "json_file",
        "save",
        "save_supports",
        "html",
        "batch",
        "exported",
        "labels_file",
        "references_file",
        "summaries_file",
        "clusters_file",
    }
)
"""Parameters that name files to write."""
FOLDERS = frozenset({"run", "cache", "figures"})
"""Parameters that name folders in which a command keeps files of its own."""
_NAMING = frozenset({"scale", "scorer"})
"""Parameters whose text may name a file, alone or after a colon."""
_NO_INPUTS = (".html", ".toml")
"""Extensions of files that no command reads from a folder."""
_KEPT = frozenset(
    {"manifest.json", "checkpoints.sqlite", "cache.db", ".lock", "spending.json"}
    | {f"{rows}.jsonl" for rows in ("judgements", "references", "summaries", "spent", "finished")}
)

_EXAMPLES = textwrap.TextWrapper(
    width=74,  # of 80, for the help's own indentation, and for backslashes
    initial_indent=" " * 4,
    subsequent_indent=" " * 8,
    break_long_words=False,
    break_on_hyphens=False,
)


def _help(function: Callable[..., Any]) -> str:
    """Return a docstring as help: indented examples, of lines that fit a terminal."""
    text = inspect.getdoc(function) or ""
    text = re.sub(r"^ *(fairjudge (?:.*\\\n)*.*)", _example, text, flags=re.MULTILINE)
    return re.sub(r"\n\n(?= {4})", "\n\n\b\n", text)


def _example(command: re.Match[str]) -> str:
    """Wrap a command to several lines, without a break between an option and its value."""
    words = " ".join(command[1].replace("\\\n", " ").split())
    joined = re.sub(r"(?<= )(--?[\w-]+) (?=[^-])", "\\1\N{NO-BREAK SPACE}", words)
    return " \\\n".join(_EXAMPLES.wrap(joined)).replace("\N{NO-BREAK SPACE}", " ")


class Application(typer.Typer):
    """A set of commands that check their command line before they begin."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"cls": Group, "no_args_is_help": True, **settings})

    def command(  # type: ignore[override]
        self, name: str | None = None, **settings: Any
    ) -> Callable[[Callable[..., R]], Callable[..., R]]:
        """Return the decorator that makes a function a command."""
        register_as = super().command

        def decorate(function: Callable[..., R]) -> Callable[..., R]:
            register = register_as(name, cls=Command, help=_help(function), **settings)

            command = with_options()(function)

            @functools.wraps(command)
            def called(**given: Any) -> R:
                check_files(given)
                return command(**given)

            register(called)
            return function

        return decorate


def check_files(options: Mapping[str, Any]) -> None:
    """Reject invalid files of a command line before any is read or written.

    Parameters
    ----------
    options
        The values of the command line, by parameter.

    Raises
    ------
    InputError
        If an input is a pipe or a device, a name cannot be one, or what is to be written is an
        input, another output, or a file that the command keeps in its own folder.
    """
    input_files = [path for name, value in options.items() for path in _paths_to_read(name, value)]
    for path in input_files:
        check_regular(path)
    before: list[tuple[str, Path]] = []
    for name in options.keys() & WRITTEN:
        if options[name] is None or str(options[name]) == "-":
            continue
        path = Path(options[name])
        file_mode(path)
        _check_written(
            _option(name), path, input_files, [Path(options[f]) for f in FOLDERS if options.get(f)]
        )
        for other, other_path in before:
            if _is_same_file(path, other_path):
                raise InputError(
                    f"{_option(name)} and {other} name the same file: one would overwrite it",
                    path=path,
                )
        before.append((_option(name), path))


def _check_written(option: str, path: Path, input_files: list[Path], folders: list[Path]) -> None:
    for source in input_files:
        if source.is_dir():
            in_folder = path.exists() and _is_same_file(path.parent, source)
            is_overwritten = in_folder and path.suffix not in _NO_INPUTS
        else:
            is_overwritten = _is_same_file(path, source)
        if is_overwritten:
            raise InputError(
                f"{option} would overwrite the input {source}; name another file", path=path
            )
    if path.name in _KEPT and any(_is_same_file(path.parent, folder) for folder in folders):
        raise InputError(f"{option} would overwrite a file of the run; name another", path=path)


def _paths_to_read(name: str, value: object) -> Iterator[Path]:
    """Yield the files that a parameter names to be read."""
    if name in WRITTEN | FOLDERS or value is None:
        return
    if isinstance(value, list):
        for item in value:
            yield from _paths_to_read(name, item)
    elif isinstance(value, Path):
        yield value
        if name == "criterion":
            from fairjudge.judges.criterion_files import read_criterion_file

            criterion = read_criterion_file(value)
            yield from filter(None, (criterion.prompt, criterion.scale))
    elif name in _NAMING:
        yield from (Path(text) for text in (str(value), str(value).partition(":")[2]) if text)


def _is_same_file(path: Path, other: Path) -> bool:
    """Say whether both are one file, also by links. Pipes and devices never count as the same."""
    if not (path.exists() and other.exists()):
        return os.path.realpath(path) == os.path.realpath(other)
    return path.samefile(other) and (path.is_file() or path.is_dir())


def _option(name: str) -> str:
    if name == "exported":
        return "FILE"
    return f"--{name.removesuffix('_file').replace('_', '-')}"
