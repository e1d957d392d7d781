#!/usr/bin/env python3
"""Times emitted programs against hand-written kernels and against what a user would run instead, interleaved in one process.

  bench/emitted.py --prepare DIR [--zellige NAME=FILE,...] [--mugraphs DIR] [--best FILE] [--only NAME,...] [--jobs N]
                                               transpile and compile (needs nvcc, no GPU)
  bench/emitted.py DIR [--only NAME,...] [--rounds N] [--json FILE] [--build DIR] [--compile NAME,...]

Workloads: matmuls D = A B^T in the sizes of bench/kernels.py (gemm_), of the layers of Llama 3 (llama_: QKV, O, gate and up,
down of 1B, 8B and 70B at 1 to 4096 rows) and in sizes that no tile divides (odd_); and saved muGraphs (NAME[INDEX]), if
--mugraphs or $ZELLIGE_MUGRAPHS names their folder: the first of each file and, with --best, the report of `zellige run --all
--time --json`, also the fastest. Each is emitted for sm_90a by each named zellige (default: build/zellige as `emitted`), with
weights declared constant, and launched through the host entry of its source. Timing as in bench/kernels.py. Evaluations
overlap (PDL), also those of the hand-written kernels; a name with NO_OVERLAP (raw.py) is the same without overlap, each kernel after the end of the
previous one. Baselines: cuBLAS, PyTorch, its attention, torch.compile.
"""
import argparse, concurrent.futures, ctypes, glob, json, math, os, subprocess, sys, tempfile
from raw import NO_OVERLAP

HERE = os.path.dirname(os.path.abspath(__file__))
GEMM = [(4096, 4096, 4096, "f16"), (4096, 4096, 4096, "bf16"), (8192, 8192, 8192, "f16"), (8192, 8192, 8192, "bf16"),
        (1024, 1024, 1024, "f16"), (2048, 2048, 2048, "f16"), (1000, 3000, 5000, "f16"), (512, 4096, 4096, "bf16"),
        (512, 14336, 4096, "bf16"), (4096, 14336, 4096, "bf16"), (128, 8192, 8192, "f16"), (16, 8192, 8192, "f16")]
ODD = [(5, 2049, 1025), (17, 4099, 2047), (33, 1000, 999), (63, 8191, 511), (100, 3001, 2003), (129, 129, 4095), (255, 511, 1023),
       (257, 1023, 2047), (511, 513, 777), (777, 1111, 1333), (1023, 1025, 1027), (2047, 2049, 2051)]
LLAMA = {"1b": (2048, 3072, 8192), "8b": (4096, 6144, 14336), "70b": (8192, 10240, 28672)}  # hidden, QKV, intermediate
ROWS = (1, 8, 16, 512, 4096)
# file -> (the index of the first graph to time, the inputs that are weights)
SAVED = {"rmsnorm_bs1": (0, ["X1"]), "gated_mlp": (0, ["X1", "X2"]), "lora": (0, ["X1", "X2", "X3"]), "ntrans_bs1": (0, []),
         "gqa_bs1": (0, []), "mqa_bs1": (6, []), "mha_bs1": (0, []), "qknorm_gqa_bs1": (0, [])}


def products():
    """name -> (m, n, k, dtype, B's major)"""
    found = {f"gemm_{t}_{m}x{n}x{k}": (m, n, k, t, "k") for m, n, k, t in GEMM}
    found["gemm_f16_255x511x1023_nn"] = (255, 511, 1023, "f16", "n")
    for model, (hidden, qkv, wide) in LLAMA.items():
        for what, n, k in (("qkv", qkv, hidden), ("o", hidden, hidden), ("gate_up", 2 * wide, hidden), ("down", hidden, wide)):
            found.update({f"llama_{model}_{what}_{m}": (m, n, k, "bf16", "k") for m in ROWS})
    found.update({f"odd_{m}x{n}x{k}": (m, n, k, "f16", "k") for m, n, k in ODD})
    return found


