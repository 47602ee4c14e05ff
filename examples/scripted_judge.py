"""Judge the bundled summaries with a function instead of a model.

`ScriptedBackend` calls a function where a real backend would call a server, so that a judge, a
prompt or a complete run can be tested without a key and with known answers. All else is as in a
real run: the prompts, the parser, both orders of every pair, the graph.

    python examples/scripted_judge.py
"""

from __future__ import annotations

import asyncio

from fairjudge.backends.scripted import ScriptedBackend
from fairjudge.datasets import example_path, read_references, read_summaries
from fairjudge.domain import Judgement
from fairjudge.graphs.judge import JudgeDeps, build_judge_graph
from fairjudge.judges.criteria import builtin_criterion
from fairjudge.judges.llm import LlmJudge
from fairjudge.judges.tasks import plan_tasks, resolve_plan
from fairjudge.ports import CompletionRequest, ModelRef
from fairjudge.scores.aggregate import system_scores
from fairjudge.text.sentences import sentence_texts


def always_first(request: CompletionRequest) -> str:  # noqa: ARG001  # whatever is asked
    """Return the verdict of a judge that ignores the texts: the first summary wins."""
    return "The first one reads better.\nVerdict: 1"


async def judge() -> tuple[Judgement, ...]:
    """Return the verdicts on all pairs of the bundled summaries, each in both orders."""
    plan = resolve_plan("coverage", protocol="pairwise")
    tasks = plan_tasks(
        read_references(example_path("references.json")).records,
        read_summaries(example_path("summaries.jsonl")).records,
        plan,
        split_sentences=sentence_texts,
    )
    judge = LlmJudge(
        backend=ScriptedBackend(always_first),
        target=ModelRef(provider="scripted", model="always-first"),
        criterion=builtin_criterion("coverage", "pairwise", per_answer=False),
    )
    kept: dict[int, Judgement] = {}
    deps = JudgeDeps(tasks=tasks, judge=judge, record=kept.__setitem__, is_done=kept.__contains__)
    await build_judge_graph().ainvoke({}, context=deps)
    return tuple(kept[position] for position in range(len(tasks)))


def main() -> None:
    """Print the systems' scores, which are equal for a judge that ignores the texts."""
    for score in system_scores(asyncio.run(judge())):
        print(score)


if __name__ == "__main__":
    main()
