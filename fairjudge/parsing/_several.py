"""Parse replies that give a verdict on each of several criteria, by their names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice
from typing import TypeAlias

from fairjudge.domain import Unscored
from fairjudge.parsing._reader import read_verdict
from fairjudge.parsing._thoughts import without_reasoning
from fairjudge.parsing.refusals import looks_like_refusal
from fairjudge.scales import Position, Scale

Verdict: TypeAlias = float | Position
_MAX_KEYS = 50
"""Maximum number of keys of one name that are tried; each may cost time linear in the reply."""
_OVERALL_HEADINGS = ("overall", "total", "average", "in total", "final score", "final verdict")
"""Beginnings of lines on all criteria together, which end the section of a criterion."""


def read_verdicts(
    text: str, scales: Mapping[str, Scale], *, cut_off: bool = False
) -> dict[str, Verdict | Unscored]:
    """Return the verdict that a reply states on each criterion.

    A criterion's verdict is the value under its name as a key of JSON (which may be incomplete), or
    the verdict in the lines from one that begins with the name to the next such line. Statements
    about all criteria together, or under no name, are ignored.

    `cut_off` is as in `read_verdict`, and so are the reasons of ``Unscored``. A criterion without
    any text under its name is ``"unparseable"``, or ``"refused"`` if the reply is a refusal.
    """
    thought = without_reasoning(text).strip()
    verdicts = {}
    for name, scale in scales.items():
        readings = _under_keys(thought, name, scale) or [
            read_verdict(section, scale, aspect=name, cut_off=cut_off and is_last)
            for title, section, is_last in _sections(thought, tuple(scales))
            if title == _plain(name)
        ]
        verdicts[name] = _single_verdict(readings, name, text)
    return verdicts


def _single_verdict(readings: list[Verdict | Unscored], name: str, text: str) -> Verdict | Unscored:
    """Return the single verdict among `readings`, or the reason why there is not exactly one."""
    values = [reading for reading in readings if not isinstance(reading, Unscored)]
    if len(set(values)) > 1:
        detail = f"more than one verdict on {name!r}: {', '.join(map(str, values))}"
        return Unscored(reason="unparseable", detail=detail[:200], raw=text)
    if values:
        return values[-1]
    if readings and isinstance(last := readings[-1], Unscored):
        return Unscored(reason=last.reason, detail=f"{name}: {last.detail}", raw=text)
    if looks_like_refusal(text.strip()):
        return Unscored(reason="refused", detail="the judge declined", raw=text)
    detail = f"nothing is said of {name!r}" if text.strip() else "the reply is empty"
    return Unscored(reason="unparseable", detail=detail, raw=text)


@cache
def _key(name: str) -> re.Pattern[str]:
    words = r"[ _-]?".join(map(re.escape, re.split(r"[ _-]+", name)))
    return re.compile(
        rf"(?<!\\)[\"']{words}(?:[ _-]?(?:score|rating|verdict))?(?<!\\)[\"']\s{{0,9}}:\s{{0,9}}",
        re.IGNORECASE,
    )


def _under_keys(text: str, name: str, scale: Scale) -> list[Verdict | Unscored]:
    decoder = json.JSONDecoder()
    verdicts: list[Verdict | Unscored] = []
    for match in islice(_key(name).finditer(text), _MAX_KEYS):
        try:
            value, _ = decoder.raw_decode(text, match.end())
        except (ValueError, RecursionError):
            continue  # JSON that was cut off, or a name in quotation marks in prose
        if value is None:
            verdicts.append(Unscored(reason="unparseable", detail="no verdict found"))
            continue
        # Parse the value by the same rules as the verdict of a whole reply.
        reply = value if isinstance(value, dict) else {"verdict": value}
        verdicts.append(read_verdict(json.dumps(reply, ensure_ascii=False), scale))
    return verdicts


@cache
def _heading(names: tuple[str, ...]) -> re.Pattern[str]:
    """Match the beginning of a line about one of `names`, up to the end of the name."""
    alternatives = "|".join(
        r"[ _-]".join(map(re.escape, re.split(r"[ _-]+", name)))
        for name in sorted(names, key=len, reverse=True)
    )
    return re.compile(
        rf"^[ \t>#*_|•\-+(\"'\[<]{{0,12}}(?:\d{{1,2}}[.)]\s{{0,3}})?[*_\"'(\[<]{{0,4}}"
        rf"(?P<name>{alternatives})\b(?=[^\n]{{0,60}}?(?:[:=|>–—-]|$))",
        re.IGNORECASE | re.MULTILINE,
    )


def _sections(text: str, names: tuple[str, ...]) -> Iterator[tuple[str, str, bool]]:
    """Yield (name, lines from its heading on, whether the reply ends with them)."""
    headings = list(_heading((*names, *_OVERALL_HEADINGS)).finditer(text))
    ends = [heading.start() for heading in headings[1:]]
    for heading, end in zip(headings, [*ends, len(text)], strict=False):
        section = _AFTER_NAME.sub(
            ": ", text[heading.end("name") : end].strip().rstrip("|"), count=1
        )
        yield (
            _plain(heading["name"]),
            heading["name"] + section.partition("</")[0],
            end == len(text),
        )


_AFTER_NAME = re.compile(r"\A\s?(?:\([^()\n]{1,20}\)\s?:?|[>|])\s?")
"""Between a name and its text: a scale in brackets, or the end of a table cell or tag."""


def _plain(name: str) -> str:
    return re.sub(r"[ _-]+", " ", name).lower()
