"""Judge with a decision model: typed questions, answered by a probability for every option.

Binary is a predicate, Likert a score with described levels, pairwise a choice. Replies need no
parsing, and every verdict is on the scale.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from fairjudge.domain import Judgement, JudgeTask, ScoredBy, Unscored
from fairjudge.judges.criteria import Criterion, fence_articles, fence_questions
from fairjudge.judges.distributions import ScoreDistribution, from_decision, graded_fields
from fairjudge.judges.llm import SignedJudge
from fairjudge.parsing.outcomes import or_unscored
from fairjudge.ports import (
    DecisionBackend,
    DecisionRefusal,
    DecisionRequest,
    ModelRef,
)
from fairjudge.prompting import Fenced, Template, load_template, render
from fairjudge.protocols import PROTOCOLS
from fairjudge.records.signature import signature

MAX_QUESTIONS = 16
"""Maximum number of questions per request; each needs memory on the server."""
_MATERIAL = frozenset({"evidence", "texts"})

_QUESTIONS: Mapping[str, Mapping[str, str]] = {
    "faithfulness": {
        "pair": "Which summary is more faithful to the articles?",
        "summary": "How faithful is the summary to the articles?",
        "sentence": "How faithful is sentence {n} to the articles?",
    },
    "coverage": {
        "pair": "Which summary covers more of the answers in the references?",
        "summary": "What share of the answers in the references does the summary cover?",
        "answer": "How fully does the summary cover the answer in reference {n}?",
    },
}
_YES_NO: Mapping[str, Mapping[str, str]] = {
    "faithfulness": {
        "summary": "Is every statement of the summary faithful to the articles?",
        "sentence": "Is sentence {n} faithful to the articles?",
    },
    "coverage": {
        "summary": "Does the summary cover more than 90 % of the answers in the references?",
        "answer": "Does the summary cover the answer in reference {n}?",
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionJudge(SignedJudge):
    """A decision model with a criterion, whose scale defines the answers.

    ``template`` is the prompt: that of `criterion`, or one with ``evidence`` and ``texts``.
    ``batches`` maps a task's id to all tasks of its request; see `batch_tasks`. All tasks of a
    batch send the same request, which is one call thanks to the cache. Other tasks have separate
    requests.
    """

    backend: DecisionBackend
    target: ModelRef
    criterion: Criterion
    template: Template
    batches: Mapping[str, tuple[JudgeTask, ...]] = field(default_factory=dict)

    @property
    def scored_by(self) -> ScoredBy:
        """Return what kind of model judges."""
        return "decision"

    @property
    def name(self) -> str:
        """Return ``provider:model``."""
        return str(self.target)

    @property
    def signature(self) -> str:
        """Return everything that can change this judge's verdicts."""
        return signature(
            {
                "judge": self.name,
                "base_url": self.target.base_url,
                "prompt": self.template.label,
                "scale": self.criterion.scale.label,
                "scorer": "decision",
                "batch": MAX_QUESTIONS if self.batches else 1,
            }
        )

    async def _ask(self, task: JudgeTask) -> Judgement | Unscored:
        """Ask the model; if a batch is too long, send the task on its own."""
        if len(set(task.texts)) < len(task.texts):
            return self._judgement(task, value="tie")
        batch = self.batches.get(task.id, (task,))
        outcome = await self._decide(task, batch)
        if isinstance(outcome, Unscored) and outcome.reason == "too_long" and len(batch) > 1:
            return await self._decide(task, (task,))
        return outcome

    async def _decide(self, task: JudgeTask, batch: tuple[JudgeTask, ...]) -> Judgement | Unscored:
        decisions = await or_unscored(self.backend.decide(self._request(batch)))
        if isinstance(decisions, Unscored):
            return decisions
        name = _question_name([member.id for member in batch].index(task.id))
        answer = decisions.answers.get(name)
        if answer is None or isinstance(answer, DecisionRefusal):
            detail = "the model gave no answer to this question" if answer is None else answer.why
            return Unscored(reason="refused", detail=detail)
        scale = self.criterion.scale
        score_distribution = from_decision(answer, scale)
        if not isinstance(score_distribution, ScoreDistribution):
            return Unscored(reason="off_scale", detail=score_distribution.why)
        return self._judgement(task, **graded_fields(score_distribution, scale, task))

    def _request(self, batch: tuple[JudgeTask, ...]) -> DecisionRequest:
        return DecisionRequest(
            target=self.target,
            messages=render(self.template, self._material(batch)),
            questions=tuple(
                self.criterion.scale.question(
                    _question_name(index), _question_text(task, self.criterion).format(n=index + 1)
                )
                for index, task in enumerate(batch)
            ),
            sample_index=batch[0].repeat or 0,
        )

    def _material(self, batch: tuple[JudgeTask, ...]) -> dict[str, str | Fenced]:
        """Return the fields of the template: shared evidence, and the texts of the tasks."""
        if self.template.fields == _MATERIAL:
            return {"evidence": _evidence(batch), "texts": _texts(batch)}
        levels = self.criterion.scale.answer_lines  # without the instruction how to reply
        return self.criterion.fields_for(batch[0]) | {"scale": levels}


