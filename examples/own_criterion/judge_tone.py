"""Judge by a custom criterion: a prompt (tone.md) and a scale (tone.toml).

The command line takes the same two files:

    fairjudge judge --references clusters.json --summaries summaries.jsonl --aspect tone \
        --protocol likert --reference-unit articles --prompt tone.md --scale tone.toml \
        --backend openai:gpt-4o-mini -o tone.jsonl

Here a function replaces the model, so that the example runs anywhere:

    python examples/own_criterion/judge_tone.py
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from fairjudge.backends.scripted import ScriptedBackend
from fairjudge.datasets import example_path, read_clusters, read_summaries
from fairjudge.domain import Judgement, Unscored
from fairjudge.judges.criteria import Criterion
from fairjudge.judges.llm import LlmJudge
from fairjudge.judges.ports import Reply
from fairjudge.judges.tasks import plan_tasks, resolve_plan
from fairjudge.ports import CompletionRequest, ModelRef
from fairjudge.prompting import load_template_file
from fairjudge.scales import load_scale
from fairjudge.text.sentences import sentence_texts

HERE = Path(__file__).parent
CRITERION = Criterion(
    aspect="tone",
    template=load_template_file(HERE / "tone.md"),
    scale=load_scale(HERE / "tone.toml"),
)


def counts_sides(request: CompletionRequest) -> str:
    """Return a verdict as a model would: the more sides a summary mentions, the more neutral."""
    summary = request.messages[-1].content.split("<summary ")[-1].casefold()
    n_sides = sum(word in summary for word in ("union", "company", "residents", "operator"))
    verdict = ("partisan", "leaning", "neutral")[min(n_sides, 2)]
    return f"It gives {n_sides} sides a voice.\nVerdict: {verdict}"


async def judge() -> list[Judgement]:
    """Return one judgement per summary."""
    judge = LlmJudge(
        backend=ScriptedBackend(counts_sides),
        target=ModelRef(provider="scripted", model="counts-sides"),
        criterion=CRITERION,
    )
    tasks = plan_tasks(
        read_clusters(example_path("clusters.json")).records,
        read_summaries(example_path("summaries.jsonl")).records,
        resolve_plan("tone", protocol="likert", reference_unit="articles"),
        split_sentences=sentence_texts,
    )
    found = []
    for task in tasks:
        reply = await judge.ask(task)
        read = judge.read(task, reply) if isinstance(reply, Reply) else reply
        found.append(judge.unscored_judgement(task, read) if isinstance(read, Unscored) else read)
    return found


def main() -> None:
    """Print the verdicts and their signature."""
    judgements = asyncio.run(judge())
    for judgement in judgements:
        print(f"{judgement.eid:20}{judgement.system:12}{judgement.value}")
    print(judgements[0].signature)


if __name__ == "__main__":
    main()