def saved(mugraphs, best):
    """name -> (file, index)"""
    found = {f"{name}[{index}]": (os.path.join(mugraphs, name + ".json"), index) for name, (index, _) in SAVED.items()} if mugraphs else {}
    fastest = {}
    for line in open(best) if best else []:
        r = json.loads(line)
        name = os.path.splitext(os.path.basename(r["file"]))[0]
        if r["status"] in ("correct", "borderline", "unchecked") and "time_us" in r and name in SAVED:
            fastest[name] = min(fastest.get(name, (math.inf, 0)), (r["time_us"]["median"], r["index"]))
    found.update({f"{name}[{i}]": (os.path.join(mugraphs, name + ".json"), i) for name, (_, i) in fastest.items()})
    return found


def product_graph(m, n, k, dtype, major):
    return {"zellige_graph": 1, "name": "gemm",
            "inputs": [{"name": "A", "dtype": dtype, "shape": [m, k], "strides": [k, 1]},
                       {"name": "B", "dtype": dtype, "shape": [k, n], "strides": [1, k] if major == "k" else [n, 1], "constant": True}],
            "operators": [{"op": "matmul", "inputs": ["A", "B"], "outputs": [{"name": "C", "strides": [n, 1]}]}],
            "outputs": ["C"]}


def shared_object(source, out):
    """Compiles a program's source code with nvcc."""
    subprocess.run(["nvcc", "-std=c++20", "-O3", "-gencode=arch=compute_90a,code=sm_90a", "-shared", "-Xcompiler", "-fPIC",
                    "-I", os.path.join(HERE, "..", "include"), "-o", out, source], check=True)


def compiled(folder, name, who, zellige, source, tiling=None):
    """Writes NAME.WHO.so and its manifest to the folder; uses the tiles of a list of tilings, if there is one."""
    with tempfile.TemporaryDirectory() as work:
        if isinstance(source, dict):
            file, index, constants = os.path.join(work, "graph.json"), 0, []
            with open(file, "w") as f:
                json.dump(source, f)
        else:
            (file, index), constants = source, SAVED[name[:name.index("[")]][1]
        options = [w for c in constants for w in ("--constant", c)]
        if tiling:
            options += ["--tiling", os.path.join(work, "tiling")]
            with open(options[-1], "w") as f:
                json.dump(tiling, f)
        subprocess.run([zellige, "transpile", file, "--index", str(index), "--target", "sm_90a", "-o", work] + options, check=True, stdout=subprocess.DEVNULL)
        text, = glob.glob(os.path.join(work, "*.cu"))
        out = os.path.join(folder, f"{name}.{who}")
        shared_object(text, out + ".so")
        with open(out + ".json", "w") as f:
            f.write(open(text[:-3] + ".manifest.json").read())
    print(out, file=sys.stderr, flush=True)


def prepare(arguments):
    os.makedirs(arguments.prepare, exist_ok=True)
    work = {name: product_graph(*shape) for name, shape in products().items()}
    work.update(saved(arguments.mugraphs, arguments.best))
    compilers = dict(pair.split("=", 1) for pair in arguments.zellige.split(","))
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        jobs = [pool.submit(compiled, arguments.prepare, name, who, zellige, source) for name, source in work.items()
                if not arguments.only or any(name.startswith(o) for o in arguments.only.split(",")) for who, zellige in compilers.items()]
        for job in jobs:
            job.result()


