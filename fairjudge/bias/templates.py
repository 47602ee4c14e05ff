"""Templates: documents whose people can be given other names, pronouns and titles.

`news_bias` section 5.1 and appendix D, with three repairs to what the authors name as failures: a
chain counts as a person's only where the name is what the mention is about ("Orme's firm" is no
person), names without a chain join the person whom they fit, and "her" and "his" get their case.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from fairjudge.bias.annotated import AnnotatedDocument, ContentWord, Range, Word
from fairjudge.bias.forms import (
    Case,
    Gender,
    like,
    pronoun_case,
    title_kind,
    write_pronoun,
    write_title,
)
from fairjudge.bias.people import SUFFIXES, TITLES, Person, fits, name_tokens
from fairjudge.bias.word_lists import EXTENDED_GENDER
from fairjudge.errors import InputError

NameKind: TypeAlias = Literal["full", "first", "last"]

_BREAKS_BEFORE = frozenset(
    {"of", "in", "for", "by", "to", "from", "with", "at", "on", "about", "against", "over", "and",
     "or", "'s", "’s"}
)  # fmt: skip
_CONJUNCTIONS = frozenset({"and", "or", "&"})
_GENDERED_NOUNS = {word for entries in EXTENDED_GENDER.values() for word in entries}
_POSSESSIVE = frozenset({"'s", "’s", "'", "’"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A span of text that depends on the identity assigned to a person."""

    person: str
    kind: NameKind | Case | Literal["title"]
    original: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentSlot:
    """Words that depend on the genders of people."""

    people: frozenset[str]
    words: ContentWord
    original: str


class TemplatePerson(Person):
    """A person of a template; `gendered` if a first name, pronoun or title indicates a gender.

    Both names are None for a person of whom only pronouns speak. ``other_names`` are what else the
    document puts in the name, of which `Template.fill` leaves the ``suffixes`` of a person that is
    given another name.
    """

    gendered: bool

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The suffixes among the other names, such as ``"jr"``."""
        return tuple(name for name in self.other_names if name in SUFFIXES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Identity assigned to a person; a name of None keeps the original."""

    group: str
    gender: Gender
    first_name: str
    last_name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A document in pieces: text that stays, and slots."""

    id: str
    pieces: tuple[str | Slot | ContentSlot, ...]
    people: tuple[TemplatePerson, ...]

    def fill(self, identities: Mapping[str, Identity]) -> str:
        """Return the document with each person's identity; people without one stay."""
        last_names = {person.id: person.last_name for person in self.people}
        return "".join(
            piece
            if isinstance(piece, str)
            else _write(piece, identities, last_names)
            if isinstance(piece, Slot)
            else _write_content(piece, identities)
            for piece in self.pieces
        )

    @property
    def original(self) -> str:
        """The document as it was."""
        return self.fill({})


def make_template(document: AnnotatedDocument) -> Template:
    """Find the people of `document` and every place where their names, pronouns or titles stand.

    A person is a coreference chain with a name or a gendered pronoun among its mentions, or a name
    on its own; chains without a name that say "the woman" or the like are left alone. The last
    name is the most frequent final token of the names, the first name the most frequent one before
    it; a single token after a title is a last name. Raises `InputError` for a content word that
    speaks of nobody, or stands where a name, pronoun or title does.
    """
    slots: dict[int, tuple[int, Slot | ContentSlot]] = {}
    people = []
    everybody = _people(document)
    for person in everybody:
        person_slots = {
            start: (end, slot)
            for start, end, slot in _slots(document, person)
            if start not in slots
        }
        if not person_slots:
            continue
        slots |= person_slots
        kinds = {slot.kind for _, slot in person_slots.values()}
        people.append(
            TemplatePerson(
                id=person.id,
                first_name=person.first_name,
                last_name=person.last_name,
                gendered=person.first_name is not None or bool(kinds - {"full", "first", "last"}),
                other_names=person.other_names(document.words),
            )
        )
    for words in document.content_words:
        places = {i for start, (end, _) in slots.items() for i in range(start, end)}
        if places & set(range(words.span.start, words.span.end)):
            raise InputError(_where(document, words, "overlap a name, pronoun, title or another"))
        slots[words.span.start] = (words.span.end, _content_slot(document, words, everybody))
    return Template(id=document.id, pieces=tuple(_pieces(document, slots)), people=tuple(people))


