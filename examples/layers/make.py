#!/usr/bin/env python3
"""Generates parts of current transformers as graphs of unfused operators, one JSON file each.

  make.py real FOLDER     the sizes of Llama 3 8B: the files in this folder; _b8 and _b16 decode 8 and 16 sequences
  make.py small FOLDER    the same graphs at sizes for the emulator: the files in tests/run/layers

Weights are (out, in), as a checkpoint stores them.
"""
import json
import os
import sys


class Graph:
    def __init__(self, name):
        self.name, self.inputs, self.operators, self.outputs = name, [], [], []

    def input(self, name, *shape, dtype="bf16"):
        self.inputs.append({"name": name, "dtype": dtype, "shape": list(shape)})
        return name

    def op(self, op, *inputs, to=None, **attributes):
        to = to or f"t{len(self.operators) + 1}"
        self.operators.append({"op": op, "inputs": list(inputs), "outputs": [to], **attributes})
        return to

    def text(self, *outputs):
        def lines(entries):
            return ",\n".join("  " + json.dumps(e) for e in entries)

        return '{"zellige_graph": 1, "name": "%s",\n"inputs": [\n%s\n],\n"operators": [\n%s\n],\n"outputs": %s}' % (
            self.name, lines(self.inputs), lines(self.operators), json.dumps(outputs))

    def write(self, folder, *outputs):
        with open(os.path.join(folder, self.name + ".json"), "w") as f:
            f.write(self.text(*outputs) + "\n")

    def rms_norm(self, x, g):
        return self.op("mul", self.op("rms_norm", x, eps=1e-5), g)

    def linear(self, x, w):
        return self.op("matmul", x, self.op("permute", w, dims=[1, 0]))

    def qkv(self, x, g, w, cos, sin, tokens, heads, kv, dim, to):
        t = self.op("reshape", self.linear(self.rms_norm(x, g), w), shape=[tokens, heads + 2 * kv, dim])
        q = self.op("slice", t, dim=1, start=0, end=heads)
        k = self.op("slice", t, dim=1, start=heads, end=heads + kv)
        v = self.op("slice", t, dim=1, start=heads + kv, end=heads + 2 * kv, to=to[2])
        return self.op("rotary", q, cos, sin, to=to[0]), self.op("rotary", k, cos, sin, to=to[1]), v

    def gated_mlp(self, x, g, gate, up, down, to):
        n = self.rms_norm(x, g)
        inner = self.op("mul", self.op("silu", self.linear(n, gate)), self.linear(n, up))
        return self.op("add", x, self.linear(inner, down), to=to)

    def attention(self, q, k, v, dim, axes, causal=False, to=None):
        scores = self.op("cast", self.op("matmul", q, self.op("permute", k, dims=axes)), dtype="f32")
        scores = self.op("mul_scalar", scores, scalar=dim ** -0.5)
        if causal:
            scores = self.op("mask", scores, tril=0)
        p = self.op("cast", self.op("softmax", scores, dim=len(axes) - 1), dtype="bf16")
        return self.op("matmul", p, v, to=to)


