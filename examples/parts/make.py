#!/usr/bin/env python3
"""Generates components of models other than Llama as graphs of unfused operators: lists of graphs, one file per theme.

  make.py real FOLDER     the sizes of the named models: the files in this folder
  make.py small FOLDER    the same graphs at sizes for the emulator: the files in tests/run/parts
  make.py wide FOLDER     some with enough blocks for warpgroup instructions: also in tests/run/parts

Weights are (out, in), as a checkpoint stores them. The dictionaries in the decorator of each function have its sizes.
"""
import json
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "layers"))
from make import Graph as Layer  # noqa: E402


class Graph(Layer):
    """A graph whose inputs have one dtype."""

    def __init__(self, name, dtype="bf16"):
        super().__init__(name)
        self.dtype = dtype

    def input(self, name, *shape, dtype=None):
        return super().input(name, *shape, dtype=dtype or self.dtype)

    def view(self, x, *shape):
        return self.op("reshape", x, shape=list(shape))

    def transposed(self, x, *dims):
        return self.op("permute", x, dims=list(dims))

    def part(self, x, dim, start, end, to=None):
        return self.op("slice", x, dim=dim, start=start, end=end, to=to)

    def norm(self, x, weight):
        return self.op("rms_norm", x, weight, eps=1e-6)

    def projected(self, x, name, out, width, bias=False):
        y = self.linear(x, self.input("w" + name, out, width))
        return self.op("add", y, self.input("b" + name, out)) if bias else y

    def scores(self, q, k, dim, scale=None):
        """Scaled scores in float32."""
        axes = list(range(dim - 1)) + [dim, dim - 1]
        s = self.op("cast", self.op("matmul", q, self.transposed(k, *axes)), dtype="f32")
        return s if scale is None else self.op("mul_scalar", s, scalar=scale)

    def weighted(self, s, v, dim, to=None):
        p = self.op("softmax", s, dim=dim)
        return self.op("matmul", self.op("cast", p, dtype=self.dtype), v, to=to)


PARTS = []


def part(file, real, small, wide=None, **variants):
    """A decorator of a function of a graph and sizes that returns the outputs; variants are further names with other sizes."""
    def add(make):
        name = make.__name__
        PARTS.append((file, name, make, {"real": real, "small": small, "wide": wide and {**real, **wide}}))
        for suffix, sizes in variants.items():
            PARTS.append((file, f"{name}_{suffix}", make, {"real": {**real, **sizes}}))
        return make
    return add


# Attention with many queries.

