"""Parse the replies of reference building; tolerant only of format.

Models wrap JSON in fences or text, number their lists, or answer in plain lines. An unparseable
reply is `Unscored`, not an empty list, because "no answer in this article" is a valid result.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from fairjudge.domain import Article, Unscored
from fairjudge.parsing import indices_in, read_list, read_object, without_bullet
from fairjudge.references.ports import FilterResult, Groups, sort_groups
from fairjudge.text.quoting import Quotable, unwrap
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
    """Return up to `limit` distinct questions of a reply.

    A line is a question if it ends like a question (see `fairjudge.text.sentences.is_question`) and
    has at most twice `max_words`.
    """
    items = read_list(text, "questions", cut_off=cut_off) or ()
    candidates = (question_in(item, max_words=max_words) for item in items)
    questions = dict.fromkeys(question for question in candidates if question is not None)
    if not questions:
        return Unscored(reason="unparseable", detail="no question in the reply", raw=text)
    return tuple(questions)[:limit]


def question_in(item: object, *, max_words: int) -> str | None:
    """Return the question in an item of a reply, or None."""
    question = _clean(str(item))
    min_words = 3 if UNSPACED.search(question) is None else 2
    is_of_length = min_words <= count_words(question) <= 2 * max_words
    return question if is_of_length and is_question(question) else None


def read_answers(text: str, *, cut_off: bool = False) -> tuple[str, ...] | Unscored:
    """Return the answers in a reply; empty for an empty list or a plain "no answer"."""
    items = read_list(text, "answers", cut_off=cut_off)
    if items is None:
        return Unscored(reason="unparseable", detail="no list of answers", raw=text)
    texts = [str(item) for item in items if isinstance(item, str | int | float)]
    if items and not texts:
        return Unscored(reason="unparseable", detail="no answer in words", raw=text)
    answers = (answer for answer in texts if answer.strip() and not _NO_ANSWER.match(answer))
    return tuple(dict.fromkeys(map(_clean, answers)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A passage of an article; offsets are in its title, a blank line and its content, joined.

    ``text`` has single spaces and no line breaks.
    """

    text: str
    start: int
    end: int


class QuotableArticle:
    """An article prepared for the search of quotes, in its headline and content separately."""

    def __init__(self, article: Article) -> None:
        self._parts = (
            (article.content, Quotable(article.content), len(article.title) + 2),
            (article.title, Quotable(article.title), 0),
        )

    def find(self, quote: str) -> Passage | None:
        """Return the passage that matches `quote` (see `Quotable.find`), or None.

        The match with fewer edits is returned, for a tie the match in the content.
        """
        matches = [
            (span, text, offset)
            for text, quotable, offset in self._parts
            if (span := quotable.find(quote)) is not None
        ]
        if not matches:
            return None
        span, text, offset = min(matches, key=lambda match: match[0].edits)
        words = " ".join(text[span.start : span.end].split())
        return Passage(text=words, start=offset + span.start, end=offset + span.end)


def read_groups(text: str, *, n: int) -> Groups | Unscored:
    """Return the partition of `n` answers (numbered from 1) in a reply, largest group first.

    A reply is unparseable if it repeats or omits an answer, or has an invalid number.
    """
    groups = [group for group in read_list(text, "groups") or () if isinstance(group, list)]
    indices = indices_in([number for group in groups for number in group], n)
    if indices is None or sorted(indices) != list(range(n)):
        return Unscored(reason="unparseable", detail="not a partition of the answers", raw=text)
    members = iter(indices)
    return sort_groups([[next(members) for _ in group] for group in groups])


def read_check(text: str, *, n: int) -> FilterResult | Unscored:
    """Return the post-filter's result on `n` answers (numbered from 1)."""
    value = read_object(text, "diverse")
    if value is not None and isinstance(value["diverse"], bool):
        invalid = indices_in(value.get("invalid", []), n)
        if invalid is not None:
            return FilterResult(invalid=frozenset(invalid), diverse=value["diverse"])
    return Unscored(reason="unparseable", detail="no findings in the form asked for", raw=text)


def _clean(text: str) -> str:
    return unwrap(" ".join(without_bullet(text).split()))
