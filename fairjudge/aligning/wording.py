"""Wording of examples in candidate prompts: ratings of one summary, preferences between two."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from fairjudge.scales import Level, Position, Scale

_WORTH: dict[Position, float] = {"first": 1.0, "tie": 0.0, "second": -1.0}
_PLACES = re.compile(r"\b(?:first|second|summary [12ab])\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """What differs between ratings and pairs.

    ``example_sizes`` are the sizes of few-shot candidates; None means one example per level.
    ``label_of`` returns a value in words, ``anchors`` today's lines for a model to reword,
    ``levels`` the levels with other anchors; ``fits`` says whether a model's lines can be used.
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


def worth(level: Level) -> float:
    """Return what an answer is worth; of a pair, to the first summary: 1, 0 or -1."""
    return _WORTH[level.value] if isinstance(level.value, str) else float(level.value)


def _every_level(scale: Scale, anchors: Sequence[str]) -> tuple[Level, ...]:
    return tuple(
        replace(level, anchor=anchor) for level, anchor in zip(scale.levels, anchors, strict=True)
    )


def _better_and_tie(scale: Scale) -> tuple[str, ...]:
    """Return when a summary is the better one, and when neither is: the same for both places."""
    ties = [level.anchor or level.answer for level in scale.levels if level.value == "tie"]
    return ("the better one by the rule above", *ties)


def _both_places(scale: Scale, anchors: Sequence[str]) -> tuple[Level, ...]:
    """Return levels that give both places one and the same reason."""
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
    levels=_both_places,
    fits=lambda anchors: _PLACES.search(anchors[0]) is None,
)
