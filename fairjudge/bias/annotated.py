"""Documents with people and coreference marked, from which controlled inputs are made."""

from __future__ import annotations

from dataclasses import dataclass

from fairjudge.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """Tokens ``start`` to ``end``, the last left out."""

    start: int
    end: int

    def contains(self, other: Range) -> bool:
        """Whether `other` lies within this range."""
        return self.start <= other.start and other.end <= self.end


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A token, the white space before it, and its Penn tag where one is known."""

    text: str
    before: str = " "
    tag: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentWord:
    """Words that depend on people's gender, such as "chairman", and their replacements.

    ``people`` are mentions of whom they speak of, one or more of each; ``neutral`` is for people of
    different genders ("siblings" for "brothers"), who keep the words as they are without it.
    """

    span: Range
    people: tuple[Range, ...]
    female: str
    male: str
    neutral: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatedDocument:
    """A document with its person names and coreference chains.

    Chains hold the ranges of all mentions of one entity, pronouns included; a person without a
    chain need not have one.

    Raises
    ------
    InputError
        A range that is empty or does not lie within the document.
    """

    id: str
    words: tuple[Word, ...]
    people: tuple[Range, ...]
    chains: tuple[tuple[Range, ...], ...] = ()
    content_words: tuple[ContentWord, ...] = ()

    def __post_init__(self) -> None:
        mentions = (mention for chain in self.chains for mention in chain)
        spans = (span for words in self.content_words for span in (words.span, *words.people))
        for span in (*self.people, *mentions, *spans):
            if not 0 <= span.start < span.end <= len(self.words):
                raise InputError(
                    f"document {self.id!r}: tokens {span.start} to {span.end} do not lie within "
                    f"its {len(self.words)} tokens"
                )

    @property
    def text(self) -> str:
        """The document as one text."""
        return "".join(word.before + word.text for word in self.words).strip()


_NO_SPACE_BEFORE = frozenset(
    {".", ",", ";", ":", "!", "?", ")", "]", "}", "%", "''", "'s", "'S", "n't", "'", "’s", "’", "”",
     "'re", "'ve", "'ll", "'d", "'m", "..."}
)  # fmt: skip
_NO_SPACE_AFTER = frozenset({"(", "[", "{", "$", "``", "“", "#"})
_WRITTEN = {"``": '"', "''": '"'}


def spaced(tokens: tuple[tuple[str, str], ...]) -> tuple[Word, ...]:
    """Return the words of Penn-style (token, tag) pairs with the spaces that prose has.

    Treebank quotes become plain ones; hyphens keep their spaces, for a dash and a hyphen are one
    token in the treebank.
    """
    out = []
    glued = True
    for token, tag in tokens:
        tight = glued or token in _NO_SPACE_BEFORE
        out.append(Word(text=_WRITTEN.get(token, token), before="" if tight else " ", tag=tag))
        glued = token in _NO_SPACE_AFTER
    return tuple(out)
