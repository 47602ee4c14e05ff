"""Remove a model's reasoning, by the marks of each family of models, and invented user turns."""

from __future__ import annotations

import re

from fairjudge.parsing._clean import blank, blank_all

_WORD = r"(?:think|thinking|thoughts?|reasoning|analysis|scratchpad|reflection|monologue|cot)"
_TAG = (
    rf"(?!final|overall)(?:[a-z]{{1,12}}[:_])?{_WORD}(?:_(?:content|process|steps?|trace|block))?"
)
"""Names of tags: ``think``, ``seed:think``, ``mm:think``, ``longcat_think``."""
_PIPED = r"(?:think|thinking|thoughts?|reasoning)"
_OPEN = (
    rf"<{_TAG}(?:\s[^<>]{{0,80}})?>|\[(?:BEGIN_)?(?:THINK|THINKING|REASONING|THOUGHTS?)\]|◁think▷"
    rf"|<\|(?:(?:start|begin)_(?:of_)?)?{_PIPED}(?:_(?:start|begin))?\|>|<\|inner_prefix\|>"
    r"|<\|channel\|>\s{0,5}(?:analysis|commentary)\b|<\|channel>\s{0,5}(?:thought|analysis)\b"
    r"|<unused94>|(?-i:\A\s{0,20}(?:assistant)?analysis(?=[A-Z]))"
    r"|\A\s{0,20}Here(?:'s| is) my thought process:"
)
"""Opening marks: tags; Mistral; Kimi; Cohere and others between bars; Harmony, also where a server
drops its special tokens and leaves the channel's name before a sentence; Gemma; Granite."""
_CLOSE = (
    rf"</{_TAG}>|\[/(?:THINK|THINKING|REASONING|THOUGHTS?)\]|\[END_(?:THINK|THINKING|REASONING)\]"
    rf"|◁/think▷|<\|(?:end_(?:of_)?|/){_PIPED}\|>|<\|{_PIPED}_end\|>|<\|inner_suffix\|>"
    r"|<\|channel\|>\s{0,5}final\b(?:\s{0,5}<\|constrain\|>\s{0,5}\w{0,20})?\s{0,5}(?:<\|message\|>)?"
    r"|<channel\|>|<unused95>|(?-i:(?<=[\s.!?\"'’”)])assistantfinal)|Here(?:'s| is) my response:"
)
_BLOCK = re.compile(rf"(?:{_OPEN}).*?(?:{_CLOSE}|\Z)", re.IGNORECASE | re.DOTALL)
_CLOSED = re.compile(_CLOSE, re.IGNORECASE)
_AROUND_ANSWERS = re.compile(
    r"<\|(?:(?:start|end)_response|(?:begin|end)_of_(?:solution|box|answer)|return|end|message)\|>",
    re.IGNORECASE,
)
"""Marks around the final answer."""


def without_reasoning(text: str) -> str:
    """Replace the blocks of a model's reasoning by spaces.

    A block that is not closed extends to the end. A closing mark without an opening one (chat
    templates put the opening one into the prompt) ends a block that begins with the text.
    """
    text = blank_all(_BLOCK, text)
    text = blank(text, 0, max((mark.end() for mark in _CLOSED.finditer(text)), default=0))
    return blank_all(_AROUND_ANSWERS, text) if "<|" in text else text


_LATER_TURN = re.compile(
    r"(?<=\S)\s{0,200}(?:\n[ #*]{0,6}(?:user|human|instruction|input)\s{0,2}:|\[INST\]"
    r"|<\|(?:im_start|start_header_id)\|>\s{0,2}(?:user|human))",
    re.IGNORECASE,
)


def first_turn(text: str) -> str:
    """Return `text` up to a user's turn that the model invented because it did not stop."""
    next_turn = _LATER_TURN.search(text)
    return text[: next_turn.start()] if next_turn else text
