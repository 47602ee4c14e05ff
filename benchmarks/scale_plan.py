"""A plan for 10 million judgements: calls, costs, hours, storage, and the bottleneck.

    python benchmarks/scale_plan.py [--store URL] [--write docs/scale.md]

The resources per judgement are measured on this machine with a backend that answers immediately:
processor time, and bytes in cache, records and checkpoints, embedded and (with --store, an empty
PostgreSQL database) in the store. Token counts are those of the bundled example's prompts, prices
those of the packaged table. The hours come from `_scale_simulation`, next to the bound of each part
by arithmetic. Latency, limits and the number of processors at the store are assumptions, and are
labelled as such.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import tempfile
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from _machine import describe_machine
from _scale_simulation import Setting, bounds, simulate

from fairjudge.backends.caching import Caching, SharedCaching
from fairjudge.backends.limiting import Concurrency, StoreCheck
from fairjudge.backends.ports import Pipeline
from fairjudge.backends.pricing import load_prices
from fairjudge.backends.scripted import ScriptedBackend
from fairjudge.cache.disk import ReplyCache
from fairjudge.cache.postgres import PostgresCache
from fairjudge.datasets.example import example_path
from fairjudge.domain import JudgeTask
from fairjudge.engine.in_process import judge_tasks
from fairjudge.engine.models import open_cache
from fairjudge.engine.recorded import JudgementBook
from fairjudge.engine.runs import open_run
from fairjudge.judges.criteria import builtin_criterion
from fairjudge.judges.llm import LlmJudge
from fairjudge.options.judging import JudgeOptions
from fairjudge.options.models import Model
from fairjudge.ports import ModelRef
from fairjudge.records.address import StoreAddress
from fairjudge.records.server import Server
from fairjudge.reports.tables import TextTable, columns, to_markdown
from fairjudge.run.material import read_material
from fairjudge.run.planning import Plan, plan_judging

N_JUDGEMENTS = 10_000_000
N_MEASURED = 2_000
N_SIMULATED = 150_000
OPTIONS = JudgeOptions(aspect="faithfulness", protocol="likert")
TARGET = ModelRef(provider="openai", model="gpt-4o-mini")
PRICED = ("gpt-4.1-nano", "gpt-4o-mini", "gpt-5-mini", "gpt-4.1")
REPLY = "Every statement can be found in the articles, as far as it goes. " * 3 + "\nVerdict: 4"
STORE_SECONDS = 0.0003
"""A statement at a store, where none is given: on loopback, 2 cores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Resources per judgement: processor seconds on this machine, and bytes by kind."""

    cpu_seconds: float
    stored_bytes: dict[str, float]
    statement_seconds: float = 0.0


def tasks(n: int) -> list[JudgeTask]:
    """Return `n` different tasks like the example's."""
    few = read_material(
        example_path("references.json"),
        example_path("summaries.jsonl"),
        options=OPTIONS,
        skip_bad=False,
    ).tasks
    return [
        replace(few[i % len(few)], eid=f"event-{i}", texts=(f"{few[i % len(few)].texts[0]} ({i})",))
        for i in range(n)
    ]


