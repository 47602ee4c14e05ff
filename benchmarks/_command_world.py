"""Small made-up data on which every command has results.

All values are derived from hashes of names, so the files are the same in every run.
"""

from __future__ import annotations

import csv
import hashlib
import json
from itertools import combinations
from pathlib import Path
from typing import Any

N_EVENTS, SYSTEMS, ANNOTATORS = 30, ("ada", "bob", "cyd"), ("expert1", "expert2", "crowd1")
TOPICS = ("rain", "cracks", "council", "money")
QUESTIONS = ("Why did the bridge close?", "Who pays for the repairs?")


def number_from(text: str, n: int) -> int:
    """Return a number below `n` that depends on `text` alone."""
    return int(hashlib.sha256(text.encode()).hexdigest(), 16) % n


def quality(eid: str, system: str) -> int:
    """Return the quality of a summary, 1 to 5; the mean depends on the system."""
    return min(5, max(1, 2 + SYSTEMS.index(system) + number_from(f"{eid} {system}", 3) - 1))


def noisy(value: int, text: str) -> int:
    """Return the rating of somebody who errs in two of five cases; `value` is the true one."""
    return min(5, max(1, value + (0, 0, 0, -1, 1)[number_from(text, 5)]))


def write_lines(name: str, rows: list[dict[str, Any]]) -> None:
    """Write `rows` as JSONL."""
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def write_world() -> None:
    """Write every input into this folder."""
    events = [f"event{n}" for n in range(N_EVENTS)]
    write_lines("clusters.jsonl", [cluster(eid) for eid in events])
    write_lines("few.jsonl", [cluster(eid) for eid in events[:3]])
    write_lines("references.jsonl", [reference(eid) for eid in events])
    write_lines("few_references.jsonl", [reference(eid) for eid in events[:3]])
    summaries = [summary(eid, system) for eid in events for system in SYSTEMS]
    write_lines("summaries.jsonl", summaries)
    write_lines("few_summaries.jsonl", summaries[:9])
    write_lines("ada.jsonl", [summary for summary in summaries if summary["system"] == "ada"])
    write_labels(events)
    write_judgements(events)
    write_replies(events)
    write_files()


def cluster(eid: str) -> dict[str, Any]:
    """Return four articles, two from each side."""
    articles = []
    for n, topic in enumerate(TOPICS):
        pronoun = ("she", "he")[number_from(f"who {eid} {n}", 2)]
        text = (
            f"The old bridge of {eid} closed on Monday. The city council blames the heavy rain of "
            f"the past weeks. Engineers had warned about the cracks for many years. "
            f"The {topic} matters most, says the mayor, and {pronoun} wants it settled by June."
        )
        articles.append(
            {
                "aid": f"{eid}-{n}",
                "title": f"Bridge of {eid} closed: {topic}",
                "domain": f"outlet{n}.example",
                "content": text,
                "attributes": {"leaning": ("left", "right")[n % 2], "age": 20 + 10 * n},
            }
        )
    return {"eid": eid, "articles": articles}


def reference(eid: str) -> dict[str, Any]:
    """Return the cluster with two questions, each with two answer groups."""
    questions = []
    for question in QUESTIONS:
        groups = [
            [{"aid": f"{eid}-{n}", "answer": f"The {TOPICS[n]} of {eid}."}] for n in (0, 1, 2)
        ]
        groups[0].append({"aid": f"{eid}-3", "answer": f"It was the {TOPICS[3]}."})
        questions.append({"question": question, "answer_groups": groups})
    return cluster(eid) | {"question_answers": questions}


def summary(eid: str, system: str) -> dict[str, str]:
    """Return a summary that is longer and names more topics the better it is."""
    n = quality(eid, system)
    statements = " ".join(
        f"The {topic} matters, says {system}." for topic in TOPICS[: max(1, n - 1)]
    )
    her = " She is the mayor." if number_from(f"her {eid} {system}", 2) else " He is the mayor."
    return {"eid": eid, "system": system, "text": f"The bridge is closed. {statements}{her}"}


