"""Build references and judge summaries from Python, with the embedded models.

What `fairjudge build` and `fairjudge judge` do, called as functions; needs the extra [local].

    python examples/build_and_judge.py [FOLDER]      writes into FOLDER (default: example-output)
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from fairjudge.app.building import BuildOptions, build_file
from fairjudge.app.judging import JudgeOptions, judge_files
from fairjudge.app.models import ModelOptions
from fairjudge.datasets import example_path


def silent_count(_total: int) -> Callable[[int], None]:
    """Take note of nothing."""
    return lambda _done: None


def main(folder: Path) -> None:
    """Write references.jsonl and coverage.jsonl into `folder`, and print what came of it."""
    folder.mkdir(parents=True, exist_ok=True)
    model = ModelOptions(backend="local", cache=folder / "cache")
    references, judgements = folder / "references.jsonl", folder / "coverage.jsonl"

    built = build_file(
        example_path("clusters.json"),
        references,
        options=BuildOptions(n_questions=12),
        model=model,
        run=folder / "build",
        skip_bad=False,
    )
    for cluster in built.clusters:
        print(f"{cluster.reference.eid}: {len(cluster.reference.question_answers)} questions")

    judged = judge_files(
        references,
        example_path("summaries.jsonl"),
        judgements,
        options=JudgeOptions(aspect="coverage", protocol="likert"),
        model=model,
        run=folder / "judge",
        skip_bad=False,
        progress=silent_count,
    )
    for score in judged.scores:
        print(score)
    print(judged.signature)


if __name__ == "__main__":
    main(Path(sys.argv[1] if sys.argv[1:] else "example-output"))
