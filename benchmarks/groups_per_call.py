"""Whether a judge's checklist verdicts depend on the number of groups per call.

    python benchmarks/groups_per_call.py --sample FOLDER [--texts 6] [--seed 0]
    python benchmarks/groups_per_call.py 5=a.jsonl 25=b.jsonl 60=c.jsonl --labels labels.jsonl

The first command draws texts from the human labels of Summary of a Haystack. A text concatenates
the summaries of three subjects of one topic; its groups are all insights of the topic (58), with
one question per subject. So 60 groups per call need one call, 25 need three and 5 need ten. Human
labels exist for the text's own subjects (about 17 per text); no subject has labels in two texts.

The second command reads the output of ``fairjudge judge --protocol checklist --groups-per-call N``
for each size. For each pair of sizes it prints the share of equal verdicts and the difference in
coverage; for each size, the agreement with human labels, and the paired differences. Intervals are
Student's t over subjects of texts (documents).
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, combinations
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from _data import CONVERSATIONS, read_rows

from fairjudge.datasets import read_judgements
from fairjudge.datasets.writers import write_jsonl
from fairjudge.domain import Estimate
from fairjudge.stats.clustered import clip_interval, clustered_mean

N_SECTIONS = 3
LEVELS = (("covered at all", 0.5), ("in full", 1.0))
Key: TypeAlias = tuple[str, str]
"""The text (eid) and the group's unit."""


