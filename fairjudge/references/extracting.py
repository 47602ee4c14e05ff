"""Extract the answers of one article to all questions in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

from fairjudge.domain import Answer, Article, Stance, Unscored
from fairjudge.judges.criteria import fence_articles
from fairjudge.parsing import read_list
from fairjudge.parsing.outcomes import RETRYABLE
from fairjudge.prompting import INTEGER, STRING, Fenced, json_array, json_object, load_template
from fairjudge.references.asker import ModelStep
from fairjudge.references.llm import MAX_ANSWER_WORDS
from fairjudge.references.ports import ArticleAnswers, LocatedAnswer, Question
from fairjudge.references.replies import QuotableArticle
from fairjudge.references.writing import outlet_and_date
from fairjudge.text.counting import pluralize
from fairjudge.text.scripts import count_words

MAX_QUESTIONS = 25
"""Maximum number of questions per call."""
MAX_GLOSS_WORDS = 20
_LIMIT = 8000
_OR_NULL = {"type": ["string", "null"]}
VOICE = {
    "quote": STRING,
    "speaker": _OR_NULL,
    "stance": STRING | {"enum": list(get_args(Stance))},
    "gloss": _OR_NULL,
}
"""The schema of a quote with its speaker, stance and gloss."""
_SCHEMA = json_object({"answers": json_array(json_object({"question": INTEGER, **VOICE}))})
_NOBODY = frozenset({"", "null", "none", "n/a"})


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotedPassage:
    """One item of a reply; ``question`` is an index, ``voice`` has further fields of `Answer`."""

    question: int
    quote: str
    voice: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageList:
    """The items of a reply; ``problem`` describes its invalid items."""

    items: tuple[QuotedPassage, ...]
    problem: str = ""
    cut_off: bool = False


class LlmArticleAnswerer(ModelStep):
    """Asks all questions about one article and its headline, at most 25 per call.

    If a reply reaches the token limit, its complete answers are used, and the remaining questions
    are asked again.
    """

    async def answer(
        self, questions: Sequence[Question], article: Article
    ) -> ArticleAnswers | Unscored:
        """See `fairjudge.references.ports.ArticleAnswerer`."""
        n_parts = -(-len(questions) // MAX_QUESTIONS)
        text, answers, n_absent, problems = QuotableArticle(article), [], 0, []
        for part in range(n_parts):
            numbers = range(len(questions))[part::n_parts]
            passages = await self._part([questions[number] for number in numbers], article)
            if isinstance(passages, Unscored):
                if n_parts == 1 or passages.reason in RETRYABLE:
                    return passages
                problems.append(f"{passages.reason}: {passages.detail}")
                continue
            problems.extend([passages.problem] if passages.problem else [])
            for item in passages.items:
                answer = _locate(item, numbers[item.question], article, text)
                answers.extend([answer] if answer else [])
                n_absent += answer is None
        return ArticleAnswers(found=tuple(answers), n_absent=n_absent, problem="; ".join(problems))

    async def _part(
        self, questions: Sequence[Question], article: Article
    ) -> PassageList | Unscored:
        first = await self._ask(questions, article)
        if isinstance(first, Unscored) or not first.cut_off:
            return first
        n_complete = _count_complete(first.items)
        items = tuple(item for item in first.items if item.question < n_complete)
        second = await self._ask(questions[n_complete:], article) if n_complete else first
        if isinstance(second, Unscored):
            if second.reason in RETRYABLE:
                return second  # the next run tries again, with the first reply from the cache
            return PassageList(items=first.items, problem=f"{second.reason}: {second.detail}")
        further_items = (
            replace(item, question=item.question + n_complete) for item in second.items
        )
        problem = "the limit on its tokens (max_output_tokens) ended the list of answers"
        return PassageList(
            items=(*items, *further_items), problem=problem if second.cut_off else second.problem
        )

    async def _ask(self, questions: Sequence[Question], article: Article) -> PassageList | Unscored:
        partial: list[PassageList] = []

        def retry_if_partial(passages: PassageList | Unscored, text: str) -> PassageList | Unscored:
            if isinstance(passages, PassageList) and passages.problem:
                partial.append(passages)
                return Unscored(reason="unparseable", detail=passages.problem, raw=text)
            return passages

        outcome = await self.asker.ask(
            load_template("reference", "answers"),
            {
                "article": replace(fence_articles((article,)), titles=(outlet_and_date(article),)),
                "questions": Fenced("questions", (_question_lines(questions),)),
                "max_words": str(MAX_ANSWER_WORDS),
                "gloss_words": str(MAX_GLOSS_WORDS),
            },
            schema=_SCHEMA,
            parse=lambda text, cut_off: retry_if_partial(
                read_passages(text, n=len(questions), cut_off=cut_off), text
            ),
            default_limit=_LIMIT,
        )
        if isinstance(outcome, Unscored) and partial:
            return max(partial, key=lambda passages: len(passages.items))
        return outcome


def _question_lines(questions: Sequence[Question]) -> str:
    """Return numbered questions, each followed by the answers seen by the question's writer."""
    lines: list[str] = []
    for number, question in enumerate(questions, 1):
        lines.append(f"{number}. {question.text}")
        lines += [f"   seen: {'; '.join(question.seen)}"] if question.seen else []
    return "\n".join(lines)


