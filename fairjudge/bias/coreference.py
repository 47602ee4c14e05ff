"""Rule-based coreference: links names by last token, and pronouns to the last matching person.

A substitute for annotated coreference, to make controlled inputs from plain documents.
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
_MAX_SENTENCES_BACK = 2
"""Maximum distance, in sentences, of a pronoun from the person's last mention."""


@dataclass(slots=True)
class _KnownPerson:
    """A person mentioned so far, with the sentence of the last mention."""

    first: str | None
    last: str
    gender: str | None
    sentence: int
    mentions: list[Range] = field(default_factory=list)


def coreference_chains(
    tokens: Sequence[str],
    people: Sequence[Range],
    sentences: Sequence[int],
    genders: Mapping[str, str],
) -> tuple[tuple[Range, ...], ...]:
    """Return the mentions of each person, including pronouns, in the order of first mention.

    Names with the same last token are one person unless their first names differ. A pronoun refers
    to the last person before it, at most two sentences back, of the same gender, or else of unknown
    gender; otherwise it is not resolved. The gender is known from a title, an earlier pronoun or
    the first name.

    Parameters
    ----------
    sentences
        The sentence number of each token.
    genders
        Maps first names, in lower case, to ``female`` or ``male``.
    """
    name_by_start = {span.start: span for span in people}
    name_tokens = {index for span in people for index in range(span.start, span.end)}
    known_people: list[_KnownPerson] = []
    for index, token in enumerate(tokens):
        if (span := name_by_start.get(index)) is not None:
            _add_name(known_people, tokens, span, sentences[index], genders)
        elif index not in name_tokens and (gender := _PRONOUNS.get(token.lower())) is not None:
            _add_pronoun(known_people, gender, Range(start=index, end=index + 1), sentences[index])
    return tuple(tuple(person.mentions) for person in known_people)


def _add_name(
    known_people: list[_KnownPerson],
    tokens: Sequence[str],
    span: Range,
    sentence: int,
    genders: Mapping[str, str],
) -> None:
    words = bare_name(" ".join(tokens[span.start : span.end]))
    if not words:
        return
    first_name = words[0] if len(words) > 1 else None
    preceding_tokens = name_tokens(tokens[span.start - 1]) if span.start else []
    title_tokens = name_tokens(tokens[span.start]) + preceding_tokens
    gender = next((_TITLES[word] for word in title_tokens if word in _TITLES), None)
    for person in reversed(known_people):
        is_same_last_name = person.last == words[-1] or (
            first_name is None and person.first == words[-1]
        )
        if is_same_last_name and first_name in {
            None,
            person.first,
            *([first_name] if person.first is None else []),
        }:
            person.first = person.first or first_name
            person.gender = person.gender or gender or genders.get(first_name or "")
            person.sentence = sentence
            person.mentions.append(span)
            return
    gender = gender or genders.get(words[0])
    known_people.append(_KnownPerson(first_name, words[-1], gender, sentence, [span]))


def _add_pronoun(
    known_people: Sequence[_KnownPerson], gender: str, token_range: Range, sentence: int
) -> None:
    nearby_people = [
        person for person in known_people if sentence - person.sentence <= _MAX_SENTENCES_BACK
    ]
    same_gender = [person for person in nearby_people if person.gender == gender]
    if candidates := same_gender or [person for person in nearby_people if person.gender is None]:
        person = max(candidates, key=lambda person: person.mentions[-1].end)
        person.gender = gender
        person.sentence = sentence
        person.mentions.append(token_range)