def sample(data: Path, folder: Path, *, n_texts: int, seed: int) -> int:
    """Write references, summaries and labels of `n_texts` texts; return the number of labels."""
    rng = np.random.default_rng(seed)
    topics: dict[str, dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for row in read_rows(data):
        topics[row["topic"]][row["eid"]].append(row)
    by_topic = [_texts(topic, topics[topic], rng) for topic in sorted(topics)]
    texts = [text for turn in zip(*by_topic, strict=False) for text in turn][:n_texts]
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("references", "summaries"):
        write_jsonl(folder / f"{name}.jsonl", [text[name] for text in texts])
    labels = [label for text in texts for label in text["labels"]]
    write_jsonl(folder / "labels.jsonl", labels)
    return len(labels)


def _texts(
    topic: str, subjects: Mapping[str, Sequence[dict[str, Any]]], rng: np.random.Generator
) -> list[dict[str, Any]]:
    """Return the texts of a topic; each subject is in at most one text, in random order."""
    names = [sorted(subjects)[place] for place in rng.permutation(len(subjects))]
    units = {
        name: list({row["unit_id"]: row["unit"] for row in subjects[name]}.items())
        for name in names
    }
    texts = []
    for number in range(len(names) // N_SECTIONS):
        eid = f"{Path(topic).stem.removeprefix('topic_')}-{number}"
        own = names[number * N_SECTIONS : (number + 1) * N_SECTIONS]
        sections, labels = [], []
        for name in own:
            systems = sorted({row["system"] for row in subjects[name]})
            system = systems[rng.integers(len(systems))]
            rows = [row for row in subjects[name] if row["system"] == system]
            sections.append(rows[0]["text"])
            places = {unit: place for place, (unit, _) in enumerate(units[name])}
            labels += [
                {
                    "eid": eid,
                    "unit": f"answer:{names.index(name)}.{places[row['unit_id']]}",
                    "value": row["covered"],
                    "document": name,
                }
                for row in rows
            ]
        texts.append(
            {
                "references": _reference(eid, [list(dict(units[name]).values()) for name in names]),
                "summaries": {"eid": eid, "system": "joined", "text": "\n\n".join(sections)},
                "labels": labels,
            }
        )
    return texts


def _reference(eid: str, insights: Sequence[Sequence[str]]) -> dict[str, Any]:
    content = " ".join(chain.from_iterable(insights))
    return {
        "eid": eid,
        "articles": [{"aid": "source", "domain": "source", "content": content}],
        "question_answers": [
            {
                "question": f"What do the documents say on subject {number}?",
                "answer_groups": [[{"aid": "source", "answer": insight}] for insight in answers],
            }
            for number, answers in enumerate(insights, 1)
        ],
    }


def verdicts(path: Path) -> dict[Key, float]:
    """Return a run's verdict on every group: 1, 0.5 or 0."""
    return {
        (row.eid, entry.unit): entry.covered
        for row in read_judgements(path).records
        for entry in row.checklist or ()
    }


def lines(runs: Mapping[int, Mapping[Key, float]], people: Mapping[Key, dict[str, Any]]) -> Any:
    """Yield the comparisons, on the groups that every run scored."""
    shared = sorted(set.intersection(*(set(run) for run in runs.values())))
    subjects = [f"{eid} {unit.partition('.')[0]}" for eid, unit in shared]
    verdicts = {size: np.array([run[key] for key in shared]) for size, run in runs.items()}
    yield f"{len(shared)} groups of {len({eid for eid, _ in shared})} texts that each size scored"
    for size, values in verdicts.items():
        yield _line(f"{size}: share covered", values, subjects)
    for small, large in combinations(sorted(verdicts), 2):
        added = verdicts[large] - verdicts[small]
        yield _line(f"{small} and {large}: same verdict", added == 0, subjects)
        yield _line(f"{large} minus {small}: covered", added, subjects, least=-1)
    labelled = [key for key in shared if key in people]
    if labelled:
        yield f"{len(labelled)} of these groups have people's labels"
        yield from _agreement(
            {size: np.array([run[key] for key in labelled]) for size, run in runs.items()},
            np.array([people[key]["value"] for key in labelled]),
            [people[key]["document"] for key in labelled],
        )


def _agreement(
    answers: Mapping[int, np.ndarray], labels: np.ndarray, documents: Sequence[str]
) -> Iterator[str]:
    """Yield each size's agreement with the human labels, and the differences between sizes."""
    hits = {
        name: {
            size: ((v >= least) == (labels >= least)).astype(float) for size, v in answers.items()
        }
        for name, least in LEVELS
    }
    hits["in three levels"] = {size: (v == labels).astype(float) for size, v in answers.items()}
    for name, by_size in hits.items():
        for size, values in by_size.items():
            yield _line(f"{size}: agrees with people {name}", values, documents)
        for small, large in combinations(sorted(by_size), 2):
            added = by_size[large] - by_size[small]
            yield _line(f"{large} minus {small}: agrees {name}", added, documents, least=-1)


def _line(name: str, values: np.ndarray, documents: Sequence[str], *, least: float = 0) -> str:
    """Return a mean with its interval, if the values of documents differ."""
    result = clip_interval(clustered_mean(np.asarray(values, dtype=float), documents), least, 1.0)
    assert isinstance(result, Estimate)
    has_interval = result.low is not None and result.high is not None and result.low < result.high
    bounds = f"[{result.low:.3f}, {result.high:.3f}]" if has_interval else "(all documents alike)"
    return f"  {name:42} {result.value:6.3f} {bounds}"


def main() -> None:
    """Draw a sample, or compare runs."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("runs", nargs="*", metavar="SIZE=FILE")
    parser.add_argument("--labels", type=Path)
    parser.add_argument("--sample", type=Path, metavar="FOLDER")
    parser.add_argument("--data", type=Path, default=CONVERSATIONS)
    parser.add_argument("--texts", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.sample is not None:
        n_labels = sample(
            arguments.data, arguments.sample, n_texts=arguments.texts, seed=arguments.seed
        )
        print(f"{arguments.texts} texts with {n_labels} labels in {arguments.sample}")
        return
    if len(arguments.runs) < 2:
        sys.exit("compare two runs or more, each as SIZE=FILE; or draw texts by --sample FOLDER")
    paths = dict(run.split("=", 1) for run in arguments.runs)
    runs = {int(size): verdicts(Path(path)) for size, path in paths.items()}
    people = {}
    if arguments.labels is not None:
        people = {(row["eid"], row["unit"]): row for row in read_rows(arguments.labels)}
    print("\n".join(lines(runs, people)))


if __name__ == "__main__":
    main()
