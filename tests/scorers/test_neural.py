"""Entailment, BERTScore and BARTScore on tiny random models made here."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_nli import bert_config, save_nli, save_tokenizer

from fairjudge.analysis.value_scores import value_scores
from fairjudge.domain import Summary
from fairjudge.errors import ConfigurationError, InputError
from fairjudge.fairness.values import label_corpus
from fairjudge.scorers._pretrained import batches, load_pretrained, windows
from fairjudge.scorers.bart_score import load_bart_score
from fairjudge.scorers.bert_score import load_bert_score
from fairjudge.scorers.entailment import buckets, label_columns, load_entailment
from tests.fairness.conftest import make_cluster

torch = pytest.importorskip("torch", reason="needs torch and transformers: extra [local]")
pytest.importorskip("transformers", reason="needs torch and transformers: extra [local]")

LETTERS = "abcdefghijklmnopqrstuvwxyz"
WINDOW = 24


def save_letters(folder: Path) -> int:
    return save_tokenizer(folder, LETTERS, window=WINDOW)


@pytest.fixture(scope="module")
def nli_folder(tmp_path_factory):
    return save_nli(tmp_path_factory.mktemp("nli"), LETTERS, window=WINDOW)


@pytest.fixture(scope="module")
def nli(nli_folder):
    return load_entailment(str(nli_folder))


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    from transformers import BertModel

    folder = tmp_path_factory.mktemp("bert")
    torch.manual_seed(2)
    BertModel(bert_config(save_letters(folder), window=WINDOW)).save_pretrained(folder)
    return load_bert_score(str(folder))


@pytest.fixture(scope="module")
def bart_folder(tmp_path_factory):
    from transformers import BartConfig, BartForConditionalGeneration

    folder = tmp_path_factory.mktemp("bart")
    torch.manual_seed(3)
    config = BartConfig(
        vocab_size=save_letters(folder), d_model=16, encoder_layers=1, decoder_layers=1,
        encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=32,
        decoder_ffn_dim=32, max_position_embeddings=WINDOW, init_std=0.5, pad_token_id=0,
        bos_token_id=2, eos_token_id=3, decoder_start_token_id=3, forced_eos_token_id=3,
    )  # fmt: skip
    BartForConditionalGeneration(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def bart(bart_folder):
    return load_bart_score(str(bart_folder))


PAIRS = [("a b c", "a"), ("d e f g h i j k", "b c"), ("a", "z y x"), ("q r s t", "q")]


def direct(folder, premise, hypothesis):
    """The classifier by hand, one pair, labels in the order entail, neutral, contradict."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.inference_mode():
        logits = model(**tokenizer(premise, hypothesis, return_tensors="pt")).logits
    return logits.softmax(-1)[0].numpy()[[2, 1, 0]]


