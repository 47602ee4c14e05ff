"""Self-contained statements of articles, which can be quoted without their context.

For English news. Sentences that begin with a pronoun or a connective, questions, truncated
sentences, and sentences about the sources themselves or addressed to the reader are excluded.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from fairjudge.domain import Article
from fairjudge.text.particulars import names_in, stem
from fairjudge.text.sentences import is_question, news_sentences
from fairjudge.text.tokens import ENGLISH_STOP_WORDS, words

MIN_WORDS, MAX_WORDS = 6, 45
MAX_STATEMENTS, MIN_PER_ARTICLE = 1200, 20
"""Maximum number of statements per cluster, and the minimum limit per article."""
HEAD_WORDS = 4
"""Number of words at the beginning of a sentence without pronouns."""

_PRONOUNS = frozenset(
    """he she it they him her them his hers its their theirs i me my we us our you your this that
    these those such""".split()  # noqa: SIM905
)
_CONNECTIVES = frozenset(
    """and but or so yet nor however also then there here still instead meanwhile moreover
    furthermore besides therefore thus hence indeed otherwise additionally similarly likewise
    consequently nevertheless nonetheless another other others both neither either some many most
    one what which who how why when where if because although though while simply again after
    before later earlier since until once finally overall perhaps maybe even""".split()  # noqa: SIM905
)
_ABOUT_SOURCES = re.compile(
    r"\b(?:first|second|third|fourth|fifth|several|some|other) (?:document|article|source)s?\b"
    r"|\b(?:documents?|sources|articles?|accounts|reports|evidence|information)\b.{0,60}"
    r"\b(?:conflict\w*|mixed|inconclusive|contradict\w*|differ\w*|unclear|varying)\b"
    r"|\b(?:conflicting|mixed|contradictory|varying)\b.{0,40}"
    r"\b(?:documents|sources|accounts|reports|evidence|information|picture|views)\b",
    re.IGNORECASE,
)
"""Phrases about the sources and their contradictions, not about the event."""
_TO_READERS = re.compile(r"\b(?:we|us|our|you|your|i|i'm|we're|you're|let's)\b", re.IGNORECASE)
_QUOTATION = re.compile(r"[\"\u201c][^\"\u201d]*[\"\u201d]")


@dataclass(frozen=True, slots=True)
class Statement:
    """A verbatim sentence of an article, with the stems of its words except stop words."""

    aid: str
    text: str
    stems: frozenset[str]

    @property
    def names(self) -> frozenset[str]:
        """The stems of the statement's names."""
        return content_stems(" ".join(names_in(self.text)))


_DENIALS = re.compile(
    r"\b(?:no|not|never|without|\w+n['\u2019]t|den(?:y|ies|ied)|doubt\w*|disput\w*|debunk\w*"
    r"|hoax\w*|fake\w*|false\w*|doctored|myth\w*|mis(?:tak|le[ad]|info|conc)\w*|un(?:likely|clear|founded|substantiated)"
    r"|question\w*|inconclusive|inaccura\w*|dismiss\w*|refut\w*|skeptic\w*|controvers\w*"
    r"|divided|conflict\w*|fail(?:s|ed)?|rather than)\b",
    re.IGNORECASE,
)


def denies(text: str) -> bool:
    """Return whether a statement contains a denial or a doubt."""
    return _DENIALS.search(text) is not None


def is_self_contained(text: str) -> bool:
    """Return whether a sentence can be understood without its context."""
    tokens = text.split()
    if not MIN_WORDS <= len(tokens) <= MAX_WORDS or is_question(text):
        return False
    if text.endswith(("...", "\u2026")) or text[-1] not in '.!"\u201d\u2019':
        return False
    if text.count('"') % 2 or text.count("\u201c") != text.count("\u201d"):
        return False
    head = [_first_word(token) for token in tokens[:HEAD_WORDS]]
    has_start = text[0].isupper() or text[0].isdigit() or text[0] in '"\u201c$\u00a3\u20ac'
    if not has_start or head[0] in _CONNECTIVES or _PRONOUNS & set(head):
        return False
    return not (_TO_READERS.search(_QUOTATION.sub("", text)) or _ABOUT_SOURCES.search(text))


def statements_of(articles: Sequence[Article]) -> list[Statement]:
    """Return the self-contained statements of a cluster, at most about `MAX_STATEMENTS`.

    From long articles, the statements with the largest share of words in common with other articles
    are selected, in text order. Sentences repeated in an article count once.
    """
    by_article = [_statements_of_article(article) for article in articles]
    n_articles = Counter(
        word for statements in by_article for word in {w for s in statements for w in s.stems}
    )
    limit = max(MIN_PER_ARTICLE, MAX_STATEMENTS // max(1, len(articles)))
    return [
        statement
        for statements in by_article
        for statement in _select_by_common_words(statements, n_articles, limit)
    ]


def _statements_of_article(article: Article) -> list[Statement]:
    texts = dict.fromkeys(span.text for span in news_sentences(article.content))
    return [
        Statement(article.aid, text, content_stems(text))
        for text in texts
        if is_self_contained(text)
    ]


def content_stems(text: str) -> frozenset[str]:
    """Return the stems of all words except stop words."""
    return frozenset(stem(word) for word in words(text) if word not in ENGLISH_STOP_WORDS)


def _select_by_common_words(
    statements: Sequence[Statement], n_articles: Counter[str], limit: int
) -> Sequence[Statement]:
    if len(statements) <= limit:
        return statements
    shares = [
        sum(n_articles[w] > 1 for w in statement.stems) / (len(statement.stems) + 4)
        for statement in statements
    ]
    ranking = sorted(range(len(statements)), key=lambda index: -shares[index])
    return [statements[index] for index in sorted(ranking[:limit])]


def _first_word(token: str) -> str:
    return re.sub(r"[^\w]+.*", "", token.lower().lstrip("\"\u201c'\u2018($"))
