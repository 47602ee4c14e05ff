"""A queue simulation of judging: machines, a shared store, a provider's limits, slow calls."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np

STATEMENTS_BEFORE, STATEMENTS_AFTER = 4, 2
"""Of the store, a call: get, claim, get again, check; then put, and the run's row."""
_WARM_UP = 0.25
"""Share of the simulated items that is left out of rates: all places start at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Parameters of a simulation.

    ``cpu_seconds`` is a machine's time for one judgement, on one core. ``store_seconds`` is the
    time of a statement at the store (0 for the embedded cache), which processes ``store_workers``
    in parallel. A call takes a log-normal time (median ``call_seconds``, ``call_sigma``) and fails
    with probability ``failing``; it is then repeated. ``calls_a_minute`` and ``tokens_a_minute``
    are the provider's limits.
    """

    name: str
    machines: int
    concurrency: int
    calls_a_minute: float
    tokens_a_minute: float
    tokens_a_call: float
    cpu_seconds: float
    store_seconds: float
    store_workers: int = 8
    call_seconds: float = 1.5
    call_sigma: float = 0.6
    failing: float = 0.01

    @property
    def seconds_between_calls(self) -> float:
        """The minimum time between two calls under the provider's limits."""
        return 60 * max(1 / self.calls_a_minute, self.tokens_a_call / self.tokens_a_minute)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Judgements per second in the steady state, and the utilisation of each part in [0, 1]."""

    a_second: float
    busy: dict[str, float]

    @property
    def bottleneck(self) -> str:
        """The part that is busy all the time; if there is none, the concurrency slots."""
        name = max(self.busy, key=lambda part: self.busy[part])
        return name if self.busy[name] > 0.9 else "concurrency"


def bounds(setting: Setting) -> dict[str, float]:
    """Return the maximum judgements per second of each part, by arithmetic."""
    calls = 1 / (1 - setting.failing)
    mean_call = setting.call_seconds * math.exp(setting.call_sigma**2 / 2)
    statements = STATEMENTS_BEFORE + STATEMENTS_AFTER
    own_seconds = setting.cpu_seconds + statements * setting.store_seconds
    places = setting.machines * setting.concurrency
    return {
        "machines": setting.machines / setting.cpu_seconds,
        "store": setting.store_workers / (statements * setting.store_seconds)
        if setting.store_seconds
        else math.inf,
        "provider": 1 / (setting.seconds_between_calls * calls),
        "concurrency": places / (mean_call * calls + own_seconds),
    }


def simulate(setting: Setting, *, n: int, seed: int = 0) -> Outcome:
    """Judge `n` items and return the rate.

    Every part serves in order of arrival, and events are processed by time. So the next free moment
    of a part describes its queue completely.
    """
    rng = np.random.default_rng(seed)
    latencies = _draw_latencies(rng, setting)
    machine_free = [0.0] * setting.machines
    store_free = [0.0] * setting.store_workers
    provider_free, busy = 0.0, {"machines": 0.0, "store": 0.0, "provider": 0.0}
    events: list[tuple[float, int, str, int]] = []
    numbers = count()

    def push(at: float, stage: str, machine: int) -> None:
        heapq.heappush(events, (at, next(numbers), stage, machine))

    def store(at: float, statements: int) -> float:
        took = statements * setting.store_seconds
        end = max(at, store_free[0]) + took
        heapq.heapreplace(store_free, end)
        busy["store"] += took
        return end

    for place in range(min(n, setting.machines * setting.concurrency)):
        push(0.0, "work", place % setting.machines)
    n_waiting = n - len(events)
    end_times: list[float] = []
    while events:
        now, _, stage, machine = heapq.heappop(events)
        if stage == "work":
            machine_free[machine] = max(now, machine_free[machine]) + setting.cpu_seconds
            busy["machines"] += setting.cpu_seconds
            push(machine_free[machine], "claim", machine)
        elif stage == "claim":
            push(store(now, STATEMENTS_BEFORE), "ask", machine)
        elif stage == "ask":
            begun = max(now, provider_free)
            provider_free = begun + setting.seconds_between_calls
            busy["provider"] += setting.seconds_between_calls
            is_failure, seconds = next(latencies)
            push(begun + seconds, "ask" if is_failure else "keep", machine)
        elif stage == "keep":
            push(store(now, STATEMENTS_AFTER), "end", machine)
        else:
            end_times.append(now)
            if n_waiting:
                n_waiting -= 1
                push(now, "work", machine)
    start = end_times[int(len(end_times) * _WARM_UP)]
    # Stop when the first slot has no items left: the tail of a run is excluded.
    stop = end_times[max(0, len(end_times) - setting.machines * setting.concurrency)]
    n_between = (
        len(end_times) - setting.machines * setting.concurrency - int(len(end_times) * _WARM_UP)
    )
    servers = {"machines": setting.machines, "store": setting.store_workers, "provider": 1}
    return Outcome(
        a_second=n_between / (stop - start),
        busy={part: min(1.0, took / servers[part] / stop) for part, took in busy.items()},
    )


def _draw_latencies(rng: np.random.Generator, setting: Setting) -> Iterator[tuple[bool, float]]:
    """Yield for each call whether it fails, and its latency."""
    while True:
        seconds = setting.call_seconds * rng.lognormal(0.0, setting.call_sigma, size=4096)
        is_failure = rng.random(4096) < setting.failing
        yield from zip(is_failure.tolist(), seconds.tolist(), strict=True)
