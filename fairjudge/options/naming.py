"""Messages in the words of a command line, in those of Python: ``--rpm 5`` is an argument."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Literal, get_args, get_origin

from fairjudge.domain import ProtocolName
from fairjudge.options.declaring import OptionSpec, declared, pairs_of

_WORDS = re.compile(
    r"'[a-z][^']* [^']*'|(--[a-z][a-z-]*)(?: ('\w[^']*=[^']*'|[\w|:]+(?:=[\w@%+:,=./-]*\w)?))?"
)
"""A command in quotes, which stays as it is, or a flag with the word after it."""
_OTHERS = {"--backend": "model", "--from": "tool", "--options": "answers", "--run": "run"}
_ASPECTS = {"coverage", "faithfulness", "balance"}


def python_words(message: str, call: Callable[..., Any]) -> str:
    """Return `message` with the arguments of `call`, and of the options that it takes, for flags.

    A value after a flag is written as in a call, where it is a number or one of its choices.
    """
    options = {option.flag: option for option in _options(call)}

    def named(match: re.Match[str]) -> str:
        flag, word = match[1], match[2]
        if flag is None:
            return match[0]
        option = options.get(flag)
        name = _OTHERS.get(flag) or (option.name if option else flag[2:].replace("-", "_"))
        if word is None:
            return name
        return _with_value(name, word, _ASPECTS if name == "aspect" else _choices(option))

    return _WORDS.sub(named, message)


def _with_value(name: str, word: str, choices: set[str]) -> str:
    if word.isdecimal():
        return f"{name}={word}"
    if "=" in word:
        several: dict[str, list[str]] = {}
        for left, right in pairs_of(word.strip("'"), "pairs", last=name == "values"):
            several.setdefault(left, []).append(right)
        pairs = {left: only[0] if len(only) == 1 else only for left, only in several.items()}
        return f"{name}={pairs}"
    if word.isupper():
        return f"{name}={word!r}"
    values = word.split("|")
    if not choices.issuperset(values):
        return f"{name} {word}"
    return " or ".join(f'{name}="{value}"' for value in values)


def _options(call: Callable[..., Any]) -> Iterator[OptionSpec]:
    from fairjudge.options.building import BuildOptions
    from fairjudge.options.judging import JudgeOptions
    from fairjudge.options.models import Model
    from fairjudge.options.summarizing import SummarizeOptions

    for kind in (BuildOptions, SummarizeOptions, Model, JudgeOptions, call):
        yield from declared(kind)


def _choices(option: OptionSpec | None) -> set[str]:
    kinds = () if option is None else option.kinds
    choices = {name for kind in kinds if get_origin(kind) is Literal for name in get_args(kind)}
    return choices or ({*get_args(ProtocolName)} if option and option.name == "protocol" else set())