async def measure(store: StoreAddress | None, folder: Path) -> Measured:
    """Judge `N_MEASURED` items in this process and measure the resources per judgement."""
    cache = open_cache(folder / "cache", store=store, warn=print)
    answers = ScriptedBackend(lambda _: REPLY)
    places = Concurrency(64)
    if isinstance(cache, ReplyCache):
        backend = Pipeline(answers, Caching(cache=cache), places)
    else:
        limits = (places, StoreCheck(cache))
        backend = Pipeline(answers, SharedCaching(cache=cache), *limits)
    judge = LlmJudge(
        backend=backend,
        target=TARGET,
        criterion=builtin_criterion("faithfulness", "likert", per_answer=False),
        temperature=0.0,
        seed=None,
    )
    run_context = open_run(
        None if store is None else Path(uuid.uuid4().hex),
        command="judge",
        model=Model(cache=folder, store=None if store is None else store.url),
        identity={},
    )
    work = tasks(N_MEASURED)
    with run_context as run:
        start = time.process_time()
        await judge_tasks(
            JudgementBook(run, work),
            judge=judge,
            fallback=None,
            concurrency=64,
            progress=lambda _: None,
        )
        cpu_seconds = (time.process_time() - start) / N_MEASURED
    if isinstance(cache, ReplyCache):
        cache.close()  # which ends its write-ahead log, some megabytes whatever the number of rows
    result = Measured(
        cpu_seconds=cpu_seconds,
        stored_bytes=stored(cache, folder, store),
        statement_seconds=0.0 if isinstance(cache, ReplyCache) else statement_seconds(cache),
    )
    cache.close()
    return result


def stored(
    cache: ReplyCache | PostgresCache, folder: Path, store: StoreAddress | None
) -> dict[str, float]:
    """Return the bytes per judgement by kind of storage, including indexes."""
    results = {"replies": cache.stats().size_bytes / N_MEASURED}
    if store is not None:
        ((size,),) = Server(store).run("SELECT pg_total_relation_size('fairjudge.run_rows')")
        results["rows"] = size / N_MEASURED
    runs = folder / "runs"
    if runs.is_dir():
        for name, pattern in (("records", "*.jsonl"), ("checkpoints", "checkpoints.sqlite*")):
            files = runs.rglob(pattern)
            results[name] = sum(file.stat().st_size for file in files) / N_MEASURED
    return results


def statement_seconds(cache: PostgresCache) -> float:
    """Return the mean seconds of a judgement's statements at the store.

    Two of them, the claim and the reply, are synchronously committed; four are not.
    """
    seconds = []
    for statement in (
        lambda n: cache.put(f"probe-{n}", {"reply": {"text": REPLY}}),
        lambda n: cache.get(f"probe-{n}"),
    ):
        start = time.perf_counter()
        for n in range(300):
            statement(n)
        seconds.append((time.perf_counter() - start) / 300)
    write, read = seconds
    return (2 * write + 4 * read) / 6


def planned() -> Plan:
    """Return the plan of the example's judgements, which has their token counts."""
    (plan,) = plan_judging(
        example_path("references.json"),
        example_path("summaries.jsonl"),
        options=OPTIONS,
        models=[Model(target=str(TARGET), cache=Path(tempfile.mkdtemp()))],
        skip_bad=False,
        seconds_per_call=1.5,
    )
    return plan


def settings(
    embedded: Measured, shared: Measured | None, tokens_a_call: float
) -> tuple[Setting, ...]:
    """Return the simulated settings, in order of the number of machines."""
    base = Setting(
        name="one machine, small account",
        machines=1,
        concurrency=256,
        calls_a_minute=5_000,
        tokens_a_minute=4_000_000,
        tokens_a_call=tokens_a_call,
        cpu_seconds=embedded.cpu_seconds,
        store_seconds=0.0,
    )
    large = replace(base, calls_a_minute=30_000, tokens_a_minute=150_000_000, concurrency=1024)
    seconds = STORE_SECONDS if shared is None else shared.statement_seconds
    cpu = embedded.cpu_seconds if shared is None else shared.cpu_seconds
    stored_ = replace(large, store_seconds=seconds, cpu_seconds=cpu)
    own = replace(stored_, calls_a_minute=1e9, tokens_a_minute=1e12)
    return (
        base,
        replace(large, name="one machine, large account", concurrency=256),
        replace(large, name="one machine, large account, higher concurrency"),
        replace(stored_, name="four machines and a store, large account", machines=4),
        replace(own, name="four machines and a store, own model servers", machines=4),
        replace(own, name="sixteen machines and a store, own model servers", machines=16),
    )


