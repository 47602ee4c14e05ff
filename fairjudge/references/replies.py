"""Reading what models reply while references are built; pure, and tolerant only of form.

Models wrap JSON in fences or talk around it, number their lists, or answer in plain lines. What
cannot be read is `Unscored`, never an empty list: an article without an answer is a finding.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from fairjudge.domain import Article, Unscored
from fairjudge.parsing import read_list, read_object, whole_number, without_bullet
from fairjudge.references.ports import Checked, Groups, sort_groups
from fairjudge.text.quoting import Quotable, unwrapped
from fairjudge.text.scripts import UNSPACED, count_words
from fairjudge.text.sentences import is_question

_NO_ANSWER = re.compile(
    r"^\W*(?:no(?:ne|t)?|n/?a|\[\]|nothing|(?:there (?:is|are) )?no (?:relevant |clear |direct )?"
    r"answers?\b.*|(?:the )?article does(?: not|n't)\b.*|not (?:mentioned|answered|specified)\b.*)"
    r"\W*$",
    re.IGNORECASE,
)


def read_questions(
    text: str, *, limit: int, max_words: int, cut_off: bool = False
) -> tuple[str, ...] | Unscored:
    """Return up to `limit` questions of a reply, repeated ones once.

    A line counts as a question if it ends as one (see `fairjudge.text.sentences.is_question`) and
    has at most twice `max_words`.
    """
    listed = read_list(text, "questions", cut_off=cut_off) or ()
    found = (question_in(item, max_words=max_words) for item in listed)
    questions = dict.fromkeys(question for question in found if question is not None)
    if not questions:
        return Unscored(reason="unparseable", detail="no question in the reply", raw=text)
    return tuple(questions)[:limit]


def question_in(item: object, *, max_words: int) -> str | None:
    """Return the question that `item` of a reply holds, or None."""
    question = _clean(str(item))
    least = 3 if UNSPACED.search(question) is None else 2
    fits = least <= count_words(question) <= 2 * max_words
    return question if fits and is_question(question) else None


def read_answers(text: str, *, cut_off: bool = False) -> tuple[str, ...] | Unscored:
    """Return the answers in a reply; an empty list or a plain "no answer" is none."""
    listed = read_list(text, "answers", cut_off=cut_off)
    if listed is None:
        return Unscored(reason="unparseable", detail="no list of answers", raw=text)
    given = [str(item) for item in listed if isinstance(item, str | int | float)]
    if listed and not given:
        return Unscored(reason="unparseable", detail="no answer in words", raw=text)
    told = (answer for answer in given if answer.strip() and not _NO_ANSWER.match(answer))
    return tuple(dict.fromkeys(map(_clean, told)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A stretch of an article: ``start`` and ``end`` count in its title, a blank line, its content.

    ``text`` has single spaces and no line breaks.
    """

    text: str
    start: int
    end: int


class QuotableArticle:
    """An article, prepared to find passages in; its headline and content are searched apart."""

    def __init__(self, article: Article) -> None:
        self._parts = (
            (article.content, Quotable(article.content), len(article.title) + 2),
            (article.title, Quotable(article.title), 0),
        )

    def find(self, quote: str) -> Passage | None:
        """Return the passage that `quote` stands for (see `Quotable.find`), or None.

        The part that has it with fewer edits holds it; the content, where both are the same.
        """
        found = [
            (span, text, offset)
            for text, quotable, offset in self._parts
            if (span := quotable.find(quote)) is not None
        ]
        if not found:
            return None
        span, text, offset = min(found, key=lambda one: one[0].edits)
        words = " ".join(text[span.start : span.end].split())
        return Passage(text=words, start=offset + span.start, end=offset + span.end)


def read_groups(text: str, *, n: int) -> Groups | Unscored:
    """Return the partition of `n` answers (numbered from 1) in a reply, largest group first.

    An answer named twice or not at all, or a number that was not offered, makes it unparseable.
    """
    listed = [group for group in read_list(text, "groups") or () if isinstance(group, list)]
    numbers = [whole_number(one) for group in listed for one in group]
    known = [number for number in numbers if number is not None]
    if len(known) < len(numbers) or sorted(known) != list(range(1, n + 1)):
        return Unscored(reason="unparseable", detail="not a partition of the answers", raw=text)
    places = (number - 1 for number in known)
    return sort_groups([[next(places) for _ in group] for group in listed])


def read_check(text: str, *, n: int) -> Checked | Unscored:
    """Return the post-filter's findings on `n` answers (numbered from 1)."""
    value = read_object(text, "diverse")
    if value is not None and isinstance(value["diverse"], bool):
        given = value.get("invalid", [])
        numbers = {whole_number(one) for one in given} if isinstance(given, list) else {None}
        if numbers <= set(range(1, n + 1)):
            invalid = frozenset(number - 1 for number in numbers if number is not None)
            return Checked(invalid=invalid, diverse=value["diverse"])
    return Unscored(reason="unparseable", detail="no findings in the form asked for", raw=text)


def _clean(text: str) -> str:
    return unwrapped(" ".join(without_bullet(text).split()))
