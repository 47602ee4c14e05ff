"""Quality of references, by the marks of a reader who compared them with all articles.

    benchmarks/reference_quality.py sheet refs.jsonl -o marks.json
    benchmarks/reference_quality.py count refs.jsonl marks.json [--requests FOLDER] [--json FILE]
    benchmarks/reference_quality.py keep marks.json -o kept.json
    benchmarks/reference_quality.py recount kept.json [kept.json ...]

`sheet` writes a sheet of marks without faults, with the texts of the references. The reader edits
it, and `count` compares it with the references. A sheet is a list of clusters:

    {"eid": "e1", "questions": [{
        "question": "...",
        "divided": "rivals",              rivals, degree (answers by degree), or facets
        "faults": ["..."],                faults of the question as a whole, in words
        "same": [[0, 2]],                 pairs of groups (0-based) with the same meaning
        "rivals": [[0, 1]],               the reference's rivals (do not edit)
        "groups": [{
            "label": "...",
            "answers": [{"aid": "a", "answer": "...", "mark": "yes"}],
            "dispute": ["b"],             articles listed as disputing the group
            "missing": ["c"],             articles that state (or dispute) it, not listed
            "against": []}]}]}            articles in `missing` that dispute it

An answer's mark is `yes` (its article states the label with it), `elsewhere` (it answers the
question, but not with the label), or `no` (no answer, or not stated by its article).

Counts:
- answers right: answers not marked `no`, of all;
- recall of memberships (an article in a group): articles with a `yes` and articles that dispute a
  group, of these and the missing ones;
- recall with rivals: an article in a group also counts as disputing that group's rivals, so an
  article of `against` in a rival is not missing (for marks with `rivals` and `against`);
- recall of sources: articles in a group of a question, of these and the articles in none;
- larger groups pure: groups in which all answers are `yes`, of those with two or more articles;
- pairs of groups with the same meaning, of all pairs within a question;
- questions with rivals or by degree, and questions without a fault.

`keep` writes the marks without any text of articles, questions, answers or readers: ids, verdicts,
and the number of faults per question. `recount` counts these, without references.

`--requests` is a folder of requests, one OpenAI body per `body_*.json`. It adds the calls per
cluster, and the share of characters in a prefix common to an earlier call of the same kind and
cluster (except for the first call of each kind).
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, takewhile
from pathlib import Path
from typing import Any

from _machine import write_results

from fairjudge.datasets import read_references
from fairjudge.domain import QuestionAnswers, Reference

LARGER = 2
"""Articles from which on a group may be impure."""
TARGETS = {
    "answers right": (">=", 0.97),
    "recall of memberships": (">=", 0.93),
    "recall of memberships, rivals counted": (">=", 0.93),
    "recall of sources": (">=", 0.95),
    "larger groups pure": (">=", 0.95),
    "pairs of groups that say the same": ("<=", 0.02),
    "questions with rivals or by degree": (">=", 0.80),
    "questions without a fault": (">=", 0.75),
    "share of characters in a shared prefix": (">=", 0.75),
}
MARKS, DIVIDED = ("yes", "elsewhere", "no"), ("rivals", "degree", "facets")
_SIDES = ("dispute", "missing", "against")
_BLOCK = re.compile(r"^<(questions|groups) \w+>\n.*?\n</\1 \w+>$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Share:
    """A count, and the total of which it is a part."""

    n: int
    of: int

    @property
    def value(self) -> float | None:
        """Return the share; None if the total is 0."""
        return self.n / self.of if self.of else None


def sheet(references: Sequence[Reference]) -> list[dict[str, Any]]:
    """Return marks without faults, for a reader to edit."""
    return [
        {
            "eid": reference.eid,
            "questions": [_unmarked(question) for question in reference.question_answers],
        }
        for reference in references
    ]


def _unmarked(question: QuestionAnswers) -> dict[str, Any]:
    return {
        "question": question.question,
        "divided": question.kind or "facets",
        "faults": [],
        "same": [],
        "rivals": [list(pair) for pair in question.rivals or ()],
        "groups": [
            {
                "label": group.label,
                "answers": [
                    {"aid": answer.aid, "answer": answer.answer, "mark": "yes"}
                    for answer in group.answers
                ],
                "dispute": list(group.disputed_by),
                "missing": [],
                "against": [],
            }
            for group in question.groups()
        ],
    }


def quality(references: Sequence[Reference], marks: Sequence[dict[str, Any]]) -> dict[str, Share]:
    """Return each count; raise `ValueError` if the marks do not match the references."""
    by_eid = {mark["eid"]: mark for mark in marks}
    if len(by_eid) < len(marks) or by_eid.keys() != {reference.eid for reference in references}:
        raise ValueError("the marks are of other clusters than the references")
    for reference in references:
        marked = by_eid[reference.eid]["questions"]
        aids = {article.aid for article in reference.articles}
        if len(marked) != len(reference.question_answers):
            raise ValueError(f"{reference.eid}: {len(marked)} questions are marked")
        for question, mark in zip(reference.question_answers, marked, strict=True):
            _check(question, mark, aids)
    return counts_of(marks)


def without_texts(marks: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the marks without any text of articles, questions or the reader."""
    return [
        {"eid": mark["eid"], "questions": [_bare(question) for question in mark["questions"]]}
        for mark in marks
    ]


