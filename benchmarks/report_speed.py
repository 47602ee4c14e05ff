"""Time to write a report of thousands of judgements, and to open it in Chromium.

    python benchmarks/report_speed.py [N_JUDGEMENTS ...]

Required: 5,000 judgements open within 2 s. A page is open when every filter, table and button is
shown and responds. Times are measured in the page from the start of navigation, best and worst of
five.
"""

from __future__ import annotations

import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from _machine import describe_machine

from fairjudge.analysis.reporting import make_report
from fairjudge.datasets.writers import write_jsonl

SYSTEMS = 5
QUESTIONS = 4
GROUPS = 3
ARTICLES = 10
PER_CLUSTER = SYSTEMS * QUESTIONS * GROUPS + SYSTEMS * 8
"""Judgements of a cluster: every answer, and eight sentences, of each system."""
WORDS = [
    "council",
    "river",
    "budget",
    "mayor",
    "storm",
    "closed",
    "opened",
    "million",
    "residents",
    "Monday",
    "bridge",
    "rain",
]


def prose(rng: random.Random, n_words: int) -> str:
    """Return sentences of random words."""
    sentences = (" ".join(rng.choices(WORDS, k=12)).capitalize() for _ in range(n_words // 12))
    return ". ".join(sentences) + "."


def cluster(rng: random.Random, eid: str) -> dict[str, Any]:
    """Return a reference with articles of 300 words."""
    articles = [
        {"aid": f"{eid}-{a}", "domain": f"outlet{a}.example", "content": prose(rng, 300)}
        for a in range(ARTICLES)
    ]
    questions = [
        {
            "question": f"What about {rng.choice(WORDS)}?",
            "answer_groups": [
                [{"aid": f"{eid}-{g}", "answer": prose(rng, 24)}] for g in range(GROUPS)
            ],
        }
        for _ in range(QUESTIONS)
    ]
    return {"eid": eid, "articles": articles, "question_answers": questions}


def judgements(rng: random.Random, eid: str) -> Iterator[dict[str, Any]]:
    """Yield the judgements of a cluster, each with a reply of about 90 words."""
    units = [("coverage", f"answer:{q}.{g}") for q in range(QUESTIONS) for g in range(GROUPS)]
    units += [("faithfulness", f"sentence:{i}") for i in range(8)]
    for system in range(SYSTEMS):
        for aspect, unit in units:
            value = rng.randint(0, 1)
            yield {
                "eid": eid, "system": f"system{system}", "aspect": aspect, "unit": unit,
                "protocol": "binary", "judge": "openai:some-model", "value": value,
                "unscored": None, "raw": f"{prose(rng, 90)} Verdict: {value}",
                "scored_by": "llm", "signature": f"judge:openai:some-model|prompt:{aspect}.v1",
            }  # fmt: skip


def write(folder: Path, n: int) -> None:
    """Write records with `n` judgements."""
    rng = random.Random(0)  # noqa: S311  # invented text, no secret
    eids = [f"cluster-{place:04d}" for place in range(-(-n // PER_CLUSTER))]
    rows = [row for eid in eids for row in judgements(rng, eid)][:n]
    texts = [
        {"eid": eid, "system": f"system{s}", "text": prose(rng, 96)}
        for eid in eids
        for s in range(SYSTEMS)
    ]
    files = {
        "references": [cluster(rng, eid) for eid in eids],
        "summaries": texts,
        "judgements": rows,
    }
    for name, records in files.items():
        write_jsonl(folder / f"{name}.jsonl", records)


def open_page(path: Path, *, repeats: int = 5) -> list[dict[str, float]]:
    """Open the page; return milliseconds to load, to search, to sort and to show a reply."""
    from playwright.sync_api import sync_playwright

    results = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for _ in range(repeats):
            page = browser.new_page()
            page.goto(path.as_uri())
            page.wait_for_selector("html[data-ready]")
            results.append(page.evaluate(_MEASURE))
            page.close()
        browser.close()
    return results


_MEASURE = """async () => {
    const timed = async (action) => {
        const start = performance.now();
        await action();
        await new Promise(requestAnimationFrame);
        return performance.now() - start;
    };
    const box = document.getElementById("explorer");
    const status = box.querySelector("[role=status]");
    const search = () => new Promise(done => {
        new MutationObserver(done).observe(status, {childList: true, characterData: true});
        const field = box.querySelector("input[type=search]");
        field.value = "verdict: 1";
        field.dispatchEvent(new Event("input"));
    });
    return {
        ready: Number(document.documentElement.dataset.ready),
        search: await timed(search),
        sort: await timed(() => box.querySelector("thead .sort").click()),
        reply: await timed(() => box.querySelector(".open").click()),
    };
}"""


def main() -> None:
    """Print two lines per size."""
    print(describe_machine())
    for n in [int(argument) for argument in sys.argv[1:]] or [5000, 20_000]:
        with tempfile.TemporaryDirectory() as folder:
            records, page = Path(folder, "records"), Path(folder, "report.html")
            records.mkdir()
            write(records, n)
            start = time.perf_counter()
            report = make_report(records)
            took = time.perf_counter() - start
            report.save(page)
            size = page.stat().st_size / 1e6
            print(f"{n:,} judgements: made in {took:.1f} s, {size:.1f} MB")
            runs = open_page(page)
            times = {name: [run[name] for run in runs] for name in runs[0]}
            ranges = (f"{name} {min(ms):.0f} to {max(ms):.0f} ms" for name, ms in times.items())
            print(f"  in Chromium: {', '.join(ranges)} (a search waits 120 ms for typing to pause)")


if __name__ == "__main__":
    main()
