"""Rule-based coreference: names with the same last token, pronouns to the last person they fit.

A stand-in for annotated coreference, so that controlled inputs can be made of plain documents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from fairjudge.bias.annotated import Range
from fairjudge.bias.forms import PRONOUNS
from fairjudge.bias.people import bare_name, name_tokens

_PRONOUNS: Final[Mapping[str, str]] = {
    form: gender for gender, forms in PRONOUNS.items() for form in forms.values()
}
_TITLES: Final[Mapping[str, str]] = {
    "mr": "male", "sir": "male", "lord": "male",
    "mrs": "female", "ms": "female", "miss": "female", "lady": "female", "dame": "female",
}  # fmt: skip
_REACH = 2
"""How many sentences back a pronoun looks for the person."""


@dataclass(slots=True)
class _KnownPerson:
    """A person met so far, with the sentence of the last mention."""

    first: str | None
    last: str
    gender: str | None
    sentence: int
    mentions: list[Range] = field(default_factory=list)


def chains_of(
    tokens: Sequence[str],
    people: Sequence[Range],
    sentences: Sequence[int],
    genders: Mapping[str, str],
) -> tuple[tuple[Range, ...], ...]:
    """Return the mentions of each person, pronouns among them, in the order of first mention.

    Names that end alike are one person unless their first names differ. A pronoun is the last
    person before it, at most two sentences back, who is known to be of its gender, or else whose
    gender is not known; without either it is left unresolved. A gender is known from a title,
    from an earlier pronoun, or from the first name.

    Parameters
    ----------
    sentences
        The number of each token's sentence.
    genders
        First name, in lower case, to ``female`` or ``male``.
    """
    names = {span.start: span for span in people}
    inside = {place for span in people for place in range(span.start, span.end)}
    candidates: list[_KnownPerson] = []
    for place, token in enumerate(tokens):
        if (span := names.get(place)) is not None:
            _name(candidates, tokens, span, sentences[place], genders)
        elif place not in inside and (gender := _PRONOUNS.get(token.lower())) is not None:
            _pronoun(candidates, gender, Range(start=place, end=place + 1), sentences[place])
    return tuple(tuple(person.mentions) for person in candidates)


def _name(
    candidates: list[_KnownPerson],
    tokens: Sequence[str],
    span: Range,
    sentence: int,
    genders: Mapping[str, str],
) -> None:
    words = bare_name(" ".join(tokens[span.start : span.end]))
    if not words:
        return
    first = words[0] if len(words) > 1 else None
    before = name_tokens(tokens[span.start - 1]) if span.start else []
    titled = name_tokens(tokens[span.start]) + before
    gender = next((_TITLES[word] for word in titled if word in _TITLES), None)
    for person in reversed(candidates):
        fits = person.last == words[-1] or (first is None and person.first == words[-1])
        if fits and first in {None, person.first, *([first] if person.first is None else [])}:
            person.first = person.first or first
            person.gender = person.gender or gender or genders.get(first or "")
            person.sentence = sentence
            person.mentions.append(span)
            return
    gender = gender or genders.get(words[0])
    candidates.append(_KnownPerson(first, words[-1], gender, sentence, [span]))


def _pronoun(candidates: Sequence[_KnownPerson], gender: str, place: Range, sentence: int) -> None:
    near = [person for person in candidates if sentence - person.sentence <= _REACH]
    surely = [person for person in near if person.gender == gender]
    if fitting := surely or [person for person in near if person.gender is None]:
        person = max(fitting, key=lambda person: person.mentions[-1].end)
        person.gender = gender
        person.sentence = sentence
        person.mentions.append(place)