def _content_slot(
    document: AnnotatedDocument, words: ContentWord, everybody: Sequence[_PersonDraft]
) -> ContentSlot:
    people = {
        mention: [
            person.id
            for person in everybody
            if mention in person.names or mention in person.mentions
        ]
        for mention in words.people
    }
    if not people or not all(people.values()):
        raise InputError(_where(document, words, "mention no marked person"))
    return ContentSlot(
        people=frozenset(person_id for ids in people.values() for person_id in ids),
        words=words,
        original=_text(document.words, words.span.start, words.span.end),
    )


def _where(document: AnnotatedDocument, words: ContentWord, problem: str) -> str:
    span = words.span
    return f"document {document.id!r}: the content words at {span.start} to {span.end} {problem}"


@dataclass(slots=True, kw_only=True)
class _PersonDraft:
    """A person while the document is searched."""

    id: str
    names: list[Range]
    mentions: list[Range]
    first_name: str | None = None
    last_name: str | None = None

    def settle_names(self, words: Sequence[Word]) -> None:
        firsts: list[str] = []
        lasts: list[str] = []
        titled: list[str] = []
        for name in self.names:
            tokens = [words[i].text for i in _name_tokens(words, name)]
            if len(tokens) == 1 and _titled(words, name):
                titled.append(tokens[0])
            elif tokens:
                firsts += tokens[:-1]
                lasts.append(tokens[-1])
        self.last_name = _most_frequent(titled or lasts)
        self.first_name = _most_frequent([name for name in firsts if name != self.last_name])

    def other_names(self, words: Sequence[Word]) -> tuple[str, ...]:
        """Return what its names hold besides first name, last name and titles, in text order."""
        text = " ".join(words[i].text for name in self.names for i in range(name.start, name.end))
        own_words = TITLES.union(name_tokens(f"{self.first_name or ''} {self.last_name or ''}"))
        return tuple(token for token in dict.fromkeys(name_tokens(text)) if token not in own_words)


def _people(document: AnnotatedDocument) -> list[_PersonDraft]:
    chain_of = {name: _chain_of(document, name) for name in document.people}
    chains = [
        _PersonDraft(
            id=f"chain{c}",
            names=[name for name in document.people if chain_of[name] == c],
            mentions=list(chain),
        )
        for c, chain in enumerate(document.chains)
        if c in chain_of.values() or not _has_gendered_noun(document, chain)
    ]
    for person in chains:
        person.settle_names(document.words)
    for name in document.people:
        if chain_of[name] is None:
            _join_or_add(document, name, chains)
    return chains


def _has_gendered_noun(document: AnnotatedDocument, chain: Sequence[Range]) -> bool:
    """Whether a chain without names says "the woman": "he" must not follow that."""
    altered = {
        i for words in document.content_words for i in range(words.span.start, words.span.end)
    }
    return any(
        document.words[i].text.lower() in _GENDERED_NOUNS
        for mention in chain
        for i in range(mention.start, mention.end)
        if i not in altered
    )


def _chain_of(document: AnnotatedDocument, name: Range) -> int | None:
    """Return the chain of the shortest mention that is about `name`, if there is one."""
    around = [
        (_length(mention), c, mention)
        for c, chain in enumerate(document.chains)
        for mention in chain
        if mention.contains(name)
    ]
    if not around:
        return None
    _, c, mention = min(around, key=lambda each: each[:2])
    return c if _is_about(document, mention, name) else None


def _is_about(document: AnnotatedDocument, mention: Range, name: Range) -> bool:
    """Whether a mention names the person, and is not "the firm of Orme" or "Orme's firm"."""
    before = [word.text.lower() for word in document.words[mention.start : name.start]]
    after = [word.text.lower() for word in document.words[name.end : mention.end]]
    containing = [p for p in document.people if p != name and mention.contains(p)]
    if any(other.start < name.start for other in containing) or _BREAKS_BEFORE & set(before):
        return False
    if not after:
        return True
    return after[0] not in _CONJUNCTIONS and (after[0] not in _POSSESSIVE or len(after) == 1)


def _join_or_add(document: AnnotatedDocument, name: Range, people: list[_PersonDraft]) -> None:
    text = " ".join(word.text for word in document.words[name.start : name.end])
    for person in people:
        replacement = Person(id=person.id, first_name=person.first_name, last_name=person.last_name)
        if person.last_name is not None and fits(text, replacement):
            person.names.append(name)
            return
    draft = _PersonDraft(id=f"name{name.start}", names=[name], mentions=[name])
    draft.settle_names(document.words)
    people.append(draft)