def write_labels(events: list[str]) -> None:
    """Write ratings, binary labels and preferences by three annotators, and a table of them."""
    ratings, yes, pairs = [], [], []
    for eid in events:
        for system in SYSTEMS:
            value = quality(eid, system)
            for person in ANNOTATORS:
                rating = noisy(value, f"{person} {eid} {system}")
                of = {"eid": eid, "system": system, "aspect": "faithfulness", "annotator": person}
                ratings.append(of | {"value": rating, "note": f"{person} sees {rating}."})
                yes.append(of | {"value": int(rating >= 4)})
        for first, other in combinations(SYSTEMS, 2):
            for person in ANNOTATORS[:2]:
                lead = noisy(quality(eid, first), f"{person} {eid} {first}") - noisy(
                    quality(eid, other), f"{person} {eid} {other}"
                )
                value = "tie" if lead == 0 else "a" if lead > 0 else "b"
                of = {"eid": eid, "system_a": first, "system_b": other, "aspect": "faithfulness"}
                pairs.append(of | {"annotator": person, "value": value})
    write_lines("labels.jsonl", ratings)
    write_lines("labels_yes.jsonl", yes)
    write_lines("labels_pairs.jsonl", pairs)
    with Path("labels.csv").open("w", newline="") as file:
        names = ["eid", "system", "aspect", "annotator", "value"]
        table = csv.DictWriter(file, names, extrasaction="ignore")
        table.writeheader()
        table.writerows(ratings)


def judgement(eid: str, judge: str, protocol: str, value: Any, **more: Any) -> dict[str, Any]:
    """Return one row in the format of ``fairjudge judge``."""
    own = {"eid": eid, "aspect": "faithfulness", "protocol": protocol, "judge": judge}
    verdict = {"raw": f"Reasons of {judge}. Verdict: {value}", "value": value}
    signed = f"judge:{judge}|scale:x@1|temperature:0.0|version:0.1.0"
    return own | verdict | {"scored_by": "llm", "signature": signed} | more


def write_judgements(events: list[str]) -> None:
    """Write three judges' rows for every protocol: repeats, prompts, and rows without a score."""
    for judge in ("openai:good", "openai:poor", "local"):
        name = judge.rpartition(":")[2]
        rated, yes, pairs, again = [], [], [], []
        for eid in events:
            for system in SYSTEMS:
                seed = f"{judge} {eid} {system}"
                value = noisy(quality(eid, system), seed)
                if name == "poor" and number_from(f"lost {seed}", 2):
                    value = number_from(f"any {seed}", 5) + 1
                shares = [0.05] * 5
                shares[value - 1] += 0.75
                odds = {str(n): share for n, share in enumerate(shares, 1)}
                of = {"system": system}
                rated.append(judgement(eid, judge, "likert", value, probabilities=odds, **of))
                yes.append(judgement(eid, judge, "binary", int(value >= 4), **of))
                for repeat in range(3):
                    for variant in ("plain.v1", "other.v1"):
                        rating = noisy(value, f"{seed} {repeat} {variant}")
                        more = {"repeat": repeat, "variant": variant}
                        again.append(judgement(eid, judge, "likert", rating, **of, **more))
            pairs += _pairs(eid, judge)
        lost = {"value": None, "unscored": "unparseable", "raw": "I cannot say."}
        write_lines(f"rated_{name}.jsonl", rated)
        write_lines(f"yes_{name}.jsonl", yes)
        write_lines(f"pairs_{name}.jsonl", pairs)
        write_lines(f"again_{name}.jsonl", again)
        write_lines(
            f"lost_{name}.jsonl", [row | lost if n % 9 == 0 else row for n, row in enumerate(rated)]
        )
    judgements = [
        json.loads(line)
        for name in ("good", "poor")
        for line in Path(f"rated_{name}.jsonl").read_text("utf-8").splitlines()
    ]
    write_lines("rated_both.jsonl", judgements)


def _pairs(eid: str, judge: str) -> list[dict[str, Any]]:
    rows = []
    for first, other in combinations(SYSTEMS, 2):
        for order in ("ab", "ba"):
            seed = f"{judge} {eid} {first} {other} {order}"
            lead = noisy(quality(eid, first), seed) - noisy(quality(eid, other), seed + "x")
            value = "tie" if lead == 0 else "a" if lead > 0 else "b"
            if number_from(f"place {seed}", 5) == 0:
                value = "a" if order == "ab" else "b"
            rows.append(
                judgement(
                    eid, judge, "pairwise", value, system_a=first, system_b=other, order=order
                )
            )
    return rows


