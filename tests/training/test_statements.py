"""P(supported) by whole documents: what is fitted, and on what."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

pytest.importorskip("torch")

from training import data, statements
from training.data import Example
from training.statements import Checked, fit_supported, p_supported


def summaries(n, *, weights, seed=0):
    """Summaries of one to three statements, supported as three weights and a constant say."""
    draw = np.random.default_rng(seed)
    rows = []
    for number in range(n):
        parts = tuple(
            np.column_stack((draw.normal(0, 3, (2, 2)), np.full(2, -draw.integers(0, 4))))
            for _ in range(draw.integers(1, 4))
        )
        p = [1 / (1 + np.exp(-(rows @ weights[:-1] + weights[-1]).max())) for rows in parts]
        rows.append(Checked("a", f"{number}", parts, int(draw.random() < np.prod(p))))
    return rows


def test_fit_recovers_the_generating_weights_from_summary_labels():
    rows = summaries(6000, weights=np.array([0.5, 0.0, 1.5, 3.0]))
    margin, covered, lacking, _ = fit_supported(rows)
    assert margin == pytest.approx(0.5, abs=0.12)
    assert covered == pytest.approx(0.0, abs=0.06)
    assert lacking == pytest.approx(1.5, abs=0.3)


def test_sources_and_labels_have_equal_weight():
    sample = summaries(400, weights=np.array([0.5, 0.0, 1.5, 3.0]))
    again = [Checked("b", row.group, row.statements, row.label) for row in sample for _ in range(3)]
    np.testing.assert_allclose(fit_supported(sample), fit_supported([*sample, *again]), rtol=0.2)


def test_a_summary_is_the_mean_of_its_statements_by_their_best_passage():
    weights = np.array([1.0, 0.0, 0.0, 0.0])
    rows = (np.array([[0.0, 9, 0], [-5, 9, 0]]), np.array([[100.0, 0, 0]]))
    assert p_supported(Checked("a", "g", rows, 1), weights) == pytest.approx(0.75)


@pytest.fixture
def folder(tmp_path):
    long, short = "word " * 300, "A short text."
    rows = [
        {"source": source, "group": f"{n}", "premise": text, "hypothesis": "<t> It is. </t>",
         "label": label}
        for source in ("bump", "summedits-samsum", "fib-xsum", "fib-cnn_dm", "snli")
        for n in range(40)
        for text, label in ((long, "supported"), (long, "unsupported"), (short, "supported"))
    ]  # fmt: skip
    (tmp_path / "entailment").mkdir()
    with gzip.open(tmp_path / data.FILES["entailment"], "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return tmp_path


def test_documents_are_long_and_of_one_part_each(folder):
    parts = {
        split: list(statements.documents(split, folder=folder)) for split in ("calibrate", "test")
    }
    assert {row.source for row in parts["calibrate"]} == {"bump", "summedits-samsum"}
    assert {row.source for row in parts["test"]} == {"bump", "summedits-samsum", "fib-xsum"}
    groups = [{row.group for row in group} for group in parts.values()]
    assert not groups[0] & groups[1]
    assert {row.first for group in parts.values() for row in group} == {"It is."}
    assert all(len(row.second.split()) == 300 for group in parts.values() for row in group)
    assert list(statements.documents("train", folder=folder)) == []


def test_domains_of_summedits_count_as_one_source(folder):
    examples = statements.drawn("test", folder=folder, limit=10)
    assert {statements.family(row.source) for row in examples} == {"bump", "summedits", "fib-xsum"}
    assert all(
        sum(statements.family(row.source) == name for row in examples) <= 10
        for name in ("bump", "summedits", "fib-xsum")
    )


def test_a_supported_summary_is_not_supported_by_another_document():
    rows = [
        Example("support", f"summary {n}", f"document {n}", n % 2, "bump", f"{n}") for n in range(6)
    ]
    examples = statements.elsewhere(rows)
    assert [example.first for example in examples] == ["summary 1", "summary 3", "summary 5"]
    assert all(
        example.second != example.first.replace("summary", "document") for example in examples
    )
    assert {(example.label, example.source) for example in examples} == {(0, "elsewhere")}
    assert statements.elsewhere(rows) == examples


def test_planted_changes_count_what_their_passage_lacks():
    class Models:
        def supported_features(self, pairs, n_missing):
            return np.column_stack([np.zeros((len(pairs), 2)), -np.array(n_missing)])

    rows = [
        Example("support", "Then Ann paid 5.", "Ann paid 5.", data.SUPPORTED, "planted copy", "g"),
        Example("support", "Then Bob paid 6.", "Ann paid 5.", 3, "planted name", "g"),
    ]
    changes = statements.changed(Models(), rows)
    assert [(change.source, change.label, change.statements[0][0, 2]) for change in changes] == [
        ("planted", 1, 0), ("planted", 0, -2),
    ]  # fmt: skip