def _slots(document: AnnotatedDocument, person: _PersonDraft) -> Iterator[tuple[int, int, Slot]]:
    words = document.words
    for name in person.names:
        indices = _name_tokens(words, name)
        if indices:
            start, end = indices[0], indices[-1] + 1
            kind = _name_kind([words[i].text for i in indices], person)
            yield start, end, Slot(person=person.id, kind=kind, original=_text(words, start, end))
        for i in range(max(0, name.start - 1), name.end):
            if _is_title(words, i):
                yield i, i + 1, Slot(person=person.id, kind="title", original=words[i].text)
    for mention in person.mentions:
        if _length(mention) == 1 and (case := _case_at(words, mention.start)) is not None:
            original = words[mention.start].text
            yield mention.start, mention.end, Slot(person=person.id, kind=case, original=original)


def _is_title(words: Sequence[Word], index: int) -> bool:
    """Whether a title of address stands here; "First Lady" is an office."""
    first_lady = index > 0 and words[index - 1].text.lower() == "first"
    return title_kind(words[index].text) is not None and not first_lady


def _titled(words: Sequence[Word], name: Range) -> bool:
    before = words[name.start - 1].text if name.start else ""
    return title_kind(before) == "plain" or title_kind(words[name.start].text) == "plain"


def _name_tokens(words: Sequence[Word], name: Range) -> list[int]:
    """Return the tokens of a name without titles, suffixes and punctuation at its ends."""
    places = [
        i
        for i in range(name.start, name.end)
        if (plain := words[i].text.lower().strip(".,")) and plain[0].isalnum()
        and plain not in SUFFIXES
        and words[i].text not in _POSSESSIVE
    ]  # fmt: skip
    while places and words[places[0]].text.lower().removesuffix(".") in TITLES:
        places.pop(0)
    return places


def _name_kind(tokens: Sequence[str], person: _PersonDraft) -> NameKind:
    if len(tokens) > 1:
        return "full"
    if tokens[0].lower() == (person.last_name or "").lower():
        return "last"
    return "first" if person.first_name is not None else "last"


def _case_at(words: Sequence[Word], index: int) -> Case | None:
    after = words[index + 1] if index + 1 < len(words) else Word(text="")
    word = words[index]
    return pronoun_case(word.text, tag=word.tag, following=after.text, tag_after=after.tag)


def _pieces(
    document: AnnotatedDocument, slots: Mapping[int, tuple[int, Slot | ContentSlot]]
) -> Iterator[str | Slot | ContentSlot]:
    i, text = 0, ""
    while i < len(document.words):
        word = document.words[i]
        text += word.before if i else ""
        if i in slots:
            end, slot = slots[i]
            yield text
            yield slot
            i, text = end, ""
        else:
            text += word.text
            i += 1
    yield text


def _write(
    slot: Slot, identities: Mapping[str, Identity], last_names: Mapping[str, str | None]
) -> str:
    identity = identities.get(slot.person)
    if identity is None:
        return slot.original
    if slot.kind == "title":
        return write_title(slot.original, identity.gender)
    if slot.kind == "first":
        return like(slot.original, identity.first_name)
    if slot.kind == "last":
        return like(slot.original, identity.last_name) if identity.last_name else slot.original
    if slot.kind == "full":
        last = identity.last_name or last_names[slot.person] or slot.original.split()[-1]
        return like(slot.original, f"{identity.first_name} {last}")
    return write_pronoun(slot.original, slot.kind, identity.gender)


def _write_content(slot: ContentSlot, identities: Mapping[str, Identity]) -> str:
    """Return the words that fit; those of the document where somebody keeps an unknown gender."""
    if not slot.people <= identities.keys():
        return slot.original
    genders = {identities[person].gender for person in slot.people}
    words = slot.words
    if len(genders) > 1:
        return like(slot.original, words.neutral) if words.neutral else slot.original
    return like(slot.original, words.female if genders == {"female"} else words.male)


def _text(words: Sequence[Word], start: int, end: int) -> str:
    first = words[start].text
    return first + "".join(word.before + word.text for word in words[start + 1 : end])


def _most_frequent(names: Sequence[str]) -> str | None:
    return Counter(names).most_common(1)[0][0] if names else None


def _length(span: Range) -> int:
    return span.end - span.start
