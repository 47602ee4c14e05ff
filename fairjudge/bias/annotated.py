"""Documents annotated with people and coreference: the source of controlled inputs."""

from __future__ import annotations

from dataclasses import dataclass

from fairjudge.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """A range of tokens from ``start`` to ``end`` (end-exclusive)."""

    start: int
    end: int

    def contains(self, other: Range) -> bool:
        """Whether `other` lies within this range."""
        return self.start <= other.start and other.end <= self.end


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A token, the white space before it, and its Penn tag (empty if unknown)."""

    text: str
    before: str = " "
    tag: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentWord:
    """Words that depend on people's gender, such as "chairman", and their replacements.

    ``people`` are mentions of the people they refer to, at least one each. ``neutral`` is the
    replacement for people of different genders ("siblings" for "brothers"); without it the words
    are kept.
    """

    span: Range
    people: tuple[Range, ...]
    female: str
    male: str
    neutral: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatedDocument:
    """A document with its person names and coreference chains.

    A chain has the ranges of all mentions of one entity, including pronouns. Not every person needs
    a chain.

    Raises
    ------
    InputError
        A range is empty or not within the document.
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
                    f"document {self.id!r}: tokens {span.start} to {span.end} are not within "
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
_PLAIN_QUOTES = {"``": '"', "''": '"'}


def with_spaces(tokens: tuple[tuple[str, str], ...]) -> tuple[Word, ...]:
    """Return the words of Penn-style (token, tag) pairs with the spaces of running text.

    Treebank quotes become plain ones. Hyphens keep their spaces, since dash and hyphen are the same
    token in the treebank.
    """
    words = []
    no_space_next = True
    for token, tag in tokens:
        no_space = no_space_next or token in _NO_SPACE_BEFORE
        words.append(
            Word(text=_PLAIN_QUOTES.get(token, token), before="" if no_space else " ", tag=tag)
        )
        no_space_next = token in _NO_SPACE_AFTER
    return tuple(words)
