"""A small study with every kind of record, and hostile text in every field shown on a page."""

from __future__ import annotations

from pathlib import Path

from cli_tools import write_jsonl
from typer.testing import CliRunner

EVIL = "</script><script>document.title='owned'</script><img src=x onerror=document.title='owned'>"
SYSTEMS = ("alpha", "<b>beta</b>")
N_CLUSTERS = 6
REPLY = "It says so in as many words.\nVerdict: 1"


def _article(c: int, a: int) -> dict:
    side = "left" if a % 2 else "right"
    people = "The woman and the mother" if a % 2 else "The man and the father"
    return {
        "aid": f"c{c}a{a}",
        "title": f"Title {a} {EVIL if a == 0 else ''}",
        "domain": f"outlet{a}.example" if a else f"{EVIL}.example",
        "content": f"The council of town {c} met on Monday. She said that it cost {a + 2} million. "
        f"The {side} paper blamed the rain. {people} said nothing.",
        "attributes": {"side": side},
    }


def reference(c: int) -> dict:
    """Return a reference with two questions, the first with two answers (one by two outlets)."""
    return {
        "eid": f"c{c}",
        "articles": [_article(c, a) for a in range(4)],
        "question_answers": [
            {
                "question": f"What did it cost town {c}?",
                "answer_groups": [
                    [{"aid": f"c{c}a0", "answer": f"Two million {EVIL}"}],
                    [
                        {"aid": f"c{c}a1", "answer": "Three million."},
                        {"aid": f"c{c}a2", "answer": "About three million."},
                    ],
                ],
            },
            {
                "question": "Who is to blame?",
                "answer_groups": [[{"aid": f"c{c}a3", "answer": "The rain."}]],
            },
        ],
    }


def _summary(c: int, system: str) -> dict:
    first = "The council met on Monday." if system == "alpha" else "The rain is to blame."
    return {"eid": f"c{c}", "system": system, "text": f"{first} She said it cost {c} million."}


def _judged(c: int, system: str, aspect: str, unit: str, **rest) -> dict:
    return {
        "eid": f"c{c}", "system": system, "aspect": aspect, "unit": unit, "protocol": "binary",
        "judge": "openai:stub", "value": 1, "unscored": None, "raw": f"Reply on c{c}. {REPLY}",
        "scored_by": "llm", "probabilities": None,
        "signature": f"judge:openai:stub|prompt:judge/{aspect}.v1@1234abcd|version:0.1.0",
    } | rest  # fmt: skip


def judgements() -> list[dict]:
    """Return judgements of answers, sentences, summaries, articles and pairs; some unscored."""
    rows = []
    for c in range(N_CLUSTERS):
        for s, system in enumerate(SYSTEMS):
            for unit in ("answer:0.0", "answer:0.1", "answer:1.0"):
                # alpha covers all answers except the first, beta only the last
                covered = (unit != "answer:0.0") if s == 0 else unit == "answer:1.0"
                rows.append(_judged(c, system, "coverage", unit, value=int(covered)))
            for i in range(2):
                value = 5 - i - (c % 3)
                more = {"protocol": "likert", "value": value, "raw": f"{EVIL} Verdict: {value}"}
                rows.append(_judged(c, system, "faithfulness", f"sentence:{i}", **more))
            for a in range(4):
                value = int((a + s + c) % 2)
                rows.append(_judged(c, system, "support", f"article:c{c}a{a}", value=value))
            whole = {"protocol": "likert", "value": float(2 + s + c % 2)}
            rows.append(_judged(c, system, "quality", "summary", **whole))
        for order in ("ab", "ba"):
            pair = {"system_a": SYSTEMS[0], "system_b": SYSTEMS[1], "order": order}
            row = _judged(c, "", "quality", "summary", **pair, protocol="pairwise")
            row["value"] = "a" if order == "ab" else "tie"
            row["raw"] = "A"
            del row["system"]
            rows.append(row)
    broken = {"value": None, "unscored": "unparseable", "raw": "I would rather not say."}
    rows.append(_judged(0, "gamma", "quality", "summary", protocol="likert", **broken))
    refused = {"value": None, "unscored": "refused", "raw": None, "detail": "declined"}
    rows.append(_judged(1, "gamma", "quality", "summary", protocol="likert", **refused))
    return rows


def _labels() -> list[dict]:
    return [
        {
            "eid": f"c{c}", "system": system, "aspect": "quality", "annotator": f"expert{k}",
            "value": 2 + s + (c + k) % 2,
        }
        for c in range(N_CLUSTERS)
        for s, system in enumerate(SYSTEMS)
        for k in range(2)
    ]  # fmt: skip


def write_study(folder: Path) -> Path:
    """Write the records, and run the commands without a model on them."""
    references = write_jsonl(folder / "references.jsonl", [reference(c) for c in range(N_CLUSTERS)])
    texts = [_summary(c, system) for c in range(N_CLUSTERS) for system in SYSTEMS]
    summaries = write_jsonl(folder / "summaries.jsonl", texts)
    write_jsonl(folder / "judgements.jsonl", judgements())
    write_jsonl(folder / "labels.jsonl", _labels())
    support = [row for row in judgements() if row["aspect"] == "support"]
    supports = write_jsonl(folder.parent / "support.jsonl", support)
    items = [references, "--summaries", summaries]
    side = ["--attribute", "side"]
    run("fairness", "proportional", *items, *side, "--json", folder / "proportional.json")
    scorer = ["--scorer", f"judgements:{supports}"]
    run("fairness", "coverage", *items, *side, *scorer, "--json", folder / "coverage.json")
    few = ["--resamples", "100"]
    run("bias", "words", *items, *few, "--json", folder / "words.json")
    run("bias", "inputs", references, "--json", folder / "inputs.json")
    return folder


def run(*args: object) -> None:
    """Run a command; raise if it fails."""
    from fairjudge.cli._main import app

    result = CliRunner().invoke(app, [*map(str, args)], catch_exceptions=False)
    assert result.exit_code == 0, (args, result.output)
