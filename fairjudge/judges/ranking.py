"""Judge by ranking: one call orders all summaries of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fairjudge.domain import Judgement, JudgeTask, Unscored
from fairjudge.errors import ConfigurationError
from fairjudge.judges.criteria import EVIDENCE_FIELDS
from fairjudge.judges.llm import DEFAULT_OUTPUT_TOKENS, WritingModel, repair_messages
from fairjudge.judges.ports import Reply
from fairjudge.parsing import read_objects, whole_number
from fairjudge.parsing.outcomes import with_cut_off
from fairjudge.parsing.refusals import looks_like_refusal
from fairjudge.prompting import Fenced, Template, json_object, load_template, render

ASPECTS = ("coverage", "faithfulness")
"""The aspects with a ranking prompt."""
READER_VERSION = 1
"""Version of `read_ranking`; part of the signature."""
_FORM = (
    'Reply with JSON alone: {"reasoning": "...", "ranking": [...]}. "reasoning" gives your reasons '
    'in a few sentences; "ranking" holds the numbers of all summaries, each once, from the best to '
    "the worst."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingJudge(WritingModel):
    """A model that ranks the summaries of a cluster by one of `ASPECTS`."""

    aspect: str
    max_output_tokens: int = DEFAULT_OUTPUT_TOKENS
    default_output_tokens = DEFAULT_OUTPUT_TOKENS

    def __post_init__(self) -> None:
        if self.aspect not in ASPECTS:
            raise ConfigurationError(
                f"--protocol ranking requires aspect {' or '.join(ASPECTS)}, not {self.aspect!r}"
            )

    @property
    def signature(self) -> str:
        """Return everything that can change this judge's verdicts."""
        return self._signature(self._template, {"reader": READER_VERSION})

    @property
    def _template(self) -> Template:
        return load_template("judge", f"{self.aspect}-ranking")

    async def _ask(self, task: JudgeTask) -> Reply | Unscored:
        fields = {name: _FIELDS[name](task) for name in self._template.fields}
        messages = render(self._template, fields)
        return await self._reply(self._request(task, messages, _schema(len(task.texts))))

    def read(self, task: JudgeTask, reply: Reply) -> Judgement | Unscored:
        """See `fairjudge.judges.ports.WritingJudge`."""
        indices = read_ranking(reply.text, len(task.systems))
        if isinstance(indices, Unscored):
            return with_cut_off(indices) if reply.cut_off else indices
        systems = task.in_prompt_order(task.systems)
        ranking = tuple(systems[index] for index in indices)
        return self._judgement(task, ranking=ranking, raw=reply.text)

    async def repair(self, task: JudgeTask, reply: Reply) -> Reply | Unscored:
        """See `fairjudge.judges.ports.WritingJudge`; the model sees its reply, not the material."""
        schema = _schema(len(task.texts), or_none=True)
        request = self._request(task, repair_messages(reply, _FORM), schema)
        return await self._reply(request, repaired=True)


def read_ranking(reply: str, n: int) -> tuple[int, ...] | Unscored:
    """Return the indices of `n` summaries from best to worst, or why there is no ranking.

    If a reply has several rankings, they must be equal. A ranking that omits, repeats or invents a
    summary is rejected, never corrected.
    """
    candidates = [entry["ranking"] for entry in read_objects(reply, "ranking")]
    if not candidates or not all(isinstance(candidate, list) for candidate in candidates):
        is_refusal = not candidates and looks_like_refusal(reply)
        return Unscored(
            reason="refused" if is_refusal else "unparseable",
            detail="it holds no ranking",
            raw=reply,
        )
    rankings = {tuple(map(whole_number, candidate)) for candidate in candidates}
    if len(rankings) > 1:
        return Unscored(reason="unparseable", detail="it holds several rankings", raw=reply)
    indices = tuple(number - 1 for number in rankings.pop() if number is not None)
    if sorted(indices) != list(range(n)) or len(indices) < len(candidates[0]):
        detail = f"its ranking does not hold each number from 1 to {n} once"
        return Unscored(reason="off_scale", detail=detail, raw=reply)
    return indices


def _schema(n: int, *, or_none: bool = False) -> dict[str, Any]:
    numbers = {"type": "string", "enum": [str(number) for number in range(1, n + 1)]}
    ranking = {"type": ["array", "null"] if or_none else "array", "items": numbers}
    return json_object({"reasoning": {"type": "string"}, "ranking": ranking})


def _summaries(task: JudgeTask) -> Fenced:
    texts = task.in_prompt_order(task.texts)
    return Fenced("summary", texts, tuple(str(number) for number in range(1, len(texts) + 1)))


_FIELDS: Mapping[str, Callable[[JudgeTask], str | Fenced]] = {
    **EVIDENCE_FIELDS,
    "summaries": _summaries,
    "n_summaries": lambda task: str(len(task.texts)),
    "form": lambda _: _FORM,
}
