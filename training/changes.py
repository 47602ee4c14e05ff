"""Changes planted in a sentence by script: number, name, negation, opposite, cause.

Each function takes a sentence, a random generator and a list of names or causes; it returns the
changed sentence, or None if the change does not apply.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_NUMBER = re.compile(r"\d[\d,.]*\d|\d")
_LISTS = """
    one two three four five six seven eight nine ten twelve
    first second third fourth fifth
    dozens hundreds thousands millions
    million billion trillion
    monday tuesday wednesday thursday friday saturday sunday
    january february march april june july august september october november december
"""
_SERIES = {word: line.split() for line in _LISTS.splitlines() for word in line.split()}
_PAIRS = """
    rose/fell increased/decreased increase/decrease more/fewer before/after won/lost
    higher/lower accepted/rejected approved/rejected opened/closed began/ended
    support/oppose supported/opposed supports/opposes confirmed/denied denies/confirms
    rise/fall rising/falling gained/lost best/worst largest/smallest guilty/innocent
    killed/saved success/failure failed/succeeded old/new man/woman men/women north/south
    east/west early/late allowed/banned agreed/refused agrees/refuses alive/dead
    include/exclude safe/dangerous legal/illegal major/minor strong/weak praised/criticised
    improved/worsened growth/decline all/none always/never many/few up/down father/mother
    son/daughter brother/sister husband/wife public/private possible/impossible
"""
_OPPOSITES = dict(pair.split("/") for pair in _PAIRS.split())
_OPPOSITES |= {other: word for word, other in _OPPOSITES.items()}
_AUXILIARY = re.compile(
    r"\b(is|are|was|were|has|have|had|will|would|can|could|should|may|might|did|does|do)\b"
    r"( not\b|n't\b)?",
    re.IGNORECASE,
)
_NAME = re.compile(
    r"(?<![.!?:\"“] )(?<!^)\b[A-Z][\w'’-]*[a-z](?: (?:[A-Z][\w.'’-]*|of|de|the)(?= [A-Z])"
    r"| [A-Z][\w'’-]+)*"
)
_CAUSE = re.compile(r"\b(because of|because|due to|as a result of|blamed on|owing to)\s+([^.;,]+)")
_SPEAKER = re.compile(r"\b(said|says|told|added|warned|argued|announced|claimed)\b")


@dataclass(frozen=True, slots=True)
class Changed:
    """A changed sentence, the kind of change, and whether it contradicts the original."""

    text: str
    kind: str
    contradicts: bool


def names_of(text: str) -> list[str]:
    """Return the capitalised phrases in `text` that do not begin a sentence."""
    return list(dict.fromkeys(match.group() for match in _NAME.finditer(text)))


def causes_of(text: str) -> list[str]:
    """Return the phrases after "because", "due to" etc., up to the next stop or comma."""
    return [match.group(2).strip() for match in _CAUSE.finditer(text)]


def number(sentence: str, draw: random.Random, _: Sequence[str]) -> str | None:
    """Replace a number, weekday, month or order of magnitude by another."""
    places = [(match.span(), "digits") for match in _NUMBER.finditer(sentence)]
    places += [
        (match.span(), "word")
        for match in re.finditer(r"[A-Za-z]+", sentence)
        if match.group().lower() in _SERIES
    ]
    if not places:
        return None
    (start, end), kind = draw.choice(places)
    old = sentence[start:end]
    if kind == "word":
        new = draw.choice([word for word in _SERIES[old.lower()] if word != old.lower()])
        new = new.capitalize() if old[0].isupper() else new
    else:
        new = _other_digits(old, draw)
    return sentence[:start] + new + sentence[end:]


def _other_digits(old: str, draw: random.Random) -> str:
    places = [place for place, sign in enumerate(old) if sign.isdigit()]
    while True:
        signs = list(old)
        for place in draw.sample(places, k=min(len(places), draw.choice((1, 1, 2)))):
            signs[place] = draw.choice("123456789" if place == places[0] else "0123456789")
        if "".join(signs) != old:
            return "".join(signs)


def negation(sentence: str, draw: random.Random, _: Sequence[str]) -> str | None:
    """Insert "not" after an auxiliary verb, or remove it."""
    auxiliaries = list(_AUXILIARY.finditer(sentence))
    if not auxiliaries:
        return None
    place = draw.choice(auxiliaries)
    new = place.group(1) if place.group(2) else f"{place.group(1)} not"
    return sentence[: place.start()] + new + sentence[place.end() :]


def opposite(sentence: str, draw: random.Random, _: Sequence[str]) -> str | None:
    """Replace a word by its opposite."""
    places = [f for f in re.finditer(r"[A-Za-z]+", sentence) if f.group().lower() in _OPPOSITES]
    if not places:
        return None
    place = draw.choice(places)
    new = _OPPOSITES[place.group().lower()]
    new = new.capitalize() if place.group()[0].isupper() else new
    return sentence[: place.start()] + new + sentence[place.end() :]


def name(sentence: str, draw: random.Random, others: Sequence[str]) -> str | None:
    """Replace a name by another."""
    places = list(_NAME.finditer(sentence))
    if not places:
        return None
    place = draw.choice(places)
    candidates = [other for other in others if other not in sentence]
    if not candidates:
        return None
    return sentence[: place.start()] + draw.choice(candidates) + sentence[place.end() :]


def swap(sentence: str, draw: random.Random, _: Sequence[str]) -> str | None:
    """Swap two names of the sentence."""
    names = names_of(sentence)
    pairs = [(a, b) for a in names for b in names if a < b and a not in b and b not in a]
    if not pairs:
        return None
    first, second = draw.choice(pairs)
    parts = sentence.split(first)
    new_text = first.join(part.replace(second, "\0") for part in parts)
    return new_text.replace(first, second).replace("\0", first)


def speaker(sentence: str, draw: random.Random, others: Sequence[str]) -> str | None:
    """Replace the speaker of a statement."""
    if not _SPEAKER.search(sentence):
        return None
    return name(sentence, draw, others)


def cause(sentence: str, draw: random.Random, others: Sequence[str]) -> str | None:
    """Replace the phrase after "because", "due to" etc. by another cause."""
    match = _CAUSE.search(sentence)
    candidates = [other for other in others if other not in sentence]
    if not match or not candidates:
        return None
    return sentence[: match.start(2)] + draw.choice(candidates) + sentence[match.end(2) :]


_Change = Callable[[str, random.Random, Sequence[str]], str | None]
_CHANGES: dict[str, tuple[_Change, bool]] = {
    # Whether the change contradicts the sentence rather than adding unsupported content.
    "number": (number, True),
    "name": (name, False),
    "negation": (negation, True),
    "opposite": (opposite, True),
    "swap": (swap, False),
    "speaker": (speaker, False),
    "cause": (cause, False),
}

_RARE = frozenset({"cause", "speaker"})
"""Kinds that apply to few sentences; they are tried first in half of the draws."""


def changed(
    sentence: str,
    draw: random.Random,
    *,
    names: Sequence[str],
    causes: Sequence[str],
    kinds: Sequence[str] = tuple(_CHANGES),
) -> Changed | None:
    """Return `sentence` with a change of a random kind of `kinds`, or None if none applies."""
    order = draw.sample(list(kinds), k=len(kinds))
    if draw.random() < 0.5:
        order.sort(key=lambda kind: kind not in _RARE)
    for kind in order:
        change, contradicts = _CHANGES[kind]
        text = change(sentence, draw, causes if kind == "cause" else names)
        if text is not None and text != sentence:
            return Changed(text, kind, contradicts)
    return None
