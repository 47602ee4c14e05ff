"""Questions on a whole story, by one call over its articles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fairjudge.domain import Article, Unscored
from fairjudge.parsing import read_list
from fairjudge.prompting import Fenced, json_object, load_template
from fairjudge.references.asker import INTEGERS, Asker
from fairjudge.references.dates import outlet_and_date
from fairjudge.references.llm import MAX_QUESTION_WORDS
from fairjudge.references.ports import Question
from fairjudge.references.replies import question_in

_TOKENS_A_QUESTION = 100
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
        n_factual = max(1, n // 4)
        aids = [article.aid for article in articles]
        return await self.asker.ask(
            load_template("reference", "questions", 2),
            {
                "articles": fence_numbered(articles),
                "earlier": Fenced(
                    "earlier", tuple(q for q, _ in earlier), tuple(why for _, why in earlier)
                ),
                "earlier_told": _EARLIER_TOLD if earlier else "",
                "n_questions": str(n),
                "n_factual": str(n_factual),
                "n_opinion": str(n - n_factual),
                "at_least": str(at_least),
                "n_articles": str(len(articles)),
                "max_words": str(MAX_QUESTION_WORDS),
                "answer_format": "Reply with JSON alone: "
                '{"questions": [{"question": "...", "articles": [1, 4]}]}',
            },
            schema=_SCHEMA,
            read=lambda text, cut_off: read_expecting(text, aids=aids, limit=n, cut_off=cut_off),
            usual_limit=1024 + _TOKENS_A_QUESTION * n,
        )


def fence_numbered(articles: Sequence[Article]) -> Fenced:
    """Return `articles` fenced, each with its number from 1, its outlet and its date."""
    return Fenced(
        "article",
        tuple(f"{article.title}\n\n{article.content}".strip() for article in articles),
        tuple(f"{n}: {outlet_and_date(article)}" for n, article in enumerate(articles, 1)),
    )


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
