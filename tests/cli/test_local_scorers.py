"""Entailment by the commands: as fallback, as the cascade's router, from a model on disk."""

from __future__ import annotations

import json
import random
from itertools import pairwise
from pathlib import Path

import pytest
from cli_tools import openai, text_of, write_jsonl
from json_files import read_json, read_rows
from stub_server import Reply
from tiny_nli import probability_of_entailment, save_nli

pytest.importorskip("torch", reason="needs torch and transformers: extra [local]")

WORDS = "rain fell sun shone dogs barked bells rang snow lay birds sang rivers rose .".split()  # noqa: SIM905  # reads better
ARTICLES = ("Rain fell.", "Dogs barked.", "Snow lay.")
TEXTS = ("Sun shone.", "Rivers rose.", "Bells rang.", "Birds sang.")
WINDOW = 32


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_nli(tmp_path_factory.mktemp("nli"), WORDS, window=WINDOW)


@pytest.fixture(scope="module")
def turned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same model with its outputs in another order."""
    return save_nli(tmp_path_factory.mktemp("turned"), WORDS, window=WINDOW, order=(2, 0, 1))


@pytest.fixture
def files() -> tuple[str, ...]:
    rows = [{"aid": f"a{n}", "content": text} for n, text in enumerate(ARTICLES)]
    write_jsonl(Path("clusters.jsonl"), [{"eid": "e", "articles": rows}])
    write_jsonl(
        Path("summaries.jsonl"),
        [{"eid": "e", "system": f"s{n}", "text": text} for n, text in enumerate(TEXTS)],
    )
    inputs = ("--references", "clusters.jsonl", "--summaries", "summaries.jsonl")
    return (*inputs, "--aspect", "faithfulness", "--protocol", "likert", "-o", "out.jsonl")


def by_hand(folder: Path, text: str) -> float:
    """The largest P(entail) by any chunk; each article is one sentence."""
    return max(probability_of_entailment(folder, article, text) for article in ARTICLES)


def refuse(call):
    return Reply(text=None, refusal="no")


def test_fallback_scores_items_the_judge_refuses(cli, files, server, model):
    server.answer = refuse
    options = ("--fallback", "entailment", "--entailment-model", model)
    cli("judge", *files, *openai(server), *options, code=0)
    rows = read_rows("out.jsonl")
    assert [row["scored_by"] for row in rows] == ["entailment"] * len(TEXTS)
    assert {row["fallback_for"] for row in rows} == {"refused"}
    for row, text in zip(rows, TEXTS, strict=True):
        support = by_hand(model, text)
        assert row["support"] == [pytest.approx(support, abs=1e-3)]
        assert row["value"] == pytest.approx(1 + 4 * support, abs=4e-3)
    assert len({round(row["value"], 3) for row in rows}) == len(TEXTS), "the model tells them apart"


def test_score_does_not_depend_on_the_batch(cli, files, server, model):
    server.answer = refuse
    options = (*openai(server), "--fallback", "entailment", "--entailment-model", model)
    assert cli("judge", *files, *options).code == 0
    together = [row["value"] for row in read_rows("out.jsonl")]
    alone = []
    for text in TEXTS:
        write_jsonl(Path("summaries.jsonl"), [{"eid": "e", "system": "s", "text": text}])
        assert cli("judge", *files, *options).code == 0
        alone += [row["value"] for row in read_rows("out.jsonl")]
    assert alone == pytest.approx(together, abs=1e-3)


def test_entailment_label_is_read_from_the_model_config(cli, files, server, model, turned):
    server.answer = refuse
    values = []
    for folder in (model, turned):
        options = ("--fallback", "entailment", "--entailment-model", folder)
        assert cli("judge", *files, *openai(server), *options).code == 0
        values.append([row["value"] for row in read_rows("out.jsonl")])
    assert values[0] == pytest.approx(values[1], abs=1e-5)


def test_cascade_escalates_only_uncertain_entailment(cli, files, server, model):
    """Thresholds between the second and the third rating by hand, and above the third."""
    server.answer = lambda call: "Verdict: 2"
    ratings = sorted((1 + 4 * by_hand(model, text), text) for text in TEXTS)
    gaps = [(low[0] + high[0]) / 2 for low, high in pairwise(ratings)]
    Path("thresholds.json").write_text(json.dumps({"low": gaps[1], "high": gaps[2]}))
    unsure = ratings[2][1]
    options = ("--cascade", "thresholds.json", "--cascade-scorer", "entailment")
    cli("judge", *files, *openai(server), *options, "--entailment-model", model, code=0)
    (call,) = server.calls
    assert unsure in text_of(call)
    routed = {TEXTS[int(row["system"][1])]: row for row in read_rows("out.jsonl")}
    assert {text for text, row in routed.items() if row["routed"] == "judge"} == {unsure}
    assert (routed[unsure]["value"], routed[unsure]["scored_by"]) == (2.0, "llm")
    for rating, text in (ratings[0], ratings[1], ratings[3]):
        assert routed[text]["value"] == pytest.approx(rating, abs=4e-3)
        assert routed[text]["scored_by"] == "entailment"


def test_a_summary_longer_than_the_models_window_is_read_to_its_end(cli, files, server, model):
    """A sentence of 60 words takes three windows; its least entailed piece counts."""
    server.answer = refuse
    start = "rain fell " * 30
    ends = [f"{start}{end} {end} {end}." for end in ("sun shone", "dogs barked")]
    write_jsonl(
        Path("summaries.jsonl"),
        [{"eid": "e", "system": f"s{n}", "text": text} for n, text in enumerate(ends)],
    )
    options = ("--fallback", "entailment", "--entailment-model", model)
    assert cli("judge", *files, *openai(server), *options).code == 0
    first, second = (row["value"] for row in read_rows("out.jsonl"))
    assert first != pytest.approx(second, abs=1e-6)


def test_non_entailment_model_folder_gives_one_clear_error(cli, files, server, tmp_path):
    server.answer = refuse
    (tmp_path / "empty").mkdir()
    options = ("--fallback", "entailment", "--entailment-model", tmp_path / "empty")
    result = cli("judge", *files, *openai(server), *options, code=1)
    (line,) = result.err.splitlines()
    assert "cannot load model" in line
    assert server.calls == []


def test_balance_is_measured_by_a_named_entailment_model_and_its_sources_are_audited(
    cli, files, model
):
    """Each article is one statement, so that its share is P(entail) by the summary's one chunk."""
    options = ("--aspect", "balance", "--entailment-model", model)
    result = cli("judge", *files[:4], *options, "-o", "out.jsonl", code=0)
    for row, text in zip(read_rows("out.jsonl"), TEXTS, strict=True):
        shares = [probability_of_entailment(model, text, article) for article in ARTICLES]
        assert [item["covered"] for item in row["sources"]] == pytest.approx(shares, abs=1e-5)
        assert row["value"] == pytest.approx(1 + 4 * sum(sorted(shares)[:2]) / 2, abs=1e-4)
        assert row["scored_by"] == "entailment"
    command = ("audit", "covered", "out.jsonl", "--references", "clusters.jsonl")
    result = cli(*command, "--json", "c.json", code=0)
    assert "The least covered half of the sources" in result.out
    groups = read_json("c.json")["groups"]
    assert [group["n_sources"] for group in groups] == [3, 3, 3, 3]
    assert all(len(group["least_covered"][0]["sources"]) == 2 for group in groups)


