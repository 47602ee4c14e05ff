"""Build references with an LLM, as in DiverseSumm (section 3.1, C.1), with different prompts."""

from __future__ import annotations

from collections.abc import Sequence

from fairjudge.domain import Answer, Article, QuestionAnswers, Unscored
from fairjudge.judges.criteria import fence_articles
from fairjudge.prompting import INTEGERS, STRING, Fenced, json_array, json_object, load_template
from fairjudge.references.asker import ModelStep
from fairjudge.references.ports import FilterResult, Groups
from fairjudge.references.replies import (
    QuotableArticle,
    read_answers,
    read_check,
    read_groups,
    read_questions,
)

MAX_QUESTION_WORDS = 14
MAX_ANSWER_WORDS = 40
_QUESTIONS = json_object({"questions": json_array(STRING)})
_ANSWERS = json_object({"answers": json_array(STRING)})
_GROUPS = json_object({"groups": json_array(INTEGERS)})
_CHECK = json_object({"invalid": INTEGERS, "diverse": {"type": "boolean"}})


def question_fields(n: int) -> dict[str, str]:
    """Return the prompt's fields for `n` questions: a quarter factual, the rest opinion.

    For DiverseSumm's 20 questions these are 5 and 15; predictions count as opinion.
    """
    n_factual = max(1, n // 4)
    return {
        "n_questions": str(n),
        "n_factual": str(n_factual),
        "n_opinion": str(n - n_factual),
        "max_words": str(MAX_QUESTION_WORDS),
    }


class LlmQuestionWriter(ModelStep):
    """Writes questions on the representative articles."""

    async def write(
        self,
        articles: Sequence[Article],
        *,
        cluster: Sequence[Article],  # noqa: ARG002  # represented by `articles`
        n: int,
    ) -> tuple[str, ...] | Unscored:
        """See `fairjudge.references.ports.QuestionWriter`."""
        return await self.asker.ask(
            load_template("reference", "questions", version=1),
            {
                "articles": fence_articles(tuple(articles)),
                **question_fields(n),
                "answer_format": 'Reply with JSON alone: {"questions": ["...", "..."]}',
            },
            schema=_QUESTIONS,
            parse=lambda text, cut_off: read_questions(
                text, limit=n, max_words=MAX_QUESTION_WORDS, cut_off=cut_off
            ),
        )


class LlmAnswerer(ModelStep):
    """Extracts all answers of one article (article-level QA).

    Models also answer from memory or invent answers, so only answers that `QuotableArticle.find`
    finds in the article are returned, in the article's words.
    """

    async def answer(
        self,
        question: str,
        article: Article,
        *,
        cluster: Sequence[Article],  # noqa: ARG002  # a model reads one article at a time
    ) -> tuple[Answer, ...] | Unscored:
        """See `fairjudge.references.ports.Answerer`."""
        quotes = await self.asker.ask(
            load_template("reference", "answers", version=1),
            {
                "article": fence_articles((article,)),
                "question": Fenced("question", (question,)),
                "max_words": str(MAX_ANSWER_WORDS),
                "answer_format": 'Reply with JSON alone: {"answers": ["...", "..."]}, '
                'or {"answers": []} when the article does not answer the question.',
            },
            schema=_ANSWERS,
            parse=lambda text, cut_off: read_answers(text, cut_off=cut_off),
        )
        if isinstance(quotes, Unscored):
            return quotes
        text = QuotableArticle(article)
        passages = (text.find(answer) for answer in quotes)
        spans = dict.fromkeys(passage.text for passage in passages if passage)
        return tuple(Answer(aid=article.aid, answer=span) for span in spans)


class LlmConsolidator(ModelStep):
    """Groups all answers to a question in one call."""

    async def group(
        self,
        question: str,
        answers: Sequence[Answer],
        articles: Sequence[Article],  # noqa: ARG002  # not needed here
    ) -> Groups | Unscored:
        """See `fairjudge.references.ports.Consolidator`."""
        return await self.asker.ask(
            load_template("reference", "consolidation"),
            {
                "question": Fenced("question", (question,)),
                "answers": _fence_answers([answer.answer for answer in answers]),
                "answer_format": 'Reply with JSON alone: {"groups": [[1, 3], [2]]}',
            },
            schema=_GROUPS,
            parse=lambda text, _: read_groups(text, n=len(answers)),
        )


class LlmPostFilter(ModelStep):
    """Checks the answers to a question, and whether their groups differ."""

    async def check(self, question: QuestionAnswers) -> FilterResult | Unscored:
        """See `fairjudge.references.ports.PostFilter`."""
        answers = [answer for group in question.answer_groups for answer in group]
        groups = [g for g, group in enumerate(question.answer_groups, 1) for _ in group]
        return await self.asker.ask(
            load_template("reference", "filter"),
            {
                "question": Fenced("question", (question.question,)),
                "answers": _fence_answers([answer.answer for answer in answers], groups=groups),
                "answer_format": 'Reply with JSON alone: {"invalid": [2, 5], "diverse": true}',
            },
            schema=_CHECK,
            parse=lambda text, _: read_check(text, n=len(answers)),
        )


def _fence_answers(answers: Sequence[str], *, groups: Sequence[int] = ()) -> Fenced:
    numbers = range(1, len(answers) + 1)
    if groups:
        titles = tuple(f"{n} of group {g}" for n, g in zip(numbers, groups, strict=True))
    else:
        titles = tuple(map(str, numbers))
    return Fenced("answer", tuple(answers), titles)
