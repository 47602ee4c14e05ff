"""``fairness chunk-size`` and ``fairness oracle`` from files to numbers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from cli_tools import write_jsonl
from word_bag import WordBag

from fairjudge.fairness.coverage_measures import COVERAGE
from fairjudge.scorers import embedding


@pytest.fixture
def bag(monkeypatch):
    monkeypatch.setattr(embedding, "load_embedder", lambda model=None: WordBag())


def articles(*texts, values="ab"):
    return [
        {"aid": str(i), "content": text, "attributes": {"side": values[i % len(values)]}}
        for i, text in enumerate(texts)
    ]


def test_chunk_sizes_with_a_summary_fusing_two_sentences(cli, bag):
    # Summary s has 4 words, of which a sentence holds 2: cosine 2 / sqrt(2 * 4) = .71. Summary t
    # has 10: 2 / sqrt(2 * 10) = .45 with a sentence, which is not above .5, and 1 with all five.
    document = "Rain fell. Wind blew. Trees shook. Roofs flew. Dogs hid."
    write_jsonl(Path("c.jsonl"), [{"eid": "e", "articles": articles(document)}])
    texts = {
        "s": "Rain fell wind blew.",
        "t": "Rain fell wind blew trees shook roofs flew dogs hid.",
    }
    rows = [{"eid": "e", "system": name, "text": text} for name, text in texts.items()]
    write_jsonl(Path("s.jsonl"), rows)
    command = ("fairness", "chunk-size", "c.jsonl", "--summaries", "s.jsonl")
    result = cli(*command, "--scorer", "embedding", "--sizes", "10,0", "--json", "-", code=0)
    data = json.loads(result.out)
    assert [(row["max_words"], row["value"]) for row in data["identified"]] == [
        (0, 0.5),
        (10, 1.0),
    ]
    assert data["best"] == 10
    assert data["systems"]["s"]["best"] == 0
    assert data["systems"]["t"]["identified"][0]["value"] == 0.0
    assert "exceeds 0.5" in data["notes"][0]
    assert "bag" in data["signature"]
    table = cli(*command, "--scorer", "embedding", "--sizes", "0,10")
    assert "sentence" in table.out
    assert "best" in table.out


def test_nonnumeric_chunk_sizes_are_a_usage_error(cli):
    write_jsonl(Path("c.jsonl"), [{"eid": "e", "articles": articles("x")}])
    command = ("fairness", "chunk-size", "c.jsonl", "--summaries", "c.jsonl", "--sizes", "ten")
    assert cli(*command).code == 2


@pytest.fixture
def reviews():
    """20 sets of 6 documents; those of one value share their words."""
    rng = np.random.default_rng(0)
    rows = []
    for n in range(20):
        texts = [
            " ".join(f"{'ab'[i % 2]}word{k}" for k in rng.integers(0, 30, 9)) for i in range(6)
        ]
        rows.append({"eid": f"e{n}", "articles": articles(*texts)})
    rows.append({"eid": "one", "articles": articles("x", "y", values="a")})
    write_jsonl(Path("c.jsonl"), rows)


def test_the_oracle_by_unigrams(cli, reviews):
    result = cli(
        "fairness", "oracle", "c.jsonl", "--attribute", "side", "--documents", "2",
        "-o", "pseudo.jsonl", "--json", "-", code=0,
    )  # fmt: skip
    data = json.loads(result.out)
    assert (data["n"], data["excluded_by_reason"]) == (20, {"one_value": 1})
    assert data["notes"] == []
    bur = data["measures"]["bur"]
    # No word is shared, so a biased summary has nothing of the other value.
    assert bur["biased"] == 100.0
    assert data["measures"]["uer"]["biased"] == pytest.approx(25.0)
    assert data["measures"]["uer"]["difference"]["low"] > 20.0
    assert data["measures"]["uer"]["difference"]["p_holm"] < 0.01
    assert data["measures"]["auc"]["n"] == 20
    assert len(Path("pseudo.jsonl").read_text().splitlines()) == 40
    table = cli("fairness", "oracle", "c.jsonl", "--attribute", "side", "--documents", "2").out
    assert "Sets excluded: 1 one_value." in table


def test_the_oracle_by_embedding(cli, reviews, bag):
    command = ("fairness", "oracle", "c.jsonl", "--attribute", "side", "--documents", "2")
    data = json.loads(cli(*command, "--scorer", "embedding", "--json", "-").out)
    assert set(data["measures"]) == {measure.key for measure in COVERAGE.shown}
    assert data["measures"]["equal_coverage"]["difference"]["low"] > 0.0


def test_oracle_needs_two_values(cli):
    write_jsonl(Path("c.jsonl"), [{"eid": "one", "articles": articles("x", "y", values="a")}])
    result = cli("fairness", "oracle", "c.jsonl", "--attribute", "side", code=1)
    assert "have the same value, 'a'" in result.err