def test_balance_has_no_binary_protocol(cli, files, model):
    options = ("--aspect", "balance", "--protocol", "binary", "--entailment-model", model)
    result = cli("judge", *files[:4], *options, "-o", "out.jsonl", code=1)
    assert "likert or pairwise" in result.err


def test_lengths_are_counted_in_tokens_of_a_models_own_tokenizer(cli, model):
    rng = random.Random(0)
    texts = {"short": "rain fell.", "long": "rain fell, sun shone. dogs barked"}
    write_jsonl(
        Path("summaries.jsonl"),
        [{"eid": f"e{n}", "system": s, "text": t} for n in range(20) for s, t in texts.items()],
    )
    pair = {"system_a": "short", "system_b": "long", "aspect": "coverage", "protocol": "pairwise"}
    write_jsonl(
        Path("pairs.jsonl"),
        [
            pair | {"eid": f"e{n}", "judge": "j", "order": order, "value": rng.choice("ab")}
            for n in range(20)
            for order in ("ab", "ba")
        ],
    )
    inputs = (
        "audit",
        "length",
        "pairs.jsonl",
        "--summaries",
        "summaries.jsonl",
        "--json",
        "l.json",
    )
    result = cli(*inputs, "--tokenizer", model, code=0)
    assert "Lengths of summaries, in tokens of" in result.out
    tokens = read_json("l.json")
    # Punctuation is a token; what a model puts around a text is not counted.
    assert {name: length["value"] for name, length in tokens["lengths"].items()} == {
        "short": 3,
        "long": 8,
    }
    assert tokens["tokenizer"] == str(model)
    assert cli(*inputs).code == 0
    words = read_json("l.json")
    assert {name: length["value"] for name, length in words["lengths"].items()} == {
        "short": 2,
        "long": 6,
    }
    assert "tokenizer" not in words
    Path("empty").mkdir()
    refused = cli(*inputs, "--tokenizer", "empty")
    assert (refused.code, "cannot load tokenizer 'empty'" in refused.err) == (1, True), refused.err
