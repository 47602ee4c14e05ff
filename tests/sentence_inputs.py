"""Random inputs for every command that prints sentences: judges, systems and annotators vary."""

from __future__ import annotations

import random
from pathlib import Path

from cli_tools import write_jsonl
from report_study import N_CLUSTERS, reference

SYSTEMS = ("alpha", "beta", "gamma")


def write_inputs(folder: Path, seed: int) -> None:
    """Write inputs with random noise, cluster counts, system differences and missing values."""
    rng = random.Random(seed)
    n = (N_CLUSTERS, 14, 31)[seed % 3]
    apart, noise, lost = rng.choice((0.0, 0.3, 1.2)), rng.choice((0.2, 1.5)), rng.choice((0, 0.2))
    levels = {system: 2.5 + apart * place for place, system in enumerate(SYSTEMS)}
    of = {"aspect": "coverage", "unit": "summary", "judge": "j", "scored_by": "llm"}
    pairs, preferences, labels, answers, summaries = [], [], [], [], []
    runs: dict[str, list] = {"one": [], "two": [], "repeats": [], "cheap": []}
    for c in range(n):
        for system, level in levels.items():
            about = {"eid": f"c{c}", "system": system, **of}
            quality = level + rng.gauss(0, 0.7)

            def rated(quality=quality, noise=noise) -> int:
                return min(5, max(1, round(quality + rng.gauss(0, noise))))

            for run, rows in runs.items():
                row = {**about, "protocol": "likert", "value": rated(), "raw": "Rating."}
                if run == "one" and rng.random() < lost:
                    row |= {"value": None, "unscored": "unparseable"}
                rows.append(row)
                if run == "repeats":
                    rows[-1:] = [{**row, "repeat": 0}, {**row, "repeat": 1, "value": rated()}]
            labels += [
                {"eid": f"c{c}", "system": system, "aspect": "coverage", "annotator": name}
                | {"value": rated(noise=0.5)}
                for name in ("ann", "ben")
            ]
            answers += [
                {**about, "unit": unit, "protocol": "binary", "value": int(rng.random() < 0.6)}
                for unit in ("answer:0.0", "answer:0.1", "answer:1.0")
            ]
            words = " ".join(rng.choices(("She said", "the man", "it cost", "the rain"), k=12))
            summaries.append({"eid": f"c{c}", "system": system, "text": f"{words}."})
        for first, second in (("alpha", "beta"), ("alpha", "gamma"), ("beta", "gamma")):
            for order in ("ab", "ba"):
                better = levels[first] - levels[second] + rng.gauss(0, noise + 0.1)
                value = "tie" if abs(better) < 0.1 else "a" if better > 0 else "b"
                pair = {"eid": f"c{c}", "system_a": first, "system_b": second, **of}
                pairs.append({**pair, "protocol": "pairwise", "order": order, "value": value})
            better = levels[first] - levels[second] + rng.gauss(0, 0.5)
            sides = {"eid": f"c{c}", "system_a": first, "system_b": second, "aspect": "coverage"}
            preferences.append({**sides, "annotator": "ann", "value": "a" if better > 0 else "b"})
    files = {"pairs": pairs, "labels": labels, "answers": answers, "summaries": summaries, **runs}
    files["preferences"] = preferences
    files["references"] = [reference(c) for c in range(n)]
    files |= supported_articles(rng, n) | controlled_inputs(rng, n)
    more = random.Random(seed)
    files |= longer_summaries(more, n) | statements(more, n) | people_named(more, n)
    files |= shares_of_values(more, n) | validity(more, n)
    files["citing"] = citing(random.Random(seed), summaries)
    for name, rows in files.items():
        write_jsonl(folder / f"{name}.jsonl", rows)


def supported_articles(rng: random.Random, n: int) -> dict[str, list]:
    """Return two judges' supported articles of summaries, and human labels of their leaning."""
    items = [{"eid": f"c{c}", "system": system} for c in range(n) for system in SYSTEMS]
    of = {"aspect": "support", "protocol": "binary", "judge": "j"}
    files = {
        name: [
            {**item, **of, "unit": f"article:{item['eid']}a{a}"}
            | {"value": int(rng.random() < 0.3 + a / 6)}
            for item in items
            for a in range(4)
        ]
        for name in ("support", "other")
    }
    leans = ("left", "right", "neither")
    files["leanings"] = [
        {**item, "annotator": name, "leaning": rng.choice(leans)}
        for item in items
        for name in ("ann", "ben")
    ]
    return files


def controlled_inputs(rng: random.Random, n: int) -> dict[str, list]:
    """Return texts in two variants (women or men), their summaries, and ratings of these."""
    design = {"design": "global"}
    clusters = [
        {"eid": f"{group}{c}-{variant}", "articles": [{"aid": "0", "content": "Text."}]}
        | {"controlled": {**design, "original": f"d{c}", "group": group, "variant": variant}}
        for group in ("female", "male")
        for c in range(n)
        for variant in range(2)
    ]
    about = [{"eid": cluster["eid"], "system": "s"} for cluster in clusters]
    rated = {"aspect": "relevance", "protocol": "likert", "judge": "j"}
    words = ("rain", "town", "tea", "iron", "coal", "salt")
    return {
        "controlled": clusters,
        "relevance": [{**item, **rated, "value": rng.randint(2, 5)} for item in about],
        "variants": [{**item, "text": " ".join(rng.choices(words, k=3))} for item in about],
    }


