#!/usr/bin/env python3
"""Times the hand-written kernels of examples/kernels against what a user would run instead, on one GPU.

  bench/kernels.py [--only NAME,...] [--compile NAME,...] [--build DIR] [--json FILE] [--rounds N] [--variants]

Builds bench/kernels/*.cu with nvcc into DIR (or takes what is there), checks every result against float32, then
times ours and each peer interleaved in one process: a CUDA graph evaluates as many sets of random inputs as it takes
to pass the L2 three times, rounds go back and forth over the contestants, and the median of the rounds counts. The
floor is the larger of bytes over the measured copy bandwidth and FLOPs over the matrix rate of cuBLAS at 8192 (bf16).
bench/report.py makes the table and the picture of docs/performance.md from the JSON.
Peers: cuBLAS itself (cublasGemmEx), PyTorch eager and cuDNN / flash attention, and torch.compile where asked for.
"""
import argparse, ctypes, datetime, glob, json, math, os, subprocess, sys
import torch
import torch.nn.functional as F

vp, DEVICE = ctypes.c_void_p, "cuda"
here = os.path.dirname(os.path.abspath(__file__))


def pointer(t):
    return vp(t.data_ptr())


def stream():
    return vp(torch.cuda.current_stream().cuda_stream)


def rnd(*shape, dtype=torch.float16, scale=1.0):
    return (torch.randn(*shape, device=DEVICE) * scale).to(dtype)


def build(folder, only=None):
    os.makedirs(folder, exist_ok=True)
    libraries = {}
    for source in sorted(glob.glob(os.path.join(here, "kernels", "*.cu"))):
        name = os.path.basename(source)[:-3]
        if only and name not in only:
            continue
        out = os.path.join(folder, name + ".so")
        if not os.path.exists(out):
            print(f"building {name} ...", file=sys.stderr, flush=True)
            subprocess.run(["nvcc", "-std=c++20", "-O3", "-gencode=arch=compute_90a,code=sm_90a", "-shared", "-Xcompiler",
                            "-fPIC", "-I", os.path.join(here, "..", "include"), "-o", out, source], check=True)
        libraries[name] = ctypes.CDLL(out)
    return libraries


def must(status, what):
    if status != 0:
        raise RuntimeError(f"{what}: CUDA error {status}")


class Cublas:
    """cublasGemmEx on row-major D = A B^T."""

    def __init__(self):
        import importlib.util
        root = os.path.dirname(importlib.util.find_spec("nvidia").submodule_search_locations[0] + "/x")
        found = glob.glob(root + "/**/libcublas.so.*", recursive=True)
        self.lib = ctypes.CDLL(found[0] if found else "libcublas.so.13")
        self.handle = vp()
        must(self.lib.cublasCreate_v2(ctypes.byref(self.handle)), "cublasCreate")
        self.workspace = torch.empty(64 << 20, dtype=torch.uint8, device=DEVICE)
        self.one, self.zero = ctypes.c_float(1), ctypes.c_float(0)

    def nt(self, a, b, d, transposed_b=True):
        m, k = a.shape
        n = d.shape[1]
        kind = 2 if a.dtype == torch.float16 else 14
        must(self.lib.cublasSetStream_v2(self.handle, stream()), "cublasSetStream")
        must(self.lib.cublasSetWorkspace_v2(self.handle, pointer(self.workspace), ctypes.c_size_t(64 << 20)), "workspace")
        must(self.lib.cublasGemmEx(self.handle, 1 if transposed_b else 0, 0, n, m, k, ctypes.byref(self.one), pointer(b), kind,
                                   k if transposed_b else n, pointer(a), kind, k, ctypes.byref(self.zero), pointer(d), kind, n,
                                   68, -1), "cublasGemmEx")


def gemm_config(m, n, k, e):
    """(tile configuration, group, blocks): see examples/kernels/gemm_sm90.hpp and docs/performance.md."""
    if math.ceil(m / 256) * math.ceil(n / 192) <= 64:
        return 2, 4, 2 * math.ceil(m / 256) * math.ceil(n / 192)
    return 0, 2, 132