def write_replies(events: list[str]) -> None:
    """Write replies of other judges, as JSONL and as a table."""
    rated = [
        {"eid": eid, "system": system, "aspect": "faithfulness", "judge": "other",
         "response": f"Reasons.\nVerdict: {noisy(quality(eid, system), eid)}"}
        for eid in events for system in SYSTEMS
    ]  # fmt: skip
    write_lines("replies.jsonl", rated)
    write_lines("stars.jsonl", [row | {"response": "Four stars"} for row in rated[:9]])
    write_lines("words.jsonl", [row | {"response": "Answer: good"} for row in rated[:9]])
    write_lines("yes_replies.jsonl", [row | {"response": "Yes, it is."} for row in rated[:9]])
    pairs = [
        {"eid": eid, "system_a": "ada", "system_b": "bob", "aspect": "faithfulness",
         "judge": "other", "response": f"Verdict: {('1', '2', 'tie')[number_from(eid, 3)]}",
         "swapped": bool(number_from(f"s {eid}", 2))}
        for eid in events
    ]  # fmt: skip
    write_lines("pair_replies.jsonl", pairs)
    with Path("replies.csv").open("w", newline="") as file:
        names = ["event", "system", "aspect", "judge", "response"]
        table = csv.DictWriter(file, names, extrasaction="ignore")
        table.writeheader()
        table.writerows([row | {"event": row["eid"]} for row in rated])


PROMPT = (
    '+++\ntask = "judge"\nname = "own"\nversion = 1\nabout = "Tone."\n+++\n'
    "## user\nHow calm is it?\n\n{{articles}}\n\n{{text}}\n\n{{scale}}\n"
)
SCALE = (
    'name = "own"\nkind = "choice"\n[[levels]]\nanswer = "poor"\nvalue = 1\nanchor = "of no use"\n'
    '[[levels]]\nanswer = "fair"\nvalue = 2\n[[levels]]\nanswer = "good"\nvalue = 3\n'
)
STUDY = """[data]
clusters = "few.jsonl"
references = "few_references.jsonl"
summaries = "few_summaries.jsonl"
labels = "labels.jsonl"
[models.main]
backend = "openai:stub-model"
base_url = "URL"
[[judge]]
name = "faithful"
model = "main"
aspect = "faithfulness"
protocol = "likert"
[[judge]]
name = "who"
model = "main"
aspect = "coverage"
protocol = "checklist"
[[fairness]]
attribute = "leaning"
measures = ["proportional"]
"""


def write_files() -> None:
    """Write a custom criterion, prices, word lists, names and a batch's results."""
    Path("own.md").write_text(PROMPT)
    Path("own.scale.toml").write_text(SCALE)
    Path("own.toml").write_text(
        'aspect = "tone"\nprompt = "own.md"\nscale = "own.scale.toml"\nrule = "How calm is it?"\n'
    )
    Path("prices.toml").write_text(
        '[[price]]\nmodel = "openai:stub-model"\ninput = 1.0\noutput = 2.0\n'
        'date = "2026-01-01"\nsource = "made up"\n'
    )
    Path("lists.json").write_text(json.dumps({"F": ["she", "her"], "M": ["he", "his"]}))
    names = [
        _names("women", "female", "Eva Ida Una Ira Amy Joy Kim Liv Zoe Fay", "Ash Oak Fir"),
        _names("men", "male", "Tom Max Leo Guy Bob Cid Dan Ned Roy Abe", "Elm Yew Box"),
    ]
    Path("names.json").write_text(json.dumps(names))
    text = ("Ada", "Ash", "met", "Ben", "Birch", "at", "the", "bridge", ".", "She", "was", "glad")
    chains = [[[0, 2], [9, 10]], [[3, 5]]]
    document = {"id": "doc1", "tokens": text, "people": [[0, 2], [3, 5]], "chains": chains}
    write_lines("documents.jsonl", [document | {"id": f"doc{n}"} for n in range(3)])


def _names(group: str, gender: str, first: str, last: str) -> dict[str, Any]:
    whole = {"first_names": first.split(), "last_names": last.split()}
    return {"group": group, "gender": gender, **whole}
