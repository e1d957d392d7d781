#!/usr/bin/env python3
"""Times the kernels that two builds of zellige make of the same random graphs, interleaved in one process.

  bench/pairs.py --prepare DIR --zellige BEFORE=FILE,AFTER=FILE [--family NAME=COUNT,...] [--seed S] [--jobs N]
                                               transpile for sm_90a; programs that are equal are not timed (needs no GPU)
  bench/pairs.py DIR [--only NAME,...] [--rounds N] [--jobs N] [--json FILE]
                                               compile (needs nvcc), check and time

products    m x n x k and batches of them, f16, bf16 and f32, A and B along either dimension, extents odd or not
attention   softmax(q k^T) v, causal or not, keys shared by heads
rows        norms, softmax, residuals, elementwise functions and reductions along rows
gates       products with bias, activation, residual, gate, after a norm

Draw I of a family has the seed S * 1000 + I and the name FAMILY_I. Prints a row for each pair that differs: its two times, the ratio before / after,
the graph; at the end the geometric mean of each family, in which equal programs count as 1, and the rows below 0.97. Results of the two are compared with
each other: exit status 1 if they differ by more than rounding does, or if a program of one of the builds fails.
"""
import argparse, concurrent.futures, json, math, os, random, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
COUNTS = {"products": 120, "attention": 60, "rows": 60, "gates": 60}


class Graph:
    """A graph in Zellige's JSON, written operator by operator."""

    def __init__(self, name):
        self.json = {"zellige_graph": 1, "name": name, "inputs": [], "operators": [], "outputs": []}

    def input(self, name, dtype, shape, constant=False, strides=None):
        tensor = {"name": name, "dtype": dtype, "shape": list(shape)}
        self.json["inputs"].append(tensor | ({"constant": True} if constant else {}) | ({"strides": strides} if strides else {}))
        return name

    def weight(self, name, dtype, n, k):
        """(k, n), of which each column is contiguous: as torch's Linear has it."""
        return self.input(name, dtype, (k, n), constant=True, strides=[1, k])

    def __getattr__(self, op):
        def add(*inputs, **attributes):
            result = f"t{len(self.json['operators'])}"
            self.json["operators"].append({"op": op, "inputs": list(inputs), "outputs": [result], **attributes})
            return result
        return add

    def output(self, *tensors):
        self.json["outputs"] += tensors
        return self.json


