"""The larger network: published weights in another order of words, with updates that are merged."""

from __future__ import annotations

import io
import zipfile

import pytest

torch = pytest.importorskip("torch")

from transformers import MPNetConfig, MPNetModel  # noqa: E402  (transformers is optional)

from fairjudge.errors import ConfigurationError, MissingExtraError  # noqa: E402
from fairjudge.scorers import large_package  # noqa: E402
from fairjudge.scorers._large_network import LargeNetwork, is_released  # noqa: E402
from fairjudge.scorers._trained_network import dequantise, quantise  # noqa: E402

pytestmark = pytest.mark.local_model
CONFIG = {
    "vocab_size": 30527, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
    "intermediate_size": 32,
}  # fmt: skip


@pytest.fixture
def published():
    torch.manual_seed(0)
    return MPNetModel(MPNetConfig(**CONFIG), add_pooling_layer=False).eval()


def network(published, *, seed: int = 1) -> LargeNetwork:
    torch.manual_seed(seed)
    large = LargeNetwork(MPNetConfig(**CONFIG), rank=3)
    large.load_published_weights(published.state_dict())
    return large.eval()


def test_output_without_updates_matches_the_published_encoder(published):
    bert = torch.tensor([[101, 2054, 7000, 102, 3000, 102], [101, 2054, 102, 9999, 102, 0]])
    mask = torch.tensor([[1] * 6, [1] * 5 + [0]])
    special = {101: 0, 102: 2, 0: 1}
    mpnet = torch.tensor([[special.get(i, i + 4) for i in row] for row in bert.tolist()])
    with torch.inference_mode():
        expected = published(input_ids=mpnet, attention_mask=mask).last_hidden_state
        hidden, pooled = network(published).encode(bert, torch.zeros_like(bert), mask)
    torch.testing.assert_close(hidden[0], expected[0])
    torch.testing.assert_close(hidden[1, :5], expected[1, :5])
    torch.testing.assert_close(pooled[:, :16], expected[:, 0])


def test_merged_updates_match_separate_ones_and_export_small(published):
    large = network(published)
    for name, value in large.named_parameters():
        if is_released(name):
            torch.nn.init.normal_(value, std=0.05)
    ids, types = torch.tensor([[101, 2054, 102, 3000, 102]]), torch.tensor([[0, 0, 0, 1, 1]])
    with torch.inference_mode():
        expected, _ = large.encode(ids, types, torch.ones_like(ids))
        state = {name: value for name, value in large.state_dict().items() if is_released(name)}
        other = network(published, seed=2)
        other.load_state_dict(dequantise(quantise(state)), strict=False)
        other.merge()
        hidden, _ = other.encode(ids, types, torch.ones_like(ids))
    torch.testing.assert_close(hidden, expected, atol=0.05, rtol=0.05)
    assert not any("word_embeddings" in name or name.endswith("original") for name in state)
    assert any(name.endswith(".up") for name in state)


def test_published_weights_with_a_missing_layer_raise(published):
    state = published.state_dict()
    del state["encoder.layer.1.output.dense.weight"]
    with pytest.raises(ValueError, match="the published weights lack"):
        LargeNetwork(MPNetConfig(**CONFIG)).load_published_weights(state)


def test_missing_packages_error_names_the_extra(monkeypatch):
    monkeypatch.setattr(large_package, "PACKAGES", ("no-such-package-of-anybody",))
    with pytest.raises(MissingExtraError, match=r"fairjudge\[local-large\]"):
        large_package.published_weights()


def test_packages_with_other_content_raise(monkeypatch, tmp_path):
    file = tmp_path / "part"
    monkeypatch.setattr(large_package, "_part_path", lambda _: file)
    monkeypatch.setattr(large_package, "PACKAGES", ("one",))
    file.write_bytes(b"no archive")
    with pytest.raises(ConfigurationError, match="cannot read the packages"):
        large_package.published_weights()
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("all-mpnet-base-v2/model.safetensors", b"other weights")
    file.write_bytes(content.getvalue())
    with pytest.raises(ConfigurationError, match="do not contain the published weights"):
        large_package.published_weights()