def decision_judge(
    backend: DecisionBackend,
    target: ModelRef,
    criterion: Criterion,
    *,
    tasks: Iterable[JudgeTask] = (),
) -> DecisionJudge:
    """Return the decision judge for `criterion`.

    The built-in aspects have prompts for decision models; a custom criterion uses its own prompt.
    `tasks` are all tasks of the run, from which batches are made.
    """
    aspect = criterion.aspect
    builtin = aspect in _QUESTIONS and criterion.template.task == "judge"
    template = load_template("judge", f"{aspect}-decision") if builtin else criterion.template
    return DecisionJudge(
        backend=backend,
        target=target,
        criterion=criterion,
        template=template,
        batches=batch_tasks(tasks) if builtin else {},
    )


def batch_tasks(tasks: Iterable[JudgeTask]) -> dict[str, tuple[JudgeTask, ...]]:
    """Return the batches of tasks for one request: the answers or the sentences of one summary.

    Tasks on other units have different material and are not batched.
    """
    groups: dict[tuple[object, ...], list[JudgeTask]] = {}
    for task in tasks:
        kind = task.unit.partition(":")[0]
        if kind in {"answer", "sentence"} and task.unscored is None:
            texts = task.texts if kind == "answer" else ()
            key = (task.eid, task.systems, task.aspect, task.protocol, task.order, kind, texts)
            groups.setdefault((*key, task.repeat), []).append(task)
    batches = [
        tuple(group[start : start + MAX_QUESTIONS])
        for group in groups.values()
        for start in range(0, len(group), MAX_QUESTIONS)
    ]
    return {task.id: batch for batch in batches for task in batch}


def _question_name(index: int) -> str:
    return f"q{index + 1}"


def _question_text(task: JudgeTask, criterion: Criterion) -> str:
    wordings = _YES_NO if PROTOCOLS[criterion.scale.protocol].yes_no else _QUESTIONS
    kind = "pair" if criterion.scale.kind == "pair" else task.unit.partition(":")[0]
    by_kind = wordings.get(criterion.aspect, {})
    return (
        by_kind.get(kind) or by_kind.get("summary") or "Which answer does the text above call for?"
    )


def _evidence(batch: tuple[JudgeTask, ...]) -> Fenced:
    first = batch[0]
    if first.articles:
        return fence_articles(first.articles)
    references = fence_questions(tuple(question for task in batch for question in task.questions))
    return replace(references, titles=_numbers(len(references.texts)))


def _texts(batch: tuple[JudgeTask, ...]) -> Fenced:
    first = batch[0]
    if len(first.texts) == 2:
        return Fenced("summary", first.in_prompt_order(first.texts), _numbers(2))
    if first.unit.startswith("sentence:"):
        return Fenced("sentence", tuple(task.texts[0] for task in batch), _numbers(len(batch)))
    return Fenced("summary", first.texts)


def _numbers(n: int) -> tuple[str, ...]:
    return tuple(map(str, range(1, n + 1)))