def report(embedded: Measured, shared: Measured | None, plan: Plan) -> Iterator[str]:
    """Yield the page's tables."""
    tokens_in, tokens_out = plan.input_tokens / plan.n_calls, plan.output_tokens / plan.n_calls
    yield f"Measured on: {describe_machine()}.\n"
    yield f"One judgement: {tokens_in:.0f} tokens in, {tokens_out:.0f} out (the bundled example).\n"
    yield to_markdown(_table_of_measures(embedded, shared))
    yield to_markdown(_table_of_prices(tokens_in, tokens_out))
    yield to_markdown(_table_of_hours(settings(embedded, shared, tokens_in + tokens_out)))
    yield (
        "Assumptions: a call takes 1.5 s in the median (log-normal, sigma 0.6), 1 % fail and are "
        "repeated; a small account allows 5,000 calls and 4 million tokens per minute, a large one "
        "30,000 and 150 million; the store executes 8 statements at once, 6 per judgement"
        + (
            ".\n"
            if shared is None
            else f", {1e3 * shared.statement_seconds:.2f} ms each on average as measured here.\n"
        )
    )


def _table_of_measures(embedded: Measured, shared: Measured | None) -> TextTable:
    rows = []
    for name, measured in (("embedded", embedded), ("PostgreSQL", shared)):
        if measured is None:
            continue
        size = sum(measured.stored_bytes.values())
        parts = ", ".join(f"{part} {value:,.0f}" for part, value in measured.stored_bytes.items())
        total = f"{size * N_JUDGEMENTS / 1e9:.0f}"
        rows.append((name, f"{1e3 * measured.cpu_seconds:.2f}", parts, total))
    heads = ("CPU ms", "bytes", "GB for 10 million")
    return TextTable(
        title="Overhead per judgement",
        columns=columns("cache", *heads, numbers=heads[::2]),
        rows=tuple(rows),
    )


def _table_of_prices(tokens_in: float, tokens_out: float) -> TextTable:
    prices = load_prices()
    heads = ("USD for 10 million",)
    results = []
    for name in PRICED:
        price = prices.price(ModelRef(provider="openai", model=name))
        if price is not None:
            usd = N_JUDGEMENTS * price.cost_usd(input_tokens=tokens_in, output_tokens=tokens_out)
            results.append((f"openai:{name}", f"{usd:,.0f}", price.source))
    return TextTable(
        title="Cost of the calls",
        columns=columns("model", *heads, "price of", numbers=heads),
        rows=tuple(results),
    )


def _table_of_hours(scenarios: tuple[Setting, ...]) -> TextTable:
    heads = ("concurrent calls", "calls per second", "arithmetic bound", "hours")
    rows = []
    for setting in scenarios:
        outcome, most = simulate(setting, n=N_SIMULATED), bounds(setting)
        rows.append(
            (
                setting.name,
                f"{setting.machines * setting.concurrency:,}",
                f"{outcome.a_second:,.0f}",
                f"{min(most.values()):,.0f}",
                f"{N_JUDGEMENTS / outcome.a_second / 3600:.1f}",
                outcome.bottleneck,
            )
        )
    return TextTable(
        title="Duration and bottleneck",
        columns=columns("setting", *heads, "bottleneck", numbers=heads),
        rows=tuple(rows),
    )


def main() -> None:
    """Measure, simulate and print; or write between the marks of a page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--store", type=StoreAddress)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        embedded = asyncio.run(measure(None, Path(folder)))
    shared = None
    if options.store is not None:
        with tempfile.TemporaryDirectory() as folder:
            shared = asyncio.run(measure(options.store, Path(folder)))
    text = "\n".join(report(embedded, shared, planned()))
    if options.write is None:
        print(text)
        return
    page = options.write.read_text(encoding="utf-8")
    marks = r"(<!-- figures -->\n).*(<!-- end of figures -->)"
    new = re.sub(marks, lambda m: f"{m[1]}\n{text}\n{m[2]}", page, flags=re.DOTALL)
    options.write.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
