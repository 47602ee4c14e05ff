"""Time to parse repetitive replies, on which a bad regular expression would take minutes.

python benchmarks/reading_speed.py
"""

from __future__ import annotations

import time
from collections.abc import Callable

from _running import Json, finish

from fairjudge.parsing import read_verdict
from fairjudge.references.replies import read_answers, read_check, read_groups, read_questions
from fairjudge.run.splitting import read_units
from fairjudge.scales import likert, options, pairwise

N_CHARACTERS = 100_000
PIECES = (
    *("4", " ", "\n", "{", "[", '{"a":', "[1,", '["', "'", '"', "Score: ", "I'd give ", "1, ", "★"),
    *("<think>", "</think>", "</think><think>", "[[", "(", "not ", "Summary 1 ", "> ", "- ", "="),
    *("\\boxed{", "`", "*", "٤", "4/5 ", "neither is ", "1. ", "What? ", "no ", "there is no "),
)
READERS: dict[str, Callable[[str], object]] = {
    "verdict, 1 to 5": lambda text: read_verdict(text, likert()),
    "verdict, A to E": lambda text: read_verdict(text, options("ABCDE")),
    "verdict of a pair": lambda text: read_verdict(text, pairwise()),
    "questions": lambda text: read_questions(text, limit=20, max_words=30),
    "answers": read_answers,
    "groups": lambda text: read_groups(text, n=5),
    "check": lambda text: read_check(text, n=5),
    "units": read_units,
}


def slowest(read: Callable[[str], object]) -> tuple[float, str]:
    """Return the maximum processor seconds over texts, and the fragment of that text."""
    results = []
    for piece in PIECES:
        text = piece * (N_CHARACTERS // len(piece))
        begun = time.process_time()
        read(text)
        results.append((time.process_time() - begun, piece))
    return max(results)


def rows_of(result: Json) -> list[tuple[str, str, str]]:
    """Return the measurements with their targets."""
    return [
        (
            f"{name}, seconds; slowest string is {piece.strip() or 'white space'!r}",
            f"{seconds:.2f}",
            "5",
        )
        for name, (seconds, piece) in result["slowest"].items()
    ]


def main() -> None:
    """Measure, print and store the results."""
    results = {"slowest": {name: slowest(reader) for name, reader in READERS.items()}}
    title = f"Reading replies of {N_CHARACTERS:,} characters"
    finish("reading_speed", results, title=title, rows=rows_of(results))


if __name__ == "__main__":
    main()
