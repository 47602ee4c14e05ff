"""The application class of all commands, which checks input and output files first."""

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

OUTPUT_PARAMETERS = frozenset(
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
"""Parameters that are paths of output files."""
FOLDER_PARAMETERS = frozenset({"run", "cache", "figures"})
"""Parameters that are paths of folders that a command manages."""
_TEXTS_WITH_PATHS = frozenset({"scale", "scorer"})
"""Parameters whose text may contain a path, alone or after a colon."""
_NON_INPUT_SUFFIXES = (".html", ".toml")
"""Extensions of files that commands ignore in an input folder."""
_RUN_FILES = frozenset(
    {"manifest.json", "checkpoints.sqlite", "cache.db", ".lock", "spending.json"}
    | {f"{rows}.jsonl" for rows in ("judgements", "references", "summaries", "spent", "finished")}
)

_EXAMPLES = textwrap.TextWrapper(
    width=74,  # of 80: the rest is for indentation and backslashes
    initial_indent=" " * 4,
    subsequent_indent=" " * 8,
    break_long_words=False,
    break_on_hyphens=False,
)


def _help(function: Callable[..., Any]) -> str:
    """Return a docstring as help text, with examples indented and wrapped to the terminal."""
    text = inspect.getdoc(function) or ""
    text = re.sub(r"^ *(fairjudge (?:.*\\\n)*.*)", _example, text, flags=re.MULTILINE)
    return re.sub(r"\n\n(?= {4})", "\n\n\b\n", text)


def _example(command: re.Match[str]) -> str:
    """Wrap a command, without a line break between an option and its value."""
    words = " ".join(command[1].replace("\\\n", " ").split())
    joined = re.sub(r"(?<= )(--?[\w-]+) (?=[^-])", "\\1\N{NO-BREAK SPACE}", words)
    return " \\\n".join(_EXAMPLES.wrap(joined)).replace("\N{NO-BREAK SPACE}", " ")


class Application(typer.Typer):
    """A group of commands that check their files before they run."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"cls": Group, "no_args_is_help": True, **settings})

    def command(  # type: ignore[override]
        self, name: str | None = None, **settings: Any
    ) -> Callable[[Callable[..., R]], Callable[..., R]]:
        """Return the decorator that registers a function as a command."""
        register_as = super().command

        def decorate(function: Callable[..., R]) -> Callable[..., R]:
            register = register_as(name, cls=Command, help=_help(function), **settings)

            command = with_options()(function)

            @functools.wraps(command)
            def wrapper(**arguments: Any) -> R:
                check_files(arguments)
                return command(**arguments)

            register(wrapper)
            return function

        return decorate


def check_files(options: Mapping[str, Any]) -> None:
    """Check the files of a command line before any is read or written.

    Parameters
    ----------
    options
        The values of the command line, by parameter.

    Raises
    ------
    InputError
        If an input is a pipe or a device, a file name is invalid, or an output is also an input,
        another output, or a file that the command manages in its own folder.
    """
    input_files = [path for name, value in options.items() for path in _paths_to_read(name, value)]
    for path in input_files:
        check_regular(path)
    earlier_outputs: list[tuple[str, Path]] = []
    for name in options.keys() & OUTPUT_PARAMETERS:
        if options[name] is None or str(options[name]) == "-":
            continue
        path = Path(options[name])
        file_mode(path)
        _check_output(
            _option(name),
            path,
            input_files,
            [Path(options[f]) for f in FOLDER_PARAMETERS if options.get(f)],
        )
        for other_option, other_path in earlier_outputs:
            if _is_same_file(path, other_path):
                raise InputError(
                    f"{_option(name)} and {other_option} are the same file",
                    path=path,
                )
        earlier_outputs.append((_option(name), path))


def _check_output(option: str, path: Path, input_files: list[Path], folders: list[Path]) -> None:
    for source in input_files:
        if source.is_dir():
            in_folder = path.exists() and _is_same_file(path.parent, source)
            is_overwritten = in_folder and path.suffix not in _NON_INPUT_SUFFIXES
        else:
            is_overwritten = _is_same_file(path, source)
        if is_overwritten:
            raise InputError(
                f"{option} would overwrite the input {source}; choose another file", path=path
            )
    if path.name in _RUN_FILES and any(_is_same_file(path.parent, folder) for folder in folders):
        raise InputError(f"{option} would overwrite a file of the run; choose another", path=path)


def _paths_to_read(name: str, value: object) -> Iterator[Path]:
    """Yield the input files in the value of a parameter."""
    if name in OUTPUT_PARAMETERS | FOLDER_PARAMETERS or value is None:
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
    elif name in _TEXTS_WITH_PATHS:
        yield from (Path(text) for text in (str(value), str(value).partition(":")[2]) if text)


def _is_same_file(path: Path, other_path: Path) -> bool:
    """Return whether both are one file or folder, following links; False for pipes and devices."""
    if not (path.exists() and other_path.exists()):
        return os.path.realpath(path) == os.path.realpath(other_path)
    return path.samefile(other_path) and (path.is_file() or path.is_dir())


def _option(name: str) -> str:
    if name == "exported":
        return "FILE"
    return f"--{name.removesuffix('_file').replace('_', '-')}"
