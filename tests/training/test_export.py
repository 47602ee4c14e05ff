"""Fits find what they should, and weights in 8 bits are near those they stand for."""

from __future__ import annotations

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from fairjudge.scorers._trained_network import FROZEN, dequantise, quantise  # noqa: E402
from training import coverage_fit, evaluate, export, fits  # noqa: E402


def test_logistic_fit_recovers_the_generating_weights():
    draw = np.random.default_rng(0)
    features = draw.normal(size=(20_000, 3)) * [1, 3, 1] + [0, 5, 0]
    scores = features @ [1.0, 0.5, -1.0] - 2
    labels = (draw.random(20_000) < 1 / (1 + np.exp(-scores))).astype(int)
    first, second, none, constant = fits.fit_logistic(features, labels, penalty=1e-3)
    assert first == pytest.approx(0.8, abs=0.15)
    assert second == pytest.approx(0.42, abs=0.08)
    assert none == 0
    assert constant < 0


def test_support_is_calibrated_by_a_factor_and_constants():
    draw = np.random.default_rng(1)
    logits = draw.normal(size=(8000, 4)) * 2
    scores = logits[:, :3] * 0.5
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    labels = (draw.random(8000)[:, None] > p.cumsum(axis=1)).sum(axis=1)
    factor, *constants = fits.fit_support(logits, labels)
    assert factor == pytest.approx(0.5, abs=0.05)
    np.testing.assert_allclose(constants, 0, atol=0.1)


def test_int8_weights_are_close_and_small():
    torch.manual_seed(0)
    state = {"layers.0.inner.weight": torch.randn(64, 32), "span.bias": torch.randn(2)}
    small = quantise({**state, FROZEN: torch.zeros(3, 4)})
    assert FROZEN not in small
    assert small["layers.0.inner.weight"].dtype == torch.int8
    back = dequantise(small)
    assert set(back) == set(state)
    for name, value in state.items():
        assert (back[name] - value).abs().max() <= value.abs().max() / 200


def test_weights_of_several_runs_are_averaged():
    runs = [{"a": torch.tensor([x, 2.0]), "b": torch.tensor([x])} for x in (1.0, 5.0)]
    mean = export.mean_of(runs)
    assert mean["a"].tolist() == [3.0, 2.0]
    assert mean["b"].tolist() == [3.0]
    assert export.mean_of(runs[:1])["a"].tolist() == [1.0, 2.0]


def test_data_sets_have_equal_weight_in_the_coverage_fit():
    rng = np.random.default_rng(2)

    def units(source, n, shift):
        rows = rng.normal(size=(n, 2, 6))
        p = 1 / (1 + np.exp(-2 * rows[:, :, 0].max(axis=1) - shift))
        return [
            coverage_fit.Labelled(source, f"{source} {i % 5}", row, int(label))
            for i, (row, label) in enumerate(zip(rows, rng.random(n) < p, strict=True))
        ]

    small, large = units("small", 300, 2.0), units("large", 6000, -2.0)
    pooled, alone = coverage_fit.fit_covered([*small, *large]), coverage_fit.fit_covered(large)
    assert alone[-1] + 1 < pooled[-1] < alone[-1] + 3  # midway between the two constants
    left_out = {f"small {i}" for i in range(5)}
    np.testing.assert_allclose(coverage_fit.fit_covered([*small, *large], without=left_out), alone)


def test_unit_coverage_is_that_of_its_best_passage():
    passages, fit = np.array([[0.0] * 6, [3.0] + [0.0] * 5]), np.array([1.0] + [0.0] * 5 + [-1.0])
    unit = coverage_fit.Labelled("source", "group", passages, covered=1)
    assert coverage_fit.p_covered(unit, fit) == pytest.approx(1 / (1 + np.exp(-2.0)))


def test_intervals_resample_whole_groups():
    labels, values = np.array([1] * 50 + [0] * 50), np.array([1.0] * 50 + [0.0] * 50)
    interval = evaluate.interval(["a"] * 50 + ["b"] * 50, labels, values, evaluate.right_share)
    assert (interval["low"], interval["value"], interval["high"]) == (0, 0.5, 1)
    assert (interval["n"], interval["groups"]) == (100, 2)


def test_repeated_words_are_counted_each_time():
    assert evaluate.word_f1("the red car", "red car") == pytest.approx(0.8)
    assert evaluate.word_f1("a a a", "a") == pytest.approx(0.5)
    assert evaluate.word_f1("", "a") == 0


def test_model_card_contains_the_measurements(tmp_path):
    run = {"step": 10, "tokens": {"a": 2_000_000}, "seconds": 60, "machine": "a machine"}
    run["settings"] = {"base": "all-MiniLM-L6-v2", "teacher": "another network"}
    record = {"sha256": "0", "run": {**run, "versions": {"torch": "2"}}}
    record |= {"curve": [{"step": 10, "seconds": 60, "same": 0.9}], "in_8_bits": {"same": 0.8}}
    (tmp_path / "record.json").write_text(json.dumps(record), "utf-8")
    value = {"value": 0.5, "low": 0.4, "high": 0.6, "n": 1200, "groups": 40}
    measured = {
        "identity": "fairjudge-minilm:0",
        "coverage": {"realsumm": {"AUC": value, "yes": 40.1, "people's yes": 42.0}},
    }
    evaluate.write_card(tmp_path, measured)
    card = (tmp_path / "MODEL_CARD.md").read_text("utf-8")
    assert "| coverage: realsumm: AUC | 0.500 | 0.400 to 0.600 | 1,200 in 40 groups |" in card
    assert "40.1, 42.0" in card
    assert "A run of 10 steps on labels and on the answers of another network (2.0 M tokens" in card
    assert "| 10 | 0.9 |\n| 8 bits | 0.8 |" in card
    assert json.loads((tmp_path / "record.json").read_text("utf-8"))["measured"] == measured
