"""Judging by a local scorer: no language model, no wording to read, no call to pay for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from fairjudge.domain import Judgement, JudgeTask, Unscored
from fairjudge.errors import ConfigurationError
from fairjudge.judges.llm import judgement_of
from fairjudge.judges.mappings import SupportMapping
from fairjudge.judges.ports import Reply
from fairjudge.signature import signature


class Support(Protocol):
    """Measures how far a task's evidence supports a text."""

    @property
    def name(self) -> str:
        """Return what the judge is called."""
        ...

    @property
    def scored_by(self) -> Literal["embedding", "entailment"]:
        """Return what records say of the scorer."""
        ...

    @property
    def mapping(self) -> SupportMapping:
        """Return how support becomes a verdict."""
        ...

    @property
    def model(self) -> Mapping[str, str]:
        """Return the fingerprint of the model, under what it is called in signatures."""
        ...

    def measure(self, task: JudgeTask, text: str) -> float | Unscored:
        """Return the support of `text`, in [0, 1], by what the task's aspect judges against."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalJudge:
    """Judges faithfulness or coverage by a support; a text is measured once, whatever its pairs.

    Raises
    ------
    ConfigurationError
        If `aspect` is another one.
    """

    aspect: str
    support: Support
    _known: dict[tuple[str, ...], float | Unscored] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.aspect not in {"faithfulness", "coverage"}:
            raise ConfigurationError(
                f"without an LLM only faithfulness and coverage can be judged, not {self.aspect!r}"
            )

    @property
    def name(self) -> str:
        """Return the support's name."""
        return self.support.name

    @property
    def signature(self) -> str:
        """Return what can change this judge's verdicts."""
        scorer = self.support.mapping.name
        return signature({"judge": self.name, "scorer": scorer, **self.support.model})

    async def ask(self, task: JudgeTask) -> Reply | Judgement | Unscored:
        """See `fairjudge.judges.ports.Judge`."""
        if not all(text.strip() for text in task.texts):
            return Unscored(reason="empty_input", detail="the summary is empty")
        supports: list[float] = []
        for text in task.texts:
            found = self._measured(task, text)
            if isinstance(found, Unscored):
                return found
            supports.append(found)
        value = self.support.mapping.value(task.protocol, *supports)
        return self._judgement(task, value=value, support=[round(s, 6) for s in supports])

    def read(self, task: JudgeTask, reply: Reply) -> Judgement | Unscored:  # noqa: ARG002
        """Never called: this judge writes nothing."""
        return Unscored(reason="unparseable", detail="a local judge has no reply to read")

    async def repair(self, task: JudgeTask, reply: Reply) -> Reply | Unscored:  # noqa: ARG002
        """Never called: this judge writes nothing."""
        return Unscored(reason="unparseable", detail="a local judge has no reply to repair")

    def unscored(self, task: JudgeTask, why: Unscored) -> Judgement:
        """See `fairjudge.judges.ports.Judge`."""
        return self._judgement(task, unscored=why.reason, detail=why.detail)

    def _judgement(self, task: JudgeTask, **outcome: object) -> Judgement:
        return judgement_of(
            task,
            judge=self.name,
            scored_by=self.support.scored_by,
            signature=self.signature,
            **outcome,
        )

    def _measured(self, task: JudgeTask, text: str) -> float | Unscored:
        key = (text, task.eid, task.unit)
        if key not in self._known:
            self._known[key] = self.support.measure(task, text)
        return self._known[key]
