"""Requirements on a summary beyond covering the sources: length, fairness, focus and more.

Sources of the fairness wordings: FairSumm, section 7.2 and appendix H; coverage fairness, A.6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from fairjudge.domain import Article
from fairjudge.text.scripts import count_words
from fairjudge.text.spellings import spellings_of
from fairjudge.text.tokens import words_of_name

TextKind: TypeAlias = Literal["news", "reviews", "tweets", "debates", "documents"]
FairWording: TypeAlias = Literal["sources", "length", "undefined"]
FairLabels: TypeAlias = Literal["shown", "hidden"]

DOCUMENTS: dict[TextKind, str] = {
    "reviews": "reviews",
    "tweets": "tweets",
    "debates": "statements made in a debate",
    "documents": "documents",
}
"""The noun for texts of each kind in prompts; news have separate prompts."""
TOKENS_PER_WORD, WORDS_PER_SENTENCE = 1.6, 28
"""Generous estimates for English news, so that a summary of the required length is not cut off."""
_MAX_NAME_WORDS, _MAX_NAME_LENGTH = 4, 40
"""Maximum numbers of words and characters of a group's name in a prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirements:
    """Requirements on a summary.

    ``fair_attribute`` is an article attribute whose values must all be represented: in proportion
    to their numbers of sources, to the lengths of their texts (FairSumm), or fairly without a
    definition (coverage fairness). ``fair_labels`` is whether the prompt lists the sources of each
    value. ``instruction`` is appended verbatim. For each cluster one of ``prompts`` is drawn.
    """

    fair_attribute: str | None = None
    n_sentences: int | None = None
    n_words: int | None = None
    fair_wording: FairWording = "sources"
    fair_labels: FairLabels = "shown"
    focus: str | None = None
    instruction: str | None = None
    kind: TextKind = "news"
    prompts: tuple[str, ...] = ()

    @property
    def n_tokens(self) -> int:
        """Maximum number of tokens of a summary of the required length; 0 if none is required."""
        words = max(self.n_words or 0, (self.n_sentences or 0) * WORDS_PER_SENTENCE)
        return round(words * TOKENS_PER_WORD)

    def instructions(self, articles: Sequence[Article], *, max_tokens: int) -> str:
        """Return the last sentences of the prompt on `articles`.

        If no length is required, the summary must fit into `max_tokens`, the limit of the reply.
        """
        lines = self._length_lines()
        if not lines:
            max_words = max(20, int(max_tokens / TOKENS_PER_WORD) // 10 * 10)
            lines.append(
                f"Take the room you need, up to {max_words} words: completeness matters more than "
                "brevity."
            )
        return "\n".join([*lines, *self._content_lines(articles)])

    def explicit_instructions(self, articles: Sequence[Article]) -> str:
        """Return the instructions without defaults, for prompts without a placeholder for them."""
        return "\n".join([*self._length_lines(), *self._content_lines(articles)])

    def _length_lines(self) -> list[str]:
        lines = []
        if self.n_sentences:
            lines.append(f"Write {_count(self.n_sentences, 'sentence')}, no more and no fewer.")
        if self.n_words:
            lines.append(f"Write about {_count(self.n_words, 'word')}.")
        return lines

    def _content_lines(self, articles: Sequence[Article]) -> list[str]:
        lines = []
        if self.fair_attribute:
            lines.append(_fairness_instruction(articles, self))
        if self.focus:
            lines.append(f"Focus on what the sources say about this topic: {self.focus}")
        if self.instruction:
            lines.append(self.instruction)
        return lines


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}{'s' * (n != 1)}"


def has_attribute(articles: Sequence[Article], attribute: str) -> bool:
    """Return whether one of `articles` has a value of `attribute`."""
    return bool(spellings_of(a.attributes.get(attribute) for a in articles).values)


def _fairness_instruction(articles: Sequence[Article], requirements: Requirements) -> str:
    """Return the fairness instruction: the groups, optionally their sources, and the wording."""
    attribute = str(requirements.fair_attribute)
    numbers: dict[str, list[int]] = {}
    values = [article.attributes.get(attribute) for article in articles]
    spellings = spellings_of(values)
    for number, value in enumerate(map(spellings.label, values), start=1):
        if value is not None:
            numbers.setdefault(words_of_name(value), []).append(number)
    groups = [
        (_group_name(value, number), members)
        for number, (value, members) in enumerate(sorted(numbers.items()), start=1)
    ]
    subject, clause = _WORDINGS[requirements.fair_wording]
    if requirements.fair_wording == "length":
        sizes = [
            sum(count_words(articles[n - 1].content) for n in members) for _, members in groups
        ]
        shares = [
            f"{name}: {size / max(1, sum(sizes)):.0%}"
            for (name, _), size in zip(groups, sizes, strict=True)
        ]
    elif requirements.fair_wording == "sources":
        shares = [f"{name}: {len(members)}" for name, members in groups]
    else:
        shares = [name for name, _ in groups]
    numbers_by_group = "; ".join(
        f"{name}: {', '.join(map(str, members))}" for name, members in groups
    )
    sentence = f"The sources differ in {words_of_name(attribute)} ({subject}{', '.join(shares)}). "
    if requirements.fair_labels == "shown":
        sentence += f"Counted in the order shown, these are {numbers_by_group}. "
    return sentence + clause


_WORDINGS: dict[FairWording, tuple[str, str]] = {
    "sources": (
        "",
        "Give every one of these groups room in proportion to its number of sources, and do not "
        "let one speak for another.",
    ),
    "length": (
        "parts of all their words: ",
        "In a fair summary every one of these groups has the same part of the summary's words as "
        "it has of the sources' words. Write a fair summary.",
    ),
    "undefined": ("", "Write a summary that fairly represents the sources of all these groups."),
}
"""The introduction of the groups' shares, and the instruction, by wording."""


def _group_name(value: str, number: int) -> str:
    """Return a group's name for the prompt, or a placeholder if the name may be an instruction.

    Names are outside the fences, and are text from users.
    """
    is_short = len(value) <= _MAX_NAME_LENGTH and count_words(value) <= _MAX_NAME_WORDS
    return value if value and is_short else f"group {number}"
