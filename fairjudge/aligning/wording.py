"""Wording of examples in candidate prompts: ratings of one summary, preferences between two."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from fairjudge.scales import Level, Position, Scale

_POSITION_VALUES: dict[Position, float] = {"first": 1.0, "tie": 0.0, "second": -1.0}
_POSITIONS = re.compile(r"\b(?:first|second|summary [12ab])\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """The wording of prompts for ratings or for pairs.

    ``example_sizes`` are the sizes of few-shot candidates; None means one example per level.
    ``label_of`` returns the text of a value, ``anchors`` the current anchors to reword, ``levels``
    the levels with new anchors; ``fits`` is whether new anchors are valid.
    """

    template: str
    line: str
    intro: str
    turn: str
    tag: str
    about: str
    example_sizes: tuple[int | None, ...]
    label_of: Callable[[float], str]
    anchors: Callable[[Scale], tuple[str, ...]]
    levels: Callable[[Scale, Sequence[str]], tuple[Level, ...]]
    fits: Callable[[Sequence[str]], bool]


def wording_of(scale: Scale) -> Wording:
    """Return the wording of candidates on `scale`."""
    return PREFERENCES if scale.kind == "pair" else RATINGS


def level_value(level: Level) -> float:
    """Return the value of an answer; for a pair, the preference for the first: 1, 0 or -1."""
    return _POSITION_VALUES[level.value] if isinstance(level.value, str) else float(level.value)


def _every_level(scale: Scale, anchors: Sequence[str]) -> tuple[Level, ...]:
    return tuple(
        replace(level, anchor=anchor) for level, anchor in zip(scale.levels, anchors, strict=True)
    )


def _better_and_tie(scale: Scale) -> tuple[str, ...]:
    """Return the anchors of the better summary, for either position, and of a tie."""
    ties = [level.anchor or level.answer for level in scale.levels if level.value == "tie"]
    return ("the better one by the rule above", *ties)


def _both_positions(scale: Scale, anchors: Sequence[str]) -> tuple[Level, ...]:
    """Return the levels with the same anchor for both positions."""
    return tuple(
        replace(
            level,
            anchor=anchors[-1]
            if level.value == "tie"
            else f"the {level.value} summary is better: {anchors[0]}",
        )
        for level in scale.levels
    )


RATINGS = Wording(
    template="anchors",
    line="anchor",
    intro=(
        "First, how people rated other summaries: the rating stands in each tag, and below the "
        "summary what they said of it, where they said anything. Rate as they did."
    ),
    turn="Now the one to be rated.",
    tag="rated",
    about="people's ratings",
    example_sizes=(None, 3),
    label_of=lambda value: f"rated {value:.2g}",
    anchors=lambda scale: tuple(level.anchor or level.answer for level in scale.levels),
    levels=_every_level,
    fits=bool,
)
PREFERENCES = Wording(
    template="preference-anchors",
    line="line",
    intro=(
        "First, how people decided between other summaries: their answer stands in each tag, and "
        "below the pair what they said of it, where they said anything. Decide as they did."
    ),
    turn="Now the two to be compared.",
    tag="people's answer:",
    about="people's preferences",
    example_sizes=(6, 3),
    label_of=lambda value: f"preference {value:+.2g}",
    anchors=_better_and_tie,
    levels=_both_positions,
    fits=lambda anchors: _POSITIONS.search(anchors[0]) is None,
)
