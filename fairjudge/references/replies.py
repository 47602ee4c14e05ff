"""Reading what models reply while references are built; pure, and tolerant only of form.

Models wrap JSON in fences or talk around it, number their lists, or answer in plain lines. What
cannot be read is `Unscored`, never an empty list: an article without an answer is a finding.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from fairjudge.domain import Unscored
from fairjudge.references.ports import Checked, Groups

_BULLET = re.compile(r"^\s*(?:\d{1,3}[.):]|[-*•]|Q\d{1,3}[.:)])\s*")
_WORD = re.compile(r"\d+(?:[.,]\d+)*|\w+")
NEARLY_VERBATIM = 0.75
"""Share of an answer's words that its article must hold."""
_OPENING = re.compile(r"[\[{]")
_MOST_FAILURES = 500
"""How many brackets that begin no JSON are put up with; each costs time in proportion to all."""
_THINK, _THOUGHT = "<think>", "</think>"
_NO_ANSWER = re.compile(
    r"^\W*(?:no(?:ne|t)?|n/?a|\[\]|nothing|there (?:is|are) no\b.*|no (?:relevant |clear |direct )?"
    r"answers?\b.*|(?:the )?article does(?: not|n't)\b.*|not (?:mentioned|answered|specified)\b.*)"
    r"\W*$",
    re.IGNORECASE,
)


def find_json(text: str) -> Any:
    """Return the last JSON object or array in `text`, or None; fences and talk are skipped.

    Linear in the length of `text`: one that is full of brackets that begin no JSON is given up.
    """
    text = _without_thinking(text)
    decoder = json.JSONDecoder()
    found, at, n_failed = None, 0, 0
    while n_failed < _MOST_FAILURES and (match := _OPENING.search(text, at)):
        try:
            found, at = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            at = match.start() + 1
            n_failed += 1
    return found


def _without_thinking(text: str) -> str:
    """Leave out what stands between ``<think>`` and ``</think>``."""
    kept, at = [], 0
    while (start := text.find(_THINK, at)) >= 0 and (end := text.find(_THOUGHT, start)) >= 0:
        kept.append(text[at:start])
        at = end + len(_THOUGHT)
    return "".join([*kept, text[at:]])


def _listed(text: str, key: str) -> list[Any] | None:
    """Return the list under `key`, or a bare list, from the JSON in `text`."""
    value = find_json(text)
    if isinstance(value, dict):
        value = value.get(key)
    return value if isinstance(value, list) else None


def _lines(text: str) -> list[str]:
    bare = (_BULLET.sub("", raw).strip() for raw in _without_thinking(text).splitlines())
    return [line for line in bare if line]


def read_questions(text: str, *, most: int, max_words: int) -> tuple[str, ...] | Unscored:
    """Return up to `most` questions of a reply, repeated ones once.

    A line counts as a question if it ends in a question mark and has at most twice `max_words`.
    """
    listed = _listed(text, "questions")
    candidates = [str(item) for item in listed] if listed is not None else _lines(text)
    questions = dict.fromkeys(
        question
        for question in (_clean(candidate) for candidate in candidates)
        if question.endswith("?") and 3 <= len(question.split()) <= 2 * max_words
    )
    if not questions:
        return Unscored(reason="unparseable", detail="no question in the reply", raw=text)
    return tuple(questions)[:most]


def read_answers(text: str) -> tuple[str, ...] | Unscored:
    """Return the answers in a reply; an empty list or a plain "no answer" is none."""
    listed = _listed(text, "answers")
    if listed is not None:
        answers = [_clean(str(item)) for item in listed if isinstance(item, str | int | float)]
        return tuple(dict.fromkeys(answer for answer in answers if not says_nothing(answer)))
    lines = _lines(text)
    if not lines:
        return Unscored(reason="unparseable", detail="an empty reply", raw=text)
    if find_json(text) is not None:
        return Unscored(reason="unparseable", detail="JSON without a list of answers", raw=text)
    return tuple(dict.fromkeys(_clean(line) for line in lines if not says_nothing(line)))


def says_nothing(answer: str) -> bool:
    """Say whether `answer` only states that there is none."""
    return not answer.strip() or _NO_ANSWER.match(answer) is not None


def stands_in(answer: str, content: str) -> bool:
    """Say whether `answer` is nearly verbatim: its numbers, and most of its words, are there."""
    known = frozenset(_WORD.findall(content.lower()))
    words = _WORD.findall(answer.lower())
    numbers = [word for word in words if word[0].isdigit()]
    return (
        bool(words)
        and all(number in known for number in numbers)
        and sum(word in known for word in words) >= NEARLY_VERBATIM * len(words)
    )


def read_groups(text: str, *, n: int) -> Groups | Unscored:
    """Return the partition of `n` answers (numbered from 1) in a reply, largest group first.

    An answer named twice or not at all, or a number that was not offered, makes it unparseable.
    """
    listed = _listed(text, "groups")
    try:
        groups = [[int(number) - 1 for number in group] for group in listed or []]
    except (TypeError, ValueError):
        groups = []
    if sorted(number for group in groups for number in group) != list(range(n)):
        return Unscored(reason="unparseable", detail="not a partition of the answers", raw=text)
    return sort_groups(groups)


def sort_groups(groups: Sequence[Sequence[int]]) -> Groups:
    """Return `groups` sorted: members ascending, largest group first, ties by first member."""
    whole = [tuple(sorted(group)) for group in groups if group]
    return tuple(sorted(whole, key=lambda group: (-len(group), group)))


def read_check(text: str, *, n: int) -> Checked | Unscored:
    """Return the post-filter's findings on `n` answers (numbered from 1)."""
    value = find_json(text)
    if isinstance(value, dict) and isinstance(value.get("diverse"), bool):
        try:
            invalid = frozenset(int(number) - 1 for number in value.get("invalid", ()))
        except (TypeError, ValueError):
            invalid = frozenset({-1})
        if invalid <= frozenset(range(n)):
            return Checked(invalid=invalid, diverse=value["diverse"])
    return Unscored(reason="unparseable", detail="no findings in the form asked for", raw=text)


def _clean(text: str) -> str:
    return " ".join(_BULLET.sub("", text).split()).strip('"“”* ')
