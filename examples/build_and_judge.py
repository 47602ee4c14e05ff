"""Build references and judge summaries from Python, with the local models.

Does the same as `fairjudge build`, `judge` and `report`; needs the extra [local].

    python examples/build_and_judge.py [FOLDER]      writes into FOLDER (default: example-output)
"""

from __future__ import annotations

import sys
from pathlib import Path

import fairjudge as fj


def main(folder: Path) -> None:
    """Write references, judgements and a report into `folder`, and print a summary of each."""
    folder.mkdir(parents=True, exist_ok=True)
    model = fj.Model("local", cache=folder / "cache")

    references = fj.build(fj.example_path("clusters.json"), model=model, n_questions=12)
    references.save(folder / "references.jsonl")
    print(references)

    judge = fj.Judge(model, aspect="coverage", protocol="checklist")
    result = judge(references, fj.example_path("summaries.jsonl"))
    result.save(folder / "coverage.jsonl")
    print(result.leaderboard())
    print(result.left_out("one-sided"))

    page = fj.report(result, summaries=fj.example_path("summaries.jsonl"))
    page.save(folder / "report.html")


if __name__ == "__main__":
    main(Path(sys.argv[1] if sys.argv[1:] else "example-output"))
