"""A smaller network learns what a larger one says, and of pairs without a label that alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")

from transformers import MPNetConfig  # noqa: E402  (transformers is optional)

from fairjudge.scorers._large_network import LargeNetwork  # noqa: E402
from training import batches, distillation, run  # noqa: E402
from training.data import Example  # noqa: E402
from training.networks import trainable  # noqa: E402

pytestmark = pytest.mark.local_model

PAIRS = [
    Example("support", f"{n} ships sank.", "Three ships sank.", label, "snli", "g")
    for n, label in (("Three", 0), ("Two", 2), ("Some", 1), ("No", 3))
]
ASKED = [
    Example("reading", "What sank?", "Three ships sank.", 1, "qamr", "d", (6, 11)),
    Example("reading", "Who sang?", "Three ships sank.", 0, "qamr none, far", "d"),
]
SAME = [Example("same", "ships", "three ships", 1, "qamr", "d", question="What sank?")]


def tiny(seed: int) -> LargeNetwork:
    torch.manual_seed(seed)
    config = MPNetConfig(
        vocab_size=30527, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=32, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    network = LargeNetwork(config, rank=2)
    network.dropout.p = 0.0
    for head in (network.support, network.coverage, network.answered, network.span, network.same):
        torch.nn.init.normal_(head.weight)  # else all say nearly a half
    return network


def batch_of(examples) -> batches.Batch:
    return batches.collate(batches.encode(examples, run.tokenizer()))


@pytest.mark.parametrize("examples", [PAIRS, ASKED, SAME], ids=["support", "reading", "same"])
def test_loss_is_minimal_at_agreement_and_decreases_in_training(examples):
    batch, teacher, network = batch_of(examples), tiny(1), tiny(2)

    def loss(own):
        encoding = run.encoded(teacher, batch)
        return distillation.distilled_loss(own, teacher, batch, run.encoded(own, batch), encoding)

    least, before = loss(teacher).item(), loss(network).item()
    assert before > least
    optimizer = torch.optim.Adam(trainable(network).values(), lr=0.02)
    for _ in range(40):
        optimizer.zero_grad()
        value = loss(network)
        value.backward()
        optimizer.step()
    assert least - 1e-4 <= value.item() < least + (before - least) / 2


def test_unlabelled_pairs_use_only_the_teacher():
    examples = [replace(pair, label=distillation.UNLABELLED) for pair in PAIRS]
    batch, network, teacher = batch_of(examples), tiny(2), tiny(1)
    assert run.loss_of(network, batch, covered=0.2).item() == 0
    taught = run.loss_of(network, batch, covered=0.2, teacher=teacher)
    assert taught.item() > 0
    labelled = run.loss_of(network, batch_of(PAIRS), covered=0.2, teacher=teacher)
    assert labelled.item() > taught.item()
    assert teacher.support.weight.grad is None


def test_unlabelled_pairs_are_of_training_documents_only(monkeypatch, tmp_path):
    steps = []
    monkeypatch.setattr(distillation, "coverage", lambda split, **_: steps.append(split) or [])
    monkeypatch.setattr(distillation, "topic_rows", lambda split, **_: steps.append(split) or [])
    monkeypatch.setattr(distillation, "support", lambda split, **_: steps.append(split) or [])
    monkeypatch.setattr(distillation, "qamr", lambda split, **_: steps.append(split) or [])
    sentences = (
        "A bridge fell into the harbour today. Two boats were under it at the time. Nobody died."
    )
    test_group = next(f"{n}" for n in range(999) if distillation.split_of(f"defacto:{n}") == "test")
    train_group = next(
        f"{n}" for n in range(99) if distillation.split_of(f"defacto:{n}") == "train"
    )
    monkeypatch.setattr(
        distillation,
        "rows",
        lambda *_, **__: [
            {"source": "defacto", "group": group, "premise": f"{group} {sentences}"}
            for group in (test_group, train_group)
        ],
    )
    pairs = list(distillation.unlabelled(folder=tmp_path))
    assert steps == ["train"] * 4
    assert pairs
    assert all(pair.label == distillation.UNLABELLED for pair in pairs)
    texts = " ".join(text for pair in pairs for text in (pair.first, pair.second))
    assert f"{train_group} A bridge" in texts
    assert f"{test_group} A bridge" not in texts
