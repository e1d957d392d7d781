#!/usr/bin/env python3
"""Prints how far the expected time of a plan is above the limit of its graph: the larger of its bytes at 4.1 TB/s and its products at 790 TFLOP/s.

  bench/limits.py --zellige FILE [--family NAME,...] [--count N | --draws I,...] [--seed S] [--jobs N] [--target T] [--align-weights] [--json FILE] [--before FILE]

named       five graphs of which a time was measured on an H200: four products and a gate
products    m x n x k with rows that are a multiple of 16 bytes or not, A along K, B along K or N, small M or large
gates       products with a bias, an activation, a residual or a second product, after a norm, of the same extents
attention   few queries and many keys, depths that 8 divides or not, causal from 2,048 keys on

Draw I of a family has the seed S * 1000 + I and the name FAMILY_I. Needs no GPU: `transpile` plans for the target, and the manifest has the expected time.
With --align-weights the lines of weights begin at multiples of 16 bytes, as torch.compile's option of that name has them.
Prints a row for each graph, the one farthest from its limit first: expected time, limit, their ratio, what bounds each kernel and its share of the time.
With --before, the rows of --json FILE of another build: the ratio of both times, and each family's geometric mean.
"""
import argparse, concurrent.futures, json, math, os, random, re, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from pairs import Graph

BYTES, FLOPS = 4.1e6, 790e6  # a microsecond
aligned = False  # the lines of weights begin at multiples of 16 bytes
BITS = {"f16": 16, "bf16": 16, "f32": 32}
# Asked of each named graph: this multiple of its limit, and microseconds for its launch.
FACTOR, LAUNCH = 2.5, 2.0