class TestEntailment:
    def test_rows_match_the_model_in_label_order(self, nli, nli_folder):
        rows = nli.classify(PAIRS)
        assert rows.dtype == np.float32
        assert rows.sum(axis=1) == pytest.approx(1.0, abs=1e-5)
        for row, pair in zip(rows, PAIRS, strict=True):
            assert row == pytest.approx(direct(nli_folder, *pair), abs=1e-5)

    def test_a_row_does_not_depend_on_the_others(self, nli):
        together = nli.classify([*PAIRS, *PAIRS[::-1]])
        alone = np.concatenate([nli.classify([pair]) for pair in PAIRS])
        assert np.abs(together[: len(PAIRS)] - alone).max() < 1e-3
        assert np.array_equal(together[: len(PAIRS)], together[len(PAIRS) :][::-1])

    def test_quantised_row_does_not_depend_on_the_others(self, nli_folder):
        rounded = load_entailment(str(nli_folder))
        rounded._pretrained.model.to(torch.bfloat16)
        rng = np.random.default_rng(0)
        texts = [" ".join(rng.choice(list(LETTERS), size)) for size in rng.integers(1, 12, 80)]
        pairs = list(zip(texts[:40], texts[40:], strict=True))
        together = rounded.classify(pairs)
        alone = np.concatenate([rounded.classify([pair]) for pair in pairs])
        assert np.abs(together - alone).max() < 1e-3
        exact = load_entailment(str(nli_folder)).classify(pairs)
        assert np.abs(together - exact).max() < 0.05

    def test_pairs_are_joined_like_the_tokenizer(self, nli):
        tokenizer, shape = nli._pretrained.tokenizer, nli._shape
        for premise, hypothesis in PAIRS:
            expected = tokenizer(premise, hypothesis)
            texts = tokenizer([premise, hypothesis], add_special_tokens=False)["input_ids"]
            result = shape.inputs(
                [tuple(texts)], device=torch.device("cpu"), width=len(expected["input_ids"])
            )
            assert result["input_ids"][0].tolist() == expected["input_ids"]
            assert result["token_type_ids"][0].tolist() == expected["token_type_ids"]
            assert "attention_mask" not in result  # nothing is padded

    def test_long_premises_are_read_to_the_end(self, nli, nli_folder):
        # 21 tokens of room (24 less 3), 1 for the hypothesis: windows of 20 that overlap by 2
        letters = [LETTERS[i % 26] for i in range(50)]
        premise = " ".join(letters)
        starts = range(0, 50, 18)
        by_hand = [direct(nli_folder, " ".join(letters[s : s + 20]), "b") for s in starts]
        expected = max(by_hand, key=lambda row: row[0])
        (row,) = nli.classify([(premise, "b")])
        assert row == pytest.approx(expected, abs=1e-5)

    def test_long_hypothesis_has_the_score_of_its_weakest_piece(self, nli, nli_folder):
        # at most 21 // 2 = 10 tokens a piece
        letters = [LETTERS[i] for i in range(15)]
        pieces = [" ".join(letters[:10]), " ".join(letters[10:])]
        expected = min((direct(nli_folder, "a b", p) for p in pieces), key=lambda row: row[0])
        (row,) = nli.classify([("a b", " ".join(letters))])
        assert row == pytest.approx(expected, abs=1e-5)

    def test_degenerate_input(self, nli):
        assert nli.classify([]).shape == (0, 3)
        assert nli.classify([("", "a")]).shape == (1, 3)
        with pytest.raises(InputError, match="no token"):
            nli.classify([("a", "")])

    def test_fingerprint_depends_on_the_weights(self, nli, nli_folder):
        assert load_entailment(str(nli_folder)).fingerprint == nli.fingerprint
        assert nli.fingerprint.endswith(":entailment-v1")

    @pytest.mark.parametrize(
        ("names", "columns"),
        [
            (["CONTRADICTION", "NEUTRAL", "ENTAILMENT"], (2, 1, 0)),  # roberta-large-mnli
            (["entailment", "neutral", "contradiction"], (0, 1, 2)),  # DeBERTa-v3 NLI models
            (["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"], (0, 2, 1)),  # albert-xlarge-vitaminc
            (["entailment", "not_entailment"], (0, 1, None)),
        ],
    )
    def test_label_order_comes_from_the_config(self, names, columns):
        assert label_columns(dict(enumerate(names))) == columns

    @pytest.mark.parametrize("names", [["LABEL_0", "LABEL_1", "LABEL_2"], ["positive", "negative"]])
    def test_uninformative_labels_raise(self, names):
        with pytest.raises(ConfigurationError, match="cannot identify entailment"):
            label_columns(dict(enumerate(names)))

    def test_missing_model_gives_one_error(self, tmp_path):
        with pytest.raises(ConfigurationError, match="cannot load model"):
            load_entailment(str(tmp_path))


@given(
    lengths=st.lists(st.integers(1, 512), max_size=60),
    others=st.lists(st.integers(1, 512), max_size=60),
)
def test_a_bucket_depends_on_a_rows_own_length(lengths, others):
    def of(rows):
        return {
            i: (width, {rows[j] == width for j in group})
            for group, width in buckets(rows, budget=2048, limit=512)
            for i in group
        }

    alone, beside = of(lengths), of([*lengths, *others])
    assert alone == {i: beside[i] for i in alone}
    assert sorted(alone) == list(range(len(lengths)))
    for group, width in buckets(lengths, budget=2048, limit=512):
        assert len(group) * width <= 2048
        assert all(lengths[i] <= width <= max(8, lengths[i] * 1.25 + 8) for i in group)
        assert len({lengths[i] == width for i in group}) == 1


