"""A GGUF file is read as the model it was made from."""

from __future__ import annotations

import pytest
from tiny_model import WORDS, make_tiny_model

from fairjudge.backends import open_backend, resolve_target

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("accelerate")
gguf = pytest.importorskip("gguf")

pytestmark = pytest.mark.filterwarnings("default")

LAYER = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
NAMES = {
    "model.embed_tokens.weight": "token_embd.weight",
    "model.norm.weight": "output_norm.weight",
    "lm_head.weight": "output.weight",
    **{
        f"model.layers.{n}.{ours}.weight": f"blk.{n}.{theirs}.weight"
        for n in range(2)
        for ours, theirs in LAYER.items()
    },
}


def write_gguf(model, path):
    """Write a tiny llama, with the byte-level vocabulary that llama.cpp calls gpt2."""
    config = model.config
    tokens = [*WORDS]
    tokens[1:8] = ["N", "o", "No", "C", "D", "E", "B"]  # one merge: N and o
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_attention_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_dimension_count(config.hidden_size // config.num_attention_heads)
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(tokens)
    writer.add_token_types([1] * len(tokens))
    writer.add_token_merges(["N o"])
    writer.add_bos_token_id(WORDS.index("<bos>"))
    writer.add_eos_token_id(WORDS.index("<eos>"))
    writer.add_pad_token_id(WORDS.index("<pad>"))
    for name, tensor in model.state_dict().items():
        values = tensor.float().numpy()
        if "q_proj" in name or "k_proj" in name:
            values = interleaved(values, config.num_attention_heads)
        writer.add_tensor(NAMES[name], values.copy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def interleaved(values, n_heads):
    """Order rotary dimensions in pairs, as GGUF has them, from halves, as transformers has them."""
    n = values.shape[0]
    halves = values.reshape(n_heads, 2, n // n_heads // 2, *values.shape[1:])
    return halves.swapaxes(1, 2).reshape(values.shape)


async def test_gguf_weights_match_and_generate(tmp_path, ask):
    import torch
    from transformers import AutoModelForCausalLM

    from fairjudge.backends.generation import load_model

    model = AutoModelForCausalLM.from_pretrained(
        make_tiny_model(tmp_path / "tiny", template=None), dtype=torch.float32
    )
    write_gguf(model, tmp_path / "tiny.gguf")
    loaded = load_model(str(tmp_path / "tiny.gguf"))
    ids = torch.tensor([[1, 5, 20, 22]])
    with torch.inference_mode():
        torch.testing.assert_close(loaded.model(ids).logits, model(ids).logits)
    assert loaded.window_tokens == 64
    target = resolve_target(f"transformers:{tmp_path / 'tiny.gguf'}")
    backend = open_backend(target)
    reply = await backend.complete(ask(target, "NoNo", max_output_tokens=3, top_logprobs=2))
    assert reply.usage.input_tokens >= 2
    assert len(reply.tokens) == reply.usage.output_tokens
    await backend.aclose()
