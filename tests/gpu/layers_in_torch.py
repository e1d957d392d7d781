#!/usr/bin/env python3
"""Compares parts of transformers in PyTorch with `zellige run` on examples/layers.

  layers_in_torch.py --zellige build/zellige [--graphs examples/layers] [--only NAME,NAME] [--on gpu] [--target sm_90a] [--work FOLDER]

Each graph runs with --dump; its inputs go through the same function in PyTorch, once in float64 (as exact) and once in the
graph's dtypes (R, which rounds after every operator). Zellige's outputs are checked by docs/reference/verdicts.md for programs
that round less often than the graph, with the exact results as E: in norm tolerance + |R - E|, each element its tolerance + 3
rms(R - E) of its row. A factor on PyTorch's error would not do: if the error is small, the tolerance dominates, and both are
random. Exits 1 if an output is out of bounds, 77 without PyTorch. `--graphs tests/run/layers --on emulator` does the same at
small sizes.
"""
import argparse
import glob
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    print("skipped: PyTorch is not here")
    sys.exit(77)

EPS = 1e-5


def rms_norm(x, g):
    return (x.to(up(x)) * torch.rsqrt(x.to(up(x)).pow(2).mean(-1, keepdim=True) + EPS)).to(x.dtype) * g


def up(x):
    """The dtype of computations between two roundings."""
    return torch.float64 if x.dtype == torch.float64 else torch.float32


def rotary(x, cos, sin):
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


def attention(q, k, v, causal):
    s = (q @ k.transpose(-1, -2)).to(up(q)) * q.shape[-1] ** -0.5
    if causal:
        s = s.masked_fill(torch.ones(s.shape[-2:], dtype=torch.bool, device=s.device).triu(1), -math.inf)
    return torch.softmax(s, -1).to(q.dtype) @ v


def qkv(i, x, g, w, heads):
    dim = 2 * i["cos"].shape[-1]
    t = (rms_norm(x, g) @ w.t()).view(x.shape[0], -1, dim)
    kv = (t.shape[1] - heads) // 2
    q, k, v = t.split((heads, kv, kv), 1)
    return rotary(q, i["cos"], i["sin"]), rotary(k, i["cos"], i["sin"]), v


def gated_mlp(x, g, gate, up_, down):
    n = rms_norm(x, g)
    return x + (F.silu(n @ gate.t()) * (n @ up_.t())) @ down.t()


def rms_qkv_rope(i, out):
    return dict(zip("qkv", qkv(i, i["x"], i["g"], i["w"], out["q"][1])))


def norm_gated_mlp(i, out):
    return {"y": gated_mlp(i["x"], i["g"], i["gate"], i["up"], i["down"])}


def rest_of_layer(i, o, k, v):
    y = i["x"] + o @ i["wo"].t()
    return {"y": gated_mlp(y, i["g2"], i["gate"], i["up"], i["down"]), "k": k, "v": v}


def heads_of(i):
    return i["wo"].shape[1] // (2 * i["cos"].shape[-1])


def llama_decode(i, out):
    q, k, v = qkv(i, i["x"], i["g1"], i["wqkv"], heads_of(i))
    b, kv, _, dim = i["cache_k"].shape
    o = attention(q.reshape(b, kv, -1, dim), i["cache_k"], i["cache_v"], False)
    return rest_of_layer(i, o.reshape(b, -1), k, v)


def llama_prefill(i, out):
    q, k, v = qkv(i, i["x"], i["g1"], i["wqkv"], heads_of(i))
    n = q.shape[1] // k.shape[1]
    wide = [t.transpose(0, 1).repeat_interleave(n, 0) for t in (k, v)]
    o = attention(q.transpose(0, 1), *wide, True)
    return rest_of_layer(i, o.transpose(0, 1).reshape(q.shape[0], -1), k, v)


def plain_attention(i, out):
    return {"o": attention(i["q"], i["k"], i["v"], False)}


def plain_attention_causal(i, out):
    return {"o": attention(i["q"], i["k"], i["v"], True)}