class Emitted:
    """A compiled program: called with its inputs and its output. Its library is PATH.so, unless another has it too."""

    def __init__(self, path, library=None):
        import torch
        self.manifest = json.load(open(path + ".json"))
        self.library, self.path = ctypes.CDLL(library or path + ".so"), path
        self.workspace = torch.empty(max(1, self.manifest["buffer_size"]), dtype=torch.uint8, device="cuda")
        of = lambda role: sorted((t for t in self.manifest["tensors"] if t["role"] == role), key=lambda t: t["position"])
        self.inputs, self.outputs = of("input"), of("output")

    def entry(self, overlapping):
        import torch
        launch = getattr(self.library, ("launch_" if overlapping else "ordered_") + self.manifest["name"])

        def run(*tensors):
            pointers = [ctypes.c_void_p(t.data_ptr()) for t in tensors]
            inputs = (ctypes.c_void_p * len(self.inputs))(*pointers[:len(self.inputs)])
            outputs = (ctypes.c_void_p * len(self.outputs))(*pointers[len(self.inputs):])
            status = launch(inputs, outputs, ctypes.c_void_p(self.workspace.data_ptr()), ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
            if status:
                raise RuntimeError(f"{self.path}: CUDA error {status}")
            return tensors[-1]
        return run

    def tensor(self, place, scale=1.0):
        """Random values in the layout of the manifest."""
        import torch
        kind = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}[place["dtype"]]
        memory = torch.randn(place["bytes"] // kind.itemsize, device="cuda").mul_(scale).to(kind)
        return memory.as_strided(place["shape"], place["strides"])


def rms(x):
    import torch
    return x * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True)).to(x.dtype)


def saved_workload(name, bench, lib, programs):
    """The program that a file's graphs compute: scales of its inputs, torch's version of it, others' and the FLOPs."""
    import torch
    import torch.nn.functional as F
    from torch.nn.attention import SDPBackend, sdpa_kernel
    file = name[:name.index("[")]
    first = next(iter(programs.values()))
    shapes = [t["shape"] for t in first.inputs]
    attention = lambda q, k, v: torch.softmax(q @ k, dim=-1) @ v
    eager, scales, flops, others, exact = attention, [.35, .35, 1], 4 * math.prod(shapes[0]) * shapes[1][-1], {}, True

    def by(backend, before):
        def f(q, k, v, *_):
            with sdpa_kernel(backend):
                return F.scaled_dot_product_attention(before(q)[None], k.transpose(-1, -2)[None], before(v)[None], scale=1.0)[0]
        return f

    def hand(work, m, n, k):
        def f(x, *rest):
            w, y = rest[:-1], rest[-1]
            bench.must(lib["linear"].zellige_linear(work, 4, bench.pointer(w[0]), bench.pointer(w[-1]), bench.pointer(x), bench.pointer(y), m, n, k,
                                                    132, bench.stream()), name)
            return y
        return f
    if file == "rmsnorm_bs1":
        eager, scales, flops, others = lambda x, w: rms(x) @ w, [1, 1 / 64], 2 * 2 * 4096 * 6144, {"hand": hand(1, 2, 6144, 4096)}
    elif file == "gated_mlp":
        eager, scales, flops = lambda x, a, b: F.silu(x @ a) * (x @ b), [1, 1 / 64, 1 / 64], 4 * 8 * 4096 * 4096
        others = {"hand": hand(2, 8, 4096, 4096)}
    elif file == "lora":
        eager, scales = lambda x, w, a, b: x @ w + (x @ a) @ b, [1, 1 / 16, 1 / 16, 1 / 4]
        flops = 2 * 16 * (256 * 4096 + 256 * 16 + 16 * 4096)
    elif file == "ntrans_bs1":
        eager, scales, flops = lambda h, x, a: rms(x + a * (rms(h) + x)), [1, 1, 1], 0
    else:
        before = rms if file.startswith("qknorm") else lambda x: x
        if before is rms:  # Mirage's search treated its candidates as equal to this program; they are not
            eager, exact, scales = lambda q, k, v: attention(rms(q), k, rms(v)), False, [.35, .1, 1]
        others = {"flash": by(SDPBackend.FLASH_ATTENTION, before), "cudnn": by(SDPBackend.CUDNN_ATTENTION, before)}
    make = lambda: tuple(first.tensor(t, s) for t, s in zip(first.inputs, scales)) + (first.tensor(first.outputs[0]),)
    moved = sum(2 * math.prod(t["shape"]) for t in first.inputs + first.outputs)
    others["eager"] = lambda *t: eager(*t[:-1])
    return dict(make=make, others=others, reference=(lambda *t: eager(*(x.float() for x in t[:-1]))) if exact else None, flops=flops, bytes=moved)