@part("attention", dict(heads=32, kv=8, tokens=2048, dim=128), dict(heads=4, kv=2, tokens=24, dim=16))
def qk_norm_prefill(g, heads, kv, tokens, dim):
    """Qwen 3: a norm for each head of queries and keys before the rotary embedding."""
    q, k, v = g.input("q", tokens, heads, dim), g.input("k", tokens, kv, dim), g.input("v", tokens, kv, dim)
    cos, sin = g.input("cos", tokens, 1, dim // 2), g.input("sin", tokens, 1, dim // 2)
    q = g.op("rotary", g.norm(q, g.input("gq", dim)), cos, sin)
    k = g.op("rotary", g.norm(k, g.input("gk", dim)), cos, sin)
    q = g.view(g.transposed(q, 1, 0, 2), kv, heads // kv, tokens, dim)
    k, v = (g.view(g.transposed(t, 1, 0, 2), kv, 1, tokens, dim) for t in (k, v))
    s = g.op("mask", g.scores(q, k, 3, dim ** -0.5), tril=0)
    return [g.weighted(s, v, 3, to="o")]


@part("attention", dict(heads=16, kv=8, tokens=2048, dim=256, cap=50.0, window=None), dict(heads=4, kv=2, tokens=24, dim=16, cap=5.0, window=None), wide=dict(heads=80, kv=40, tokens=256, dim=64),
      window=dict(tokens=8192, window=4096))
def soft_cap(g, heads, kv, tokens, dim, cap, window):
    """Gemma 2: cap tanh(s / cap) before the mask."""
    q = g.input("q", kv, heads // kv, tokens, dim)
    k, v = (g.input(n, kv, 1, tokens, dim) for n in "kv")
    s = g.op("mul_scalar", g.op("tanh", g.op("div", g.scores(q, k, 3, dim ** -0.5), scalar=cap)), scalar=cap)
    s = g.op("mask", s, tril=0, **({} if window is None else {"triu": 1 - window}))
    return [g.weighted(s, v, 3, to="o")]


@part("attention", dict(heads=32, tokens=4096, dim=128, window=1024), dict(heads=2, tokens=24, dim=16, window=7),
      wide=dict(heads=80, tokens=256, dim=64, window=70))
def sliding_window(g, heads, tokens, dim, window):
    """Mistral: only the latest keys (sliding window)."""
    q, k, v = (g.input(n, heads, tokens, dim) for n in "qkv")
    return [g.weighted(g.op("mask", g.scores(q, k, 2, dim ** -0.5), tril=0, triu=1 - window), v, 2, to="o")]


@part("attention", dict(heads=32, tokens=2048, dim=128), dict(heads=2, tokens=24, dim=16), wide=dict(heads=40, tokens=256, dim=64))
def mask_of_numbers(g, heads, tokens, dim):
    """A mask added by the caller."""
    q, k, v = (g.input(n, 1, heads, tokens, dim) for n in "qkv")
    s = g.op("add", g.scores(q, k, 3, dim ** -0.5), g.input("mask", 1, 1, tokens, tokens, dtype="f32"))
    return [g.weighted(s, v, 3, to="o")]


@part("attention", dict(heads=32, tokens=2048, dim=128), dict(heads=2, tokens=24, dim=16))
def mask_chosen(g, heads, tokens, dim):
    """A mask of ones and zeros that selects, like masked_fill."""
    q, k, v = (g.input(n, heads, tokens, dim) for n in "qkv")
    s = g.op("where", g.input("keep", tokens, tokens, dtype="f32"), g.scores(q, k, 2, dim ** -0.5), scalar=-1e30)
    return [g.weighted(s, v, 2, to="o")]


@part("attention", dict(heads=32, tokens=2048, dim=128), dict(heads=2, tokens=24, dim=16), wide=dict(heads=40, tokens=251, dim=64))
def alibi(g, heads, tokens, dim):
    """ALiBi: a slope of each head times the key's position."""
    q, k, v = (g.input(n, heads, tokens, dim) for n in "qkv")
    bias = g.op("mul", g.input("slopes", heads, 1, 1, dtype="f32"), g.input("positions", 1, 1, tokens, dtype="f32"))
    s = g.op("mask", g.op("add", g.scores(q, k, 2, dim ** -0.5), bias), tril=0)
    return [g.weighted(s, v, 2, to="o")]


@part("attention", dict(batch=4, heads=32, tokens=512, dim=64), dict(batch=2, heads=2, tokens=24, dim=16))
def relative_bias(g, batch, heads, tokens, dim):
    """T5: a learnt bias for each head, no scale."""
    q, k, v = (g.input(n, batch, heads, tokens, dim) for n in "qkv")
    bias = g.op("cast", g.input("bias", 1, heads, tokens, tokens), dtype="f32")
    return [g.weighted(g.op("add", g.scores(q, k, 3), bias), v, 3, to="o")]


@part("attention", dict(heads=64, kv=8, tokens=2048, dim=64), dict(heads=4, kv=2, tokens=24, dim=16), wide=dict(heads=40, kv=8, tokens=251, dim=64))
def sinks(g, heads, kv, tokens, dim):
    """gpt-oss: attention sinks, a learnt score for each head that takes part in the softmax and has no value."""
    q = g.input("q", kv, heads // kv, tokens, dim)
    k, v = (g.input(n, kv, 1, tokens, dim) for n in "kv")
    s = g.op("mask", g.scores(q, k, 3, dim ** -0.5), tril=0)
    sink = g.op("expand", g.input("sinks", kv, heads // kv, 1, 1, dtype="f32"), shape=[kv, heads // kv, tokens, 1])
    p = g.part(g.op("softmax", g.op("concat", s, sink, dim=3), dim=3), 3, 0, tokens)
    return [g.op("matmul", g.op("cast", p, dtype=g.dtype), v, to="o")]


@part("attention", dict(heads=64, kv=8, tokens=2048, dim=64), dict(heads=4, kv=2, tokens=24, dim=16))
def sinks_apart(g, heads, kv, tokens, dim):
    """The same with an explicit concat."""
    q = g.input("q", kv, heads // kv, tokens, dim)
    k, v = (g.input(n, kv, 1, tokens, dim) for n in "kv")
    s, sink = g.op("mask", g.scores(q, k, 3, dim ** -0.5), tril=0), g.input("sinks", kv, heads // kv, 1, 1, dtype="f32")
    m = g.op("maximum", g.op("amax", s, dim=3, keepdim=True), sink)
    e = g.op("exp", g.op("sub", s, m))
    l = g.op("add", g.op("sum", e, dim=3, keepdim=True), g.op("exp", g.op("sub", sink, m)))
    return [g.op("matmul", g.op("cast", g.op("div", e, l), dtype=g.dtype), v, to="o")]


@part("attention", dict(heads=16, tokens=2048, nope=128, rope=64, value=128), dict(heads=2, tokens=24, nope=16, rope=8, value=16))
def latent_prefill(g, heads, tokens, nope, rope, value):
    """DeepSeek's latent attention with many queries: the rotary part of the keys is shared by all heads."""
    q, k = g.input("q", heads, tokens, nope), g.input("k", heads, tokens, nope)
    qr, kr, v = g.input("qr", heads, tokens, rope), g.input("kr", 1, tokens, rope), g.input("v", heads, tokens, value)
    s = g.op("mul_scalar", g.op("add", g.scores(q, k, 2), g.scores(qr, kr, 2)), scalar=(nope + rope) ** -0.5)
    return [g.weighted(g.op("mask", s, tril=0), v, 2, to="o")]


@part("attention", dict(heads=16, tokens=2048, width=192, value=128), dict(heads=2, tokens=24, width=24, value=16))
def wide_keys(g, heads, tokens, width, value):
    """The same with both parts concatenated."""
    q, k, v = g.input("q", heads, tokens, width), g.input("k", heads, tokens, width), g.input("v", heads, tokens, value)
    return [g.weighted(g.op("mask", g.scores(q, k, 2, width ** -0.5), tril=0), v, 2, to="o")]


# Attention over keys of odd lengths.

@part("cross", dict(batch=2, heads=10, queries=4096, keys=77, dim=64), dict(batch=1, heads=2, queries=33, keys=13, dim=16),
      sd=dict(heads=8, dim=40), prime=dict(keys=257))
def text_cross(g, batch, heads, queries, keys, dim):
    """Stable Diffusion: pixels over the words of a prompt."""
    q = g.input("q", batch, heads, queries, dim)
    k, v = (g.input(n, batch, heads, keys, dim) for n in "kv")
    return [g.weighted(g.scores(q, k, 3, dim ** -0.5), v, 3, to="o")]


@part("cross", dict(heads=20, queries=448, keys=1500, dim=64), dict(heads=2, queries=10, keys=30, dim=16),
      encoder=dict(queries=1500), step=dict(queries=1), beams=dict(queries=5), prime=dict(keys=1499))
def whisper_cross(g, heads, queries, keys, dim):
    """Whisper: text over 30 seconds of sound."""
    q = g.input("q", heads, queries, dim)
    k, v = (g.input(n, heads, keys, dim) for n in "kv")
    return [g.weighted(g.scores(q, k, 2, dim ** -0.5), v, 2, to="o")]


@part("cross", dict(batch=8, heads=16, tokens=257, dim=64), dict(batch=1, heads=2, tokens=19, dim=16), wide=dict(batch=6, heads=10, tokens=197),
      b16=dict(heads=12, tokens=197), siglip=dict(tokens=729, dim=72))
def image_attention(g, batch, heads, tokens, dim):
    """CLIP's and other vision transformers: patches and a token for the class."""
    q, k, v = (g.input(n, batch, heads, tokens, dim, dtype="f16") for n in "qkv")
    g.dtype = "f16"
    return [g.weighted(g.scores(q, k, 3, dim ** -0.5), v, 3, to="o")]


@part("cross", dict(heads=32, kv=8, tokens=1013, dim=128), dict(heads=4, kv=2, tokens=23, dim=16), wide=dict(heads=64, kv=32, tokens=211, dim=64))
def prime_causal(g, heads, kv, tokens, dim):
    """A prompt of arbitrary length."""
    q = g.input("q", kv, heads // kv, tokens, dim)
    k, v = (g.input(n, kv, 1, tokens, dim) for n in "kv")
    return [g.weighted(g.op("mask", g.scores(q, k, 3, dim ** -0.5), tril=0), v, 3, to="o")]


@part("cross", dict(batch=1, heads=32, kv=8, keys=4099, dim=128), dict(batch=3, heads=4, kv=2, keys=41, dim=16), b8=dict(batch=8))
def prime_decode(g, batch, heads, kv, keys, dim):
    """One token over a cache with a prime number of keys."""
    q = g.input("q", batch, kv, heads // kv, dim)
    k, v = (g.input(n, batch, kv, keys, dim) for n in "kv")
    return [g.weighted(g.scores(q, k, 3, dim ** -0.5), v, 3, to="o")]


# One token per sequence.

@part("decode", dict(batch=1, heads=32, kv=8, keys=4096, dim=128), dict(batch=3, heads=4, kv=2, keys=40, dim=16), b8=dict(batch=8))
def qk_norm_decode(g, batch, heads, kv, keys, dim):
    """Qwen 3: the token's query over keys that are already normalised."""
    q, k, v = g.input("q", batch, heads, dim), g.input("k", batch, kv, keys, dim), g.input("v", batch, kv, keys, dim)
    cos, sin = g.input("cos", batch, 1, dim // 2), g.input("sin", batch, 1, dim // 2)
    q = g.op("rotary", g.norm(q, g.input("gq", dim)), cos, sin)
    return [g.weighted(g.scores(g.view(q, batch, kv, heads // kv, dim), k, 3, dim ** -0.5), v, 3, to="o")]


@part("decode", dict(batch=1, heads=16, kv=8, keys=4096, dim=256, cap=50.0), dict(batch=3, heads=4, kv=2, keys=40, dim=16, cap=5.0),
      b8=dict(batch=8))
def soft_cap_decode(g, batch, heads, kv, keys, dim, cap):
    q = g.input("q", batch, kv, heads // kv, dim)
    k, v = (g.input(n, batch, kv, keys, dim) for n in "kv")
    s = g.op("mul_scalar", g.op("tanh", g.op("div", g.scores(q, k, 3, dim ** -0.5), scalar=cap)), scalar=cap)
    return [g.weighted(s, v, 3, to="o")]


@part("decode", dict(batch=8, heads=32, kv=8, keys=4096, dim=128), dict(batch=3, heads=4, kv=2, keys=40, dim=16))
def lengths_decode(g, batch, heads, kv, keys, dim):
    """Sequences of different lengths in one cache."""
    q = g.input("q", batch, kv, heads // kv, dim)
    k, v = (g.input(n, batch, kv, keys, dim) for n in "kv")
    s = g.op("mask", g.scores(q, k, 3, dim ** -0.5), g.input("lengths", batch, 1, 1, 1, dtype="int32"))
    p = g.op("safe_softmax", s, dim=3)
    return [g.op("matmul", g.op("cast", p, dtype=g.dtype), v, to="o")]


@part("decode", dict(batch=1, heads=64, kv=8, keys=4096, dim=64), dict(batch=3, heads=4, kv=2, keys=40, dim=16))
def sinks_decode(g, batch, heads, kv, keys, dim):
    q = g.input("q", batch, kv, heads // kv, dim)
    k, v = (g.input(n, batch, kv, keys, dim) for n in "kv")
    s = g.scores(q, k, 3, dim ** -0.5)
    sink = g.op("expand", g.input("sinks", 1, kv, heads // kv, 1, dtype="f32"), shape=[batch, kv, heads // kv, 1])
    p = g.part(g.op("softmax", g.op("concat", s, sink, dim=3), dim=3), 3, 0, keys)
    return [g.op("matmul", g.op("cast", p, dtype=g.dtype), v, to="o")]


@part("decode", dict(batch=1, heads=128, keys=4096, latent=512, rope=64), dict(batch=3, heads=4, keys=40, latent=32, rope=8), b8=dict(batch=8))
def latent_decode(g, batch, heads, keys, latent, rope):
    """DeepSeek's latent attention for one token, absorbed: all heads share keys that are also the values."""
    q, qr = g.input("q", batch, heads, latent), g.input("qr", batch, heads, rope)
    c, kr = g.input("c", batch, keys, latent), g.input("kr", batch, keys, rope)
    s = g.op("mul_scalar", g.op("add", g.scores(q, c, 2), g.scores(qr, kr, 2)), scalar=192 ** -0.5)
    return [g.weighted(s, c, 2, to="o")]


@part("decode", dict(batch=1, heads=128, keys=4096, latent=512, rope=64), dict(batch=3, heads=4, keys=40, latent=32, rope=8))
def latent_decode_one_cache(g, batch, heads, keys, latent, rope):
    """The same with the latent and the rotary part concatenated."""
    q, c = g.input("q", batch, heads, latent + rope), g.input("c", batch, keys, latent + rope)
    return [g.weighted(g.scores(q, c, 2, 192 ** -0.5), g.part(c, 2, 0, latent), 2, to="o")]


@part("decode", dict(batch=1, width=7168, qlow=1536, heads=128, nope=128, rope=64, latent=512),
      dict(batch=3, width=64, qlow=32, heads=4, nope=16, rope=8, latent=32), b8=dict(batch=8))
def latent_projections(g, batch, width, qlow, heads, nope, rope, latent):
    """The inputs of latent attention for a token: low-rank queries, their rotary part, and keys absorbed into them."""
    x = g.norm(g.input("x", batch, width), g.input("g", width))
    low = g.norm(g.linear(x, g.input("wqa", qlow, width)), g.input("gq", qlow))
    q = g.view(g.linear(low, g.input("wqb", heads * (nope + rope), qlow)), batch, heads, nope + rope)
    cos, sin = g.input("cos", batch, 1, rope), g.input("sin", batch, 1, rope)
    qr = g.op("rotary_interleaved", g.part(q, 2, nope, nope + rope), cos, sin, to="qr")
    head = g.op("matmul", g.transposed(g.part(q, 2, 0, nope), 1, 0, 2), g.input("wuk", heads, nope, latent))
    g.transposed(head, 1, 0, 2)
    kv = g.linear(x, g.input("wkva", latent + rope, width))
    c = g.op("rms_norm", g.part(kv, 1, 0, latent), g.input("gkv", latent), eps=1e-6, to="c")
    kr = g.op("rotary_interleaved", g.view(g.part(kv, 1, latent, latent + rope), batch, 1, rope), cos, sin, to="kr")
    return [head, qr, c, kr]


# Projections.

@part("projections", dict(tokens=1, width=4096, heads=32, kv=8, dim=128), dict(tokens=3, width=64, heads=4, kv=2, dim=16),
      b8=dict(tokens=8), prefill=dict(tokens=2048))
def qk_norm_qkv(g, tokens, width, heads, kv, dim):
    """Qwen 3: norm, matmul, norms of heads, rotary embedding."""
    x = g.norm(g.input("x", tokens, width), g.input("g", width))
    t = g.view(g.linear(x, g.input("w", (heads + 2 * kv) * dim, width)), tokens, heads + 2 * kv, dim)
    cos, sin = g.input("cos", tokens, 1, dim // 2), g.input("sin", tokens, 1, dim // 2)
    g.op("rotary", g.norm(g.part(t, 1, 0, heads), g.input("gq", dim)), cos, sin, to="q")
    g.op("rotary", g.norm(g.part(t, 1, heads, heads + kv), g.input("gk", dim)), cos, sin, to="k")
    return ["q", "k", g.part(t, 1, heads + kv, heads + 2 * kv, to="v")]


@part("projections", dict(tokens=1, width=3584, heads=28, kv=4, dim=128), dict(tokens=3, width=64, heads=4, kv=2, dim=16),
      b8=dict(tokens=8), prefill=dict(tokens=2048))
def biased_qkv(g, tokens, width, heads, kv, dim):
    """Qwen 2: three matmuls with biases."""
    x = g.norm(g.input("x", tokens, width), g.input("g", width))
    cos, sin = g.input("cos", tokens, 1, dim // 2), g.input("sin", tokens, 1, dim // 2)
    q, k, v = (g.view(g.projected(x, n, h * dim, width, True), tokens, h, dim) for n, h in (("q", heads), ("k", kv), ("v", kv)))
    g.op("rotary", q, cos, sin, to="q"), g.op("rotary", k, cos, sin, to="k")
    return ["q", "k", v]


@part("projections", dict(tokens=1, width=4096, out=6144, rank=16), dict(tokens=3, width=64, out=96, rank=8),
      b8=dict(tokens=8), prefill=dict(tokens=2048))
def low_rank_qkv(g, tokens, width, out, rank):
    """LoRA: an adapter in parallel with a matmul of its norm."""
    x = g.norm(g.input("x", tokens, width), g.input("g", width))
    low = g.linear(g.linear(x, g.input("a", rank, width)), g.input("b", out, rank))
    return [g.op("add", g.linear(x, g.input("w", out, width)), g.op("mul_scalar", low, scalar=2.0), to="y")]


@part("projections", dict(tokens=1, width=4096, heads=16, dim=256, hidden=16384), dict(tokens=3, width=64, heads=4, dim=16, hidden=96),
      prefill=dict(tokens=2048))
def parallel_block(g, tokens, width, heads, dim, hidden):
    """GPT-J: one norm for queries, keys, values and the MLP; biases in the MLP."""
    x = g.input("x", tokens, width)
    n = g.op("layer_norm", x, g.input("g", width), g.input("b", width), eps=1e-5)
    cos, sin = g.input("cos", tokens, 1, dim // 2), g.input("sin", tokens, 1, dim // 2)
    q, k, v = (g.view(g.projected(n, name, heads * dim, width), tokens, heads, dim) for name in "qkv")
    g.op("rotary_interleaved", q, cos, sin, to="q"), g.op("rotary_interleaved", k, cos, sin, to="k")
    h = g.op("gelu_tanh", g.projected(n, "1", hidden, width, True))
    m = g.projected(h, "2", width, hidden, True)
    return ["q", "k", v, g.op("add", x, g.op("add", m, g.input("attended", tokens, width)), to="y")]


@part("projections", dict(tokens=1, width=4096, heads=48, dim=128), dict(tokens=3, width=64, heads=4, dim=16), prefill=dict(tokens=2048))
def rotated_halves(g, tokens, width, heads, dim):
    """A rotary embedding as in Transformers: x cos + concat(-b, a) sin."""
    q = g.view(g.linear(g.input("x", tokens, width), g.input("w", heads * dim, width)), tokens, heads, dim)
    cos, sin = g.input("cos", tokens, 1, dim), g.input("sin", tokens, 1, dim)
    half = g.op("concat", g.op("neg", g.part(q, 2, dim // 2, dim)), g.part(q, 2, 0, dim // 2), dim=2)
    return [g.op("add", g.op("mul", q, cos), g.op("mul", half, sin), to="y")]


# Norms and other operators between layers.

@part("norms", dict(tokens=1, width=3584, inner=4096), dict(tokens=3, width=64, inner=96), b8=dict(tokens=8), prefill=dict(tokens=2048))
def norm_behind(g, tokens, width, inner):
    """Gemma 2: a norm after the matmul, then the residual, then the next norm."""
    x = g.input("x", tokens, width)
    y = g.norm(g.linear(g.input("o", tokens, inner), g.input("w", width, inner)), g.input("g1", width))
    g.op("add", x, y, to="r")
    return ["r", g.op("rms_norm", "r", g.input("g2", width), eps=1e-6, to="n")]


@part("norms", dict(rows=4096, width=4096), dict(rows=24, width=64))
def norm_written_out(g, rows, width):
    """RMSNorm as in Transformers, in float32 and back, after a residual."""
    h = g.op("add", g.input("x", rows, width), g.input("r", rows, width), to="h")
    f = g.op("cast", h, dtype="f32")
    scale = g.op("rsqrt", g.op("add", g.op("mean", g.op("square", f), dim=[1], keepdim=True), scalar=1e-6))
    return [h, g.op("mul", g.input("g", width), g.op("cast", g.op("mul", f, scale), dtype=g.dtype), to="y")]


@part("norms", dict(batch=2, channels=320, groups=32, pixels=4096), dict(batch=2, channels=16, groups=4, pixels=24))
def group_norm_silu(g, batch, channels, groups, pixels):
    """Stable Diffusion: group norm over channels, then silu."""
    each = channels // groups
    x = g.view(g.input("x", batch, channels, pixels, dtype="f16"), batch, groups, each, pixels)
    n = g.op("layer_norm", x, eps=1e-5, normalized_shape=[each, pixels])
    n = g.view(n, batch, channels, pixels)
    n = g.op("add", g.op("mul", n, g.input("g", channels, 1, dtype="f16")), g.input("b", channels, 1, dtype="f16"))
    return [g.op("silu", n, to="y")]


@part("norms", dict(rows=1024, width=1024, words=32000, cap=30.0), dict(rows=8, width=64, words=200, cap=5.0))
def capped_cross_entropy(g, rows, width, words, cap):
    """Logsumexp of capped scores, and its square: z-loss."""
    s = g.op("cast", g.linear(g.input("x", rows, width), g.input("w", words, width)), dtype="f32")
    s = g.op("mul_scalar", g.op("tanh", g.op("mul_scalar", s, scalar=1 / cap)), scalar=cap)
    z = g.op("logsumexp", s, dim=1, to="z")
    return [z, g.op("square", z, to="zz")]


@part("norms", dict(rows=1, width=4096, words=128256), dict(rows=3, width=64, words=200), b8=dict(rows=8))
def logits(g, rows, width, words):
    """The output head with small M: the last norm, and scores in float32."""
    x = g.norm(g.input("x", rows, width), g.input("g", width))
    return [g.op("cast", g.linear(x, g.input("w", words, width)), dtype="f32", to="y")]


@part("norms", dict(rows=1, width=3584, words=256000, cap=30.0), dict(rows=3, width=64, words=200, cap=5.0), b8=dict(rows=8))
def capped_logits(g, rows, width, words, cap):
    """Gemma 2's output head: capped scores and their maximum."""
    x = g.norm(g.input("x", rows, width), g.input("g", width))
    s = g.op("cast", g.linear(x, g.input("w", words, width)), dtype="f32")
    s = g.op("mul_scalar", g.op("tanh", g.op("div", s, scalar=cap)), scalar=cap, to="y")
    return [s, g.op("amax", s, dim=1, to="m")]


# MLPs.

@part("mlp", dict(tokens=1, width=3584, hidden=14336), dict(tokens=3, width=64, hidden=96), b8=dict(tokens=8), prefill=dict(tokens=2048))
def geglu(g, tokens, width, hidden):
    """Gemma 2: norms before and after."""
    x = g.input("x", tokens, width)
    n = g.norm(x, g.input("g1", width))
    h = g.op("mul", g.op("gelu_tanh", g.projected(n, "gate", hidden, width)), g.projected(n, "up", hidden, width))
    return [g.op("add", x, g.norm(g.projected(h, "down", width, hidden), g.input("g2", width)), to="y")]


@part("mlp", dict(tokens=1, width=6144, hidden=24576), dict(tokens=3, width=64, hidden=96), b8=dict(tokens=8), prefill=dict(tokens=2048))
def squared_relu(g, tokens, width, hidden):
    """Nemotron: a layer norm before, relu squared."""
    x = g.input("x", tokens, width)
    n = g.op("layer_norm", x, g.input("g", width), g.input("b", width), eps=1e-5)
    h = g.op("square", g.op("relu", g.projected(n, "up", hidden, width)))
    return [g.op("add", x, g.projected(h, "down", width, hidden), to="y")]


@part("mlp", dict(tokens=1, width=1600, heads=25), dict(tokens=3, width=64, heads=4), b8=dict(tokens=8), prefill=dict(tokens=1024))
def gpt2_mlp(g, tokens, width, heads):
    """GPT-2 XL: biases everywhere."""
    x = g.input("x", tokens, width, dtype="f32")
    g.dtype = "f32"
    n = g.op("layer_norm", x, g.input("g", width), g.input("b", width), eps=1e-5)
    h = g.op("gelu_tanh", g.projected(n, "1", 4 * width, width, True))
    return [g.op("add", x, g.projected(h, "2", width, 4 * width, True), to="y")]


@part("mlp", dict(images=8, tokens=197, width=768), dict(images=2, tokens=13, width=48), wide=dict(images=3, tokens=197, width=256), clip=dict(tokens=257, width=1024))
def vit_mlp(g, images, tokens, width):
    """A vision transformer: an odd number of rows."""
    g.dtype = "f16"
    x = g.input("x", images, tokens, width)
    n = g.op("layer_norm", x, g.input("g", width), g.input("b", width), eps=1e-6)
    h = g.op("gelu", g.projected(n, "1", 4 * width, width, True))
    return [g.op("add", x, g.projected(h, "2", width, 4 * width, True), to="y")]


def experts(g, tokens, width, hidden, count, weights):
    """All experts, each row times its weight (count, tokens, 1)."""
    x = g.view(g.input("x", tokens, width), 1, tokens, width)
    gate, up = (g.transposed(g.input(n, count, hidden, width), 0, 2, 1) for n in ("gate", "up"))
    h = g.op("mul", g.op("silu", g.op("matmul", x, gate)), g.op("matmul", x, up))
    y = g.op("matmul", g.op("mul", h, weights), g.transposed(g.input("down", count, width, hidden), 0, 2, 1))
    return g.op("sum", g.op("cast", y, dtype="f32"), dim=[0])


@part("experts", dict(tokens=1, width=2048, hidden=1024, count=8), dict(tokens=3, width=64, hidden=48, count=4), b8=dict(tokens=8))
def weighted_experts(g, tokens, width, hidden, count):
    """Weights of the selected experts, 0 for the others."""
    return [g.op("cast", experts(g, tokens, width, hidden, count, g.input("weights", count, tokens, 1)), dtype=g.dtype, to="y")]


@part("experts", dict(tokens=1, width=2048, hidden=1024, count=8), dict(tokens=3, width=64, hidden=48, count=4), b8=dict(tokens=8))
def soft_experts(g, tokens, width, hidden, count):
    """A softmax over the router's scores weights all experts."""
    r = g.linear(g.input("n", tokens, width), g.input("router", count, width))
    w = g.op("cast", g.op("softmax", g.op("cast", r, dtype="f32"), dim=1), dtype=g.dtype)
    w = g.view(g.transposed(w, 1, 0), count, tokens, 1)
    return [g.op("cast", experts(g, tokens, width, hidden, count, w), dtype=g.dtype, to="y")]


@part("experts", dict(width=4096, hidden=14336, count=8, top=2), dict(width=64, hidden=48, count=4, top=2))
def chosen_experts(g, width, hidden, count, top):
    """Mixtral, one token: the weights of its selected experts, gathered by index."""
    n, x = g.input("number", top, dtype="int32"), g.view(g.input("x", 1, width), 1, 1, width)
    gate, up, down = (g.op("gather", g.input(name, count, *shape), n)
                      for name, shape in (("gate", (hidden, width)), ("up", (hidden, width)), ("down", (width, hidden))))
    h = g.op("mul", g.op("silu", g.op("matmul", x, g.transposed(gate, 0, 2, 1))), g.op("matmul", x, g.transposed(up, 0, 2, 1)))
    y = g.op("matmul", g.op("mul", h, g.input("weights", top, 1, 1)), g.transposed(down, 0, 2, 1))
    return [g.op("cast", g.op("sum", g.op("cast", y, dtype="f32"), dim=[0]), dtype=g.dtype, to="y")]


def write(folder, kind):
    files = {}
    for file, name, make, sizes in PARTS:
        if not sizes.get(kind):
            continue
        g = Graph(name)
        outputs = make(g, **sizes[kind])
        files.setdefault("warpgroups" if kind == "wide" else file, []).append(g.text(*outputs))
    for file, graphs in files.items():
        with open(os.path.join(folder, file + ".json"), "w") as f:
            f.write("[" + ",\n".join(graphs) + "]\n")


if __name__ == "__main__":
    write(sys.argv[2], sys.argv[1])
