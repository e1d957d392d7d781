"""bench/ranks.py without GPUs: what its attention block computes, on the emulator, and its picture."""

import importlib.util
import json
import os
import threading

import numpy as np
from zellige import _native, ranks

SOURCE = os.path.join(os.path.dirname(__file__), "..", "..", "bench", "ranks.py")
spec = importlib.util.spec_from_file_location("bench_ranks", SOURCE)
bench = importlib.util.module_from_spec(spec)
spec.loader.exec_module(bench)

HIDDEN, HEADS, KV_HEADS, HEAD, ROWS = 32, 4, 2, 16, 4


def attention(x, w, residual, keys, values, causal):
    """The block of one rank up to the sum over ranks, in float64."""
    each = HEADS // KV_HEADS
    q = (x @ w["wq"]).reshape(ROWS, -1, HEAD)
    made = np.zeros_like(q)
    for h in range(q.shape[1]):
        s = q[:, h] @ keys[h // each].T * HEAD**-0.5
        if causal:
            s = np.where(np.tril(np.ones_like(s)) > 0, s, -np.inf)
        p = np.exp(s - s.max(1, keepdims=True))
        made[:, h] = p / p.sum(1, keepdims=True) @ values[h // each]
    return made.reshape(ROWS, -1) @ w["wo"]


def test_attention_over_two_ranks():
    """Whether it is a graph; with ZELLIGE_ALL, what it computes, too."""
    rng, count = np.random.default_rng(5), 2
    part = KV_HEADS // count * HEAD
    shapes = {"wq": (HIDDEN, HEADS // count * HEAD), "wk": (HIDDEN, part), "wv": (HIDDEN, part), "wo": (HEADS // count * HEAD, HIDDEN)}
    x, residual = (rng.standard_normal((ROWS, HIDDEN)).astype(np.float32) for _ in range(2))
    arrays = {"x": x, **{n: np.empty(s) for n, s in shapes.items()}, "residual": residual}
    operators = bench.attention_operators(count, ROWS, 0, HIDDEN, HEADS, KV_HEADS, HEAD)
    _native.Graph(json.dumps(bench.graph("attention", count, arrays, operators, ["r", "y"])))
    if "ZELLIGE_ALL" not in os.environ:
        return
    weights = [{n: (rng.standard_normal(s) * s[0] ** -0.5).astype(np.float32) for n, s in shapes.items()} for _ in range(count)]
    parts, found = [], [None] * count
    for w in weights:
        keys, values = ((x @ w[n]).reshape(ROWS, -1, HEAD).transpose(1, 0, 2) for n in ("wk", "wv"))
        parts.append(attention(x, w, residual, keys, values, causal=True))
    r = sum(parts) + residual
    y = r / np.sqrt((r**2).mean(1, keepdims=True) + 1e-5)
    all_ranks = ranks.of_threads(count, "emulator")

    def of_rank(mine):
        arrays = {"x": x, **weights[mine.rank], "residual": residual}
        form = json.loads(json.dumps(bench.graph("attention", count, arrays, operators, ["r", "y"])).replace('"bf16"', '"f32"'))
        found[mine.rank] = ranks.compile(form, mine, fuse=False)(*arrays.values())

    threads = [threading.Thread(target=of_rank, args=(mine,)) for mine in all_ranks]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for made in found:
        np.testing.assert_allclose(made[0], r, atol=2e-4)
        np.testing.assert_allclose(made[1], y, atol=2e-4)


def test_picture_has_a_bar_for_each_time(tmp_path):
    times = {"all_reduce_2048": {"torch_nccl": {"us": 6.4}, "symmetric": {"us": 4.5}}, "attention_1": {"nccl": {"error": "no"}}}
    bench.picture({"ranks": 2, "gpu": "H200", "times": times}, tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text()
    assert text.count("<rect") == 3 and "symmetric 4.5 us" in text and "attention_1" in text
    assert all(callable(getattr(bench.Row, name.rpartition("_")[0], bench.Row.mlp)) for name in bench.names())
