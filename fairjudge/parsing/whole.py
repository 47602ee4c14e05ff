"""Guess whether a reply is complete, for servers that do not say so."""

from __future__ import annotations

import json
import re
import unicodedata

from fairjudge.parsing._thoughts import without_reasoning

_FENCE = re.compile(r"```[a-zA-Z]{0,20}\s*")
_SENTENCE_END = re.compile(r"[.!?]\s")
_GOES_ON = frozenset(",;:\u060c\u061b\u3001\uff0c\uff1a\uff1b")
_VERDICT_CHARACTERS = 40
_VERDICT_WORDS = 3


def is_whole(text: str) -> bool:
    """Say whether `text` looks like a complete reply.

    JSON is complete if it closes. Prose is complete if it ends with punctuation of any script, or
    with a short line that states a verdict.
    """
    answer = without_reasoning(text).strip()
    fences = answer.count("```")
    if fences % 2 == 1:
        return False
    bare = _FENCE.sub("", answer).strip()
    if bare[:1] in {"{", "["}:
        return _closes(bare)
    opening = bare.find("{")
    if opening >= 0 and '"' in bare[opening:] and not _closes(bare[opening:]):
        return False
    return _ends(bare)


def _closes(text: str) -> bool:
    """Say whether the JSON that begins `text` closes; malformed JSON, if it ends in a bracket."""
    try:
        json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return text.endswith(("}", "]"))
    return True


def _ends(text: str) -> bool:
    last = text[-1:]
    if not last or last in _GOES_ON:
        return False
    closes = unicodedata.category(last) in {"Po", "Pe", "Pf"} or last == '"'
    return closes or _states(text.rpartition("\n")[2])


def _states(line: str) -> bool:
    """Say whether a last line needs no full stop: "Score: 4", "Summary 2", "yes"."""
    if len(line) > _VERDICT_CHARACTERS or _SENTENCE_END.search(line):
        return False
    return ":" in line or line[-1].isdigit() or len(line.split()) <= _VERDICT_WORDS
