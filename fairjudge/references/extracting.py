"""The answers of one article to all questions, by one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

from fairjudge.domain import Answer, Article, Stance, Unscored
from fairjudge.judges.criteria import fence_articles
from fairjudge.parsing import read_list
from fairjudge.parsing.outcomes import RETRYABLE
from fairjudge.prompting import Fenced, json_object, load_template
from fairjudge.references.asker import Asker
from fairjudge.references.llm import MAX_ANSWER_WORDS
from fairjudge.references.ports import Answered, Found, Question
from fairjudge.references.replies import QuotableArticle
from fairjudge.references.writing import outlet_and_date
from fairjudge.text.counting import pluralize
from fairjudge.text.scripts import count_words

MAX_QUESTIONS = 25
"""More questions are asked in parts."""
MAX_GLOSS_WORDS = 20
_LIMIT = 8000
_OR_NULL = {"type": ["string", "null"]}
VOICE = {
    "quote": {"type": "string"},
    "speaker": _OR_NULL,
    "stance": {"type": "string", "enum": list(get_args(Stance))},
    "gloss": _OR_NULL,
}
"""The schema of a quote, and of what is said of it."""
_SCHEMA = json_object(
    {
        "answers": {
            "type": "array",
            "items": json_object({"question": {"type": "integer"}, **VOICE}),
        }
    }
)
_NOBODY = frozenset({"", "null", "none", "n/a"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Quoted:
    """One item of a reply: ``question`` counts from 0, ``voice`` has further fields of `Answer`."""

    question: int
    quote: str
    voice: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """The items of a reply; ``problem`` says what else it holds that is none."""

    items: tuple[Quoted, ...]
    problem: str = ""
    cut_off: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmArticleAnswerer:
    """Puts all questions to one article, headline included, in one call of at most 25.

    Where the limit on its tokens ends a reply, the answers that it came to the end of are kept, and
    the questions that it had not got to are asked once more.
    """

    asker: Asker

    async def answer(self, questions: Sequence[Question], article: Article) -> Answered | Unscored:
        """See `fairjudge.references.ports.ArticleAnswerer`."""
        n_parts = -(-len(questions) // MAX_QUESTIONS)
        text, found, n_absent, problems = QuotableArticle(article), [], 0, []
        for part in range(n_parts):
            numbers = range(len(questions))[part::n_parts]
            listed = await self._part([questions[number] for number in numbers], article)
            if isinstance(listed, Unscored):
                if n_parts == 1 or listed.reason in RETRYABLE:
                    return listed
                problems.append(f"{listed.reason}: {listed.detail}")
                continue
            problems.extend([listed.problem] if listed.problem else [])
            for item in listed.items:
                one = _found(item, numbers[item.question], article, text)
                found.extend([one] if one else [])
                n_absent += one is None
        return Answered(found=tuple(found), n_absent=n_absent, problem="; ".join(problems))

    async def _part(self, questions: Sequence[Question], article: Article) -> Listed | Unscored:
        first = await self._ask(questions, article)
        if isinstance(first, Unscored) or not first.cut_off:
            return first
        reached = _reached(first.items)
        items = tuple(item for item in first.items if item.question < reached)
        rest = await self._ask(questions[reached:], article) if reached else first
        if isinstance(rest, Unscored):
            if rest.reason in RETRYABLE:
                return rest  # the next start of the run asks again, and the cache has the first
            return Listed(items=first.items, problem=f"{rest.reason}: {rest.detail}")
        more = (replace(item, question=item.question + reached) for item in rest.items)
        problem = "the limit on its tokens (max_output_tokens) ended the list of answers"
        return Listed(items=(*items, *more), problem=problem if rest.cut_off else rest.problem)

    async def _ask(self, questions: Sequence[Question], article: Article) -> Listed | Unscored:
        partial: list[Listed] = []

        def keeping(listed: Listed | Unscored, text: str) -> Listed | Unscored:
            if isinstance(listed, Listed) and listed.problem:
                partial.append(listed)
                return Unscored(reason="unparseable", detail=listed.problem, raw=text)
            return listed

        found = await self.asker.ask(
            load_template("reference", "answers"),
            {
                "article": replace(fence_articles((article,)), titles=(outlet_and_date(article),)),
                "questions": Fenced("questions", (_with_seen(questions),)),
                "max_words": str(MAX_ANSWER_WORDS),
                "gloss_words": str(MAX_GLOSS_WORDS),
            },
            schema=_SCHEMA,
            read=lambda text, cut_off: keeping(
                read_listed(text, n=len(questions), cut_off=cut_off), text
            ),
            usual_limit=_LIMIT,
        )
        if isinstance(found, Unscored) and partial:
            return max(partial, key=lambda listed: len(listed.items))
        return found


def _with_seen(questions: Sequence[Question]) -> str:
    """Return numbered questions, below each the answers that were seen while it was written."""
    lines: list[str] = []
    for number, question in enumerate(questions, 1):
        lines.append(f"{number}. {question.text}")
        lines += [f"   seen: {'; '.join(question.seen)}"] if question.seen else []
    return "\n".join(lines)


def _reached(items: Sequence[Quoted]) -> int:
    """Return how many questions a broken-off list is through with; none if it is out of order."""
    order = [item.question for item in items]
    return order[-1] if order and order == sorted(order) else 0


def _found(item: Quoted, index: int, article: Article, text: QuotableArticle) -> Found | None:
    passage = text.find(item.quote)
    if passage is None:
        return None
    answer = Answer(aid=article.aid, answer=passage.text, **item.voice)
    return Found(index=index, answer=answer, start=passage.start, end=passage.end)


def read_listed(text: str, *, n: int, cut_off: bool = False) -> Listed | Unscored:
    """Return the answers that a reply lists to `n` questions (numbered from 1).

    Items without a quote in words or with the number of no question are left out, and the
    ``problem`` says how many; a reply of such items alone is `Unscored`.
    """
    listed = read_list(text, "answers", cut_off=cut_off)
    if listed is None:
        return Unscored(reason="unparseable", detail="no list of answers", raw=text)
    items = [item for item in (_item(one, n) for one in listed) if item is not None]
    if listed and not items:
        return Unscored(reason="unparseable", detail="no answer in the form asked for", raw=text)
    n_bad = len(listed) - len(items)
    problem = (
        f"unparseable: {n_bad} of {pluralize(len(listed), 'answer')} not in the form asked for"
    )
    return Listed(items=tuple(items), problem=problem if n_bad else "", cut_off=cut_off)


def _item(one: Any, n: int) -> Quoted | None:
    if not isinstance(one, dict):
        return None
    number, quote = one.get("question"), one.get("quote")
    if type(number) is not int or not 1 <= number <= n or not isinstance(quote, str):
        return None
    return Quoted(question=number - 1, quote=quote, voice=voice_of(one))


def voice_of(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an item of a reply says of its quote: speaker, stance and gloss."""
    voice: dict[str, Any] = {"speaker": _words(item.get("speaker"))}
    if item.get("stance") in get_args(Stance):
        voice["stance"] = item["stance"]
    gloss = _words(item.get("gloss"))
    if gloss and count_words(gloss) <= MAX_GLOSS_WORDS:
        voice["gloss"] = gloss
    return voice


def _words(value: Any) -> str | None:
    """Return a text with single spaces, None for what says that there is none."""
    text = " ".join(value.split()) if isinstance(value, str) else ""
    return None if text.lower() in _NOBODY else text
