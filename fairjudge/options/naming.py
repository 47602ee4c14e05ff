"""Translate messages from command-line flags to Python arguments (``--rpm 5``)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Literal, get_args, get_origin

from fairjudge.domain import ProtocolName
from fairjudge.judges.asking import ASPECTS
from fairjudge.options.declaring import OptionSpec, declared_options, parse_pairs

_WORDS = re.compile(
    r"'[a-z][^']* [^']*'|(--[a-z][a-z-]*)(?: ('\w[^']*=[^']*'|[\w|:]+(?:=[\w@%+:,=./-]*\w)?))?"
)
"""A quoted command, which is not translated, or a flag with its value."""
_SPECIAL_NAMES = {"--backend": "model", "--from": "tool", "--options": "answers", "--run": "run"}


def python_words(message: str, call: Callable[..., Any]) -> str:
    """Return `message` with its command-line flags replaced by arguments of `call`.

    The value after a flag becomes a Python value if it is a number or one of the flag's choices.
    """
    options = {option.flag: option for option in _options(call)}

    def translate(match: re.Match[str]) -> str:
        flag, word = match[1], match[2]
        if flag is None:
            return match[0]
        option = options.get(flag)
        name = _SPECIAL_NAMES.get(flag) or (option.name if option else flag[2:].replace("-", "_"))
        if word is None:
            return name
        return _with_value(name, word, {*ASPECTS} if name == "aspect" else _choices(option))

    return _WORDS.sub(translate, message)


def _with_value(name: str, word: str, choices: set[str]) -> str:
    if word.isdecimal():
        return f"{name}={word}"
    if "=" in word:
        values_by_key: dict[str, list[str]] = {}
        for key, value in parse_pairs(word.strip("'"), "pairs", last=name == "values"):
            values_by_key.setdefault(key, []).append(value)
        pairs = {
            key: values[0] if len(values) == 1 else values for key, values in values_by_key.items()
        }
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
        yield from declared_options(kind)


def _choices(option: OptionSpec | None) -> set[str]:
    if option is not None and option.opt.choices is not None:
        return set(option.opt.choices())
    kinds = () if option is None else option.kinds
    choices = {name for kind in kinds if get_origin(kind) is Literal for name in get_args(kind)}
    return choices or ({*get_args(ProtocolName)} if option and option.name == "protocol" else set())