def product_workload(shape, bench, lib, cublas):
    import torch
    from kernels import gemm_config
    m, n, k, dtype, major = shape
    kind, code = {"f16": (torch.float16, 0), "bf16": (torch.bfloat16, 1)}[dtype]

    def hand(a, b, d):
        if k % 8 or n % 8:
            status = lib["rows"].zellige_gemm_any(code, major == "k", bench.pointer(a), ctypes.c_int64(k), bench.pointer(b), ctypes.c_int64(b.shape[1]),
                                                  bench.pointer(d), ctypes.c_int64(n), m, n, k, bench.stream())
        elif m <= 16 and code == 0 and k % 64 == 0:
            status = lib["linear"].zellige_linear(0, 4, bench.pointer(b), bench.pointer(b), bench.pointer(a), bench.pointer(d), m, n, k, 132, bench.stream())
        elif m <= 128 and n >= 4096:
            status = lib["linear"].zellige_linear_rows(code, bench.pointer(b), bench.pointer(a), bench.pointer(d), m, n, k, min(132, math.ceil(n / 64)),
                                                       bench.stream())
        else:
            config, group, blocks = gemm_config(m, n, k, 2)
            status = lib["gemm"].zellige_gemm(config, code, bench.pointer(a), bench.pointer(b), bench.pointer(d), m, n, k, group, blocks, bench.stream())
        bench.must(status, "the hand-written kernel")
        return d
    others = {"cublas": lambda a, b, d: cublas.nt(a, b, d, major == "k") or d, "hand": hand}
    stored = (n, k) if major == "k" else (k, n)
    return dict(make=lambda: (bench.rnd(m, k, dtype=kind), bench.rnd(*stored, dtype=kind), torch.empty(m, n, dtype=kind, device="cuda")), others=others,
                reference=lambda a, b, d: a.float() @ (b.float().t() if major == "k" else b.float()), flops=2 * m * n * k,
                bytes=2 * (m * k + n * k + m * n))


def contestants_of(name, w, programs, lib, bench):
    """Calls by name; each evaluation overlaps the next, or starts after its end."""
    run = {}
    for who, program in programs.items():
        run[who], run[who + NO_OVERLAP] = program.entry(True), program.entry(False)
    for who, f in w["others"].items():
        run[who] = f
        if who == "hand":
            def without_overlap(*t, f=f):
                for library in lib.values():
                    library.zellige_overlap(0)
                try:
                    return f(*t)
                finally:
                    for library in lib.values():
                        library.zellige_overlap(1)
            run["hand" + NO_OVERLAP] = without_overlap
    return run


def options(description):
    """The options of a bench of emitted programs."""
    p = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder", nargs="?", help="where --prepare put the compiled programs")
    p.add_argument("--prepare", metavar="DIR")
    p.add_argument("--zellige", default=f"emitted={os.path.join(HERE, '..', 'build', 'zellige')}")
    p.add_argument("--jobs", type=int, default=os.cpu_count(), help="compilers at a time")
    p.add_argument("--only", help="names or beginnings of names, separated by commas")
    p.add_argument("--compile", metavar="NAME,...", help="also torch.compile, max-autotune, of what is no standalone product and whose name begins so ('' for all); takes minutes")
    p.add_argument("--rounds", type=int, default=15)
    p.add_argument("--json", help="raw samples go here")
    return p


def programs_of(folder):
    """workload -> who -> its program, compiled by --prepare and loaded on first use"""
    found = {}
    for f in sorted(glob.glob(os.path.join(glob.escape(folder), "*.so"))):
        name, who, _ = os.path.basename(f).rsplit(".", 2)
        found.setdefault(name, {})[who] = f[:-3]
    return found


def max_autotuned(f):
    import torch
    torch._dynamo.reset()
    return torch.compile(f, mode="max-autotune-no-cudagraphs")