class TestBertScore:
    def test_by_hand(self, bert):
        # precision: each summary token's best cosine with a source token, averaged
        vectors = bert._vectors(["a b c", "c d"])
        cosines = vectors["c d"] @ vectors["a b c"].T
        assert vectors["c d"].shape == (2, 16)
        assert np.linalg.norm(vectors["c d"], axis=1) == pytest.approx(1.0, abs=1e-5)
        expected = (cosines[0].max() + cosines[1].max()) / 2
        assert bert.score([("a b c", "c d")])[0] == pytest.approx(expected, abs=1e-6)

    def test_text_has_precision_one_with_itself(self, bert):
        assert bert.score([("a b c", "a b c")])[0] == pytest.approx(1.0, abs=1e-5)

    def test_long_texts_count_to_their_end(self, bert):
        long = " ".join(LETTERS[i % 26] for i in range(60))
        assert bert._vectors([long])[long].shape == (60, 16)
        assert bert.score([(long, long)])[0] == pytest.approx(1.0, abs=1e-5)

    def test_scores_do_not_depend_on_the_batch(self, bert):
        together = bert.score(PAIRS)
        assert together == pytest.approx([bert.score([p])[0] for p in PAIRS], abs=1e-3)

    def test_rescaling_maps_the_baseline_to_zero(self, bert):
        from fairjudge.scorers.bert_score import BertScore

        raw = bert.score(PAIRS)
        rescaled = BertScore(bert._pretrained, layer=2, baseline=0.5).score(PAIRS)
        assert rescaled == pytest.approx((raw - 0.5) / 0.5)

    def test_degenerate_input(self, bert):
        assert bert.score([]).shape == (0,)
        with pytest.raises(InputError, match="no token"):
            bert.score([("a", "")])


class TestBartScore:
    def test_by_hand(self, bart, bart_folder):
        # mean log-softmax of the target tokens, [CLS] and [SEP] among them, as its authors do
        from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

        tokenizer = AutoTokenizer.from_pretrained(bart_folder)
        model = AutoModelForSeq2SeqLM.from_pretrained(bart_folder).eval()
        source = tokenizer("a b c d", return_tensors="pt").input_ids
        target = tokenizer("b c", return_tensors="pt").input_ids
        with torch.inference_mode():
            logits = model(input_ids=source, labels=target).logits.log_softmax(-1)
        expected = logits[0].gather(1, target[0][:, None]).mean().item()
        assert bart.score([("a b c d", "b c")])[0] == pytest.approx(expected, abs=1e-5)

    def test_scores_do_not_depend_on_the_batch(self, bart):
        together = bart.score(PAIRS)
        assert np.all(together < 0)
        assert together == pytest.approx([bart.score([p])[0] for p in PAIRS], abs=1e-3)

    def test_long_texts_are_read_to_the_end(self, bart):
        letters = [LETTERS[i % 26] for i in range(40)]
        # room for 22 tokens, overlap 2: windows start at 0 and 20
        by_hand = [bart.score([(" ".join(letters[s : s + 22]), "a b")])[0] for s in (0, 20)]
        assert bart.score([(" ".join(letters), "a b")])[0] == pytest.approx(max(by_hand), abs=1e-4)
        assert np.isfinite(bart.score([("a", " ".join(letters))])[0])


def test_scores_by_value_exclude_values_without_text(bart):
    corpus = label_corpus(
        [make_cluster("c", [("x", "a b"), ("y", "c d"), ("x", "e"), ("z", " "), (None, "q")])],
        attribute="side",
    )
    summaries = [
        Summary(eid="c", system="s", text="a b"),
        Summary(eid="c", system="empty", text=" "),
    ]
    batches = []
    result = value_scores(corpus, summaries, scorer=bart, on_set=batches.append)
    expected = bart.score([("a b\ne", "a b"), ("c d", "a b")])
    assert result.keys() == {("c", "s")}
    assert result["c", "s"] == pytest.approx({"x": expected[0], "y": expected[1]}, abs=1e-4)
    assert batches == [1]


def test_windows_cover_all_tokens():
    assert windows([], 5, overlap=1) == [[]]
    assert windows([1, 2, 3], 5, overlap=1) == [[1, 2, 3]]
    assert windows([1, 2, 3, 4, 5], 3, overlap=1) == [[1, 2, 3], [3, 4, 5]]
    assert windows([1, 2, 3, 4, 5], 2, overlap=0) == [[1, 2], [3, 4], [5]]


def test_batches_respect_their_token_budget():
    result = list(batches([3, 9, 5, 1], budget=10))
    assert result == [[1], [2, 0], [3]]


def test_roberta_positions_leave_room_for_padding(tmp_path):
    from transformers import RobertaConfig, RobertaModel

    size = save_letters(tmp_path)
    config = RobertaConfig(
        vocab_size=size, hidden_size=8, num_hidden_layers=1, num_attention_heads=1,
        intermediate_size=8, max_position_embeddings=20, type_vocab_size=1, pad_token_id=0,
    )  # fmt: skip
    RobertaModel(config).save_pretrained(tmp_path)
    loaded = load_pretrained(str(tmp_path), auto_class="AutoModel", method="m")
    assert loaded.window == 18
