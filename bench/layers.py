#!/usr/bin/env python3
"""Times parts of transformers, emitted from unfused graphs, against what a user would run instead, interleaved in one process.

  bench/layers.py --prepare DIR [--zellige NAME=FILE,...] [--graphs DIR] [--only NAME,...] [--jobs N] [--tune N]
                                               transpile and compile (needs nvcc, and no GPU but to tune)
  bench/layers.py DIR [--only NAME,...] [--rounds N] [--json FILE] [--compile NAME,...]

Workloads: examples/layers, with weights declared constant. Timing as in bench/kernels.py; a name with NO_OVERLAP (raw.py) runs each kernel after
the end of the previous one (no PDL overlap). Baselines: the same function in PyTorch (eager; with --compile torch.compile,
max-autotune, for names with that prefix, '' for all), with PyTorch's attention, also cuDNN's, in place of unfused attention.
Results are checked against the same function in float32: the error may be a quarter larger than that of PyTorch's own result.
"""
import concurrent.futures, glob, json, os, re, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from emitted import NO_OVERLAP, Emitted, compiled, max_autotuned, options, programs_of  # noqa: E402, next to this file
WEIGHTS = {"g", "w", "b", "g1", "g2", "wqkv", "wo", "gate", "up", "down", "w1", "b1", "w2", "b2"}


def tuned(zellige, graph, candidates):
    """The fastest of `count` tilings on this machine's GPU."""
    with tempfile.TemporaryDirectory() as work:
        file, report = os.path.join(work, "graph.json"), os.path.join(work, "report.jsonl")
        with open(file, "w") as f:
            json.dump(graph, f)
        subprocess.run([zellige, "run", file, "--on", "gpu", "--check", "none", "--tune", str(candidates), "--json", report], check=True, stdout=subprocess.DEVNULL)
        return min(json.loads(open(report).readline())["tried"], key=lambda t: t["us"])["tiling"]


def prepare(arguments):
    os.makedirs(arguments.prepare, exist_ok=True)
    compilers = dict(pair.split("=", 1) for pair in arguments.zellige.split(","))
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        jobs = []
        for path in sorted(glob.glob(os.path.join(glob.escape(arguments.graphs), "*.json"))):
            name, graph = os.path.basename(path)[:-5], json.load(open(path))
            if arguments.only and not any(name.startswith(o) for o in arguments.only.split(",")):
                continue
            for tensor in graph["inputs"]:
                tensor["constant"] = tensor["name"] in WEIGHTS
            for who, zellige in compilers.items():
                jobs.append(pool.submit(compiled, arguments.prepare, name, who, zellige, graph))
                if arguments.tune:
                    jobs.append(pool.submit(compiled, arguments.prepare, name, who + "_tuned", zellige, graph, tuned(zellige, graph, arguments.tune)))
        for job in jobs:
            job.result()


def flops_of(name, t):
    """FLOPs of the matmuls; t: shapes by name. Attention has two."""
    def linear(*weights):
        rows = t["x"][0]
        return sum(2 * rows * t[w][0] * t[w][1] for w in weights)
    if name.startswith("llama"):
        total = linear("wqkv", "wo", "gate", "up", "down")
        width, rows = t["wo"][1], t["x"][0]
        return total + (4 * rows * width * t["cache_k"][2] if "cache_k" in t else 2 * rows * rows * width)
    if "attention" in name:
        heads, n, dim = t["q"]
        return 4 * heads * n * n * dim // (2 if name.endswith("causal") else 1)
    return linear(*[w for w in ("w", "gate", "up", "down", "w1", "w2") if w in t])


def module(attention=None):
    """The functions in PyTorch, with unfused attention replaced by another."""
    import importlib.util
    name = f"layers_with_{attention.__name__ if attention else 'attention_written_out'}"  # torch.compile resolves a function's globals by its module
    spec = importlib.util.spec_from_file_location(name, os.path.join(HERE, "..", "tests", "gpu", "layers_in_torch.py"))
    found = importlib.util.module_from_spec(spec)
    sys.modules[name] = found
    spec.loader.exec_module(found)
    found.attention = attention or found.attention
    return found


def sdpa(q, k, v, causal):
    from torch.nn.functional import scaled_dot_product_attention
    return scaled_dot_product_attention(q, k, v, is_causal=causal) if q.dim() == 4 else scaled_dot_product_attention(q[None], k[None], v[None], is_causal=causal)[0]


