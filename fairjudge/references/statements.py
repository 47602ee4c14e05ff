"""Statements of articles that stand alone: what may be quoted without the sentences around it.

English news. A sentence that begins with a pronoun or leans on the one before it, a question, a
piece of an excerpt, and what the writer says of itself or of the reader are left out.
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

LEAST_WORDS, MOST_WORDS = 6, 45
MAX_STATEMENTS, LEAST_OF_ARTICLE = 1200, 20
"""Statements of a cluster that are compared, and of them an article's, however many there are."""
HEAD_WORDS = 4
"""Words at a sentence's head among which no pronoun may stand."""

_PRONOUNS = frozenset(
    """he she it they him her them his hers its their theirs i me my we us our you your this that
    these those such""".split()  # noqa: SIM905
)
_LEANING = frozenset(
    """and but or so yet nor however also then there here still instead meanwhile moreover
    furthermore besides therefore thus hence indeed otherwise additionally similarly likewise
    consequently nevertheless nonetheless another other others both neither either some many most
    one what which who how why when where if because although though while simply again after
    before later earlier since until once finally overall perhaps maybe even""".split()  # noqa: SIM905
)
_OF_ITSELF = re.compile(
    r"\b(?:first|second|third|fourth|fifth|several|some|other) (?:document|article|source)s?\b"
    r"|\b(?:documents?|sources|articles?|accounts|reports|evidence|information)\b.{0,60}"
    r"\b(?:conflict\w*|mixed|inconclusive|contradict\w*|differ\w*|unclear|varying)\b"
    r"|\b(?:conflicting|mixed|contradictory|varying)\b.{0,40}"
    r"\b(?:documents|sources|accounts|reports|evidence|information|picture|views)\b",
    re.IGNORECASE,
)
"""What is said of what others say, and not of the event."""
_TO_READERS = re.compile(r"\b(?:we|us|our|you|your|i|i'm|we're|you're|let's)\b", re.IGNORECASE)
_QUOTED = re.compile(r"[\"\u201c][^\"\u201d]*[\"\u201d]")


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of an article, verbatim, with the stems of its words that are no stop words."""

    aid: str
    text: str
    stems: frozenset[str]

    @property
    def names(self) -> frozenset[str]:
        """The stems of its names."""
        return content_stems(" ".join(names_in(self.text)))


_DENIALS = re.compile(
    r"\b(?:no|not|never|without|\w+n['\u2019]t|den(?:y|ies|ied)|doubt\w*|disput\w*|debunk\w*"
    r"|hoax\w*|fake\w*|false\w*|doctored|myth\w*|mis(?:tak|le[ad]|info|conc)\w*|un(?:likely|clear|founded|substantiated)"
    r"|question\w*|inconclusive|inaccura\w*|dismiss\w*|refut\w*|skeptic\w*|controvers\w*"
    r"|divided|conflict\w*|fail(?:s|ed)?|rather than)\b",
    re.IGNORECASE,
)


def denies(text: str) -> bool:
    """Whether a statement denies something, or says that it is doubted."""
    return _DENIALS.search(text) is not None


def stands_alone(text: str) -> bool:
    """Whether a reader needs nothing before or after a sentence to know what it says."""
    tokens = text.split()
    if not LEAST_WORDS <= len(tokens) <= MOST_WORDS or is_question(text):
        return False
    if text.endswith(("...", "\u2026")) or text[-1] not in '.!"\u201d\u2019':
        return False
    if text.count('"') % 2 or text.count("\u201c") != text.count("\u201d"):
        return False
    head = [_bare(token) for token in tokens[:HEAD_WORDS]]
    begins = text[0].isupper() or text[0].isdigit() or text[0] in '"\u201c$\u00a3\u20ac'
    if not begins or head[0] in _LEANING or _PRONOUNS & set(head):
        return False
    return not (_TO_READERS.search(_QUOTED.sub("", text)) or _OF_ITSELF.search(text))


def statements_of(articles: Sequence[Article]) -> list[Statement]:
    """Return the statements of a cluster that stand alone, at most `MAX_STATEMENTS`.

    Of long articles those stay that have most words in common with other articles, for their
    number, in text order; a sentence that an article repeats counts once.
    """
    found = [_of_article(article) for article in articles]
    n_articles = Counter(word for some in found for word in {w for s in some for w in s.stems})
    room = max(LEAST_OF_ARTICLE, MAX_STATEMENTS // max(1, len(articles)))
    return [one for some in found for one in _most_shared(some, n_articles, room)]


def _of_article(article: Article) -> list[Statement]:
    texts = dict.fromkeys(span.text for span in news_sentences(article.content))
    return [
        Statement(article.aid, text, content_stems(text)) for text in texts if stands_alone(text)
    ]


def content_stems(text: str) -> frozenset[str]:
    """Return the stems of the words that are no stop words."""
    return frozenset(stem(word) for word in words(text) if word not in ENGLISH_STOP_WORDS)


def _most_shared(
    some: Sequence[Statement], n_articles: Counter[str], room: int
) -> Sequence[Statement]:
    if len(some) <= room:
        return some
    shares = [sum(n_articles[w] > 1 for w in one.stems) / (len(one.stems) + 4) for one in some]
    ranked = sorted(range(len(some)), key=lambda place: -shares[place])
    return [some[place] for place in sorted(ranked[:room])]


def _bare(token: str) -> str:
    return re.sub(r"[^\w]+.*", "", token.lower().lstrip("\"\u201c'\u2018($"))
