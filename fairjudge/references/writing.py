"""Write questions on which the articles of a story differ, in one call over all articles."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, get_args

from fairjudge.domain import Article, QuestionKind, Unscored
from fairjudge.judges.criteria import fence_articles
from fairjudge.parsing import read_list
from fairjudge.prompting import INTEGERS, STRING, Fenced, json_array, json_object, load_template
from fairjudge.references.asker import ModelStep
from fairjudge.references.ports import Question
from fairjudge.references.replies import question_in
from fairjudge.text.scripts import count_words

MAX_QUESTION_WORDS = 16
_TOKENS_PER_QUESTION = 300
"""Enough for four answers of one line each, with the numbers of their articles."""
_MAX_SEEN, _MAX_SEEN_WORDS = 8, 30
"""Maximum numbers of seen answers of a question, and of words of each."""
_KEYS = ("date", "published", "published_at", "publish_date", "publication_date", "datetime")
_IN_KEY = re.compile(r"\d{4}-\d\d(?:-\d\d)?|[^\n<>]{1,30}")
_IN_URL = re.compile(r"(?<!\d)((?:19|20)\d\d)([/-])(\d\d?)(?:\2(\d\d?))?(?!\d)")
_QUESTION = json_object(
    {
        "question": STRING,
        "kind": STRING | {"enum": list(get_args(QuestionKind))},
        "answers": json_array(json_object({"answer": STRING, "articles": INTEGERS})),
    }
)
_SCHEMA = json_object({"questions": json_array(_QUESTION)})


class LlmClusterWriter(ModelStep):
    """A `ClusterWriter` with one call: questions on differences, with the answers in the reply."""

    async def write(
        self, articles: Sequence[Article], *, n: int, min_sources: int
    ) -> tuple[Question, ...] | Unscored:
        """See `fairjudge.references.ports.ClusterWriter`."""
        return await self.asker.ask(
            load_template("reference", "questions"),
            {
                "articles": numbered_articles(articles),
                "n_questions": str(n),
                "max_words": str(MAX_QUESTION_WORDS),
                "at_least": str(min_sources),
                "n_articles": str(len(articles)),
            },
            schema=_SCHEMA,
            parse=lambda text, cut_off: read_cluster_questions(text, limit=n, cut_off=cut_off),
            default_limit=1024 + _TOKENS_PER_QUESTION * n,
        )


def numbered_articles(
    articles: Sequence[Article], *, note: Callable[[Article], str] = lambda _: ""
) -> Fenced:
    """Return `articles` fenced, each with its number, outlet, date and the text of `note`."""
    titles = (f"{n}: {outlet_and_date(a)}{note(a)}" for n, a in enumerate(articles, 1))
    return replace(fence_articles(tuple(articles)), titles=tuple(titles))


def publication_date(article: Article) -> str:
    """Return the date in an extra key of the record or in its URL, or an empty string.

    The format is ``2022-07-28`` or ``2022-07``; a value in another format is truncated to 30
    characters.
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
    """Return the outlet and date of `article` for a prompt."""
    parts = (article.domain or article.title or article.aid, publication_date(article))
    return ", ".join(part for part in parts if part)


def read_cluster_questions(
    text: str, *, limit: int, cut_off: bool = False
) -> tuple[Question, ...] | Unscored:
    """Return up to `limit` questions of a reply, each with its answers.

    Items that are not questions are skipped, and answers in another format are ignored.
    """
    questions: dict[str, Question] = {}
    for item in read_list(text, "questions", cut_off=cut_off) or ():
        fields = item if isinstance(item, dict) else {"question": item}
        question = question_in(fields.get("question"), max_words=MAX_QUESTION_WORDS)
        if question is not None:
            kind = fields.get("kind") if fields.get("kind") in get_args(QuestionKind) else None
            questions.setdefault(
                question,
                Question(text=question, kind=kind, seen=_short_answers(fields.get("answers"))),
            )
    if not questions:
        return Unscored(reason="unparseable", detail="no question in the reply", raw=text)
    return tuple(questions.values())[:limit]


def _short_answers(answers: Any) -> tuple[str, ...]:
    """Return the distinct answers to a question, each on one line, without long answers."""
    entries = answers if isinstance(answers, list) else []
    texts = (entry.get("answer") if isinstance(entry, dict) else entry for entry in entries)
    lines = (" ".join(text.split()) for text in texts if isinstance(text, str))
    unique = dict.fromkeys(line for line in lines if 0 < count_words(line) <= _MAX_SEEN_WORDS)
    return tuple(unique)[:_MAX_SEEN]
