#!/usr/bin/env python3
"""Times the hand-written kernels of include/zellige/kernels against what a user would run instead, on one GPU.

  bench/kernels.py [--only NAME,...] [--compile NAME,...] [--build DIR] [--json FILE] [--rounds N] [--variants]

Builds bench/kernels/*.cu with nvcc into DIR (or uses existing builds), checks every result against float32, then times
Zellige's kernels and each baseline interleaved in one process, as in bench/clock.py. bench/report.py makes the table and the
picture in docs/performance/index.md from the JSON. Baselines: cuBLAS itself (cublasGemmEx), PyTorch eager and cuDNN / flash
attention, and torch.compile on request.
"""
import argparse, ctypes, math, os, sys
import torch
import torch.nn.functional as F

from clock import DEVICE, Cublas, Results, build, error, here, measure, median, must, pointer, rnd, sets_of, stream, vp, wanted


def gemm_config(m, n, k, e):
    """(tile configuration, group, blocks): see include/zellige/kernels/gemm_sm90.hpp and docs/log.md."""
    if math.ceil(m / 256) * math.ceil(n / 192) <= 64:
        return 2, 4, 2 * math.ceil(m / 256) * math.ceil(n / 192)
    return 0, 2, 132


def workloads(lib, cublas, arguments):
    W = {}

    def add(name, make, ours, baselines, reference, flops, moved, tolerance=1e-2):
        W[name] = dict(make=make, ours=ours, baselines=baselines, reference=reference, flops=flops, bytes=moved, tolerance=tolerance)

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
        baselines = sdpa(causal, kv != heads)

        def ours(q, k, v, o):
            must(lib["attention"].zellige_attention(d, keys, int(causal), pointer(q), pointer(k), pointer(v), pointer(o), s, s, b * heads,
                                                    b * kv, ctypes.c_float(1 / math.sqrt(d)), 132, stream()), "attention")
            return o

        def reference(q, k, v, o):  # cuDNN's, itself checked against float32 on the first and last head
            r = baselines["cudnn"](q, k, v, o)
            for h in (0, heads - 1):
                g = h * kv // heads
                exact = F.scaled_dot_product_attention(q[:1, h:h + 1].float(), k[:1, g:g + 1].float(), v[:1, g:g + 1].float(), is_causal=causal)
                assert error(r[:1, h:h + 1], exact) < 1e-2
            return r
        name = f"attention_hd{d}_{s}{'_causal' if causal else ''}" + (f"_kv{kv}" if kv != heads else "") + (f"_n{keys}" if keys != 128 else "")
        add(name, lambda: tuple(rnd(b, h, s, d, dtype=torch.bfloat16) for h in (heads, kv, kv)) + (torch.empty(b, heads, s, d, dtype=torch.bfloat16, device=DEVICE),),
            ours, baselines, reference,
            4 * b * heads * s * s * d // (2 if causal else 1), 2 * b * s * d * (2 * heads + 2 * kv))

    rows = lib["rows"]

    def row(name, make, call, baseline, reference, moved):
        def ours(x, y):
            must(call(pointer(x), pointer(y)), name)
            return y
        add(name, make, ours, {"eager": lambda x, y: baseline(x)}, lambda x, y: reference(x.float()), 0, moved)

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


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--only", help="names or beginnings of names, separated by commas")
    p.add_argument("--compile", metavar="NAME,...", help="also torch.compile, max-autotune, for names that begin so ('' for all); takes minutes")
    p.add_argument("--build", default=os.path.join(here, "..", "build", "bench_kernels"), help="where the compiled kernels are")
    p.add_argument("--json", help="raw samples go here")
    p.add_argument("--rounds", type=int, default=15)
    p.add_argument("--variants", action="store_true", help="also the configurations that were not selected")
    arguments = p.parse_args()
    if not torch.cuda.is_available():
        sys.exit("bench/kernels.py: no GPU here; it times kernels, so it needs one of compute capability 9.0")
    torch.manual_seed(0)
    lib, cublas = build(arguments.build), Cublas()
    results = Results(arguments.json)
    print(f"{'workload':44} {'roofline':>8} {'ours':>8} {'of bound':>8} {'baseline':>9} {'by':8} {'speed':>6}   others")
    wrong = 0
    for name, w in workloads(lib, cublas, arguments).items():
        if not wanted(name, arguments.only):
            continue
        sets = sets_of(w["make"])
        first = sets[0]
        exact = w["reference"](*first)
        w["ours"](*first).fill_(float("nan"))  # unwritten elements are detected
        ours = w["ours"](*first)
        torch.cuda.synchronize()
        e = error(ours, exact)
        if not e < w["tolerance"]:
            print(f"{name:44} WRONG: relative error {e:.3g}")
            wrong += 1
            continue
        baselines = dict(w["baselines"])
        if arguments.compile is not None and "eager" in baselines and any(name.startswith(o) for o in arguments.compile.split(",")):
            torch._dynamo.reset()
            baselines["compile"] = torch.compile(baselines["eager"], mode="max-autotune-no-cudagraphs")
            baselines["compile"](*first)  # compiled before any capture
        contestants = {"ours": [lambda s=s: w["ours"](*s) for s in sets]}
        for n, f in baselines.items():
            contestants[n] = [lambda s=s, f=f: f(*s) for s in sets]
        raw = measure(contestants, arguments.rounds)
        t = {n: median(v) for n, v in raw.items()}
        roofline = results.roofline(w["bytes"], w["flops"])
        best = min((n for n in t if n != "ours"), key=t.get)
        others = "  ".join(f"{n} {v:.1f}" for n, v in t.items() if n not in ("ours", best))
        print(f"{name:44} {roofline:8.2f} {t['ours']:8.2f} {roofline / t['ours']:8.1%} {t[best]:9.2f} {best:8} {t[best] / t['ours']:6.3f}   {others}", flush=True)
        results.add(name, w["bytes"], w["flops"], raw, error=e)
        del sets, first, exact, ours, contestants
        torch.cuda.empty_cache()
    results.close()
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
