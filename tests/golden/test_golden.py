"""Signatures, keys of the cache, identities of runs and ids are what they were.

A run that was begun, a reply that was paid for and a label that was given are found again by these
values. They were recorded from the code itself; ``tests/golden/record.py NAME...`` records
them anew, which a change that is meant to lose them does on purpose.
"""

from __future__ import annotations

import importlib
import sys

import pytest
from golden_cases import CASES, LOCAL_CASES
from record import differences, read_golden
from scripted_plugin import install

ADVICE = (
    "A new option changes no run that does not use it: name its field in omit_if_default of "
    "identity() of its dataclass (fairjudge/options; docs/contributing/option.md). A change that "
    "is meant to lose runs, replies or labels: python tests/golden/record.py NAME."
)


@pytest.fixture(autouse=True)
def plugin(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path, str(install(tmp_path / "site"))])
    importlib.invalidate_caches()


@pytest.mark.parametrize("name", CASES)
def test_values_match_the_recording(name, tmp_path):
    check(name, CASES[name](tmp_path))


@pytest.mark.local_model
@pytest.mark.parametrize("name", LOCAL_CASES)
def test_values_of_local_models_match_the_recording(name, tmp_path):
    check(name, LOCAL_CASES[name](tmp_path))


def test_every_recorded_value_has_its_case():
    assert read_golden().keys() == CASES.keys() | LOCAL_CASES.keys()


def test_difference_is_named_by_its_path():
    by_name = {"runs": {"judge": {"identity": {"seed": 1}}}, "keys": ["a", "b"]}
    recorded = {"runs": {"judge": {"identity": {"seed": 2}}}, "keys": ["a"], "more": 0}
    assert differences(by_name, recorded) == [
        "keys[1]: 'b' -> (absent)",
        "more: (absent) -> 0",
        "runs.judge.identity.seed: 1 -> 2",
    ]


def check(name: str, values: object) -> None:
    changed = differences(read_golden()[name], values)
    lines = "\n  ".join(changed[:30])
    assert not changed, (
        f"{name}: {len(changed)} values changed (recorded -> now):\n  {lines}\n{ADVICE}"
    )