def _bare(mark: dict[str, Any]) -> dict[str, Any]:
    return {
        "divided": mark["divided"],
        "faults": len(mark["faults"]),
        **{name: mark[name] for name in ("same", "rivals") if name in mark},
        "groups": [
            {
                "answers": [
                    {"aid": answer["aid"], "mark": answer["mark"]} for answer in group["answers"]
                ],
                **{name: group[name] for name in _SIDES if name in group},
            }
            for group in mark["groups"]
        ],
    }


def counts_of(marks: Sequence[dict[str, Any]]) -> dict[str, Share]:
    """Return each count of marks, which may be without texts."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for question in chain.from_iterable(reader["questions"] for reader in marks):
        for name, (n, of) in _of_question(question).items():
            counts[name][0] += n
            counts[name][1] += of
    return {name: Share(*counts[name]) for name in TARGETS if name in counts}


def _check(question: QuestionAnswers, mark: dict[str, Any], aids: set[str]) -> None:
    plain = _unmarked(question)
    where = f"{question.question!r}"
    if [_texts(group) for group in mark["groups"]] != [_texts(group) for group in plain["groups"]]:
        raise ValueError(f"{where}: its groups are other ones than in the references")
    if mark.get("rivals", plain["rivals"]) != plain["rivals"]:
        raise ValueError(f"{where}: its rivals are other ones than in the references")
    if mark["divided"] not in DIVIDED:
        raise ValueError(f"{where}: divided is one of {', '.join(DIVIDED)}")
    for group in mark["groups"]:
        if not set(group["missing"]) <= aids - _listed(group):
            raise ValueError(f"{where}: missing names no article, or one that stands in the group")
        if not set(group.get("against", ())) <= set(group["missing"]):
            raise ValueError(f"{where}: against names articles of missing")
        if not {answer["mark"] for answer in group["answers"]} <= set(MARKS):
            raise ValueError(f"{where}: a mark is one of {', '.join(MARKS)}")
    pairs = {tuple(pair) for pair in mark["same"]}
    if not pairs <= set(combinations(range(len(mark["groups"])), 2)):
        raise ValueError(f"{where}: same has pairs of different groups, the lower number first")


def _texts(group: dict[str, Any]) -> tuple[Any, ...]:
    return group["label"], [(answer["aid"], answer["answer"]) for answer in group["answers"]]


def _listed(group: dict[str, Any]) -> set[str]:
    return {answer["aid"] for answer in group["answers"] if answer["mark"] == "yes"} | set(
        group["dispute"]
    )


def _of_question(mark: dict[str, Any]) -> dict[str, tuple[int, int]]:
    groups = mark["groups"]
    answers = [answer["mark"] for group in groups for answer in group["answers"]]
    listed = sum(len(_listed(group)) for group in groups)
    missing = sum(len(group["missing"]) for group in groups)
    sources = set().union(*(_listed(group) for group in groups))
    absent = {aid for group in groups for aid in group["missing"]} - sources
    larger = [
        group for group in groups if len({answer["aid"] for answer in group["answers"]}) >= LARGER
    ]
    pure = [
        group for group in larger if all(answer["mark"] == "yes" for answer in group["answers"])
    ]
    n_pairs = len(groups) * (len(groups) - 1) // 2
    return {
        "answers right": (sum(answer != "no" for answer in answers), len(answers)),
        "recall of memberships": (listed, listed + missing),
        **_rivals_counted(mark, listed, missing),
        "recall of sources": (len(sources), len(sources | absent)),
        "larger groups pure": (len(pure), len(larger)),
        "pairs of groups that say the same": (len({tuple(p) for p in mark["same"]}), n_pairs),
        "questions with rivals or by degree": (int(mark["divided"] != "facets"), 1),
        "questions without a fault": (int(not mark["faults"]), 1),
    }


def _rivals_counted(mark: dict[str, Any], listed: int, missing: int) -> dict[str, tuple[int, int]]:
    if "rivals" not in mark:  # marks of older sheets
        return {}
    groups = mark["groups"]
    opponents: dict[int, set[str]] = defaultdict(set)
    for a, b in mark["rivals"]:
        opponents[a] |= _listed(groups[b])
        opponents[b] |= _listed(groups[a])
    n = sum(len(opponents[place] & set(group["against"])) for place, group in enumerate(groups))
    return {"recall of memberships, rivals counted": (listed + n, listed + missing)}


def shared_prefix(prompts: Sequence[str]) -> Share:
    """Count the characters of calls in a prefix common to an earlier call with the same block.

    The block is the common part of a cluster's calls of one kind: the questions, or the groups.
    The first call with a block is not counted, and neither are calls without a block.
    """
    by_block: dict[tuple[str, str], list[str]] = defaultdict(list)
    for prompt in prompts:
        block = _BLOCK.search(prompt)
        if block is not None:
            by_block[prompt[: prompt.index("\n")], block[0]].append(prompt)
    n_shared, n_characters = 0, 0
    for calls in by_block.values():
        for place, prompt in enumerate(calls[1:], 1):
            n_shared += max(_n_common(prompt, earlier) for earlier in calls[:place])
            n_characters += len(prompt)
    return Share(n_shared, n_characters)


def _n_common(a: str, b: str) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))


def prompts_in(folder: Path) -> Iterator[str]:
    """Yield the text of each request in `folder`, sorted by file name."""
    for path in sorted(folder.glob("body_*.json")):
        messages = json.loads(path.read_text("utf-8"))["messages"]
        yield "\n".join(message["content"] for message in messages)


def report(counts: dict[str, Share]) -> str:
    """Return one line per count, with its target and whether that is reached."""
    lines = []
    for name, share in counts.items():
        value = "none" if share.value is None else f"{share.value:.3f}"
        sign, target = TARGETS[name]
        is_reached = share.value is None or (
            share.value >= target if sign == ">=" else share.value <= target
        )
        lines.append(
            f"{name:40} {share.n:6} of {share.of:6}  {value}  ({sign} {target:.2f}: "
            f"{'reached' if is_reached else 'NOT reached'})"
        )
    return "\n".join(lines)


def main(args: Sequence[str] | None = None) -> int:
    """Write a sheet, count its marks, or store them without texts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    blank = commands.add_parser("sheet", help="write marks for a reader to change")
    blank.add_argument("references", type=Path)
    blank.add_argument("-o", "--output", type=Path, required=True)
    counting = commands.add_parser("count", help="count what a reader marked")
    counting.add_argument("references", type=Path)
    counting.add_argument("marks", type=Path)
    counting.add_argument("--requests", type=Path)
    counting.add_argument("--json", type=Path)
    keeping = commands.add_parser("keep", help="write marks without any text")
    keeping.add_argument("marks", type=Path)
    keeping.add_argument("-o", "--output", type=Path, required=True)
    again = commands.add_parser("recount", help="count marks that were kept")
    again.add_argument("marks", type=Path, nargs="+")
    arguments = parser.parse_args(args)
    if arguments.command == "keep":
        text = json.dumps(without_texts(json.loads(arguments.marks.read_text("utf-8"))))
        arguments.output.write_text(text + "\n", "utf-8")
        return 0
    if arguments.command == "recount":
        marks = [
            cluster for path in arguments.marks for cluster in json.loads(path.read_text("utf-8"))
        ]
        print(report(counts_of(marks)))
        return 0
    references = list(read_references(arguments.references))
    if arguments.command == "sheet":
        text = json.dumps(sheet(references), indent=1, ensure_ascii=False)
        arguments.output.write_text(text + "\n", "utf-8")
        return 0
    try:
        counts = quality(references, json.loads(arguments.marks.read_text("utf-8")))
    except (ValueError, KeyError, TypeError) as error:
        print(f"{arguments.marks}: {error}", file=sys.stderr)
        return 2
    prompts = list(prompts_in(arguments.requests)) if arguments.requests else []
    if prompts:
        counts["share of characters in a shared prefix"] = shared_prefix(prompts)
        print(f"calls a cluster: {len(prompts) / len(references):.1f}")
    print(f"questions a cluster: {counts['questions without a fault'].of / len(references):.1f}")
    print(report(counts))
    rows = {name: {"n": share.n, "of": share.of} for name, share in counts.items()}
    totals = {"calls": len(prompts) or None, "clusters": len(references)}
    write_results(arguments.json, rows | totals)
    return 0


if __name__ == "__main__":
    sys.exit(main())