def odd(d, maximum):
    """An extent of any kind: one that 8 divides, one that 2 divides alone, or any."""
    return d.choice((8 * d.randrange(8, maximum // 8), 2 * d.randrange(32, maximum // 2), d.randrange(64, maximum), d.randrange(64, maximum)))


def rows_of(d):
    return d.choice((1, 8, 16, d.randrange(2, 64), d.randrange(2, 128), d.randrange(64, 512), d.randrange(128, 4096)))


def weight(g, name, dtype, n, k, along_n=False):
    """B (k, n) along N or K."""
    line = lambda extent: (extent + 7) // 8 * 8 if aligned else extent
    return g.input(name, dtype, (k, n), constant=True, strides=[line(n), 1] if along_n else [1, line(k)])


def operands(g, dtype, m, n, k, along_n, names="AB"):
    return g.input(names[0], dtype, (m, k)), weight(g, names[1], dtype, n, k, along_n)


def product_of(g, dtype, m, n, k, along_n):
    g.limit_flops = 2 * m * n * k
    return g.output(g.matmul(*operands(g, dtype, m, n, k, along_n)))


def product(d, g):
    dtype, m, n, k = d.choice(("f16", "bf16")), rows_of(d), odd(d, 8192), odd(d, 8192)
    return product_of(g, dtype, m, n, k, d.random() < 0.4)


def gate_of(g, dtype, m, n, k, kind):
    g.json["name"] += "_" + kind.replace(" ", "_")
    g.limit_flops = 2 * m * n * k * (2 if kind in ("swiglu", "geglu") else 1)
    x, w = operands(g, dtype, m, n, k, False, "xw")
    vector = lambda name, size: g.input(name, dtype, (size,), constant=True)
    if kind in ("swiglu", "geglu"):
        return g.output(g.mul((g.silu if kind == "swiglu" else g.gelu)(g.matmul(x, w)), g.matmul(x, weight(g, "u", dtype, n, k))))
    if kind == "norm":
        return g.output(g.matmul(g.mul(g.rms_norm(x, eps=1e-5), vector("g", k)), w))
    if kind == "residual":
        return g.output(g.add(g.input("y", dtype, (m, n)), g.matmul(x, w)))
    return g.output(g.gelu(g.add(g.matmul(x, w), vector("b", n))))


def gate(d, g):
    dtype, m, n, k = d.choice(("f16", "bf16")), rows_of(d), odd(d, 8192), odd(d, 8192)
    return gate_of(g, dtype, m, n, k, d.choice(("swiglu", "geglu", "norm", "residual", "bias gelu")))


def attention(d, g):
    kind = d.choice(("few", "odd", "causal"))
    g.json["name"] += "_" + kind
    dtype, heads, size = d.choice(("f16", "bf16")), d.choice((4, 8, 16, 32)), d.choice((64, 128))
    keys = d.choice((1024, 2048, 4096, d.randrange(500, 4096)))
    tokens, batch, causal = keys, 1, False
    if kind == "few":
        tokens, keys, batch = d.choice((1, 2, 4, 8, 16, 32, d.randrange(1, 64))), d.choice((4096, 8192, 16384, d.randrange(1000, 16384))), d.choice((1, 1, 2, 8))
    elif kind == "odd":
        size = d.choice((40, 48, 56, 72, 88, 100, 104, 112, 120, d.randrange(33, 129)))
    else:
        tokens = keys = d.choice((2048, 3072, 4096, 8192))
        causal, heads = True, min(heads, 2 ** 29 // keys ** 2)
    g.limit_flops = 4 * batch * heads * tokens * keys * size / (2 if causal else 1)
    q, k, v = (g.input(name, dtype, (batch * heads, n, size)) for name, n in (("q", tokens), ("k", keys), ("v", keys)))
    scores = g.mul_scalar(g.cast(g.matmul(q, g.permute(k, dims=[0, 2, 1])), dtype="f32"), scalar=size ** -0.5)
    if causal:
        scores = g.mask(scores, tril=0)
    return g.output(g.matmul(g.cast(g.softmax(scores, dim=2), dtype=dtype), v))


NAMED = (lambda g: product_of(g, "bf16", 43, 1152, 2637, False), lambda g: product_of(g, "bf16", 89, 6921, 4270, False),
         lambda g: product_of(g, "bf16", 46, 896, 1061, True), lambda g: product_of(g, "bf16", 230, 2749, 6912, False),
         lambda g: gate_of(g, "bf16", 273, 5632, 8167, "swiglu"))
DRAWN = {"named": None, "products": product, "gates": gate, "attention": attention}


def graph_of(family, seed, i):
    g = Graph(f"{family}_{i}")
    made = NAMED[i](g) if family == "named" else DRAWN[family](random.Random(seed * 1000 + i), g)
    return made, g.limit_flops


def limit(manifest, flops):
    """Microseconds, and what they are of."""
    tensors = [t for t in manifest["tensors"] if t["role"] != "intermediate"]
    moved = sum(math.prod(t["shape"]) * BITS[t["dtype"]] / 8 for t in tensors) / BYTES
    return max((moved, "bytes"), (flops / FLOPS, "products"))


def bounds(cost):
    """What bounds a kernel, as the cost model has it: the largest part of its time, of a line that `--explain` prints."""
    us = float(re.search(r": ([\d.]+) us", cost)[1])
    parts = {name.strip(): float(value) for name, value in re.findall(r"([A-Za-z0-9 ]+) ([\d.]+)[,;]", cost)}
    parts["launch"] += parts.pop("first load", 0)
    part = max(parts, key=parts.get)
    return f"{part} {parts[part]:.1f} of {us:.1f}"


def row_of(a, family, i):
    graph, flops = graph_of(family, a.seed, i)
    row = {"name": graph["name"], "family": family, "graph": told(graph)}
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "graph.json")
        with open(file, "w") as f:
            json.dump(graph, f)
        run = subprocess.run([a.zellige, "transpile", file, "--target", a.target, "-o", folder, "--force", "--explain"], capture_output=True, text=True)
        if run.returncode:
            return row | {"failed": run.stderr.strip()[:300] or f"exit status {run.returncode}"}
        with open(os.path.join(folder, graph["name"] + ".manifest.json")) as f:
            manifest = json.load(f)
    row["limit"], row["of"] = limit(manifest, flops)
    row["us"] = sum(k["price"]["us"] for k in manifest["kernels"])
    row["bounds"] = [bounds(line) for line in run.stdout.split("\n") if line.startswith("cost of ")]
    return row


def told(graph):
    return " ".join("x".join(map(str, t["shape"])) + ("" if "strides" not in t else "^t") for t in graph["inputs"]) + " " + graph["inputs"][0]["dtype"]


def line(row, before):
    us, limit, asked = row["us"], row["limit"], FACTOR * row["limit"] + LAUNCH
    met = "met    " if us <= asked else "not met"
    earlier = f"before {before:7.1f}, {before / us:.2f}  " if before else ""
    return (f"{row['name']:24} {us:7.1f} us  limit {limit:6.1f} of {row['of']:8} {us / limit:5.1f}  asked {asked:6.1f} {met}  {earlier}{row['graph']}: "
            + "; ".join(row["bounds"]))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--zellige", default=os.path.join(HERE, "..", "build", "zellige"))
    p.add_argument("--family", default=",".join(DRAWN), metavar="NAME,...")
    p.add_argument("--count", type=int, default=20)
    p.add_argument("--draws", metavar="I,...", help="these draws, in place of the first COUNT")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--target", default="sm_90a")
    p.add_argument("--align-weights", action="store_true")
    p.add_argument("--json", metavar="FILE")
    p.add_argument("--before", metavar="FILE")
    a = p.parse_args()
    global aligned
    aligned = a.align_weights
    families = a.family.split(",")
    if unknown := [f for f in families if f not in DRAWN]:
        p.error(f"--family: expected some of {', '.join(DRAWN)}, found {', '.join(unknown)}")
    wanted = lambda family: range(len(NAMED)) if family == "named" else map(int, a.draws.split(",")) if a.draws else range(a.count)
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        rows = list(pool.map(lambda draw: row_of(a, *draw), [(f, i) for f in families for i in wanted(f)]))
    if a.json:
        with open(a.json, "w") as f:
            json.dump({"seed": a.seed, "rows": rows}, f, indent=1)
    before = {r["name"]: r for r in json.load(open(a.before))["rows"]} if a.before else {}
    for row in (r for r in rows if "failed" in r):
        print(f"{row['name']}: {row['failed']}  {row['graph']}")
    for family in families:
        mine = [r for r in rows if r["family"] == family and "us" in r]
        for r in sorted(mine, key=lambda r: -(r["us"] - LAUNCH) / r["limit"]):
            print(line(r, before.get(r["name"], {}).get("us")))
        if mine:
            mean = lambda values: math.exp(sum(map(math.log, values)) / len(values))
            both = [before[r["name"]]["us"] / r["us"] for r in mine if before.get(r["name"], {}).get("us")]
            print(f"{family}: {len(mine)}, limit / expected {mean([r['limit'] / r['us'] for r in mine]):.3f} in the geometric mean, "
                  f"{sum(r['us'] <= FACTOR * r['limit'] + LAUNCH for r in mine)} within {FACTOR} limits and {LAUNCH} us"
                  + (f", before / after {mean(both):.3f}, least {min(both):.2f}" if both else ""))
    sys.exit(1 if any("failed" in r for r in rows) else 0)


if __name__ == "__main__":
    main()