def gpt_mlp(i, out):
    x = i["x"]
    n = F.layer_norm(x, (x.shape[-1],), i["g"], i["b"], EPS)
    return {"y": x + F.gelu(n @ i["w1"].t() + i["b1"], approximate="tanh") @ i["w2"].t() + i["b2"]}


def residual_rms_norm(i, out):
    h = i["x"] + i["r"]
    return {"h": h, "y": rms_norm(h, i["g"])}


def cross_entropy(i, out):
    s = i["x"] @ i["w"].t()
    return {"y": torch.logsumexp(s.to(up(s)), -1)}


def function_of(name):
    """The function of a graph name: llama_decode for llama_decode_b8."""
    return globals()[re.sub(r"_b\d+$", "", name)]


def distances(found, exact, f32, more=0.0):
    """In norm, and the worst element over what docs/reference/verdicts.md allows it, which is `more` than its tolerance."""
    norm = (found - exact).norm() / exact.norm()
    rms = exact.pow(2).mean(-1, keepdim=True).sqrt()
    floor = exact.pow(2).mean().sqrt() * (1e-2 if f32 else 1e-3)
    allowed = (3e-5 if f32 else 3 * 2.0**-7) * torch.maximum(exact.abs().maximum(rms), floor)
    return norm.item(), ((found - exact).abs() / (allowed + more)).max().item()


def compare(name, folder, device):
    arrays = {f: np.load(os.path.join(folder, f)) for f in os.listdir(folder) if f.endswith(".npy") and ".reference." not in f}
    inputs = {f[len("input_"):-4]: torch.from_numpy(a).to(device) for f, a in arrays.items() if f.startswith("input_")}
    outputs = {f[len("output_"):-4]: a for f, a in arrays.items() if f.startswith("output_")}
    shapes = {k: a.shape for k, a in outputs.items()}
    with torch.no_grad():
        exact = function_of(name)({k: t.double() for k, t in inputs.items()}, shapes)
        eager = function_of(name)({k: t.bfloat16() for k, t in inputs.items()}, shapes)
    good = True
    for key, a in sorted(outputs.items()):
        e, p = exact[key], eager[key]
        f32 = p.dtype == torch.float32
        z, p = torch.from_numpy(a).to(device).double().reshape(e.shape), p.double()
        rounding = 3 * (p - e).pow(2).mean(-1, keepdim=True).sqrt()
        ours, theirs = distances(z, e, f32, rounding), distances(p, e, f32)
        right = ours[0] <= (3e-6 if f32 else 2e-3) + theirs[0] and ours[1] <= 1
        good = good and right
        print(f"{name:24s} {key:3s} zellige {ours[0]:.2e} in norm, worst element {ours[1]:.2f} of what is allowed; "
              f"PyTorch {theirs[0]:.2e}, {theirs[1]:.2f} of its tolerance  {'equal' if right else 'NOT EQUAL'}", flush=True)
    return good


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--zellige", default="build/zellige"), p.add_argument("--graphs", default="examples/layers")
    p.add_argument("--only", default=""), p.add_argument("--on", default="gpu"), p.add_argument("--target", help="of the emulator")
    p.add_argument("--work", help="where the arrays go, some 30 GB for the largest graph at a time; a temporary folder")
    o = p.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    only = [n for n in o.only.split(",") if n]
    good, seen = True, 0
    for path in sorted(glob.glob(os.path.join(o.graphs, "*.json"))):
        name = os.path.splitext(os.path.basename(path))[0]
        if only and name not in only:
            continue
        work = tempfile.mkdtemp(dir=o.work)
        try:
            command = [o.zellige, "run", path, "--on", o.on, "--check", "none", "--dump", work] + (["--target", o.target] if o.target else [])
            ran = subprocess.run(command, capture_output=True, text=True)
            folder = os.path.join(work, name)
            if ran.returncode != 0 or not os.path.isdir(folder):
                print(f"{name}: {' '.join(command)} failed: {ran.stdout[-500:]}{ran.stderr[-500:]}")
                good = False
                continue
            good, seen = compare(name, folder, device) and good, seen + 1
        finally:
            shutil.rmtree(work, ignore_errors=True)
    sys.exit(0 if good and seen else 1)


if __name__ == "__main__":
    main()