def cudnn(q, k, v, causal):
    from torch.nn.attention import SDPBackend, sdpa_kernel
    with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
        return sdpa(q, k, v, causal)


def functions(name):
    """The unfused function in PyTorch, and what a user would run."""
    of = lambda m: getattr(m, re.sub(r"_b\d+$", "", name))
    written = of(module())
    if "attention" in name:
        return written, {"eager": written, "cudnn": of(module(cudnn))}
    return written, {"eager": of(module(sdpa))}


def main():
    p = options(__doc__)
    p.add_argument("--tune", type=int, default=0, metavar="N", help="also with the fastest of N tilings on this machine's GPU, as NAME_tuned")
    p.add_argument("--graphs", default=os.path.join(HERE, "..", "examples", "layers"))
    arguments = p.parse_args()
    if arguments.prepare:
        return prepare(arguments)
    if not arguments.folder:
        p.error("DIR is missing: what --prepare made")
    import torch
    import clock as bench
    if not torch.cuda.is_available():
        sys.exit("bench/layers.py: no GPU here; it times kernels, so it needs one of compute capability 9.0")
    torch.manual_seed(0)
    results, wrong = bench.Results(arguments.json), 0
    for name, files in sorted(programs_of(arguments.folder).items()):
        if not bench.wanted(name, arguments.only):
            continue
        programs = {who: Emitted(path) for who, path in files.items()}
        first = next(iter(programs.values()))
        of, count = [t["name"] for t in first.inputs], len(first.inputs)
        shapes = {t["name"]: tuple(t["shape"]) for t in first.inputs + first.outputs}
        scale = lambda t: t["shape"][-1] ** -0.5 if t["name"] in WEIGHTS and len(t["shape"]) == 2 else 1.0
        sets = bench.sets_of(lambda: tuple(first.tensor(t, scale(t)) for t in first.inputs) + tuple(first.tensor(t) for t in first.outputs))
        written, baselines = functions(name)
        named = lambda t: dict(zip(of, t[:count]))
        run = {}
        for who, program in programs.items():
            run[who], run[who + NO_OVERLAP] = program.entry(True), program.entry(False)
        run.update({who: lambda *t, f=f: f(named(t), shapes) for who, f in baselines.items()})
        if arguments.compile is not None and bench.wanted(name, arguments.compile):
            f = max_autotuned(lambda i, f=baselines["eager"]: f(i, shapes))
            run["compile"] = lambda *t: f(named(t))
        with torch.no_grad():
            exact = written({k: v.float() for k, v in named(sets[0]).items()}, shapes)
            own = written(named(sets[0]), shapes)
            errors = {}
            for who in programs:
                for t in sets[0][count:]:
                    t.fill_(float("nan"))  # unwritten elements are detected
                run[who](*sets[0])
                torch.cuda.synchronize()
                for t, place in zip(sets[0][count:], first.outputs):
                    e = exact[place["name"]].reshape(t.shape)
                    ours, theirs = bench.error(t, e), bench.error(own[place["name"]].reshape(t.shape), e)
                    errors[place["name"]] = (ours, theirs)
                    if not ours <= max(1.25 * theirs, 3e-6 if t.dtype == torch.float32 else 2e-3):
                        print(f"{name:24} {who}: {place['name']} WRONG, relative error {ours:.3g}, PyTorch's {theirs:.3g}")
                        wrong += 1
            del exact, own
            raw = bench.measure({who: [lambda s=s, f=f: f(*s) for s in sets] for who, f in run.items()}, arguments.rounds)
        t = {who: bench.median(v) for who, v in raw.items()}
        moved = sum(x.numel() * x.element_size() for x in sets[0])
        best = min((who for who in t if who.partition("/")[0] not in programs), key=t.get)
        ours = next(iter(programs))
        print(f"{name:24} roofline {results.roofline(moved, flops_of(name, shapes)):8.2f}  " + "  ".join(f"{who} {v:.2f}" for who, v in t.items()) +
              f"  speed against {best} {t[best] / t[ours]:.3f}", flush=True)
        results.add(name, moved, flops_of(name, shapes), raw, error=errors, ours=list(programs))
        del sets, run
        torch.cuda.empty_cache()
    results.close()
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