def extent(d, maximum):
    return d.choice((d.choice([e for e in (64, 128, 256, 512, 1024, 2048, 4096, 8192) if e <= maximum]), 8 * d.randrange(4, maximum // 8), d.randrange(30, min(maximum, 3000))))


def rows_of(d):
    return d.choice((1, 2, 8, 16, 64, 256, d.randrange(1, 128), d.randrange(64, 1024), d.randrange(128, 8192), d.choice((512, 1024, 2048, 4096))))


def product(d, g):
    dtype = d.choice(("f16", "bf16", "f16", "bf16", "f32"))
    maximum = 2048 if dtype == "f32" else 8192
    m, n, k = rows_of(d), extent(d, maximum), extent(d, maximum)
    batch = () if d.random() < 0.75 else (d.choice((2, 3, 6, 8, 12, 16)),)
    if batch or dtype == "f32":
        m, n, k = min(m, 1024), min(n, 1500), min(k, 1500)
    along = lambda rows, columns, first: None if first else [rows * columns] * len(batch) + [1, rows]
    a = g.input("A", dtype, batch + (m, k), strides=along(m, k, d.random() < 0.85))
    b = g.input("B", dtype, batch + (k, n), constant=d.random() < 0.7, strides=along(k, n, d.random() < 0.4))
    return g.output(g.matmul(a, b))


def attention(d, g):
    dtype, size, heads = d.choice(("f16", "bf16")), d.choice((64, 64, 128, 128, 32, 80, 96, 72, 256)), d.choice((1, 4, 8, 12, 16, 32))
    shared = d.choice((1, 1, 1, 2, 4)) if heads % 4 == 0 else 1
    tokens = d.choice((1, 16, 128, 197, 256, 512, 577, 1024, 1500, 2048, d.randrange(64, 4096)))
    keys = tokens if d.random() < 0.7 and tokens > 16 else d.choice((77, 128, 1024, 2048, d.randrange(64, 2048)))
    batch = max(1, min(d.choice((1, 2, 4, 8)), 2 ** 26 // (heads * tokens * keys)))
    q = g.input("q", dtype, (batch, heads // shared, shared * tokens, size) if tokens == 1 else (batch, heads // shared, shared, tokens, size))
    kept = (batch, heads // shared) + ((1,) if tokens > 1 else ())
    k, v = g.input("k", dtype, kept + (keys, size)), g.input("v", dtype, kept + (keys, size))
    last = len(kept)
    scores = g.mul_scalar(g.cast(g.matmul(q, g.permute(k, dims=[*range(last), last + 1, last])), dtype="f32"), scalar=size ** -0.5)
    if keys == tokens and tokens > 1 and d.random() < 0.5:
        scores = g.mask(scores, tril=0)
    return g.output(g.matmul(g.cast(g.softmax(scores, dim=last + 1), dtype=dtype), v))


def row(d, g):
    width = d.choice((d.randrange(16, 512), d.choice((768, 1024, 2048, 4096, 5120, 8192)), d.randrange(512, 16384), d.randrange(1024, 65536) // 8 * 8))
    count = max(1, min(d.choice((1, 16, 128, 1024, 4096, 8192, d.randrange(1, 20000))), 2 ** 26 // width))
    dtype = d.choice(("f16", "bf16", "f32"))
    x = g.input("x", dtype, (count, width))
    vector = lambda name: g.input(name, dtype, (width,), constant=True)
    kind = d.choice(("rms", "layer", "softmax", "log", "lse", "add", "add rms", "silu mul", "gelu", "sum", "max", "mean gelu", "scale softmax"))
    g.json["name"] += "_" + kind.replace(" ", "_")
    if kind == "rms":
        return g.output(g.mul(g.rms_norm(x, eps=1e-5), vector("w")))
    if kind == "layer":
        return g.output(g.layer_norm(x, vector("w"), vector("b"), eps=1e-5))
    if kind in ("softmax", "log"):
        return g.output((g.softmax if kind == "softmax" else g.log_softmax)(x, dim=1))
    if kind in ("lse", "sum", "max"):
        return g.output({"lse": g.logsumexp, "sum": g.sum, "max": g.amax}[kind](x, dim=1))
    if kind == "add":
        return g.output(g.add(x, g.input("y", dtype, (count, width))))
    if kind == "add rms":
        total = g.add(x, g.input("y", dtype, (count, width)))
        return g.output(total, g.mul(g.rms_norm(total, eps=1e-5), vector("w")))
    if kind == "silu mul":
        return g.output(g.mul(g.silu(x), g.input("y", dtype, (count, width))))
    if kind == "gelu":
        return g.output(g.gelu(g.add(x, vector("b"))))
    if kind == "mean gelu":
        return g.output(g.gelu(g.sub(x, g.mean(x, dim=1, keepdim=True))))
    return g.output(g.softmax(g.add(g.mul_scalar(x, scalar=0.125), vector("b")), dim=1))


def gate(d, g):
    dtype, m, n, k = d.choice(("f16", "bf16")), rows_of(d), extent(d, 8192), extent(d, 8192)
    kind = d.choice(("bias", "bias gelu", "bias relu", "residual", "swiglu", "geglu", "norm", "layer", "qkv"))
    g.json["name"] += "_" + kind.replace(" ", "_")
    x, w = g.input("x", dtype, (m, k)), g.weight("w", dtype, n, k)
    vector = lambda name, size: g.input(name, dtype, (size,), constant=True)
    if kind in ("swiglu", "geglu"):
        return g.output(g.mul((g.silu if kind == "swiglu" else g.gelu)(g.matmul(x, w)), g.matmul(x, g.weight("u", dtype, n, k))))
    if kind == "norm":
        return g.output(g.matmul(g.mul(g.rms_norm(x, eps=1e-5), vector("g", k)), w))
    if kind == "layer":
        return g.output(g.add(g.matmul(g.layer_norm(x, vector("g", k), vector("h", k), eps=1e-5), w), vector("b", n)))
    if kind == "residual":
        return g.output(g.add(g.input("y", dtype, (m, n)), g.matmul(x, w)))
    sum = g.add(g.matmul(x, w), vector("b", n))
    if kind == "qkv":
        return g.output(sum, g.add(g.matmul(x, g.weight("u", dtype, n, k)), vector("c", n)))
    return g.output({"bias": lambda t: t, "bias gelu": g.gelu, "bias relu": g.relu}[kind](sum))


DRAWN = {"products": product, "attention": attention, "rows": row, "gates": gate}


def graph_of(family, seed, i):
    return DRAWN[family](random.Random(seed * 1000 + i), Graph(f"{family}_{i}"))


def told(graph):
    """The graph in a line: its inputs' extents, and its operators."""
    return " ".join("x".join(map(str, t["shape"])) + ("" if "strides" not in t else "^t") for t in graph["inputs"]) + " " + graph["inputs"][0]["dtype"] + " " + \
        " ".join(o["op"] for o in graph["operators"])


def transpiled(folder, name, graph, who, zellige):
    """Writes NAME.WHO.cu and .json; returns what is wrong, or nothing."""
    made = os.path.join(folder, f"{name}.{who}.d")
    os.makedirs(made, exist_ok=True)
    file = os.path.join(made, "graph.json")
    with open(file, "w") as f:
        json.dump(graph, f)
    run = subprocess.run([zellige, "transpile", file, "--target", "sm_90a", "-o", made, "--force"], capture_output=True, text=True)
    if run.returncode:
        return run.stderr.strip() or f"exit status {run.returncode}"
    for ending, kept in ((".cu", ".cu"), (".manifest.json", ".json")):
        os.replace(os.path.join(made, graph["name"] + ending), os.path.join(folder, f"{name}.{who}{kept}"))
    os.remove(file), os.rmdir(made)


def prepare(a):
    os.makedirs(a.prepare, exist_ok=True)
    builds = dict(pair.split("=", 1) for pair in a.zellige.split(","))
    counts = {f: int(c) for f, c in (pair.split("=") for pair in a.family.split(","))} if a.family else COUNTS
    graphs = {f"{family}_{i}": graph_of(family, a.seed, i) for family, count in counts.items() for i in range(count)}
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        jobs = {(name, who): pool.submit(transpiled, a.prepare, name, graph, who, zellige) for name, graph in graphs.items() for who, zellige in builds.items()}
    table, of = {}, lambda name, who: os.path.join(a.prepare, f"{name}.{who}.cu")
    for name, graph in graphs.items():
        wrong = {who: jobs[name, who].result() for who in builds if jobs[name, who].result()}
        texts = {who: open(of(name, who)).read() for who in builds if who not in wrong}
        table[name] = {"graph": told(graph), "equal": len(set(texts.values())) <= 1 and not wrong, "wrong": wrong}
        if table[name]["equal"]:
            for who in builds:
                os.remove(of(name, who)), os.remove(of(name, who)[:-3] + ".json")
    with open(os.path.join(a.prepare, "pairs.json"), "w") as f:
        json.dump({"seed": a.seed, "builds": list(builds), "pairs": table}, f, indent=1)
    for family in counts:
        mine = [row for name, row in table.items() if name.startswith(family)]
        print(f"{family}: {len(mine)} graphs, {sum(row['equal'] for row in mine)} equal programs")
    for name, row in table.items():
        for who, message in row["wrong"].items():
            print(f"{name} {who}: {message}  {row['graph']}")


def measure(a):
    import torch
    import clock
    from emitted import Emitted, shared_object
    listed = json.load(open(os.path.join(a.folder, "pairs.json")))
    wanted = [name for name, row in listed["pairs"].items() if not row["equal"] and not row["wrong"] and clock.wanted(name, a.only)]
    paths = [os.path.join(a.folder, f"{name}.{who}") for name in wanted for who in listed["builds"]]
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        list(pool.map(lambda path: os.path.exists(path + ".so") or shared_object(path + ".cu", path + ".so"), paths))
    wrong, rows = 0, {}
    for name in wanted:
        torch.manual_seed(1)
        programs = {who: Emitted(os.path.join(a.folder, f"{name}.{who}")) for who in listed["builds"]}
        first = programs[listed["builds"][0]]
        wide = {t["name"]: t["shape"][-2] ** -0.5 if len(t["shape"]) > 1 and t["name"] in "wuB" else 1.0 for t in first.inputs}
        sets = clock.sets_of(lambda: tuple(first.tensor(t, wide[t["name"]]) for t in first.inputs))
        # Each program has outputs of its own: their strides, and their padding, differ.
        outputs = {who: [tuple(program.tensor(t, 0.0) for t in program.outputs) for _ in sets] for who, program in programs.items()}
        runs = {who: [lambda t=s + o, f=program.entry(True): f(*t) for s, o in zip(sets, outputs[who])] for who, program in programs.items()}
        for who in programs:
            for tensor in outputs[who][0]:
                tensor.fill_(float("nan"))
            runs[who][0]()
        torch.cuda.synchronize()
        error = max(clock.error(x, y) for x, y in zip(*(o[0] for o in list(outputs.values())[:2])))
        if not error < 1e-2:
            wrong += 1
            print(f"{name}: WRONG, the two results differ by {error:.3g}  {listed['pairs'][name]['graph']}")
        raw = clock.measure(runs, a.rounds, 4.0)
        before, after = (clock.median(raw[who]) for who in listed["builds"][:2])
        rows[name] = {"before": before, "after": after, "ratio": before / after, "error": error, "graph": listed["pairs"][name]["graph"]}
        print(f"{name:16} {before:9.2f} {after:9.2f} {before / after:6.3f}  {rows[name]['graph']}", flush=True)
        del sets, outputs, runs, programs
    if a.json:
        with open(a.json, "w") as f:
            json.dump({"seed": listed["seed"], "rows": rows}, f, indent=1)
    for family in DRAWN:
        mine = [name for name, row in listed["pairs"].items() if name.startswith(family) and clock.wanted(name, a.only) and (row["equal"] or name in rows)]
        ratios = [rows[name]["ratio"] if name in rows else 1.0 for name in mine]
        if ratios:
            print(f"{family}: {len(mine)} graphs, {sum(name in rows for name in mine)} timed, geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.3f}, "
                  "below 0.97: " + (", ".join(f"{name} {rows[name]['ratio']:.2f}" for name in mine if name in rows and rows[name]["ratio"] < 0.97) or "none"))
    sys.exit(1 if wrong else 0)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder", nargs="?", help="what --prepare made")
    p.add_argument("--prepare", metavar="DIR")
    p.add_argument("--zellige", help="two builds, by name")
    p.add_argument("--family", help=f"draws of each family (default: {','.join(f'{f}={c}' for f, c in COUNTS.items())})")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--only", help="names or beginnings of names, separated by commas")
    p.add_argument("--rounds", type=int, default=9)
    p.add_argument("--json", metavar="FILE")
    a = p.parse_args()
    if a.prepare:
        if not a.zellige:
            p.error("--zellige is missing: BEFORE=FILE,AFTER=FILE")
        return prepare(a)
    if not a.folder:
        p.error("DIR is missing: what --prepare made")
    measure(a)


if __name__ == "__main__":
    main()
