"""Questions on a whole story, by one call over its articles."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from fairjudge.domain import Article, Unscored
from fairjudge.judges.criteria import fence_articles
from fairjudge.parsing import read_list
from fairjudge.prompting import Fenced, json_object, load_template
from fairjudge.references.asker import INTEGERS, Asker
from fairjudge.references.llm import MAX_QUESTION_WORDS, asked_for
from fairjudge.references.ports import Question
from fairjudge.references.replies import question_in

_TOKENS_PER_QUESTION = 100
_KEYS = ("date", "published", "published_at", "publish_date", "publication_date", "datetime")
_IN_KEY = re.compile(r"\d{4}-\d\d(?:-\d\d)?|[^\n<>]{1,30}")
_IN_URL = re.compile(r"(?<!\d)((?:19|20)\d\d)([/-])(\d\d?)(?:\2(\d\d?))?(?!\d)")
_EARLIER_TOLD = (
    " They come on top of the questions that stand after the articles: those were asked before, "
    "each with what became of it. Write no other wording of any of them, and none that has the "
    "answers of one that was kept; look for points of the story that they leave out, and avoid "
    "what they were dropped for."
)
_SCHEMA = json_object(
    {
        "questions": {
            "type": "array",
            "items": json_object({"question": {"type": "string"}, "articles": INTEGERS}),
        }
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmClusterWriter:
    """Asks for questions, each with the articles that answer it, in one call."""

    asker: Asker

    async def write(
        self,
        articles: Sequence[Article],
        *,
        n: int,
        at_least: int,
        earlier: Sequence[tuple[str, str]] = (),
    ) -> tuple[Question, ...] | Unscored:
        """See `fairjudge.references.ports.ClusterWriter`."""
        aids = [article.aid for article in articles]
        return await self.asker.ask(
            load_template("reference", "questions"),
            {
                "articles": replace(
                    fence_articles(tuple(articles)),
                    titles=tuple(f"{n}: {outlet_and_date(a)}" for n, a in enumerate(articles, 1)),
                ),
                "earlier": Fenced(
                    "earlier", tuple(q for q, _ in earlier), tuple(why for _, why in earlier)
                ),
                "earlier_told": _EARLIER_TOLD if earlier else "",
                **asked_for(n),
                "at_least": str(at_least),
                "n_articles": str(len(articles)),
                "answer_format": "Reply with JSON alone: "
                '{"questions": [{"question": "...", "articles": [1, 4]}]}',
            },
            schema=_SCHEMA,
            read=lambda text, cut_off: read_expecting(text, aids=aids, limit=n, cut_off=cut_off),
            usual_limit=1024 + _TOKENS_PER_QUESTION * n,
        )


def published(article: Article) -> str:
    """Return the date that a further key of the record or its address holds, or an empty string.

    As ``2022-07-28``, ``2022-07``, or the first 30 characters of a key in another form.
    """
    extra = article.model_extra or {}
    for key in _KEYS:
        value = extra.get(key)
        if isinstance(value, str) and (match := _IN_KEY.match(value.strip())):
            return match[0]
    for year, _, month, day in _IN_URL.findall(article.url):
        if 1 <= int(month) <= 12 and (not day or 1 <= int(day) <= 31):
            return "-".join([year, f"{int(month):02}", *([f"{int(day):02}"] if day else [])])
    return ""


def outlet_and_date(article: Article) -> str:
    """Return what a prompt says of where `article` comes from."""
    parts = (article.domain or article.title or article.aid, published(article))
    return ", ".join(part for part in parts if part)


def read_expecting(
    text: str, *, aids: Sequence[str], limit: int, cut_off: bool = False
) -> tuple[Question, ...] | Unscored:
    """Return up to `limit` questions of a reply with the articles named for each.

    What is no question is left out; a question without readable numbers expects nothing.
    """
    questions: dict[str, Question] = {}
    for item in read_list(text, "questions", cut_off=cut_off) or ():
        given = item if isinstance(item, dict) else {"question": item}
        question = question_in(given.get("question"), max_words=MAX_QUESTION_WORDS)
        if question is not None:
            expected = _expected(given.get("articles"), aids)
            questions.setdefault(question, Question(text=question, expected=expected))
    if not questions:
        return Unscored(reason="unparseable", detail="no question in the reply", raw=text)
    return tuple(questions.values())[:limit]


def _expected(numbers: Any, aids: Sequence[str]) -> frozenset[str] | None:
    if not isinstance(numbers, list):
        return None
    if not all(type(number) is int and 1 <= number <= len(aids) for number in numbers):
        return None
    return frozenset(aids[number - 1] for number in numbers)
