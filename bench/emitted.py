#!/usr/bin/env python3
"""Times emitted matrix products against those written by hand and against cuBLAS, interleaved in one process on one GPU.

  bench/emitted.py --prepare DIR [--zellige NAME=FILE,...]      transpile and compile (needs nvcc, no GPU)
  bench/emitted.py DIR [--only NAME,...] [--rounds N] [--json FILE] [--build DIR]

D = A B^T of every shape below, as a graph of one operator, emitted for sm_90a by each named zellige (default: build/zellige
as `emitted`) and launched through the host entry of its source. The clock, the inputs and the peers are those of
bench/kernels.py: CUDA graphs over enough sets of inputs to pass the L2, medians of rounds that go back and forth.
"""
import argparse, ctypes, json, os, subprocess, sys, tempfile

here = os.path.dirname(os.path.abspath(__file__))
SHAPES = [(4096, 4096, 4096, "f16"), (4096, 4096, 4096, "bf16"), (8192, 8192, 8192, "f16"), (8192, 8192, 8192, "bf16"),
          (1024, 1024, 1024, "f16"), (2048, 2048, 2048, "f16"), (1000, 3000, 5000, "f16"), (512, 4096, 4096, "bf16"),
          (512, 14336, 4096, "bf16"), (4096, 14336, 4096, "bf16"), (128, 8192, 8192, "f16"), (16, 8192, 8192, "f16")]


def name_of(m, n, k, dtype):
    return f"gemm_{dtype}_{m}x{n}x{k}"


def prepare(folder, compilers):
    os.makedirs(folder, exist_ok=True)
    for shape in SHAPES:
        m, n, k, dtype = shape
        graph = {"zellige_graph": 1, "name": "gemm",
                 "inputs": [{"name": "A", "dtype": dtype, "shape": [m, k], "strides": [k, 1]},
                            {"name": "B", "dtype": dtype, "shape": [k, n], "strides": [1, k]}],
                 "operators": [{"op": "matmul", "inputs": ["A", "B"], "outputs": ["C"]}], "outputs": ["C"]}
        for who, zellige in compilers.items():
            out = os.path.join(folder, f"{name_of(*shape)}.{who}.so")
            with tempfile.TemporaryDirectory() as work:
                with open(os.path.join(work, "gemm.json"), "w") as f:
                    json.dump(graph, f)
                subprocess.run([zellige, "transpile", os.path.join(work, "gemm.json"), "--target", "sm_90a", "-o", work],
                               check=True, stdout=subprocess.DEVNULL)
                subprocess.run(["nvcc", "-std=c++20", "-O3", "-gencode=arch=compute_90a,code=sm_90a", "-shared", "-Xcompiler",
                                "-fPIC", "-I", os.path.join(here, "..", "include"), "-o", out, os.path.join(work, "gemm.cu")], check=True)
            print(out, file=sys.stderr, flush=True)


def entry(path):
    launch = ctypes.CDLL(path).launch_gemm

    def run(a, b, d):
        import torch
        inputs, outputs = (ctypes.c_void_p * 2)(a.data_ptr(), b.data_ptr()), (ctypes.c_void_p * 1)(d.data_ptr())
        status = launch(inputs, outputs, None, ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
        if status:
            raise RuntimeError(f"{path}: CUDA error {status}")
        return d
    return run


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder", nargs="?", help="where --prepare put the compiled graphs")
    p.add_argument("--prepare", metavar="DIR")
    p.add_argument("--zellige", default=f"emitted={os.path.join(here, '..', 'build', 'zellige')}")
    p.add_argument("--build", default=os.path.join(here, "..", "build", "bench_kernels"), help="where bench/kernels is, compiled")
    p.add_argument("--only", help="names or beginnings of names, separated by commas")
    p.add_argument("--rounds", type=int, default=15)
    p.add_argument("--json", help="raw samples go here")
    arguments = p.parse_args()
    if arguments.prepare:
        return prepare(arguments.prepare, dict(pair.split("=", 1) for pair in arguments.zellige.split(",")))
    if not arguments.folder:
        p.error("DIR is missing: what --prepare made")
    sys.path.insert(0, here)
    import torch
    import kernels as bench
    if not torch.cuda.is_available():
        sys.exit("bench/emitted.py: no GPU here; it times kernels, so it needs one of compute capability 9.0")
    torch.manual_seed(0)
    lib, cublas = bench.build(arguments.build, ["gemm"]), bench.Cublas()
    bandwidth, rate = bench.ceilings()
    print(f"{torch.cuda.get_device_name()}: copy {bandwidth / 1e12:.2f} TB/s, cuBLAS bf16 8192^3 {rate / 1e12:.0f} TFLOP/s")
    results, wrong = {"device": torch.cuda.get_device_name(), "copy_bandwidth": bandwidth, "matrix_rate": rate, "workloads": {}}, 0
    for shape in SHAPES:
        m, n, k, dtype = shape
        name = name_of(*shape)
        if arguments.only and not any(name.startswith(o) for o in arguments.only.split(",")):
            continue
        kind = torch.float16 if dtype == "f16" else torch.bfloat16
        make = lambda: (bench.rnd(m, k, dtype=kind), bench.rnd(n, k, dtype=kind), torch.empty(m, n, dtype=kind, device="cuda"))
        sets = [make()]
        size = sum(t.numel() * t.element_size() for t in sets[0])
        sets += [make() for _ in range(min(63, int(180e6 / size)))]

        def hand(a, b, d):
            config, group, blocks = bench.gemm_config(m, n, k, 2)
            bench.must(lib["gemm"].zellige_gemm(config, int(dtype == "bf16"), bench.pointer(a), bench.pointer(b), bench.pointer(d), m, n, k,
                                                group, blocks, bench.stream()), "gemm")
            return d
        run = {"cublas": lambda a, b, d: cublas.nt(a, b, d) or d, "hand": hand}
        for file in sorted(os.listdir(arguments.folder)):
            if file.startswith(name + "."):
                run[file[len(name) + 1:-3]] = entry(os.path.join(arguments.folder, file))
        a, b, d = sets[0]
        exact = a.float() @ b.float().t()
        for who, f in run.items():
            d.fill_(float("nan"))  # what is not written shows
            f(a, b, d)
            torch.cuda.synchronize()
            if not bench.error(d, exact) < 1e-2:
                print(f"{name:28} {who}: WRONG, relative error {bench.error(d, exact):.3g}")
                wrong += 1
        raw = bench.measure({who: [lambda s=s, f=f: f(*s) for s in sets] for who, f in run.items()}, arguments.rounds)
        t = {who: bench.median(v) for who, v in raw.items()}
        floor = max(2 * (m * k + n * k + m * n) / bandwidth, 2 * m * n * k / rate) * 1e6
        print(f"{name:28} floor {floor:8.2f}  " + "  ".join(f"{who} {v:.2f} ({t['cublas'] / v:.3f})" for who, v in t.items()), flush=True)
        results["workloads"][name] = dict(floor=floor, microseconds=raw)
        if arguments.json:
            with open(arguments.json + ".part", "w") as f:
                json.dump(results, f, indent=1)
    if arguments.json and results["workloads"]:
        os.replace(arguments.json + ".part", arguments.json)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
