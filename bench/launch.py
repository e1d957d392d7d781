#!/usr/bin/env python3
"""Measures the host time of a call on 8 small torch tensors, the driver's launch included, in microseconds.

  bench/launch.py [--rounds N] [--parts | --without-gpu]    (needs torch with a GPU, but for --without-gpu)

--parts: instead, parts of 4, 16, 64 and 256 tensors under torch.compile: what dynamo calls (`the part`), and the whole call,
guards included, compared with Inductor's.
--without-gpu: instead, what a call with 20 tensors takes with a driver that does nothing (bench/without_gpu.cpp): of one program,
and of parts, with and without sizes. Needs g++.

Contestants: Zellige with and without `out=`, a Triton kernel, torch.compile's, torch's own `add`, and the driver only:
cuLaunchKernel by ctypes on packed arguments. Reports the minimum and the median of the interleaved rounds, each of 200 calls
that end before the next round begins.
"""
import argparse
import contextlib
import ctypes
import itertools
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import torch
import zellige

if "--without-gpu" not in sys.argv:
    import triton
    import triton.language as tl


def total(a, b, c, d, e, f, g):
    return a + b + c + d + e + f + g


def total_of(a, b, c, d, e, f, g, y, count, block: "tl.constexpr"):
    at = tl.program_id(0) * block + tl.arange(0, block)
    inside = at < count
    sum = tl.load(a + at, inside) + tl.load(b + at, inside) + tl.load(c + at, inside) + tl.load(d + at, inside)
    tl.store(y + at, sum + tl.load(e + at, inside) + tl.load(f + at, inside) + tl.load(g + at, inside), inside)


def driver_alone(source: str, kernel: str, addresses):
    """Launches a kernel of CUDA source code on addresses, with minimal ctypes overhead."""
    driver, cubin = ctypes.CDLL("libcuda.so.1"), zellige._native.cubin(source, zellige.gpu()[0])
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    assert driver.cuModuleLoadData(ctypes.byref(module), cubin) == 0
    assert driver.cuModuleGetFunction(ctypes.byref(function), module, kernel.encode()) == 0
    values = [ctypes.c_uint64(a) for a in addresses]
    packed = (ctypes.c_void_p * len(values))(*[ctypes.addressof(v) for v in values])
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    launch = driver.cuLaunchKernel
    launch.argtypes = [ctypes.c_void_p] + 7 * [ctypes.c_uint] + 3 * [ctypes.c_void_p]
    return lambda: (launch(function, 1, 1, 1, 64, 1, 1, 0, stream, packed, None), values)


def sum_of(*tensors):
    total = tensors[0]
    for t in tensors[1:]:
        total = total + t
    return total


def host_us(run, rounds):
    """The minimum and the median per call, of rounds of 200 calls that end before the next round begins."""
    times = []
    wait = torch.cuda.synchronize if torch.cuda.is_available() else lambda: None
    for _ in range(20):
        run()
    for _ in range(rounds):
        wait()
        start = time.perf_counter()
        for _ in range(200):
            run()
        times.append((time.perf_counter() - start) * 5e3)
    wait()
    return f"{min(times):7.2f} us (median {statistics.median(times):.2f})"


def parts(rounds):
    from zellige import torch_backend

    for count in (4, 16, 64, 256):
        torch._dynamo.reset()
        x, kept = [torch.randn(64, 64, device="cuda") for _ in range(count - 1)], []

        def backend(module, inputs):
            kept.append(torch_backend.backend(module, inputs, options={"take": "all"}))
            return kept[-1]

        with torch.no_grad():
            ours, inductor = torch.compile(sum_of, backend=backend, dynamic=False), torch.compile(sum_of, dynamic=False)
            assert torch.allclose(ours(*x), sum_of(*x), rtol=1e-4, atol=1e-3)
            kernels = sum(len(p.manifest["kernels"]) for p in torch_backend.reports[-1].parts)
            runs = {"the part": lambda: kept[0](*x), "torch.compile, zellige": lambda: ours(*x)}
            if count <= 64:
                runs["torch.compile, inductor"] = lambda: inductor(*x)
            for name, run in runs.items():
                print(f"{count:3} tensors, {kernels:2} kernels: {name:24} {host_us(run, rounds)}", flush=True)


TENSORS = 20  # of a call without a GPU, its result among them