def main():
    p = options(__doc__)
    p.add_argument("--mugraphs", default=os.environ.get("ZELLIGE_MUGRAPHS", ""), help="the folder of the saved graphs")
    p.add_argument("--best", help="what `zellige run --all --time --json` wrote of them")
    p.add_argument("--build", default=os.path.join(HERE, "..", "build", "bench_kernels"), help="where bench/kernels is, compiled")
    arguments = p.parse_args()
    if arguments.prepare:
        return prepare(arguments)
    if not arguments.folder:
        p.error("DIR is missing: what --prepare made")
    sys.path.insert(0, HERE)
    import torch
    import clock as bench
    if not torch.cuda.is_available():
        sys.exit("bench/emitted.py: no GPU here; it times kernels, so it needs one of compute capability 9.0")
    torch.manual_seed(0)
    lib, cublas = bench.build(arguments.build, ["gemm", "linear", "rows"]), bench.Cublas()
    results, wrong, shapes = bench.Results(arguments.json), 0, products()
    compiled_files = programs_of(arguments.folder)
    for name in sorted(compiled_files, key=lambda n: (list(shapes).index(n) if n in shapes else -1, n)):
        if not bench.wanted(name, arguments.only):
            continue
        programs = {who: Emitted(path) for who, path in compiled_files[name].items()}
        w = product_workload(shapes[name], bench, lib, cublas) if name in shapes else saved_workload(name, bench, lib, programs)
        if arguments.compile is not None and name not in shapes and bench.wanted(name, arguments.compile):
            w["others"]["compile"] = max_autotuned(w["others"]["eager"])
        sets = bench.sets_of(w["make"])
        run = contestants_of(name, w, programs, lib, bench)
        exact, errors = w["reference"](*sets[0]) if w["reference"] else None, {}
        for who, f in list(run.items()):
            sets[0][-1].fill_(float("nan"))  # unwritten elements are detected
            try:
                found = f(*sets[0]).clone()
            except RuntimeError as e:
                print(f"{name:28} {who}: omitted, {str(e).splitlines()[0][:100]}")
                del run[who]
                continue
            torch.cuda.synchronize()
            if exact is None and who in programs:
                exact = found.float()  # the graph has no other reference here: the first emitted program is the reference of the others
            if who.startswith(tuple(programs)) or w["reference"]:
                errors[who] = bench.error(found, exact)
                if not errors[who] < 1e-2:
                    print(f"{name:28} {who}: WRONG, relative error {errors[who]:.3g}")
                    wrong += 1
        raw = bench.measure({who: [lambda s=s, f=f: f(*s) for s in sets] for who, f in run.items()}, arguments.rounds)
        t = {who: bench.median(v) for who, v in raw.items()}
        ours = next(iter(programs))
        baselines = {who: v for who, v in t.items() if who.partition("/")[0] not in programs and not who.startswith("hand")}
        best = min(baselines, key=baselines.get)
        print(f"{name:28} roofline {results.roofline(w['bytes'], w['flops']):8.2f}  " + "  ".join(f"{who} {v:.2f}" for who, v in t.items()) +
              f"  speed against {best} {baselines[best] / t[ours]:.3f}, without overlap {baselines[best] / t[ours + NO_OVERLAP]:.3f}", flush=True)
        results.add(name, w["bytes"], w["flops"], raw, error=errors.get(ours), ours=list(programs))
        del sets, run, exact
        torch.cuda.empty_cache()
    results.close()
    means(results.all["workloads"])
    sys.exit(1 if wrong else 0)


def means(workloads):
    """The speed of each family of matmuls compared with cuBLAS."""
    import clock as bench
    for family in ("gemm_", "llama_", "odd_"):
        for column in ("", NO_OVERLAP):
            ratios = [bench.median(w["microseconds"]["cublas"]) / bench.median(w["microseconds"][w["ours"][0] + column])
                      for name, w in workloads.items() if name.startswith(family)]
            if ratios:
                print(f"{family}{column or '/overlapping'}: {len(ratios)} products, geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.3f}, "
                      f"least {min(ratios):.3f} of cuBLAS's speed")


if __name__ == "__main__":
    main()
