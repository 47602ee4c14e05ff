"""Answers with boxes before them, of which one is ticked."""

from __future__ import annotations

import re
from dataclasses import replace

from fairjudge.parsing._answers import Answer, Rank, answer_at
from fairjudge.parsing._clean import normalised
from fairjudge.scales import Scale

_BOX = r"(?:\[(?:\s?|[xX✓✔])\]|\((?:\s?|[xX✓✔•])\)|[☐☑☒○●◉◯⬜])"
BOXED = re.compile(rf"(?P<box>{_BOX})(?P<said>\s?(?:(?!{_BOX})[^\n])*)")
"""A box, and what stands on its line up to the next one."""
_EMPTY = re.compile(r"\[\s?\]|\(\s?\)|[☐○◯⬜]")


def ticked(text: str) -> list[re.Match[str]]:
    """Return the boxes that are ticked in a text of two or more boxes, each before its answer."""
    boxes = list(BOXED.finditer(text))
    line = text[text.rfind("\n", 0, boxes[0].start()) + 1 : boxes[0].start()] if boxes else "x"
    if len(boxes) < 2 or line.strip(" -*•>#"):
        return []
    return [box for box in boxes if not _EMPTY.fullmatch(box["box"])]


def in_box(boxes: list[re.Match[str]], scale: Scale) -> Answer:
    """Return the answer whose box is ticked; of two boxes, that they are several."""
    start, end = boxes[0].span("said")
    answer = Answer(start=start, end=end, value=None, problem="several", rank=Rank.FINAL)
    if len(boxes) == 1:
        said = normalised(boxes[0]["said"])
        found = answer_at(said, len(said) - len(said.lstrip()), scale)
        if found and not said[found.end :].strip(" .,:;|-"):
            return replace(answer, value=found.value, problem=found.problem)
    return answer
