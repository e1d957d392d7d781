"""Models of transformers with random weights, of two layers and a few columns, and their inputs of random lengths.

    model = MODELS["llama"].make()
    inputs = MODELS["llama"].inputs(random)      keyword arguments of a call

Needs transformers. The greatest length is LENGTH.
"""

from dataclasses import dataclass

import torch
import transformers

WORDS, LENGTH = 96, 48
_BERT = dict(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, vocab_size=WORDS)
_LLAMA = dict(_BERT, num_key_value_heads=2)
_T5 = dict(num_layers=2, d_model=32, d_ff=64, num_heads=4, d_kv=8, vocab_size=WORDS)
_GPT2 = dict(n_layer=2, n_embd=32, n_head=4, vocab_size=WORDS, n_positions=128)
_VIT = dict(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, image_size=32, patch_size=8)


@dataclass
class Model:
    """name: of transformers' class.  config: the name and the arguments of its configuration.  attention: how it is computed.  kind: of
    inputs: "tokens", "decoder" (tokens of a decoder, too) or "pictures"."""

    name: str
    config: tuple
    attention: str = "sdpa"
    kind: str = "tokens"

    def make(self):
        torch.manual_seed(1)
        name, arguments = self.config
        config = getattr(transformers, name)(**arguments)
        if self.attention:
            config._attn_implementation = self.attention
        return getattr(transformers, self.name)(config).eval()

    def inputs(self, random) -> dict:
        tokens = lambda: torch.randint(3, WORDS, (batch, random.randint(2, LENGTH)))  # noqa: E731
        batch = random.randint(2, 4)
        if self.kind == "pictures":
            return {"pixel_values": torch.randn(batch, 3, 32, 32)}
        cached = {"use_cache": False} if self.generates or self.kind == "decoder" else {}
        return {"input_ids": tokens(), **({"decoder_input_ids": tokens()} if self.kind == "decoder" else {}), **cached}

    @property
    def generates(self) -> bool:
        return self.name.endswith(("CausalLM", "LMHeadModel"))


MODELS = {
    "llama": Model("LlamaForCausalLM", ("LlamaConfig", dict(_LLAMA, tie_word_embeddings=True))),
    "qwen2": Model("Qwen2ForCausalLM", ("Qwen2Config", _LLAMA)),
    "qwen3": Model("Qwen3ForCausalLM", ("Qwen3Config", dict(_LLAMA, head_dim=8))),
    "gemma2": Model("Gemma2ForCausalLM", ("Gemma2Config", dict(_LLAMA, head_dim=8, sliding_window=16)), "eager"),
    "mistral": Model("MistralForCausalLM", ("MistralConfig", dict(_LLAMA, sliding_window=16))),
    "mixtral": Model("MixtralForCausalLM", ("MixtralConfig", dict(_LLAMA, num_local_experts=4, num_experts_per_tok=2))),
    "gpt2": Model("GPT2LMHeadModel", ("GPT2Config", _GPT2)),
    "gpt_neox": Model("GPTNeoXForCausalLM", ("GPTNeoXConfig", _BERT)),
    "bloom": Model("BloomForCausalLM", ("BloomConfig", dict(n_layer=2, hidden_size=32, n_head=4, vocab_size=WORDS)), "eager"),
    "bert": Model("BertModel", ("BertConfig", _BERT)),
    "roberta": Model("RobertaModel", ("RobertaConfig", dict(_BERT, max_position_embeddings=130))),
    "t5_encoder": Model("T5EncoderModel", ("T5Config", _T5), ""),
    "t5": Model("T5ForConditionalGeneration", ("T5Config", _T5), "", "decoder"),
    "vit": Model("ViTModel", ("ViTConfig", _VIT), "sdpa", "pictures"),
}
