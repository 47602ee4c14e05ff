"""Templates: documents in which names, pronouns and titles of people can be replaced.

`news_bias` section 5.1 and appendix D, with three fixes for failures that the authors report: a
chain belongs to a person only if the name is the head of the mention ("Orme's firm" is not a
person), names without a chain are merged with the matching person, and the case of "her" and "his"
is determined.
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
    match_case,
    pronoun_case,
    title_kind,
    write_pronoun,
    write_title,
)
from fairjudge.bias.people import SUFFIXES, TITLES, Person, matches_person, name_tokens
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
    """A span of text that depends on the genders of people."""

    people: frozenset[str]
    words: ContentWord
    original: str


class TemplatePerson(Person):
    """A person of a template; `gendered` if a first name, pronoun or title indicates a gender.

    Both names are None for a person mentioned only by pronouns. ``other_names`` are other parts of
    the name in the document; after a replacement by `Template.fill` only the ``suffixes`` remain.
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
    """A document as a sequence of fixed text and slots."""

    id: str
    pieces: tuple[str | Slot | ContentSlot, ...]
    people: tuple[TemplatePerson, ...]

    def fill(self, identities: Mapping[str, Identity]) -> str:
        """Return the document with the assigned identities; people without one are unchanged."""
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
        """The original document."""
        return self.fill({})


def make_template(document: AnnotatedDocument) -> Template:
    """Make a template with a slot for every name, pronoun and title of a person in `document`.

    A person is a coreference chain that has a name or a gendered pronoun among its mentions, or a
    name without a chain; chains without a name that have a gendered noun ("the woman") are ignored.
    The last name is the most frequent final token of the names, the first name is the most frequent
    token before it; a single token after a title is a last name. Raises `InputError` for a content
    word that refers to no person, or overlaps a name, pronoun or title.
    """
    slots: dict[int, tuple[int, Slot | ContentSlot]] = {}
    people = []
    person_drafts = _people(document)
    for person in person_drafts:
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
        slot_indices = {i for start, (end, _) in slots.items() for i in range(start, end)}
        if slot_indices & set(range(words.span.start, words.span.end)):
            raise InputError(
                _content_word_error(document, words, "overlap a name, pronoun, title or another")
            )
        slots[words.span.start] = (words.span.end, _content_slot(document, words, person_drafts))
    return Template(id=document.id, pieces=tuple(_pieces(document, slots)), people=tuple(people))


def _content_slot(
    document: AnnotatedDocument, words: ContentWord, person_drafts: Sequence[_PersonDraft]
) -> ContentSlot:
    ids_by_mention = {
        mention: [
            person.id
            for person in person_drafts
            if mention in person.names or mention in person.mentions
        ]
        for mention in words.people
    }
    if not ids_by_mention or not all(ids_by_mention.values()):
        raise InputError(_content_word_error(document, words, "mention no marked person"))
    return ContentSlot(
        people=frozenset(person_id for ids in ids_by_mention.values() for person_id in ids),
        words=words,
        original=_text(document.words, words.span.start, words.span.end),
    )


def _content_word_error(document: AnnotatedDocument, words: ContentWord, problem: str) -> str:
    span = words.span
    return f"document {document.id!r}: the content words at {span.start} to {span.end} {problem}"


@dataclass(slots=True, kw_only=True)
class _PersonDraft:
    """A person during the search of the document."""

    id: str
    names: list[Range]
    mentions: list[Range]
    first_name: str | None = None
    last_name: str | None = None

    def assign_names(self, words: Sequence[Word]) -> None:
        first_tokens: list[str] = []
        last_tokens: list[str] = []
        title_tokens: list[str] = []
        for name in self.names:
            tokens = [words[i].text for i in _name_tokens(words, name)]
            if len(tokens) == 1 and _has_plain_title(words, name):
                title_tokens.append(tokens[0])
            elif tokens:
                first_tokens += tokens[:-1]
                last_tokens.append(tokens[-1])
        self.last_name = _most_frequent(title_tokens or last_tokens)
        self.first_name = _most_frequent([name for name in first_tokens if name != self.last_name])

    def other_names(self, words: Sequence[Word]) -> tuple[str, ...]:
        """Return the name tokens except first name, last name and titles, in text order."""
        text = " ".join(words[i].text for name in self.names for i in range(name.start, name.end))
        excluded_tokens = TITLES.union(
            name_tokens(f"{self.first_name or ''} {self.last_name or ''}")
        )
        return tuple(
            token for token in dict.fromkeys(name_tokens(text)) if token not in excluded_tokens
        )


def _people(document: AnnotatedDocument) -> list[_PersonDraft]:
    chain_by_name = {name: _chain_of(document, name) for name in document.people}
    person_drafts = [
        _PersonDraft(
            id=f"chain{c}",
            names=[name for name in document.people if chain_by_name[name] == c],
            mentions=list(chain),
        )
        for c, chain in enumerate(document.chains)
        if c in chain_by_name.values() or not _has_gendered_noun(document, chain)
    ]
    for person in person_drafts:
        person.assign_names(document.words)
    for name in document.people:
        if chain_by_name[name] is None:
            _merge_or_add(document, name, person_drafts)
    return person_drafts


