#!/usr/bin/env python3
"""Times graphs over ranks on the GPUs of a machine, one process per rank, next to PyTorch on NCCL and on symmetric memory.

  ranks.py [--ranks 2] [--rounds 5] [--only TEXT,TEXT] [--seconds 600] [--out FILE.json] [--picture FILE.svg]

Rows: all-reduce; the MLP of Llama 3 8B and 70B with its residual and norm; the attention block of 8B, of 1 and 16 rows with a cache of
4096 keys, of 2048 without; all-gather and product; product and reduce-scatter. Ours is `zellige.ranks`, with collectives of NCCL and with
kernels in which ranks exchange tiles. PyTorch's products are cuBLAS's, its attention cuDNN's or its own, whichever it takes.

Times are us of an evaluation, ten of which are a CUDA graph, with a warm L2. Rounds of all ways are interleaved; a round counts the slowest rank, and
the median round is printed. Results are compared with PyTorch's, and between ranks bit for bit. The package must be importable (PYTHONPATH,
ZELLIGE_LIBRARY), and NCCL be PyTorch's. Rows that do not begin within --seconds are omitted.
"""

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import time

ALL_REDUCE = [2 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20]
ROWS = [1, 16, 64, 512, 4096]
MODELS = {"8b": (4096, 14336), "70b": (8192, 28672)}
ATTENTION_ROWS = [1, 16, 2048]
HIDDEN, HEADS, KV_HEADS, HEAD, KEYS = 4096, 32, 8, 128, 4096  # of Llama 3 8B, and the keys of its cache
EVALUATIONS, LAUNCHES = 10, 10


def names():
    """The rows, by name."""
    rows = [f"all_reduce_{size}" for size in ALL_REDUCE]
    rows += [f"mlp_{model}_{n}" for model in MODELS for n in ROWS]
    rows += [f"attention_{n}" for n in ATTENTION_ROWS]
    return rows + [f"{kind}_{n}" for kind in ("all_gather_product", "product_reduce_scatter") for n in ROWS[2:]]


CONSTANT = ("gate", "up", "down", "w", "wq", "wk", "wv", "wo")