@contextlib.contextmanager
def driver_that_does_nothing():
    """Builds bench/without_gpu.cpp as libcuda.so.1 and NVRTC, and loads it before the library looks for them."""
    source = pathlib.Path(__file__).with_name("without_gpu.cpp")
    with tempfile.TemporaryDirectory() as folder:
        library = pathlib.Path(folder) / "libcuda.so.1"
        subprocess.run(["g++", "-std=c++20", "-O2", "-shared", "-fPIC", f"-Wl,-soname,{library.name}", source, "-o", library], check=True)
        os.environ |= {"ZELLIGE_CACHE": folder, "ZELLIGE_NVRTC": str(library)}
        yield ctypes.CDLL(str(library))


def without_gpu(rounds):
    """Tensors of the host stand in for those of a GPU: their framework's table says that they are on one."""
    from zellige import exchange, torch_backend
    from zellige.torch.execute import open_part, part

    with driver_that_does_nothing() as driver:
        driver.as_of_gpu.restype, driver.as_of_gpu.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
        table = driver.as_of_gpu(exchange.exchange_table(torch.Tensor))
        exchange.exchange_table = lambda kind: table
        torch._C._dynamo.guards._empty_strided_cuda = torch._C._dynamo.guards._empty_strided_cpu
        calls, runs, first = [], part.Part.runs, open_part.OpenPart._first

        def runs_on_gpu(self, program):
            self.device = torch.device("cuda")
            made = runs(self, program)
            calls.append((self.call, ()))
            return made

        def first_with_sizes(self, values):
            made = first(self, values)
            calls.append((self.call, values))
            return made

        part.Part.runs, open_part.OpenPart._first = runs_on_gpu, first_with_sizes
        x, y = [torch.randn(64, 64) for _ in range(TENSORS - 1)], torch.empty(64, 64)
        program, outs = zellige.compile(sum_of, *x), [y]
        timed = {"one program, out=": lambda: program._native.call_objects(table, x, outs)}
        for name, dynamic in (("a part", False), ("a part with sizes", True)):
            torch._dynamo.reset()
            with torch.no_grad():
                torch.compile(sum_of, backend=lambda m, i: torch_backend.backend(m, i, options={"cache": False}), dynamic=dynamic)(*x)
            call, values = calls[-1]
            timed[name] = lambda call=call, values=values: call(*x, *values)
        timed["sizes that differ by call"] = with_other_sizes(calls[-1])
        for name, call in timed.items():
            print(f"{TENSORS:3} tensors: {name:24} {host_us(call, rounds)}", flush=True)


def with_other_sizes(of):
    """Calls of a part with 20 sizes, one after the other."""
    call, values = of
    given = [([torch.randn(n, n) for _ in range(TENSORS - 1)], [n] * len(values)) for n in range(40, 60)]
    calls = itertools.cycle(given)

    def run():
        x, sizes = next(calls)
        return call(*x, *sizes)

    return run


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=40)
    options.add_argument("--parts", action="store_true")
    options.add_argument("--without-gpu", action="store_true")
    given = options.parse_args()
    rounds = given.rounds
    if given.parts:
        return parts(rounds)
    if given.without_gpu:
        return without_gpu(rounds)
    x = [torch.randn(8, 8, device="cuda") for _ in range(7)]
    y, program = torch.empty(8, 8, device="cuda"), zellige.compile(total, *[torch.empty(8, 8, device="cuda") for _ in range(7)], on="gpu")
    out, fast, total_by_triton = [y], torch.compile(total), triton.jit(total_of)
    source = 'extern "C" __global__ void eight(%s) {}' % ", ".join(f"float* t{i}" for i in range(8))
    runs = {
        "zellige, out=": lambda: program(*x, out=out),
        "zellige": lambda: program(*x),
        "triton": lambda: total_by_triton[(1,)](*x, y, 64, 64),
        "torch.compile": lambda: fast(*x),
        "torch.add, out=": lambda: torch.add(x[0], x[1], out=y),
        "the driver alone": driver_alone(source, "eight", [t.data_ptr() for t in [*x, y]]),
    }
    times = {name: [] for name in runs}
    with torch.no_grad():
        for run in runs.values():
            for _ in range(50):
                run()
        assert torch.allclose(program(*x), total(*x), atol=1e-5)
        for _ in range(rounds):
            for name, run in runs.items():
                torch.cuda.synchronize()
                start = time.perf_counter()
                for _ in range(200):
                    run()
                times[name].append((time.perf_counter() - start) * 5e3)
    for name, us in times.items():
        print(f"{name:18} {min(us):7.2f} us (median {statistics.median(us):.2f})")


if __name__ == "__main__":
    main()