def _has_gendered_noun(document: AnnotatedDocument, chain: Sequence[Range]) -> bool:
    """Whether a chain has a gendered noun such as "the woman", which "he" would contradict."""
    content_indices = {
        i for words in document.content_words for i in range(words.span.start, words.span.end)
    }
    return any(
        document.words[i].text.lower() in _GENDERED_NOUNS
        for mention in chain
        for i in range(mention.start, mention.end)
        if i not in content_indices
    )


def _chain_of(document: AnnotatedDocument, name: Range) -> int | None:
    """Return the chain of the shortest mention whose head is `name`, or None."""
    containing_mentions = [
        (_length(mention), c, mention)
        for c, chain in enumerate(document.chains)
        for mention in chain
        if mention.contains(name)
    ]
    if not containing_mentions:
        return None
    _, c, mention = min(containing_mentions, key=lambda candidate: candidate[:2])
    return c if _is_head(document, mention, name) else None


def _is_head(document: AnnotatedDocument, mention: Range, name: Range) -> bool:
    """Whether `name` is the head of a mention, unlike in "the firm of Orme" or "Orme's firm"."""
    words_before = [word.text.lower() for word in document.words[mention.start : name.start]]
    words_after = [word.text.lower() for word in document.words[name.end : mention.end]]
    other_names = [p for p in document.people if p != name and mention.contains(p)]
    if any(other.start < name.start for other in other_names) or _BREAKS_BEFORE & set(words_before):
        return False
    if not words_after:
        return True
    return words_after[0] not in _CONJUNCTIONS and (
        words_after[0] not in _POSSESSIVE or len(words_after) == 1
    )


def _merge_or_add(document: AnnotatedDocument, name: Range, people: list[_PersonDraft]) -> None:
    text = " ".join(word.text for word in document.words[name.start : name.end])
    for person in people:
        replacement = Person(id=person.id, first_name=person.first_name, last_name=person.last_name)
        if person.last_name is not None and matches_person(text, replacement):
            person.names.append(name)
            return
    draft = _PersonDraft(id=f"name{name.start}", names=[name], mentions=[name])
    draft.assign_names(document.words)
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
        if _length(mention) == 1 and (case := _pronoun_case_at(words, mention.start)) is not None:
            original = words[mention.start].text
            yield mention.start, mention.end, Slot(person=person.id, kind=case, original=original)


def _is_title(words: Sequence[Word], index: int) -> bool:
    """Whether the word is a title of address; "First Lady" is an office."""
    is_first_lady = index > 0 and words[index - 1].text.lower() == "first"
    return title_kind(words[index].text) is not None and not is_first_lady


def _has_plain_title(words: Sequence[Word], name: Range) -> bool:
    previous_word = words[name.start - 1].text if name.start else ""
    return title_kind(previous_word) == "plain" or title_kind(words[name.start].text) == "plain"


def _name_tokens(words: Sequence[Word], name: Range) -> list[int]:
    """Return the token indices of a name without titles, suffixes and punctuation."""
    indices = [
        i
        for i in range(name.start, name.end)
        if (token := words[i].text.lower().strip(".,")) and token[0].isalnum()
        and token not in SUFFIXES
        and words[i].text not in _POSSESSIVE
    ]  # fmt: skip
    while indices and words[indices[0]].text.lower().removesuffix(".") in TITLES:
        indices.pop(0)
    return indices


def _name_kind(tokens: Sequence[str], person: _PersonDraft) -> NameKind:
    if len(tokens) > 1:
        return "full"
    if tokens[0].lower() == (person.last_name or "").lower():
        return "last"
    return "first" if person.first_name is not None else "last"


def _pronoun_case_at(words: Sequence[Word], index: int) -> Case | None:
    next_word = words[index + 1] if index + 1 < len(words) else Word(text="")
    word = words[index]
    return pronoun_case(word.text, tag=word.tag, next_word=next_word.text, next_tag=next_word.tag)


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
        return match_case(slot.original, identity.first_name)
    if slot.kind == "last":
        return (
            match_case(slot.original, identity.last_name) if identity.last_name else slot.original
        )
    if slot.kind == "full":
        last_name = identity.last_name or last_names[slot.person] or slot.original.split()[-1]
        return match_case(slot.original, f"{identity.first_name} {last_name}")
    return write_pronoun(slot.original, slot.kind, identity.gender)


def _write_content(slot: ContentSlot, identities: Mapping[str, Identity]) -> str:
    """Return the words for the assigned genders; the original ones if a gender is unknown."""
    if not slot.people <= identities.keys():
        return slot.original
    genders = {identities[person].gender for person in slot.people}
    words = slot.words
    if len(genders) > 1:
        return match_case(slot.original, words.neutral) if words.neutral else slot.original
    return match_case(slot.original, words.female if genders == {"female"} else words.male)


def _text(words: Sequence[Word], start: int, end: int) -> str:
    first = words[start].text
    return first + "".join(word.before + word.text for word in words[start + 1 : end])


def _most_frequent(names: Sequence[str]) -> str | None:
    return Counter(names).most_common(1)[0][0] if names else None


def _length(span: Range) -> int:
    return span.end - span.start
