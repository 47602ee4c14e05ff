"""The simulation behind docs/scale.md, where arithmetic says what must come out."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path

import pytest

PATH = Path(__file__).parents[1] / "benchmarks" / "_scale_simulation.py"
SPEC = importlib.util.spec_from_file_location("_scale_simulation", PATH)
simulation = importlib.util.module_from_spec(SPEC)
sys.modules[SPEC.name] = simulation
SPEC.loader.exec_module(simulation)

EASY = simulation.Setting(
    name="nothing holds it up",
    machines=2,
    concurrency=50,
    calls_a_minute=1e9,
    tokens_a_minute=1e12,
    tokens_a_call=1000.0,
    cpu_seconds=1e-5,
    store_seconds=1e-5,
)


@pytest.mark.parametrize(
    ("part", "change", "a_second"),
    [
        # 100 places over a mean call of 1.5 e^(0.36 / 2) = 1.796 s, 1 / 0.99 times, and 7e-5 s
        ("concurrency", {}, 55.1),
        # 2 machines of 25 judgements a second each
        ("machines", {"cpu_seconds": 0.04}, 50.0),
        # 1 worker over 6 statements of 5 ms
        ("store", {"store_seconds": 0.005, "store_workers": 1}, 33.3),
        # 1,200 calls a minute, of which 1 % are repeats
        ("provider", {"calls_a_minute": 1200}, 19.8),
        # 1.8 million tokens a minute are 1,800 calls
        ("provider", {"tokens_a_minute": 1.8e6}, 29.7),
    ],
)
def test_rate_is_limited_by_the_bottleneck(part, change, a_second):
    setting = replace(EASY, **change)
    assert min(simulation.bounds(setting).items(), key=lambda item: item[1])[0] == part
    assert min(simulation.bounds(setting).values()) == pytest.approx(a_second, rel=0.01)
    result = simulation.simulate(setting, n=20_000)
    assert result.bottleneck == part
    assert result.a_second == pytest.approx(a_second, rel=0.03)


def test_equal_seed_gives_equal_results():
    assert simulation.simulate(EASY, n=2000) == simulation.simulate(EASY, n=2000)
