"""The packaged support model as an entailment model, and models that are not there."""

import json
import os
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest
from tiny_nli import save_nli

pytest.importorskip("torch", reason="needs torch and transformers: extra [local]")

from fairjudge.scorers.entailment import load_entailment
from fairjudge.scorers.trained_entailment import load_trained_entailment

LETTERS = "abcdefghijklmnopqrstuvwxyz"


@pytest.fixture(scope="module")
def model():
    return load_trained_entailment()


@pytest.mark.local_model
def test_stated_content_is_entailed_and_its_negation_contradicted(model):
    result = model.classify([
        ("The mayor opened the bridge on Monday.", "The bridge was opened."),
        ("The mayor opened the bridge on Monday.", "The bridge stayed closed."),
        ("The mayor opened the bridge on Monday.", "The bridge was opened."),
    ])  # fmt: skip
    assert result.shape == (3, 3)
    assert result.sum(axis=1) == pytest.approx(1.0, abs=1e-5)
    assert result[0].argmax() == 0
    assert result[1].argmax() == 2
    assert (result[0] == result[2]).all()
    assert model.classify([]).shape == (0, 3)
    assert model.fingerprint.startswith("fairjudge-minilm:")


@pytest.mark.local_model
@pytest.mark.parametrize("before", [0, 150, 400])
def test_a_long_premise_is_read_to_its_end(model, before):
    # 3 tokens a repetition: from 63 on the last sentence lies behind the model's 192 tokens
    premise = (
        "Rain fell. " * before + "The mayor opened the bridge on Monday. " + "Rain fell. " * 200
    )
    ((entailed, _, _),) = model.classify([(premise, "The bridge was opened.")])
    assert entailed > 0.5


@pytest.mark.local_model
def test_coverage_by_entailment_needs_no_network(tmp_path):
    clusters = [
        {
            "eid": f"e{n}",
            "articles": [
                {"aid": "1", "content": "The food was great.", "attributes": {"s": "pos"}},
                {"aid": "2", "content": "The waiter was rude.", "attributes": {"s": "neg"}},
            ],
        }
        for n in range(2)
    ]
    summaries = [{"eid": f"e{n}", "system": "x", "text": "The food was great."} for n in range(2)]
    for name, rows in {"c": clusters, "s": summaries}.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = (
        "fairness", "coverage", "c.jsonl", "--summaries", "s.jsonl", "--attribute", "s",
        "--scorer", "entailment", "--save-supports", "m.jsonl", "--json", "out.json",
    )  # fmt: skip
    result = fairjudge(command, tmp_path)
    assert result.returncode == 0, result.stderr
    (first, _) = map(json.loads, (tmp_path / "m.jsonl").read_text().splitlines())
    support = np.array(first["support"])
    assert support[0, 0] > 0.9
    assert support[1, 0] < 0.5
    assert first["kind"] == "entailment"
    by_value = json.loads((tmp_path / "out.json").read_text())["systems"]["x"]["coverage_by_value"]
    assert by_value["pos"]["difference"]["value"] > 0


def test_missing_model_raises_at_once(tmp_path):
    (tmp_path / "c.jsonl").write_text(
        json.dumps({
            "eid": "e",
            "articles": [
                {"aid": value, "content": "Words.", "attributes": {"s": value}} for value in "ab"
            ],
        })
    )  # fmt: skip
    (tmp_path / "s.jsonl").write_text(json.dumps({"eid": "e", "system": "x", "text": "Words."}))
    command = (
        "fairness", "coverage", "c.jsonl", "--summaries", "s.jsonl", "--attribute", "s",
        "--scorer", "entailment:some-team/no-such-nli",
    )  # fmt: skip
    start = time.monotonic()
    result = fairjudge(command, tmp_path)
    # 62 s of retries, before; most of this is starting Python and torch
    assert time.monotonic() - start < 45
    assert result.returncode != 0
    assert "cannot load model 'some-team/no-such-nli': no such folder" in result.stderr


def fairjudge(command, folder):
    """Run the command where the hub is a port at which nobody listens."""
    hub = {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HOME": str(folder / "hub")}
    return subprocess.run(
        [sys.executable, "-m", "fairjudge", *command],
        cwd=folder, env=os.environ | hub, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def test_tokenizer_with_fixed_length_padding_works(tmp_path):
    plain = save_nli(tmp_path / "plain", LETTERS, window=24)
    padded = tmp_path / "padded"
    shutil.copytree(plain, padded)
    file = padded / "tokenizer.json"
    settings = json.loads(file.read_text())
    settings["padding"] = {
        "strategy": {"Fixed": 16}, "direction": "Right", "pad_to_multiple_of": None,
        "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]",
    }  # fmt: skip
    settings["truncation"] = {
        "direction": "Right", "max_length": 16, "strategy": "LongestFirst", "stride": 0,
    }  # fmt: skip
    file.write_text(json.dumps(settings))
    pairs = [("a b c", "d e"), (" ".join(LETTERS), "a b")]
    expected = load_entailment(str(plain)).classify(pairs)
    assert load_entailment(str(padded)).classify(pairs) == pytest.approx(expected, abs=1e-6)