def workloads(lib, cublas, arguments):
    W = {}

    def add(name, make, ours, peers, reference, flops, moved, tolerance=1e-2):
        W[name] = dict(make=make, ours=ours, peers=peers, reference=reference, flops=flops, bytes=moved, tolerance=tolerance)

    def gemm(m, n, k, dtype, config=None):
        code = {torch.float16: 0, torch.bfloat16: 1}[dtype]

        def ours(a, b, d):
            c, group, blocks = config or gemm_config(m, n, k, 2)
            must(lib["gemm"].zellige_gemm(c, code, pointer(a), pointer(b), pointer(d), m, n, k, group, blocks, stream()), "gemm")
            return d
        name = f"gemm_{'f16' if code == 0 else 'bf16'}_{m}x{n}x{k}"
        few = m <= 16
        if few:
            def ours(a, b, d):
                must(lib["linear"].zellige_linear(0, 4, pointer(b), pointer(b), pointer(a), pointer(d), m, n, k, 132, stream()), "linear")
                return d
        elif m <= 128 and n >= 4096 and not config:
            def ours(a, b, d):
                must(lib["linear"].zellige_linear_rows(code, pointer(b), pointer(a), pointer(d), m, n, k, min(132, math.ceil(n / 64)), stream()), "linear_rows")
                return d
        add(name + (f"_c{config[0]}g{config[1]}" if config else ""),
            lambda: (rnd(m, k, dtype=dtype), rnd(n, k, dtype=dtype), torch.empty(m, n, dtype=dtype, device=DEVICE)), ours,
            {"cublas": lambda a, b, d: cublas.nt(a, b, d), "eager": lambda a, b, d: a @ b.t()},
            lambda a, b, d: a.float() @ b.float().t(), 2 * m * n * k, 2 * (m * k + n * k + m * n))

    for dtype in (torch.float16, torch.bfloat16):
        gemm(4096, 4096, 4096, dtype)
        gemm(8192, 8192, 8192, dtype)
    gemm(1000, 3000, 5000, torch.float16)
    gemm(128, 8192, 8192, torch.float16)
    gemm(16, 8192, 8192, torch.float16)
    if hasattr(torch, "float8_e4m3fn"):
        def fp8(m, n, k):
            one = torch.ones((), device=DEVICE)

            def ours(a, b, d):
                must(lib["gemm"].zellige_gemm(0, 2, pointer(a), pointer(b), pointer(d), m, n, k, 2, 132, stream()), "gemm")
                return d
            add(f"gemm_e4m3_{m}x{n}x{k}", lambda: tuple(rnd(r, k).to(torch.float8_e4m3fn) for r in (m, n)) + (torch.empty(m, n, dtype=torch.bfloat16, device=DEVICE),),
                ours, {"cublas": lambda a, b, d: torch._scaled_mm(a, b.t(), one, one, out_dtype=torch.bfloat16)},
                lambda a, b, d: a.float() @ b.float().t(), 2 * m * n * k // 2, m * k + n * k + 2 * m * n)
        fp8(4096, 4096, 4096)
        fp8(8192, 8192, 8192)
    if arguments.variants:
        for c in ((0, 4, 132), (1, 16, 132), (1, 8, 132)):
            gemm(4096, 4096, 4096, torch.float16, c)
            gemm(4096, 4096, 4096, torch.bfloat16, c)
        for c in ((2, 4, 128), (3, 2, 120)):
            gemm(1000, 3000, 5000, torch.float16, c)
        for c in ((4, 1, 128), (5, 1, 128)):
            gemm(128, 8192, 8192, torch.float16, c)

    def few(name, work, m, n, k, weights, fn, chunks, blocks):
        count = 2 if work == 2 else 1

        def ours(*t):
            x, y, w = t[0], t[1], t[2:]
            must(lib["linear"].zellige_linear(work, chunks, pointer(w[0]), pointer(w[-1]), pointer(x), pointer(y), m, n, k, blocks, stream()), name)
            return y
        add(name, lambda: (rnd(m, k), torch.empty(m, n, dtype=torch.float16, device=DEVICE)) + tuple(rnd(k, n, scale=1 / 64) for _ in range(count)),
            ours, {"eager": lambda x, y, *w: fn(x, *w)}, lambda x, y, *w: fn(x.float(), *[v.float() for v in w]),
            2 * m * n * k * count, 2 * (m * k + count * k * n + m * n))

    def rms(x):
        return x * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True)).to(x.dtype)

    for m in (2, 16):
        few(f"rmsnorm_linear_{m}x4096x6144", 1, m, 6144, 4096, 1, lambda x, w: rms(x) @ w, 4, 132)
        if arguments.variants:
            few(f"rmsnorm_linear_{m}x4096x6144_c2", 1, m, 6144, 4096, 1, lambda x, w: rms(x) @ w, 2, 132)
    few("gated_mlp_8x4096x4096", 2, 8, 4096, 4096, 2, lambda x, w, v: F.silu(x @ w) * (x @ v), 4, 132)
    if arguments.variants:
        few("gated_mlp_8x4096x4096_c2", 2, 8, 4096, 4096, 2, lambda x, w, v: F.silu(x @ w) * (x @ v), 2, 132)

    from torch.nn.attention import SDPBackend, sdpa_kernel

    def sdpa(causal, grouped):
        def by(backend):
            def f(q, k, v, o):
                with sdpa_kernel(backend):
                    return F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=grouped)
            return f
        return {"cudnn": by(SDPBackend.CUDNN_ATTENTION), "flash": by(SDPBackend.FLASH_ATTENTION)}

    def attention(s, causal, d=128, heads=16, kv_heads=None, keys=128):
        b = max(1, 16384 // s)
        kv = kv_heads or heads
        peers = sdpa(causal, kv != heads)

        def ours(q, k, v, o):
            must(lib["attention"].zellige_attention(d, keys, int(causal), pointer(q), pointer(k), pointer(v), pointer(o), s, s, b * heads,
                                                    b * kv, ctypes.c_float(1 / math.sqrt(d)), 132, stream()), "attention")
            return o

        def reference(q, k, v, o):  # cuDNN's, itself checked against float32 on the first and last head
            r = peers["cudnn"](q, k, v, o)
            for h in (0, heads - 1):
                g = h * kv // heads
                exact = F.scaled_dot_product_attention(q[:1, h:h + 1].float(), k[:1, g:g + 1].float(), v[:1, g:g + 1].float(), is_causal=causal)
                assert error(r[:1, h:h + 1], exact) < 1e-2
            return r
        name = f"attention_hd{d}_{s}{'_causal' if causal else ''}" + (f"_kv{kv}" if kv != heads else "") + (f"_n{keys}" if keys != 128 else "")
        add(name, lambda: tuple(rnd(b, h, s, d, dtype=torch.bfloat16) for h in (heads, kv, kv)) + (torch.empty(b, heads, s, d, dtype=torch.bfloat16, device=DEVICE),),
            ours, peers, reference,
            4 * b * heads * s * s * d // (2 if causal else 1), 2 * b * s * d * (2 * heads + 2 * kv))

    rows = lib["rows"]

    def row(name, make, call, peer, reference, moved):
        def ours(x, y):
            must(call(pointer(x), pointer(y)), name)
            return y
        add(name, make, ours, {"eager": lambda x, y: peer(x)}, lambda x, y: reference(x.float()), 0, moved)

    size = 8192
    square = lambda: (rnd(size, size), torch.empty(size, size, dtype=torch.float16, device=DEVICE))
    row("softmax_8192x8192", square, lambda x, y: rows.zellige_softmax(x, y, size, size, stream()),
        lambda x: torch.softmax(x, -1), lambda x: torch.softmax(x, -1), 4 * size * size)
    for kind, name, f in ((0, "rmsnorm", lambda x: F.rms_norm(x, (size,), eps=1e-5)), (1, "layernorm", lambda x: F.layer_norm(x, (size,), eps=1e-5))):
        row(f"{name}_8192x8192", square, lambda x, y, kind=kind: rows.zellige_norm(kind, x, vp(), vp(), y, size, size, ctypes.c_float(1e-5), stream()),
            f, f, 4 * size * size)
    row("transpose_8192x8192", square, lambda x, y: rows.zellige_transpose(x, y, size, size, stream()),
        lambda x: x.t().contiguous(), lambda x: x.t(), 4 * size * size)

    def any_gemm(m, n, k, dtype):
        code = {torch.float16: 0, torch.bfloat16: 1}[dtype]

        def ours(a, b, d):
            must(rows.zellige_gemm_any(code, 0, pointer(a), ctypes.c_int64(k), pointer(b), ctypes.c_int64(n), pointer(d), ctypes.c_int64(n), m, n, k, stream()), "gemm_any")
            return d
        add(f"gemm_{'f16' if code == 0 else 'bf16'}_{m}x{n}x{k}_nn", lambda: (rnd(m, k, dtype=dtype), rnd(k, n, dtype=dtype), torch.empty(m, n, dtype=dtype, device=DEVICE)),
            ours, {"cublas": lambda a, b, d: cublas.nt(a, b, d, False), "eager": lambda a, b, d: a @ b},
            lambda a, b, d: a.float() @ b.float(), 2 * m * n * k, 2 * (m * k + n * k + m * n))

    any_gemm(255, 511, 1023, torch.float16)
    any_gemm(255, 511, 1023, torch.bfloat16)

    for s in (4096, 16384):
        for causal in (False, True):
            attention(s, causal)
    attention(4096, True, kv_heads=4)
    attention(4096, False, d=64)
    attention(4096, True, d=64)

    def decode(batch, heads, kv_heads, d, keys=4096):
        scratch = torch.empty(512 * (d + 2), dtype=torch.float32, device=DEVICE)
        counter = torch.zeros(64, dtype=torch.int32, device=DEVICE)

        def ours(q, k, v, o):
            must(rows.zellige_decode(pointer(q), pointer(k), pointer(v), pointer(o), pointer(scratch), pointer(counter), batch, heads, kv_heads, keys,
                                     d, ctypes.c_float(1 / math.sqrt(d)), stream()), "decode")
            return o

        exact = lambda q, k, v, o: F.scaled_dot_product_attention(q.float(), k.float().repeat_interleave(heads // kv_heads, 1), v.float().repeat_interleave(heads // kv_heads, 1))
        add(f"decode_b{batch}_h{heads}_kv{kv_heads}_hd{d}_{keys}", lambda: tuple(rnd(batch, h, n, d, dtype=torch.bfloat16) for h, n in ((heads, 1), (kv_heads, keys), (kv_heads, keys)))
            + (torch.empty(batch, heads, 1, d, dtype=torch.bfloat16, device=DEVICE),), ours,
            sdpa(False, kv_heads != heads), exact,
            4 * batch * heads * keys * d, 2 * batch * d * (2 * heads + 2 * kv_heads * keys))

    for shape in ((1, 32, 8, 128), (1, 32, 32, 128), (1, 32, 1, 128), (8, 32, 8, 128), (1, 32, 8, 64)):
        decode(*shape)
    if arguments.variants:
        attention(4096, False, keys=176)
        attention(16384, False, keys=176)
    return W


def error(x, exact):
    return ((x.float() - exact.float()).norm() / exact.float().norm()).item()


def graph(thunks):
    s = torch.cuda.Stream()
    with torch.cuda.stream(s):
        for f in thunks:
            f()
    torch.cuda.synchronize()
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g, stream=s):
        g.keep = [f() for f in thunks]
    return g


def measure(contestants, rounds, ms=10.0):
    """name -> thunks, one an input set; raw microseconds for one evaluation, by name."""
    graphs = {n: graph(f) for n, f in contestants.items()}
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    repeats = {}
    for n, g in graphs.items():
        g.replay()
        torch.cuda.synchronize()
        begin.record(), g.replay(), end.record()
        torch.cuda.synchronize()
        repeats[n] = max(1, int(ms / max(begin.elapsed_time(end), 1e-3)))
    raw = {n: [] for n in graphs}
    for r in range(rounds):
        for n in (list(graphs) if r % 2 == 0 else list(graphs)[::-1]):
            begin.record()
            for _ in range(repeats[n]):
                graphs[n].replay()
            end.record()
            torch.cuda.synchronize()
            raw[n].append(begin.elapsed_time(end) * 1e3 / repeats[n] / len(contestants[n]))
    return raw


def median(values):
    return sorted(values)[len(values) // 2]


def ceilings():
    x = rnd(1 << 28)
    y = torch.empty_like(x)
    a, b = rnd(8192, 8192, dtype=torch.bfloat16), rnd(8192, 8192, dtype=torch.bfloat16)
    raw = measure({"copy": [lambda: torch.neg(x, out=y)], "matmul": [lambda: a @ b.t()]}, 9, 30.0)
    return 4 * x.numel() / median(raw["copy"]) * 1e6, 2 * 8192**3 / median(raw["matmul"]) * 1e6


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--only", help="names or beginnings of names, separated by commas")
    p.add_argument("--compile", metavar="NAME,...", help="also torch.compile, max-autotune, for names that begin so ('' for all); takes minutes")
    p.add_argument("--build", default=os.path.join(here, "..", "build", "bench_kernels"), help="where the compiled kernels are")
    p.add_argument("--json", help="raw samples go here")
    p.add_argument("--rounds", type=int, default=15)
    p.add_argument("--variants", action="store_true", help="also the configurations that were not chosen")
    arguments = p.parse_args()
    if not torch.cuda.is_available():
        sys.exit("bench/kernels.py: no GPU here; it times kernels, so it needs one of compute capability 9.0")
    torch.manual_seed(0)
    lib, cublas = build(arguments.build), Cublas()
    bandwidth, rate = ceilings()
    print(f"{torch.cuda.get_device_name()}: copy {bandwidth / 1e12:.2f} TB/s, cuBLAS bf16 8192^3 {rate / 1e12:.0f} TFLOP/s")
    print(f"{'workload':44} {'floor':>8} {'ours':>8} {'of floor':>8} {'best peer':>9} {'by':8} {'speed':>6}   others")
    results = {"device": torch.cuda.get_device_name(), "date": datetime.date.today().isoformat(), "copy_bandwidth": bandwidth, "matrix_rate": rate, "workloads": {}}
    wrong = 0
    for name, w in workloads(lib, cublas, arguments).items():
        if arguments.only and not any(name.startswith(o) for o in arguments.only.split(",")):
            continue
        first = w["make"]()
        size = sum(t.numel() * t.element_size() for t in first)
        sets = [first] + [w["make"]() for _ in range(min(63, int(180e6 / size)))]
        exact = w["reference"](*first)
        w["ours"](*first).fill_(float("nan"))  # what is not written shows
        ours = w["ours"](*first)
        torch.cuda.synchronize()
        e = error(ours, exact)
        if not e < w["tolerance"]:
            print(f"{name:44} WRONG: relative error {e:.3g}")
            wrong += 1
            continue
        peers = dict(w["peers"])
        if arguments.compile is not None and "eager" in peers and any(name.startswith(o) for o in arguments.compile.split(",")):
            torch._dynamo.reset()
            peers["compile"] = torch.compile(peers["eager"], mode="max-autotune-no-cudagraphs")
            peers["compile"](*first)  # compiled before anything is captured
        contestants = {"ours": [lambda s=s: w["ours"](*s) for s in sets]}
        for n, f in peers.items():
            contestants[n] = [lambda s=s, f=f: f(*s) for s in sets]
        raw = measure(contestants, arguments.rounds)
        t = {n: median(v) for n, v in raw.items()}
        floor = max(w["bytes"] / bandwidth, w["flops"] / rate) * 1e6
        best = min((n for n in t if n != "ours"), key=t.get)
        others = "  ".join(f"{n} {v:.1f}" for n, v in t.items() if n not in ("ours", best))
        print(f"{name:44} {floor:8.2f} {t['ours']:8.2f} {floor / t['ours']:8.1%} {t[best]:9.2f} {best:8} {t[best] / t['ours']:6.3f}   {others}", flush=True)
        results["workloads"][name] = dict(floor=floor, error=e, bytes=w["bytes"], flops=w["flops"], microseconds=raw)
        del sets, first, exact, ours, contestants
        torch.cuda.empty_cache()
        if arguments.json:
            with open(arguments.json + ".part", "w") as f:
                json.dump(results, f, indent=1)
    if arguments.json and results["workloads"]:
        os.replace(arguments.json + ".part", arguments.json)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