def _count_complete(items: Sequence[QuotedPassage]) -> int:
    """Return the number of questions completed by a truncated list; 0 if it is out of order."""
    order = [item.question for item in items]
    return order[-1] if order and order == sorted(order) else 0


def _locate(
    item: QuotedPassage, index: int, article: Article, text: QuotableArticle
) -> LocatedAnswer | None:
    passage = text.find(item.quote)
    if passage is None:
        return None
    answer = Answer(aid=article.aid, answer=passage.text, **item.voice)
    return LocatedAnswer(index=index, answer=answer, start=passage.start, end=passage.end)


def read_passages(text: str, *, n: int, cut_off: bool = False) -> PassageList | Unscored:
    """Return the answers in a reply to `n` questions (numbered from 1).

    Items without a textual quote or with an invalid question number are skipped and counted in
    ``problem``; a reply with such items only is `Unscored`.
    """
    entries = read_list(text, "answers", cut_off=cut_off)
    if entries is None:
        return Unscored(reason="unparseable", detail="no list of answers", raw=text)
    items = [item for item in (_item(entry, n) for entry in entries) if item is not None]
    if entries and not items:
        return Unscored(reason="unparseable", detail="no answer in the form asked for", raw=text)
    n_bad = len(entries) - len(items)
    problem = (
        f"unparseable: {n_bad} of {pluralize(len(entries), 'answer')} not in the form asked for"
    )
    return PassageList(items=tuple(items), problem=problem if n_bad else "", cut_off=cut_off)


def _item(entry: Any, n: int) -> QuotedPassage | None:
    if not isinstance(entry, dict):
        return None
    number, quote = entry.get("question"), entry.get("quote")
    if type(number) is not int or not 1 <= number <= n or not isinstance(quote, str):
        return None
    return QuotedPassage(question=number - 1, quote=quote, voice=voice_of(entry))


def voice_of(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return the speaker, stance and gloss of a quote, from an item of a reply."""
    voice: dict[str, Any] = {"speaker": _normalise(item.get("speaker"))}
    if item.get("stance") in get_args(Stance):
        voice["stance"] = item["stance"]
    gloss = _normalise(item.get("gloss"))
    if gloss and count_words(gloss) <= MAX_GLOSS_WORDS:
        voice["gloss"] = gloss
    return voice


def _normalise(value: Any) -> str | None:
    """Return a text with single spaces; None for placeholders such as "none", and for non-texts."""
    text = " ".join(value.split()) if isinstance(value, str) else ""
    return None if text.lower() in _NOBODY else text
