"""torch.compile with Zellige's backend on a small Llama with random weights, compared with eager and Inductor in the same run.

    python examples/python/llama.py                    # on a GPU: 4 layers of 4096, one token at a time
    python examples/python/llama.py --dim 64 --layers 2 --on cpu --calls 1 --no-inductor    # on the emulator
"""

import argparse
import time

import torch
import torch.nn.functional as F
from torch import nn
from zellige import torch_backend


class Layer(nn.Module):
    def __init__(self, dim, heads, kv):
        super().__init__()
        self.heads, self.kv, self.size = heads, kv, dim // heads
        hidden = 7 * dim // 2  # as Llama 3 8B has it
        self.qkv = nn.Linear(dim, (heads + 2 * kv) * self.size, bias=False)
        self.out, self.down = nn.Linear(dim, dim, bias=False), nn.Linear(hidden, dim, bias=False)
        self.gate, self.up = nn.Linear(dim, hidden, bias=False), nn.Linear(dim, hidden, bias=False)
        self.first, self.second = nn.RMSNorm(dim, eps=1e-5), nn.RMSNorm(dim, eps=1e-5)

    def rotated(self, x, cos, sin):
        a, b = x.chunk(2, -1)
        return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)

    def forward(self, x, cos, sin, keys, values):
        b, t, d = x.shape
        q, k, v = self.qkv(self.first(x)).view(b, t, -1, self.size).transpose(1, 2).split([self.heads, self.kv, self.kv], 1)
        keys[:, :, -1:] = self.rotated(k, cos, sin)
        values[:, :, -1:] = v
        a = F.scaled_dot_product_attention(self.rotated(q, cos, sin), keys, values, enable_gqa=True)
        x = x + self.out(a.transpose(1, 2).reshape(b, t, d))
        h = self.second(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class Llama(nn.Module):
    def __init__(self, layers, dim, heads, kv):
        super().__init__()
        self.layers = nn.ModuleList(Layer(dim, heads, kv) for _ in range(layers))

    def forward(self, x, cos, sin, caches):
        for layer, (keys, values) in zip(self.layers, caches):
            x = layer(x, cos, sin, keys, values)
        return x


options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
options.add_argument("--on", default="cuda" if torch.cuda.is_available() else "cpu")
for name, value in {"layers": 4, "dim": 4096, "batch": 1, "keys": 4096, "calls": 100, "rounds": 5}.items():
    options.add_argument(f"--{name}", type=int, default=value)
options.add_argument("--no-inductor", action="store_true")
options.add_argument("--kernels", action="store_true", help="the GPU's time in each kernel as well")
a = options.parse_args()

torch.manual_seed(0)
heads, kv = (32, 8) if a.dim >= 1024 else (4, 2)
dtype = {"device": a.on, "dtype": torch.bfloat16}
model = Llama(a.layers, a.dim, heads, kv).to(**dtype).eval()
caches = [[torch.randn(a.batch, kv, a.keys, a.dim // heads, **dtype) for _ in range(2)] for _ in range(a.layers)]
angles = torch.rand(1, a.dim // heads // 2, device=a.on) * 6
x, cos, sin = torch.randn(a.batch, 1, a.dim, **dtype), angles.cos().to(torch.bfloat16), angles.sin().to(torch.bfloat16)


def captured(run):
    """Replays it; on the CPU, which has no graphs, runs it."""
    if a.on != "cuda":
        return run
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            run(x, cos, sin, caches)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = run(x, cos, sin, caches)
    return lambda *_: (graph.replay(), y)[1]


def ready(name, run):
    """Its result, and a function for one call of it: compiled, and captured in a CUDA graph."""
    start = time.perf_counter()
    y = run(x, cos, sin, caches).clone()
    replay = captured(run)
    print(f"{name:10} ready after {time.perf_counter() - start:.1f} s", flush=True)
    return y, replay


def each(replay):
    """Seconds per call, over --calls calls."""
    start = time.perf_counter()
    for _ in range(a.calls):
        replay(x, cos, sin, caches)
    if a.on == "cuda":
        torch.cuda.synchronize()
    return (time.perf_counter() - start) / a.calls


def kernels(name, replay):
    """The GPU time of each kernel of one call, the longest first."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        replay(x, cos, sin, caches)
        torch.cuda.synchronize()
    rows = sorted(profile.key_averages(), key=lambda row: -row.device_time_total)
    print(f"{name}: {sum(r.count for r in rows)} kernels, {sum(r.device_time_total for r in rows):.0f} us")
    for r in rows[:40]:
        print(f"  {r.device_time_total:8.1f} us in {r.count:3} of {r.key[:100]}")


with torch.no_grad():
    runs = {"eager": ready("eager", model), "zellige": ready("zellige", torch.compile(model, backend=torch_backend.backend))}
    print(torch_backend.reports[-1])
    if not a.no_inductor:  # Inductor measures its kernels for a minute or two
        torch._dynamo.reset()
        runs["inductor"] = ready("inductor", torch.compile(model, mode="max-autotune-no-cudagraphs"))
    rounds = [{name: each(replay) for name, (_, replay) in runs.items()} for _ in range(a.rounds)]  # interleaved, so that all have the same clock
    expected = runs["eager"][0]
    for name, (y, replay) in runs.items():
        best = min(r[name] for r in rounds)
        difference = (y - expected).abs().max() / expected.abs().max()
        accuracy = "" if name == "eager" else f", differs from eager by {difference:.2g} of its greatest value"
        print(f"{name:10} {1e3 * best:9.3f} ms a token, {a.batch / best:9.1f} tokens/s{accuracy}")
    if a.kernels:
        for name, (_, replay) in runs.items():
            kernels(name, replay)