def layer(g, count, width, heads, kv, dim, hidden):
    x, cos, sin = g.input("x", count, width), g.input("cos", count, 1, dim // 2), g.input("sin", count, 1, dim // 2)
    return x, cos, sin, (g.input("g1", width), g.input("wqkv", (heads + 2 * kv) * dim, width), g.input("wo", width, heads * dim),
                         g.input("g2", width), g.input("gate", hidden, width), g.input("up", hidden, width),
                         g.input("down", width, hidden))


def write_decoding(folder, width, heads, kv, dim, hidden, keys, batch, suffix):
    """The layer for one token per sequence."""
    g = Graph("rms_qkv_rope" + suffix)
    x, cos, sin = g.input("x", batch, width), g.input("cos", batch, 1, dim // 2), g.input("sin", batch, 1, dim // 2)
    g.qkv(x, g.input("g", width), g.input("w", (heads + 2 * kv) * dim, width), cos, sin, batch, heads, kv, dim, ("q", "k", "v"))
    g.write(folder, "q", "k", "v")

    g = Graph("norm_gated_mlp" + suffix)
    x = g.input("x", batch, width)
    g.gated_mlp(x, g.input("g", width), g.input("gate", hidden, width), g.input("up", hidden, width),
                g.input("down", width, hidden), "y")
    g.write(folder, "y")

    g = Graph("llama_decode" + suffix)  # the caches already hold the token
    x, cos, sin, (g1, wqkv, wo, g2, gate, up, down) = layer(g, batch, width, heads, kv, dim, hidden)
    cache_k, cache_v = g.input("cache_k", batch, kv, keys, dim), g.input("cache_v", batch, kv, keys, dim)
    q, k, v = g.qkv(x, g1, wqkv, cos, sin, batch, heads, kv, dim, (None, "k", "v"))
    o = g.attention(g.op("reshape", q, shape=[batch, kv, heads // kv, dim]), cache_k, cache_v, dim, [0, 1, 3, 2])
    y = g.op("add", x, g.linear(g.op("reshape", o, shape=[batch, heads * dim]), wo))
    g.gated_mlp(y, g2, gate, up, down, "y")
    g.write(folder, "y", "k", "v")


def write_all(folder, width, heads, kv, dim, hidden, keys, tokens, queries, rows, words, batches):
    for batch in batches:
        write_decoding(folder, width, heads, kv, dim, hidden, keys, batch, "" if batch == batches[0] else f"_b{batch}")

    g = Graph("llama_prefill")
    x, cos, sin, (g1, wqkv, wo, g2, gate, up, down) = layer(g, tokens, width, heads, kv, dim, hidden)
    q, k, v = g.qkv(x, g1, wqkv, cos, sin, tokens, heads, kv, dim, (None, "k", "v"))
    q, k4, v4 = (g.op("reshape", g.op("permute", t, dims=[1, 0, 2]), shape=[kv, n, tokens, dim])
                 for t, n in ((q, heads // kv), (k, 1), (v, 1)))
    o = g.attention(q, k4, v4, dim, [0, 1, 3, 2], causal=True)
    o = g.op("permute", g.op("reshape", o, shape=[heads, tokens, dim]), dims=[1, 0, 2])
    y = g.op("add", x, g.linear(g.op("reshape", o, shape=[tokens, heads * dim]), wo))
    g.gated_mlp(y, g2, gate, up, down, "y")
    g.write(folder, "y", "k", "v")

    for causal in (False, True):
        g = Graph("plain_attention_causal" if causal else "plain_attention")
        q, k, v = (g.input(name, heads, queries, dim) for name in "qkv")
        g.attention(q, k, v, dim, [0, 2, 1], causal, to="o")
        g.write(folder, "o")

    narrow = width // 4
    g = Graph("gpt_mlp")
    x, weight, bias = g.input("x", queries, narrow), g.input("g", narrow), g.input("b", narrow)
    w1, b1 = g.input("w1", 4 * narrow, narrow), g.input("b1", 4 * narrow)
    w2, b2 = g.input("w2", narrow, 4 * narrow), g.input("b2", narrow)
    h = g.op("gelu_tanh", g.op("add", g.linear(g.op("layer_norm", x, weight, bias, eps=1e-5), w1), b1))
    g.op("add", g.op("add", x, g.linear(h, w2)), b2, to="y")
    g.write(folder, "y")

    g = Graph("residual_rms_norm")
    h = g.op("add", g.input("x", rows, width), g.input("r", rows, width), to="h")
    g.op("mul", g.op("rms_norm", h, eps=1e-5), g.input("g", width), to="y")
    g.write(folder, "h", "y")

    g = Graph("cross_entropy")
    scores = g.linear(g.input("x", rows // 32, narrow), g.input("w", words, narrow))
    g.op("logsumexp", g.op("cast", scores, dtype="f32"), dim=1, to="y")
    g.write(folder, "y")


SIZES = {"real": (4096, 32, 8, 128, 14336, 4096, 2048, 4096, 8192, 32000, (1, 8, 16)),
         "small": (64, 4, 2, 16, 96, 40, 24, 33, 64, 200, (3,))}
if __name__ == "__main__":
    write_all(sys.argv[2], *SIZES[sys.argv[1]])
