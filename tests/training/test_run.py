"""A run that is broken off and started again ends with the weights of one that was not."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from fairjudge.scorers import _trained_network  # noqa: E402  (imports torch)
from training import batches, measures, run  # noqa: E402  (torch is optional)
from training.data import Example  # noqa: E402

pytestmark = pytest.mark.local_model

PAIR = Example("support", "A man sleeps.", "A man is asleep.", 0, "snli", "g")
EXAMPLES = {
    "support": [PAIR, Example("support", "A dog.", "A cat.", 3, "snli", "h")],
    "planted": [PAIR],
    "coverage": [
        Example("coverage", "Ships sank.", "Three ships sank.", 1, "realsumm", "e"),
        Example("coverage", "It rained.", "Three ships sank.", 0, "realsumm", "e"),
    ],
    "reading": [
        Example("reading", "What sank?", "Three ships sank.", 1, "qamr", "d", (6, 11)),
        Example("reading", "Who sang?", "Three ships sank.", 0, "qamr none, far", "d"),
    ],
    "key points": [
        Example("points", "Ships sank.", "Three ships sank.", 0, "key points: t", "t"),
        Example("points", "Ships float.", "Three ships sank.", 2, "key points: t", "t"),
        Example("points", "It is late.", "Three ships sank.", 3, "key points: t", "t"),
    ],
    "same": [
        Example("same", "ships", "three ships", 1, "qamr", "d", question="What sank?"),
        Example("same", "ships", "a car", 0, "qamr", "d", question="What sank?"),
    ],
}


@pytest.fixture
def start(tmp_path, monkeypatch):
    monkeypatch.setattr(_trained_network, "LAYERS", 1)
    words = run.tokenizer()
    encoded = {name: batches.encode(rows, words) for name, rows in EXAMPLES.items()}
    monkeypatch.setattr(run, "examples", lambda *_, **__: encoded)
    monkeypatch.setattr(run.data, "hashes", lambda **_: {})

    def start(name: str) -> run.Run:
        return run.Run(tmp_path / name, run.Settings(steps=4, warm=2), source=tmp_path)

    return start


def test_interrupted_run_resumes_with_equal_results(start):
    whole = start("whole")
    assert not whole.restore()
    assert whole.go_on(minutes=None, say=lambda _: None)

    broken = start("broken")
    assert not broken.go_on(minutes=0, say=lambda _: None)
    assert broken.step == 1
    again = start("broken")
    assert again.restore()
    assert again.step == 1
    assert again.go_on(minutes=None, say=lambda _: None)
    assert all(torch.equal(whole.mean[name], again.mean[name]) for name in whole.mean)
    assert not list(again.folder.glob("*.partial"))
    row = (again.folder / "curve.jsonl").read_text("utf-8")
    assert '"span_f1"' in row


def test_key_points_train_both_heads(start):
    process = start("one")
    points = next(pool for pool in process.pools if pool.name == "key points")
    run.loss_of(process.network, points.next(), covered=0.0).backward()
    for head in (process.network.support, process.network.coverage):
        assert float(head.weight.grad.abs().sum()) > 0
    assert sum(process.shares.values()) == pytest.approx(1)


def test_word_embeddings_are_frozen(start):
    process = start("one")
    before = process.network.embeddings.words.weight.clone()
    process.advance()
    assert torch.equal(before, process.network.embeddings.words.weight)


def test_learning_rate_warms_up_stays_and_decays():
    settings = run.Settings(steps=100, warm=10, decay=0.5)
    assert settings.factor(0) == pytest.approx(0.1)
    assert settings.factor(30) == 1
    assert settings.factor(75) == pytest.approx(0.5)
    assert settings.factor(100) == 0


def test_batch_has_task_segment_and_padding_masks():
    words = run.tokenizer()
    batch = batches.collate(batches.encode(EXAMPLES["reading"], words))
    assert batch.ids.shape == batch.types.shape == batch.mask.shape
    assert set(batch.types[0].tolist()) == {2, 3}
    first, last = batch.spans[0].tolist()
    assert words.decode(batch.ids[0, first : last + 1]) == "ships"


def test_pools_have_their_share_of_tokens():
    words = run.tokenizer()
    pools = [
        batches.Pool(name, run.SHARES[name], batches.encode(rows, words), 10, 0)
        for name, rows in EXAMPLES.items()
    ]
    for _ in range(200):
        batches.max_behind(pools).next()
    tokens = sum(pool.tokens for pool in pools)
    for pool in pools:
        assert pool.tokens / tokens == pytest.approx(pool.share, abs=0.03)


def test_spans_are_scored_by_shared_tokens():
    words = run.tokenizer()
    (row, _) = batches.encode(EXAMPLES["reading"], words)
    first, last = row.span
    assert measures.span_f1(row, first, last) == 1
    assert measures.span_f1(row, first - 1, last) == pytest.approx(2 / 3)
    assert measures.span_f1(row, last + 1, last + 2) == 0
