"""Where a model thinks before it answers, by the marks of each family: never where it answers."""

from __future__ import annotations

import re

from fairjudge.parsing._clean import blank, spaces

_WORD = r"(?:think|thinking|thoughts?|reasoning|analysis|scratchpad|reflection|monologue|cot)"
_TAG = (
    rf"(?!final|overall)(?:[a-z]{{1,12}}[:_])?{_WORD}(?:_(?:content|process|steps?|trace|block))?"
)
"""Of a tag: ``think``, ``seed:think``, ``mm:think``, ``longcat_think``, ``inner_monologue``."""
_PIPED = r"(?:think|thinking|thoughts?|reasoning)"
_OPEN = re.compile(
    rf"<{_TAG}(?:\s[^<>]{{0,80}})?>|\[(?:BEGIN_)?(?:THINK|THINKING|REASONING|THOUGHTS?)\]|◁think▷"
    rf"|<\|(?:(?:start|begin)_(?:of_)?)?{_PIPED}(?:_(?:start|begin))?\|>|<\|inner_prefix\|>"
    r"|<\|channel\|>\s{0,5}(?:analysis|commentary)\b|<\|channel>\s{0,5}(?:thought|analysis)\b"
    r"|<unused94>|\A\s{0,20}Here(?:'s| is) my thought process:",
    re.IGNORECASE,
)
"""Openings: tags, Mistral, Kimi, Cohere and others between bars, harmony, Gemma, Granite."""
_OPEN_BARE = re.compile(r"\A\s{0,20}(?:assistant)?analysis(?=[A-Z])")
"""Harmony's, where a server leaves the special tokens out: the channel's name before a sentence."""
_CLOSE = re.compile(
    rf"</{_TAG}>|\[/(?:THINK|THINKING|REASONING|THOUGHTS?)\]|\[END_(?:THINK|THINKING|REASONING)\]"
    rf"|◁/think▷|<\|(?:end_(?:of_)?|/){_PIPED}\|>|<\|{_PIPED}_end\|>|<\|inner_suffix\|>"
    r"|<\|channel\|>\s{0,5}final\b(?:\s{0,5}<\|constrain\|>\s{0,5}\w{0,20})?\s{0,5}(?:<\|message\|>)?"
    r"|<channel\|>|<unused95>|Here(?:'s| is) my response:",
    re.IGNORECASE,
)
_CLOSE_BARE = re.compile(r"(?<=[\s.!?\"'’”)])assistantfinal")
_AROUND_ANSWERS = re.compile(
    r"<\|(?:(?:start|end)_response|(?:begin|end)_of_(?:solution|box|answer)|return|end|message)\|>",
    re.IGNORECASE,
)
"""Marks around the answer itself."""


def without_reasoning(text: str) -> str:
    """Blank the blocks in which a model thinks before it answers.

    A block left open swallows the rest; a closing mark without an opening one (chat templates
    write the opening one themselves) swallows what stands before it.
    """
    opening = _OPEN_BARE.search(text) or _OPEN.search(text)
    kept: list[str] = []
    place = 0
    while opening:
        closing = _closing(text, opening.end())
        end = closing.end() if closing else len(text)
        kept += [text[place : opening.start()], spaces(text[opening.start() : end])]
        place = end
        opening = _OPEN.search(text, place)
    text = "".join([*kept, text[place:]])
    last = max(
        (found.end() for p in (_CLOSE, _CLOSE_BARE) for found in p.finditer(text)), default=0
    )
    text = blank(text, 0, last)
    return _AROUND_ANSWERS.sub(lambda match: spaces(match[0]), text) if "<|" in text else text


def _closing(text: str, place: int) -> re.Match[str] | None:
    found = [match for p in (_CLOSE, _CLOSE_BARE) if (match := p.search(text, place))]
    return min(found, key=lambda match: match.start(), default=None)
