"""Statements made by changing a sentence of a passage, which a support model must detect."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from training import changes
from training.data import (
    CONTRADICTED,
    DATA,
    NEUTRAL,
    PASSAGE_WORDS,
    SENTENCE_END,
    SUPPORTED,
    UNSUPPORTED,
    Example,
    Split,
    qamr,
    rows,
    some_of,
    split_of,
    text_of,
)


def planted(split: Split, *, folder: Path = DATA, seed: int = 0) -> Iterator[Example]:
    """Yield passages with a statement: one of their sentences, shortened, changed, or another one.

    Passages come from the news articles of DeFacto and QAMR's documents. Some changes have a twin:
    the passage with the same change, which supports the changed sentence.
    """
    draw = random.Random(f"planted {split} {seed}")
    articles = _articles(split, folder)
    sentences = {group: _sentences(text) for group, text in articles.items()}
    every = [s for group in sentences.values() for s in group]
    names = list(dict.fromkeys(n for text in articles.values() for n in changes.names_of(text)))
    causes = [c for text in articles.values() for c in changes.causes_of(text)]
    for group, own_sentences in sorted(sentences.items()):
        own_names = changes.names_of(articles[group])
        for place, sentence in enumerate(own_sentences):
            n_before, n_behind = draw.choice((0, 0, 1, 2)), draw.choice((0, 1, 1, 2))
            passage = " ".join(own_sentences[max(0, place - n_before) : place + n_behind + 1])
            if len(passage.split()) > PASSAGE_WORDS:
                passage = sentence
            yield from _examples(group, _unchanged(sentence, passage, own_sentences, every, draw))
            nearby = (
                own_names
                if len(own_names) > 2 and draw.random() < 0.6
                else some_of(names, 20, draw)
            )
            yield from _examples(group, _changed(sentence, passage, nearby, causes, draw))


_Statement: TypeAlias = tuple[str, str, int, str]
"""A statement, its passage, its label, and the kind of change."""


def _examples(group: str, statements: Iterator[_Statement]) -> Iterator[Example]:
    for text, passage, label, kind in statements:
        yield Example("support", text, passage, label, f"planted {kind}", group)


def _articles(split: Split, folder: Path) -> dict[str, str]:
    articles: dict[str, str] = {}
    for row in rows("entailment", folder=folder):
        if row["source"] in {"defacto", "docnli-fever"}:
            group = f"{row['source']}:{row['group']}"
            if split_of(group) == split:
                articles.setdefault(group, row["premise"])
    by_document: dict[str, dict[str, str]] = defaultdict(dict)
    for row in qamr(split, folder=folder):
        by_document[row["document"]][row["sentence"]] = text_of(row)
    return articles | {name: " ".join(texts.values()) for name, texts in by_document.items()}


def _unchanged(
    sentence: str, passage: str, near: Sequence[str], every: Sequence[str], draw: random.Random
) -> Iterator[_Statement]:
    """Yield the sentence itself, a shortened form, or a sentence from outside the passage."""
    roll = draw.random()
    if roll < 0.35:
        yield sentence, passage, SUPPORTED, "copy"
    elif roll < 0.7 and (short := _shortened(sentence)):
        yield short, passage, SUPPORTED, "shortened"
    elif roll < 0.78:
        elsewhere = draw.choice(near if draw.random() < 0.6 else every)
        if elsewhere not in passage:
            yield elsewhere, passage, NEUTRAL, "elsewhere"


def _changed(
    sentence: str, passage: str, names: Sequence[str], causes: Sequence[str], draw: random.Random
) -> Iterator[_Statement]:
    """Yield the sentence with a planted change, and sometimes its twin."""
    base = (_shortened(sentence) or sentence) if draw.random() < 0.4 else sentence
    change = changes.changed(base, draw, names=names, causes=some_of(causes, 8, draw))
    if change:
        yield change.text, passage, CONTRADICTED if change.contradicts else UNSUPPORTED, change.kind
        if base in passage and draw.random() < 0.35:
            yield change.text, passage.replace(base, change.text), SUPPORTED, "twin"


def _sentences(text: str) -> list[str]:
    return [s.strip() for s in SENTENCE_END.split(text) if 6 <= len(s.split()) <= 60]


def _shortened(sentence: str) -> str | None:
    """Drop the text before the first or after the last comma, or an attribution."""
    for pattern in (
        r"^(?P<rest>[A-Z][^,]{25,}), (?:which|who|where|after|while|as|with|including)\b.*$",
        r"^(?P<rest>[A-Z][^,]{25,}), [^,]+ (?:said|says|added|told)[^,]*\.$",
        r"^(?:[A-Z][\w' ]+) (?:said|says|added) (?:that )?(?P<rest>(?:the|a|he|it) .{25,})$",
        r"^(?:In|On|At|After|When|While|Despite|For|By) [^,]+, (?P<rest>.{25,})$",
    ):
        if match := re.match(pattern, sentence):
            sentence_part = match["rest"]
            return sentence_part[0].upper() + sentence_part[1:].rstrip(". ") + "."
    return None