def attention_operators(ranks, rows, keys, hidden=HIDDEN, heads=HEADS, kv_heads=KV_HEADS, head=HEAD):
    """The operators of an attention block whose heads are divided over ranks, with its residual and norm. `keys`: those of a cache; 0: the
    keys are the rows, and each row sees those up to itself."""
    kv, each = kv_heads // ranks, heads // kv_heads
    operators = [("matmul", ["x", w], made, {}) for w, made in (("wq", "q"), ("wk", "new_k"), ("wv", "new_v"))]
    operators += [("reshape", ["q"], "q4", {"shape": [rows, kv, each, head]}), ("permute", ["q4"], "qh", {"dims": [1, 2, 0, 3]})]
    for t in ("k", "v"):
        if keys:
            operators.append(("reshape", [f"{t}_cache"], f"{t}h", {"shape": [kv, 1, keys, head]}))
        else:
            operators.append(("reshape", [f"new_{t}"], f"{t}4", {"shape": [rows, kv, 1, head]}))
            operators.append(("permute", [f"{t}4"], f"{t}h", {"dims": [1, 2, 0, 3]}))
    operators += [("permute", ["kh"], "kt", {"dims": [0, 1, 3, 2]}), ("matmul", ["qh", "kt"], "s", {}), ("cast", ["s"], "s32", {"dtype": "f32"})]
    operators.append(("mul_scalar", ["s32"], "scaled", {"scalar": head**-0.5}))
    if not keys:
        operators.append(("mask", ["scaled"], "masked", {"tril": 0}))
    operators += [
        ("softmax", ["scaled" if keys else "masked"], "p32", {"dim": 3}),
        ("cast", ["p32"], "p", {"dtype": "bf16"}),
        ("matmul", ["p", "vh"], "oh", {}),
        ("permute", ["oh"], "o4", {"dims": [2, 0, 1, 3]}),
        ("reshape", ["o4"], "o", {"shape": [rows, heads // ranks * head]}),
        ("matmul", ["o", "wo"], "t", {}),
        ("all_reduce", ["t"], "a", {}),
        ("add", ["a", "residual"], "r", {}),
        ("rms_norm", ["r"], "y", {"eps": 1e-5}),
    ]
    return operators


def graph(name, ranks, inputs, operators, outputs):
    return {
        "zellige_graph": 1,
        "name": name,
        "ranks": ranks,
        "inputs": [
            {"name": n, "dtype": "bf16", "shape": list(x.shape), **({"constant": True} if n in CONSTANT else {})}
            for n, x in inputs.items()
        ],
        "operators": [{"op": op, "inputs": of, "outputs": [to], **more} for op, of, to, more in operators],
        "outputs": outputs,
    }


class Row:
    """What a row computes: the graph, this rank's inputs, and PyTorch's functions of them by the name of a way."""

    def __init__(self, name, ranks, rank, torch, dist, group):
        self.name, self.ranks, self.torch, self.dist, self.group = name, ranks, torch, dist, group
        self.random = torch.Generator(device="cuda").manual_seed(rank)
        self.everywhere = torch.Generator(device="cuda").manual_seed(77)
        self.inputs, self.ways, self.same = {}, {}, True  # same: all ranks have the same results
        kind, _, size = name.rpartition("_")
        getattr(self, kind.rpartition("_")[0] if kind.startswith("mlp") else kind)(kind, int(size))

    def tensor(self, *shape, everywhere=False, scale=1.0):
        torch = self.torch
        x = torch.randn(*shape, generator=self.everywhere if everywhere else self.random, device="cuda", dtype=torch.float32)
        return (x * scale).to(torch.bfloat16)

    def symmetric(self, *shape):
        import torch.distributed._symmetric_memory as memory

        t = memory.empty(*shape, dtype=self.torch.bfloat16, device="cuda")
        memory.rendezvous(t, self.group)
        return t

    def all_reduce(self, _, size):
        self.inputs = {"x": self.tensor(max(1, size // 8192), min(4096, size // 2))}
        self.form = graph(self.name, self.ranks, self.inputs, [("all_reduce", ["x"], "y", {})], ["y"])
        x, ops = self.inputs["x"], self.torch.ops.symm_mem
        made = x.clone()

        def nccl():
            self.dist.all_reduce(made)
            return [made]

        self.ways = {"torch_nccl": nccl}
        t = self.symmetric(*x.shape).copy_(x)
        self.ways["torch_one_shot"] = lambda: [ops.one_shot_all_reduce(t, "sum", self.group)]
        u = self.symmetric(*x.shape).copy_(x)
        self.ways["torch_two_shot"] = lambda: [ops.two_shot_all_reduce_(u, "sum", self.group)]

    def mlp(self, kind, rows):
        hidden, inner = MODELS[kind.rpartition("_")[2]]
        part, f, torch = inner // self.ranks, self.torch.nn.functional, self.torch
        x, residual = self.tensor(rows, hidden, everywhere=True), self.tensor(rows, hidden, everywhere=True)
        gate, up, down = (self.tensor(*s, scale=s[0] ** -0.5) for s in ((hidden, part), (hidden, part), (part, hidden)))
        self.inputs = {"x": x, "gate": gate, "up": up, "down": down, "residual": residual}
        self.form = graph(
            self.name,
            self.ranks,
            self.inputs,
            [
                ("matmul", ["x", "gate"], "g", {}),
                ("matmul", ["x", "up"], "u", {}),
                ("silu", ["g"], "s", {}),
                ("mul", ["s", "u"], "h", {}),
                ("matmul", ["h", "down"], "p", {}),
                ("all_reduce", ["p"], "a", {}),
                ("add", ["a", "residual"], "r", {}),
                ("rms_norm", ["r"], "y", {"eps": 1e-5}),
            ],
            ["r", "y"],
        )
        out = self.symmetric(rows, hidden)

        def tail(a):
            r = a + residual
            return [r, f.rms_norm(r, (hidden,), eps=1e-5)]

        def nccl():
            p = (f.silu(x @ gate) * (x @ up)) @ down
            self.dist.all_reduce(p)
            return tail(p)

        def one_shot():
            torch.mm(f.silu(x @ gate) * (x @ up), down, out=out)
            return tail(torch.ops.symm_mem.one_shot_all_reduce(out, "sum", self.group))

        self.ways = {"torch_nccl": nccl, "torch_one_shot": one_shot}

    def attention(self, _, rows):
        keys, f, torch = KEYS if rows < 1024 else 0, self.torch.nn.functional, self.torch
        q_part, kv_part = HEADS // self.ranks * HEAD, KV_HEADS // self.ranks * HEAD
        x, residual = self.tensor(rows, HIDDEN, everywhere=True), self.tensor(rows, HIDDEN, everywhere=True)
        shapes = {"wq": (HIDDEN, q_part), "wk": (HIDDEN, kv_part), "wv": (HIDDEN, kv_part), "wo": (q_part, HIDDEN)}
        w = {name: self.tensor(*shape, scale=shape[0] ** -0.5) for name, shape in shapes.items()}
        cache = {f"{t}_cache": self.tensor(KV_HEADS // self.ranks, keys, HEAD) for t in "kv"} if keys else {}
        self.inputs = {"x": x, **w, **cache, "residual": residual}
        outputs = ["r", "y", *(["new_k", "new_v"] if keys else [])]
        self.form = graph(self.name, self.ranks, self.inputs, attention_operators(self.ranks, rows, keys), outputs)
        self.same = not keys  # each rank has keys of its own heads

        def of_heads(t):
            return t.view(rows, -1, HEAD).transpose(0, 1)[None]

        def nccl():
            new = [x @ w["wk"], x @ w["wv"]]
            k, v = [cache[f"{t}_cache"][None] for t in "kv"] if keys else [of_heads(t) for t in new]
            o = f.scaled_dot_product_attention(of_heads(x @ w["wq"]), k, v, is_causal=not keys, enable_gqa=True)
            t = o[0].transpose(0, 1).reshape(rows, q_part) @ w["wo"]
            self.dist.all_reduce(t)
            r = t + residual
            return [r, f.rms_norm(r, (HIDDEN,), eps=1e-5), *(new if keys else [])]

        self.ways = {"torch_nccl": nccl}

    def all_gather_product(self, _, rows, k=4096, n=7168):
        x, w = self.tensor(rows // self.ranks, k), self.tensor(k, n, scale=k**-0.5)
        self.inputs, self.same = {"x": x, "w": w}, False
        self.form = graph(self.name, self.ranks, self.inputs, [("all_gather", ["x"], "a", {"dim": 0}), ("matmul", ["a", "w"], "y", {})], ["y"])
        whole = self.torch.empty(rows, k, dtype=x.dtype, device="cuda")

        def nccl():
            self.dist.all_gather_into_tensor(whole, x)
            return [whole @ w]

        self.ways = {"torch_nccl": nccl, "torch_fused": lambda: self.torch.ops.symm_mem.fused_all_gather_matmul(x, [w], 0, self.group)[1]}

    def product_reduce_scatter(self, _, rows, k=7168, n=4096):
        x, w = self.tensor(rows, k), self.tensor(k, n, scale=k**-0.5)
        self.inputs, self.same = {"x": x, "w": w}, False
        operators = [("matmul", ["x", "w"], "p", {}), ("reduce_scatter", ["p"], "y", {"dim": 0})]
        self.form = graph(self.name, self.ranks, self.inputs, operators, ["y"])
        part = self.torch.empty(rows // self.ranks, n, dtype=x.dtype, device="cuda")

        def nccl():
            self.dist.reduce_scatter_tensor(part, x @ w)
            return [part]

        self.ways = {"torch_nccl": nccl, "torch_fused": lambda: [self.torch.ops.symm_mem.fused_matmul_reduce_scatter(x, w, "sum", 0, self.group)]}


class Rank:
    """One process: its rank measures all rows with the others."""

    def __init__(self, given):
        import torch
        import torch.distributed as dist

        self.given, self.torch, self.dist = given, torch, dist
        self.rank, self.ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        torch.cuda.set_device(self.rank)
        dist.init_process_group("nccl", device_id=torch.device("cuda", self.rank))
        from zellige import ranks

        self.ranks_of_zellige, self.mine = ranks, ranks.of_group()

    def slowest(self, value):
        t = self.torch.tensor(float(value), device="cuda")
        self.dist.all_reduce(t, self.dist.ReduceOp.MAX)
        return t.item()

    def ours(self, row, collectives):
        program = self.ranks_of_zellige.compile(row.form, self.mine, collectives=collectives, constant=())
        arrays = list(row.inputs.values())
        outs = [self.torch.empty(o.shape, dtype=self.torch.bfloat16, device="cuda") for o in program.outputs]

        def run():
            program(*arrays, out=outs)
            return outs

        run.notes = program.notes
        return run

    def check(self, row, way, made, right):
        """Raises RuntimeError if results are not PyTorch's, or differ between ranks that must have the same bits."""
        torch = self.torch
        for y, expected in zip(made, right):
            error = (y.float() - expected.float()).abs().max().item() / max(expected.float().abs().max().item(), 1e-9)
            wrong = self.slowest(0 if error < 0.03 else error)
            if wrong:
                raise RuntimeError(f"differs from PyTorch's by {wrong:.3g} of the largest value")
            if row.same and not way.startswith("torch"):
                everyone = [torch.empty_like(y) for _ in range(self.ranks)]
                self.dist.all_gather(everyone, y.contiguous())
                if not all(torch.equal(everyone[0], other) for other in everyone):
                    raise RuntimeError("differs between ranks")

    def captured(self, f):
        stream = self.torch.cuda.Stream()
        with self.torch.cuda.stream(stream):
            f()
            self.torch.cuda.synchronize()
            graph = self.torch.cuda.CUDAGraph()
            with self.torch.cuda.graph(graph, stream=stream):
                for _ in range(EVALUATIONS):
                    f()
        return graph, stream, f  # whose program has the kernels and the memory of the graph

    def round(self, graph, stream, _):
        """us of an evaluation on the slowest rank."""
        marks = [self.torch.cuda.Event(enable_timing=True) for _ in range(LAUNCHES + 1)]
        self.dist.barrier()
        with self.torch.cuda.stream(stream):
            graph.replay()
            for i, mark in enumerate(marks):
                mark.record(stream)
                if i < LAUNCHES:
                    graph.replay()
        self.torch.cuda.synchronize()
        return self.slowest(statistics.median(1e3 * a.elapsed_time(b) / EVALUATIONS for a, b in zip(marks, marks[1:])))

    def measure(self, name):
        row = Row(name, self.ranks, self.rank, self.torch, self.dist, self.dist.group.WORLD.group_name)
        found, graphs = {}, {}
        right = None
        for way in [*row.ways, "nccl", "symmetric"]:
            if way == "symmetric" and not any(op["op"] in ("all_reduce", "reduce_scatter") for op in row.form["operators"]):
                continue
            begun, why = time.monotonic(), ""
            try:
                f = row.ways.get(way) or self.ours(row, way)
                made = f()
                self.torch.cuda.synchronize()
                if right is None:  # of NCCL
                    right = [y.clone() for y in made]
                self.check(row, way, made, right)
                graphs[way] = self.captured(f)
            except Exception as e:  # what one library refuses, the others may do
                why = f"{type(e).__name__}: {str(e)[:300]}"
            if self.slowest(1 if why else 0):
                graphs.pop(way, None)
                found[way] = {"error": why or "another rank failed"}
                continue
            found[way] = {"prepared_s": round(time.monotonic() - begun, 2)}
            if hasattr(f, "notes"):
                found[way]["notes"] = f.notes
        rounds = {way: [] for way in graphs}
        for _ in range(self.given.rounds):
            for way, captured in graphs.items():
                rounds[way].append(self.round(*captured))
        for way, us in rounds.items():
            found[way]["us"] = statistics.median(us)
        return found

    def main(self):
        begun, table = time.monotonic(), {}
        for name in selected(self.given):
            if self.slowest(time.monotonic() - begun) > self.given.seconds:
                break
            table[name] = self.measure(name)
            if self.rank == 0:
                print(" ".join([f"{name:28}", *(f"{w} {c['us']:.2f}" if "us" in c else f"{w} ({c['error'][:90]})" for w, c in table[name].items())]), flush=True)
                if self.given.out:
                    with open(self.given.out, "w") as file:
                        json.dump({"ranks": self.ranks, "gpu": self.torch.cuda.get_device_name(), "times": table}, file, indent=1)
        self.dist.destroy_process_group()


def selected(given):
    return [n for n in names() if any(text in n for text in given.only.split(","))]


COLOURS = {"torch_nccl": "#9aa0a6", "torch_one_shot": "#c9a227", "torch_two_shot": "#8a6d1a", "torch_fused": "#c9a227", "nccl": "#7aa6d8", "symmetric": "#1f5fa8"}


def picture(table, path):
    """Draws the times as bars, each row to the scale of its slowest way."""
    lines, y = [], 30
    for name, row in table["times"].items():
        bars = {way: cell["us"] for way, cell in row.items() if "us" in cell}
        lines.append(f'<text x="8" y="{y + 10}" font-weight="bold">{name}</text>')
        for way, us in bars.items():
            length = 420 * us / max(bars.values())
            lines.append(f'<rect x="230" y="{y}" width="{length:.1f}" height="11" fill="{COLOURS.get(way, "#666")}"/>')
            lines.append(f'<text x="{234 + length:.1f}" y="{y + 10}">{way} {us:.1f} us</text>')
            y += 13
        y += 8
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="820" height="{y}" font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="white"/>'
    with open(path, "w") as file:
        file.write("\n".join([head, f'<text x="8" y="16">{table["ranks"]} x {table["gpu"]}: us, slowest rank, median round</text>', *lines, "</svg>"]) + "\n")


def free_port():
    with socket.socket() as first:
        first.bind(("127.0.0.1", 0))
        return first.getsockname()[1]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--ranks", type=int, default=2)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--only", default="", help="rows whose names contain one of these words")
    arguments.add_argument("--seconds", type=float, default=600, help="after which no row begins")
    arguments.add_argument("--out", help="a file for the times, as JSON")
    arguments.add_argument("--picture", help="a file for the picture, as SVG")
    given = arguments.parse_args()
    if "RANK" in os.environ:
        return Rank(given).main()
    port, started = free_port(), []
    for rank in range(given.ranks):
        place = {"RANK": str(rank), "WORLD_SIZE": str(given.ranks), "LOCAL_RANK": str(rank), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
        started.append(subprocess.Popen([sys.executable, "-X", "faulthandler", *sys.argv], env={**os.environ, **place}))
    ended = [p.wait() for p in started]
    failed = next((status for status in ended if status), 0)
    if failed:
        print(f"ranks.py: the ranks ended with {ended}", file=sys.stderr)
    if given.picture and given.out and os.path.exists(given.out):
        with open(given.out) as file:
            picture(json.load(file), given.picture)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
