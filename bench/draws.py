#!/usr/bin/env python3
"""Times torch code at random sizes and in random spellings, compiled by Zellige and by its baselines.

  bench/draws.py [--family NAME,...] [--count N | --draws I,...] [--seed S] [--jobs N] [--rounds N] [--json FILE] [--show]

attention   scaled_dot_product_attention and its unfused form; baseline: the best of torch's cuDNN, flash and memory-efficient kernels
rows        norms, softmax, residuals, reductions along rows; baseline: the better of Inductor and eager
products    with bias, activation, residual, gate, after a norm; baseline: the better of Inductor and eager, which call cuBLAS

Draw I of a family has the seed S * 1000 + I. Everything is timed in CUDA graphs, by the GPU's clock: medians of interleaved
rounds. Results are checked against float64. --show only prints the draws. Prints one line per draw, then each family's
geometric mean, its minimum and the draws below 0.9; exit status 1 if a result is wrong.
"""
import argparse, contextlib, json, math, os, random, statistics, subprocess, sys



def attention(d):
    """(b, tokens, heads, size) or heads first; a mask by position, or none; keys shared by heads."""
    size = d.choice((64, 64, 128, 128, 32, 80, 96, 72, 256))
    heads = d.choice((1, 4, 8, 12, 16, 32))
    shared = d.choice((1, 1, 1, 2, 4)) if heads % 4 == 0 else 1
    tokens = d.choice((128, 197, 256, 512, 577, 1024, 1500, 2048, 4096, d.randrange(64, 4096)))
    keys = tokens if d.random() < 0.8 else d.choice((77, 128, 1024, d.randrange(64, 2048)))
    batch = max(1, min(d.choice((1, 2, 4, 8, 16)), 2 ** 27 // (heads * tokens * keys)))
    causal = keys == tokens and d.random() < 0.5
    return dict(batch=batch, heads=heads, shared=shared, tokens=tokens, keys=keys, size=size, causal=causal, dtype=d.choice(("float16", "bfloat16")),
                heads_first=d.random() < 0.4, spelling=d.choice(SPELLINGS))


SPELLINGS = ("sdpa", "sdpa", "sdpa mask", "written", "written f32", "masked_fill", "where")


def attention_of(torch, s):
    F, dtype = torch.nn.functional, getattr(torch, s["dtype"])
    b, h, k = s["batch"], s["heads"], s["heads"] // s["shared"]
    lay = lambda heads, n: ((b, heads, n) if s["heads_first"] else (b, n, heads)) + (s["size"],)
    q, kk, v = (torch.randn(lay(*a), device="cuda", dtype=dtype) for a in ((h, s["tokens"]), (k, s["keys"]), (k, s["keys"])))
    causal, spelling = s["causal"], s["spelling"]

    def f(q, kk, v):
        if not s["heads_first"]:
            q, kk, v = (t.transpose(1, 2) for t in (q, kk, v))
        if spelling.startswith("sdpa"):
            mask = torch.ones(q.shape[2], kk.shape[2], device=q.device, dtype=torch.bool).tril() if causal and spelling == "sdpa mask" else None
            return F.scaled_dot_product_attention(q, kk, v, mask, is_causal=causal and mask is None, enable_gqa=s["shared"] > 1)
        if s["shared"] > 1:
            kk, v = (t.repeat_interleave(s["shared"], 1) for t in (kk, v))
        scores = q @ kk.transpose(-1, -2) * s["size"] ** -0.5
        if causal:
            n = scores.shape[-1]
            if spelling == "where":
                scores = torch.where(torch.ones(n, n, device=q.device, dtype=torch.bool).tril(), scores, -math.inf)
            else:
                scores = scores.masked_fill(torch.ones(n, n, device=q.device).triu(1).bool(), -math.inf)
        if spelling == "written f32":
            return torch.softmax(scores.float(), -1).to(q.dtype) @ v
        return torch.softmax(scores, -1) @ v

    def baselines():
        from torch.nn.attention import SDPBackend, sdpa_kernel
        for kind in (SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION):
            def one(q, kk, v, kind=kind):
                if not s["heads_first"]:
                    q, kk, v = (t.transpose(1, 2) for t in (q, kk, v))
                if s["shared"] > 1 and kind == SDPBackend.EFFICIENT_ATTENTION:
                    kk, v = (t.repeat_interleave(s["shared"], 1) for t in (kk, v))
                with sdpa_kernel(kind):
                    return F.scaled_dot_product_attention(q, kk, v, is_causal=causal, enable_gqa=s["shared"] > 1 and kind != SDPBackend.EFFICIENT_ATTENTION)
            yield str(kind).split(".")[-1].split("_")[0].lower(), one

    return f, (q, kk, v), baselines


ROWS = ("rms_norm", "layer_norm", "softmax", "log_softmax", "logsumexp", "add rms_norm", "add layer_norm", "silu mul", "gelu mul", "softmax f32", "logsumexp f32",
        "var", "group_norm", "normalize", "l2", "scale softmax", "mean gelu", "bias gelu")


def rows(d):
    width = d.choice((d.randrange(16, 512), d.choice((768, 1024, 2048, 4096, 5120, 8192)), d.randrange(512, 32768), d.randrange(1024, 131072) // 8 * 8))
    count = max(1, min(d.choice((1, 16, 128, 1024, 4096, 8192, d.randrange(1, 20000))), 2 ** 27 // width))
    return dict(kind=d.choice(ROWS), rows=count, width=width, dtype=d.choice(("float16", "bfloat16", "float32")))


def rows_of(torch, s):
    F, dtype, n = torch.nn.functional, getattr(torch, s["dtype"]), s["width"]
    x, y = (torch.randn(s["rows"], n, device="cuda", dtype=dtype) for _ in range(2))
    w, b = (torch.randn(n, device="cuda", dtype=dtype) for _ in range(2))
    groups = next(g for g in (32, 16, 8, 4, 2, 1) if n % g == 0)
    f = {
        "rms_norm": lambda x, y, w, b: F.rms_norm(x, (n,), w),
        "layer_norm": lambda x, y, w, b: F.layer_norm(x, (n,), w, b),
        "softmax": lambda x, y, w, b: torch.softmax(x, -1),
        "log_softmax": lambda x, y, w, b: torch.log_softmax(x, -1),
        "logsumexp": lambda x, y, w, b: torch.logsumexp(x, -1),
        "add rms_norm": lambda x, y, w, b: (x + y, F.rms_norm(x + y, (n,), w)),
        "add layer_norm": lambda x, y, w, b: (x + y, F.layer_norm(x + y, (n,), w, b)),
        "silu mul": lambda x, y, w, b: F.silu(x) * y,
        "gelu mul": lambda x, y, w, b: F.gelu(x) * y,
        "softmax f32": lambda x, y, w, b: torch.softmax(x.float(), -1).to(x.dtype),
        "logsumexp f32": lambda x, y, w, b: torch.logsumexp(x.float(), -1),
        "var": lambda x, y, w, b: torch.var(x.float(), -1),
        "group_norm": lambda x, y, w, b: F.group_norm(x, groups, w, b),
        "normalize": lambda x, y, w, b: F.normalize(x, dim=-1),
        "l2": lambda x, y, w, b: x * torch.rsqrt((x.float() * x.float()).sum(-1, keepdim=True) + 1e-6).to(x.dtype),
        "scale softmax": lambda x, y, w, b: torch.softmax(x * 0.125 + b, -1),
        "mean gelu": lambda x, y, w, b: F.gelu(x - x.mean(-1, keepdim=True)),
        "bias gelu": lambda x, y, w, b: F.gelu(x + b, approximate="tanh"),
    }[s["kind"]]
    return f, (x, y, w, b), lambda: iter(())


PRODUCTS = ("plain", "bias", "bias gelu", "bias relu", "residual", "swiglu", "geglu", "norm", "layer norm bias", "qkv", "batched")


def products(d):
    pick = lambda: d.choice((d.choice((256, 512, 768, 1024, 2048, 4096, 8192)), 8 * d.randrange(8, 1200), 8 * d.randrange(8, 300)))
    m = d.choice((1, 8, 16, 64, 256, d.randrange(1, 128), d.randrange(128, 8192), d.choice((512, 1024, 2048, 4096))))
    return dict(kind=d.choice(PRODUCTS), m=m, n=pick(), k=pick(), dtype=d.choice(("float16", "bfloat16")))


def products_of(torch, s):
    F, dtype, m, n, k = torch.nn.functional, getattr(torch, s["dtype"]), s["m"], s["n"], s["k"]
    r = lambda *shape: torch.randn(*shape, device="cuda", dtype=dtype) / shape[-1] ** 0.5
    x, w, w2, b, y, g = r(m, k) * k**0.5, r(n, k), r(n, k), r(n), r(m, n), r(k) * k**0.5
    f = {
        "plain": lambda x, w, w2, b, y, g: F.linear(x, w),
        "bias": lambda x, w, w2, b, y, g: F.linear(x, w, b),
        "bias gelu": lambda x, w, w2, b, y, g: F.gelu(F.linear(x, w, b)),
        "bias relu": lambda x, w, w2, b, y, g: F.relu(F.linear(x, w, b)),
        "residual": lambda x, w, w2, b, y, g: y + F.linear(x, w),
        "swiglu": lambda x, w, w2, b, y, g: F.silu(F.linear(x, w)) * F.linear(x, w2),
        "geglu": lambda x, w, w2, b, y, g: F.gelu(F.linear(x, w)) * F.linear(x, w2),
        "norm": lambda x, w, w2, b, y, g: F.linear(F.rms_norm(x, (k,), g), w),
        "layer norm bias": lambda x, w, w2, b, y, g: F.linear(F.layer_norm(x, (k,), g), w, b),
        "qkv": lambda x, w, w2, b, y, g: (F.linear(x, w, b), F.linear(x, w2, b)),
        "batched": lambda x, w, w2, b, y, g: x.view(1, m, k) @ w.t().view(1, k, n),
    }[s["kind"]]
    return f, (x, w, w2, b, y, g), lambda: iter(())


COMPILED = "all draws of this process are compiled\n"
DRAWN = {"attention": (attention, attention_of), "rows": (rows, rows_of), "products": (products, products_of)}


def spec_of(family, seed, i):
    return DRAWN[family][0](random.Random(seed * 1000 + i))


def flat(made):
    return [made] if hasattr(made, "dtype") else [t for m in made for t in flat(m)]


def row_of(a, family, i):
    """Compiles and checks a draw. Returns its row and a function that times it and completes the row."""
    import torch
    from zellige import torch_backend
    from zellige.torch.measure import clock
    row = {"family": family, "draw": i, **spec_of(family, a.seed, i)}
    torch._inductor.config.compile_threads = 1

    def made():
        torch.manual_seed(a.seed * 1000 + i)
        return DRAWN[family][1](torch, row)
    f, inputs, baselines = made()
    runs = dict(baselines())
    if family != "attention":
        runs.update(eager=f, inductor=torch.compile(f, dynamic=False))
    runs["zellige"] = torch.compile(f, backend=torch_backend.backend, dynamic=False)
    compiled = {"inductor", "zellige"}
    with torch.no_grad():
        # Kernels of other processes would disturb the measurements by which the backend decides: they take its lock.
        with clock.gpu_lock():
            results, right = {}, flat(f(*(t.double() for t in inputs)))
            torch.cuda.synchronize()
        for who in list(runs):
            try:
                with contextlib.nullcontext() if who in compiled else clock.gpu_lock():
                    results[who] = flat(runs[who](*inputs))
                    torch.cuda.synchronize()
            except Exception as problem:
                row[f"failed_{who}"] = f"{type(problem).__name__}: {problem}"[:200]
                del runs[who]
        report = torch_backend.reports[-1]
        row["taken"], row["kernels"] = report.taken / max(report.operators, 1), sum(len(p.manifest["kernels"]) for p in report.parts)
        row["left"] = {k: v[:120] for k, v in report.left.items()}
        error = lambda who: max(((r.double() - e).pow(2).mean().sqrt() / e.pow(2).mean().sqrt().clamp(min=1e-30)).item() for r, e in zip(results[who], right))
        row["error"] = {who: error(who) for who in results}
        other = max(e for who, e in row["error"].items() if who != "zellige")
        row["right"] = "zellige" in results and row["error"]["zellige"] <= max(2 * other, 2 * torch.finfo(results["zellige"][0].dtype).eps)
    del f, inputs, baselines, results, right
    torch.cuda.empty_cache()

    def timed():
        with torch.no_grad():
            inputs = made()[1]
            row["us"] = times_of({who: (lambda run=run: run(*inputs)) for who, run in runs.items()}, a.rounds)
        best = min((us for who, us in row["us"].items() if who != "zellige"), default=math.nan)
        row["ratio"] = best / row["us"].get("zellige", math.nan)
        torch.cuda.empty_cache()
    return row, timed


def share_of(a, wanted):
    """What one process does: compiles its draws, waits for a line of stdin, and prints a row per draw."""
    import torch
    # The draws of one kind are calls of one function, which is compiled again for each, and for each compiler.
    torch._dynamo.config.recompile_limit = torch._dynamo.config.accumulated_recompile_limit = 10000

    def tried(call, family, i):
        try:
            return call()
        except Exception as problem:
            row = {"family": family, "draw": i, **spec_of(family, a.seed, i), "right": False, "failed": f"{type(problem).__name__}: {problem}"[:300]}
            return row, None
    made = [tried(lambda: row_of(a, family, i), family, i) for family, i in wanted]
    print(COMPILED, end="", flush=True)
    sys.stdin.readline()
    for (family, i), (row, timed) in zip(wanted, made):
        failed = tried(timed, family, i) if timed else None
        print("ROW " + json.dumps(failed[0] if failed else row), flush=True)


def times_of(runs, rounds):
    """Microseconds per call, of CUDA graphs of several calls."""
    import torch, cuda_graph
    graphs, times = {}, {who: [] for who in runs}
    for who, run in runs.items():
        run(), torch.cuda.synchronize()
        calls = max(1, min(20, int(2000 / max(cuda_graph.gpu_us(run), 1))))
        graphs[who] = cuda_graph.captured(run, calls), calls
    for repeat in range(rounds + 1):
        for who in list(graphs)[:: 1 if repeat % 2 else -1]:
            replay, calls = graphs[who]
            us = cuda_graph.gpu_us(replay) / calls
            if repeat:
                times[who].append(us)
    return {who: round(statistics.median(t), 2) for who, t in times.items()}


def told(row):
    spec = " ".join(f"{k}={v}" for k, v in row.items() if k not in ("family", "draw", "us", "ratio", "left", "error", "right", "taken", "kernels") and not k.startswith("failed"))
    us = " ".join(f"{who} {us}" for who, us in row.get("us", {}).items())
    return f"{row['family']} {row['draw']}: {row.get('ratio', math.nan):.2f}  {us}  [{row.get('kernels', '-')} kernels, {row.get('taken', 0):.0%} taken]  {spec}" + (
        "" if row.get("right", True) else f"  WRONG {row.get('error', row.get('failed'))} {row.get('failed_zellige', '')}"
    )


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--family", default=",".join(DRAWN), metavar="NAME,...")
    p.add_argument("--count", type=int, default=30)
    p.add_argument("--draws", metavar="I,...", help="these draws, in place of the first COUNT")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--jobs", type=int, default=1, help="processes that compile in parallel; times are taken when all have compiled")
    p.add_argument("--rounds", type=int, default=9)
    p.add_argument("--json", metavar="FILE")
    p.add_argument("--show", action="store_true")
    p.add_argument("--one", help=argparse.SUPPRESS)
    a = p.parse_args()
    families = a.family.split(",")
    if unknown := [f for f in families if f not in DRAWN]:
        p.error(f"--family: expected some of {', '.join(DRAWN)}, found {', '.join(unknown)}")
    wanted = [(f, i) for f in families for i in (map(int, a.draws.split(",")) if a.draws else range(a.count))]
    if a.one:
        return share_of(a, json.loads(a.one))
    if a.show:
        for family, i in wanted:
            print(told({"family": family, "draw": i, **spec_of(family, a.seed, i)}))
        return
    rows = []
    commands = [[sys.executable, os.path.abspath(__file__), *sys.argv[1:], "--one", json.dumps(mine)] for mine in (wanted[j :: a.jobs] for j in range(a.jobs)) if mine]
    processes = [subprocess.Popen(c, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) for c in commands]
    for process in processes:  # all of them compile
        while (line := process.stdout.readline()) and line != COMPILED:
            print(line, end="", flush=True)
    for process in processes:  # one of them takes times
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write("\n"), process.stdin.close()
        for line in process.stdout:
            if line.startswith("ROW "):
                rows.append(json.loads(line[4:]))
                print(told(rows[-1]), flush=True)
                if a.json:
                    with open(a.json, "w") as out:
                        json.dump({"seed": a.seed, "rows": rows}, out, indent=1)
        process.wait()
    for family in families:
        ratios = sorted((r["ratio"], r["draw"]) for r in rows if r["family"] == family and r.get("ratio", math.nan) == r.get("ratio"))
        values = [r for r, _ in ratios]
        if values:
            print(f"{family}: {len(values)} of {len(wanted) // len(families)}, geometric mean {math.exp(statistics.fmean(map(math.log, values))):.3f}, least {values[0]:.2f}, below 0.9: "
                  + (", ".join(f"{i} ({r:.2f})" for r, i in ratios if r < 0.9) or "none"))
    if len(rows) < len(wanted) or not all(r.get("right") for r in rows):
        sys.exit(1)


if __name__ == "__main__":
    main()
