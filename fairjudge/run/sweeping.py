"""Variants of a summarizer that differ in one setting, to measure its effect on fairness.

After FairSumm, section 7 (temperature, length, fairness instruction) and coverage fairness,
appendix A.6 (fairness instruction): the papers change one thing at a time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fairjudge.errors import ConfigurationError
from fairjudge.options.summarizing import SummarizeOptions
from fairjudge.summaries.requirements import DOCUMENTS, Requirements

_REQUIREMENTS = {
    "sentences": "n_sentences",
    "words": "n_words",
    "fair": "fair_attribute",
    "wording": "fair_wording",
    "labels": "fair_labels",
    "kind": "kind",
    "focus": "focus",
    "instruction": "instruction",
    "prompt": "prompts",
}
_CHOICES = {
    "wording": ("sources", "length", "undefined"),
    "labels": ("shown", "hidden"),
    "kind": ("news", *DOCUMENTS),
}
_WHOLE = ("focus", "instruction")
"""Names with text values, which may contain commas."""
SWEPT = ("temperature", *_REQUIREMENTS)
_NONE = "none"
_MAX_TEMPERATURE = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A setting of the summarizer; ``change`` is its difference from the command's options."""

    requirements: Requirements
    temperature: float
    change: str | None = None

    def name(self, system: str) -> str:
        """Return the system name of this setting, from that of the base setting."""
        return system if self.change is None else f"{system}+{self.change}"

    def to_json(self) -> dict[str, Any]:
        """Return the setting as JSON."""
        return {
            "change": self.change,
            "temperature": self.temperature,
            "sentences": self.requirements.n_sentences,
            "words": self.requirements.n_words,
            "fair": self.requirements.fair_attribute,
            **{
                name: value
                for name in ("wording", "labels", "kind", "focus", "instruction", "prompt")
                if (value := getattr(self.requirements, _REQUIREMENTS[name]))
                != getattr(Requirements(), _REQUIREMENTS[name])
            },
        }


def settings_of(options: SummarizeOptions) -> tuple[Setting, ...]:
    """Return the base setting of the options, then one per swept value that differs from it.

    A sweep is ``NAME=VALUE,VALUE``, with a name of `SWEPT`; the value ``none`` removes it.
    Invalid sweeps raise `ConfigurationError`.
    """
    base = Setting(requirements=options.requirements, temperature=options.temperature)
    settings = [base]
    for sweep in options.sweeps:
        name, _, values = sweep.partition("=")
        if name not in SWEPT or not values:
            raise ConfigurationError(
                f"cannot read the sweep {sweep!r}: expected NAME=VALUE,VALUE with a name of "
                f"{', '.join(SWEPT)}"
            )
        each_value = [values] if name in _WHOLE else values.split(",")
        settings += [_change_setting(base, name, value.strip()) for value in each_value]
    distinct: dict[tuple[Requirements, float], Setting] = {}
    for setting in settings:
        distinct.setdefault((setting.requirements, setting.temperature), setting)
    return tuple(distinct.values())


def _change_setting(base: Setting, name: str, value: str) -> Setting:
    if name == "temperature":
        number = _number(name, value)
        return replace(base, temperature=number, change=f"{name}={number:g}")
    changes = {_REQUIREMENTS[name]: _read(name, value)}
    text = Path(value).stem if name == "prompt" else value
    return replace(
        base, requirements=replace(base.requirements, **changes), change=f"{name}={text}"
    )


def _read(name: str, value: str) -> Any:
    """Parse a value of a sweep."""
    if name in _CHOICES:
        if value not in _CHOICES[name]:
            raise ConfigurationError(
                f"{name} must be one of {', '.join(_CHOICES[name])}; got {value!r}"
            )
        return value
    if name == "prompt":
        return () if value == _NONE else (value,)
    if value == _NONE:
        return None
    return _count(name, value) if name in {"sentences", "words"} else value


def _number(name: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not 0.0 <= number <= _MAX_TEMPERATURE:
        raise ConfigurationError(
            f"{name} must be a number from 0 to {_MAX_TEMPERATURE:g}, got {value!r}"
        )
    return number


def _count(name: str, value: str) -> int:
    if not value.isdecimal() or int(value) < 1:
        raise ConfigurationError(f"{name} must be a whole number from 1, or none; got {value!r}")
    return int(value)
