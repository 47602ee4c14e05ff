"""Simulations of the benchmarks on several processes: the same results, kept and gone on with."""

from __future__ import annotations

import argparse

import pytest
from _parallel import open_runner, run_serially
from few_labels import strata, strata_hits

N = 25


def namespace(folder, processes):
    return argparse.Namespace(processes=processes, folder=folder)


def with_lists(hits):
    return {name: list(interval) for name, interval in hits.items()}


@pytest.mark.parametrize("processes", [1, 3])
def test_results_do_not_depend_on_processes(tmp_path, processes, capsys):
    alone = strata(N)
    with open_runner(namespace(tmp_path / "kept", processes)) as runner:
        together = strata(N, runner=runner)
    assert (together.coverage(), together.widths()) == (alone.coverage(), alone.widths())
    assert "strata: 25 of 25" in capsys.readouterr().out


def test_second_run_simulates_only_missing_data(tmp_path, capsys):
    """Of a killed run the last line may be cut off: its data set is drawn again."""
    options = namespace(tmp_path, 2)
    with open_runner(options) as runner:
        before = list(runner("Of A, b", strata_hits, N))
    (path,) = tmp_path.iterdir()
    assert path.name == "of-a-b.jsonl"
    path.write_text(path.read_text()[:-40])
    capsys.readouterr()
    with open_runner(options) as runner:
        after = list(runner("Of A, b", strata_hits, N))
        more = list(runner("Of A, b", strata_hits, N + 1))
    assert "1 of 1" in capsys.readouterr().out
    sample = list(map(with_lists, run_serially("", strata_hits, N + 1)))
    assert list(map(with_lists, before)) == list(map(with_lists, after)) == sample[:N]
    assert list(map(with_lists, more)) == sample