def longer_summaries(rng: random.Random, n: int) -> dict[str, list]:
    """Return ratings of summaries and longer versions, by a judge with a random length bias."""
    likes = rng.choice((-0.7, 0.0, 0.7))
    of = {"aspect": "coverage", "unit": "summary", "judge": "j", "protocol": "likert"}
    rows = []
    for c in range(n):
        for system in SYSTEMS:
            for added in ("", ":extended"):
                value = 3 + rng.gauss(likes if added else 0.0, 1.0)
                row = {"eid": f"c{c}", "system": f"{system}{added}", **of}
                rows.append(row | {"value": min(5, max(1, round(value)))})
    return {"longer": rows}


def citing(rng: random.Random, summaries: list[dict]) -> list[dict]:
    """Return the summaries with citations, most of which are of supporting articles."""
    right = rng.choice((0.25, 0.9))
    return [
        {**row, "citations": [{"text": row["text"], "articles": [f"{row['eid']}a{article}"]}]}
        for row in summaries
        for article in [1 if rng.random() < right else rng.choice((0, 2, 3))]
    ]


def statements(rng: random.Random, n: int) -> dict[str, list]:
    """Return two judges' verdicts on summaries' statements, and the articles that these cite."""
    weights = {system: rng.choice(((9, 1, 1), (5, 3, 3), (1, 0, 0))) for system in SYSTEMS}
    verdicts = ("supported", "contradicted", "absent")

    def row(judge: str, c: int, system: str) -> dict:
        entries = [
            {"sentence": 0, "statement": f"It cost {k} million.", "verdict": verdict}
            | {"grave": verdict != "supported" and rng.random() < 0.3}
            | ({} if verdict == "absent" else {"articles": [f"c{c}a1"], "quote": "It cost"})
            for k in range(rng.randint(2, 5))
            for verdict in rng.choices(verdicts, weights[system])
        ]
        share = sum(entry["verdict"] == "supported" for entry in entries) / len(entries)
        item = {"eid": f"c{c}", "system": system, "aspect": "faithfulness", "judge": judge}
        return item | {"protocol": "checklist", "value": share, "statements": entries}

    every = [row(judge, c, system) for judge in "jk" for c in range(n) for system in SYSTEMS]
    text = "It cost some million."
    citing = [
        {"eid": f"c{c}", "system": system, "text": text}
        | {"citations": [{"text": text, "articles": [f"c{c}a{rng.choice((1, 1, 2))}"]}]}
        for c in range(n)
        for system in SYSTEMS
    ]
    return {"statements": every, "citing": citing}


def people_named(rng: random.Random, n: int) -> dict[str, list]:
    """Return documents with people of two groups, and summaries that name some or other people."""
    names = {"female": ("Ann", "Eve", "Ida"), "male": ("Tom", "Ned", "Sam")}
    shares = {system: rng.choice((0.2, 0.5, 1.0)) for system in SYSTEMS}
    clusters, summaries = [], []
    for c in range(n):
        people = [
            {"id": f"{first}{c}", "first_name": first, "last_name": f"Orme{c}", "group": group}
            for group, items in names.items()
            for first in items
        ]
        text = " ".join(f"{person['first_name']} {person['last_name']} came." for person in people)
        article = {"aid": "0", "content": text}
        clusters.append({"eid": f"p{c}", "articles": [article], "controlled": {"people": people}})
        for system, share in shares.items():
            full_names = [
                f"{person['first_name']} {person['last_name']}"
                for person in people
                if rng.random() < (share if person["group"] == "female" else 0.5)
            ]
            summary = {"eid": f"p{c}", "system": system, "text": "They came."}
            summaries.append(
                summary | {"people": [*full_names, *["Una Elm"] * (rng.random() < 0.1)]}
            )
    return {"people": clusters, "naming": summaries}


def shares_of_values(rng: random.Random, n: int) -> dict[str, list]:
    """Return a scorer's shares of two values, and the annotators' shares."""
    items = [{"eid": f"c{c}", "system": system} for c in range(n) for system in SYSTEMS]
    scores, shares = [], []
    for item in items:
        gap, share = rng.gauss(0, 0.2), rng.random()
        scores.append({**item, "scores": {"left": gap, "right": 0.0}})
        shares.append({**item, "shares": {"left": share, "right": 1 - share}})
    return {"scores": scores, "shares": shares}


def validity(rng: random.Random, n: int) -> dict[str, list]:
    """Return human labels of answers' validity, some for answers that do not exist."""
    units = ("0.0", "0.1", "1.0", *(("5.0",) if rng.random() < 0.5 else ()))
    label = {"system": "reference", "aspect": "validity"}
    rows = [
        {"eid": f"c{c}", **label, "unit": f"answer:{unit}", "annotator": name}
        | {"value": int(rng.random() < 0.8)}
        for c in range(n)
        for unit in units
        for name in ("ann", "ben", "cid")
    ]
    return {"validity": rows}
