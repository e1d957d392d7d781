#!/usr/bin/env python3
"""Tests which memory a launch accepts and refuses, on a GPU with torch; a refusal must leave the context intact.

  PYTHONPATH=python ZELLIGE_LIBRARY=build/libzellige.so tests/gpu/memory_in_torch.py

One line per case, and exit 1 if one is wrong. Also measures the driver's time for cuPointerGetAttributes, and for a capture
query.
"""
import ctypes
import gc
import os
import subprocess
import sys
import time
from ctypes import byref, c_int, c_size_t, c_uint, c_uint64, c_void_p

import torch
import zellige
from zellige import _native

WANTS = 4096  # bytes of each tensor
UNKNOWN = "where CUDA knows none: it is the host's, or was freed"
failed = []
driver = ctypes.CDLL("libcuda.so.1")
library = _native.library()
launch = library.zellige_program_launch
launch.restype, launch.argtypes = c_int, [c_void_p] * 5


def check(status):
    assert status == 0, status


def report(case, found, wanted):
    good = found == wanted if wanted == "" else wanted in found
    print(f"{'ok' if good else 'WRONG'}: {case}: {found or 'taken'}" + ("" if good else f"; expected {wanted or 'taken'}"))
    if not good:
        failed.append(case)


def doubled(x):
    return x * 2.0


def launched(program, x, y, workspace=None):
    """The sentence of a launch on two addresses; "" where it ran, and to the right end."""
    if launch(program._native._handle, (c_void_p * 1)(x), (c_void_p * 1)(y), workspace, None):
        return library.zellige_last_error().decode()
    torch.cuda.synchronize()
    return ""


def memory(kind, size=WANTS):
    """An address, and what frees it."""
    at = c_uint64()
    if kind == "cuMemAlloc":
        check(driver.cuMemAlloc_v2(byref(at), c_size_t(size)))
        return at.value, lambda: check(driver.cuMemFree_v2(at))
    if kind == "managed":
        check(driver.cuMemAllocManaged(byref(at), c_size_t(size), c_uint(1)))
        return at.value, lambda: check(driver.cuMemFree_v2(at))
    if kind == "pinned":
        check(driver.cuMemHostAlloc(byref(at), c_size_t(size), c_uint(2)))
        return at.value, lambda: check(driver.cuMemFreeHost(c_void_p(at.value)))
    if kind == "registered":
        whole = ctypes.create_string_buffer(size + 4096)
        start = (ctypes.addressof(whole) + 4095) // 4096 * 4096
        check(driver.cuMemHostRegister_v2(c_void_p(start), c_size_t(size), c_uint(2)))
        return start, lambda: (check(driver.cuMemHostUnregister(c_void_p(start))), whole)
    if kind == "cuMemAllocAsync":
        check(driver.cuMemAllocAsync(byref(at), c_size_t(size), None))
        torch.cuda.synchronize()
        return at.value, lambda: (check(driver.cuMemFreeAsync(at, None)), torch.cuda.synchronize())
    raise ValueError(kind)


def addresses(program, x, y):
    good, out = x.data_ptr(), y.data_ptr()
    report("torch's memory", launched(program, good, out), "")
    for kind in ("cuMemAlloc", "managed", "pinned", "registered", "cuMemAllocAsync"):
        at, free = memory(kind)
        report(f"{kind}, as an input", launched(program, at, out), "")
        report(f"{kind}, as an output", launched(program, good, at), "")
        free()
        if kind != "cuMemAllocAsync":  # whose pool keeps the memory mapped
            report(f"{kind}, freed", launched(program, at, out), f"found {at:#x}, {UNKNOWN}")
    at, free = memory("cuMemAlloc", 2 << 20)
    end = at + (2 << 20)
    report("cuMemAlloc, its last bytes", launched(program, end - WANTS, out), "")
    found = launched(program, end - 1024, out)
    if driver.cuPointerGetAttribute(byref(c_int()), 2, c_uint64(end)):  # nothing is mapped after it
        report("cuMemAlloc, beyond its end", found, f"expected {WANTS} bytes of the GPU's memory, found 1024 up to the end of the allocation")
    free()
    host = ctypes.create_string_buffer(WANTS + 16)
    at = (ctypes.addressof(host) + 15) // 16 * 16
    report("memory of the host, as an input", launched(program, at, out), f"input x: expected {WANTS} bytes of the GPU's memory, found {at:#x}, {UNKNOWN}")
    report("memory of the host, as an output", launched(program, good, at), f"expected {WANTS} bytes of the GPU's memory, found {at:#x}, {UNKNOWN}")
    report("NULL", launched(program, None, out), "input x: expected an address, found NULL")
    report("an address that is none", launched(program, 0x7000, out), f"found 0x7000, {UNKNOWN}")
    report("a misaligned address", launched(program, good + 4, out), "expected memory that begins at a multiple of 16 bytes, found 4 above one")
    program(x, out=[y])
    report("and the context is whole", "" if torch.equal(y, x * 2) else "wrong values", "")


def two_steps(x):
    return zellige.softmax(zellige.softmax(x, 0), 1)


def lifetimes():
    x = torch.rand(256, 256, device="cuda")
    right = torch.softmax(torch.softmax(x, 0), 1)

    def made():
        p = zellige.compile(two_steps, x, on="gpu", fuse=False)
        assert p.workspace > 0
        p(x)
        torch.cuda.synchronize()
        return p

    program, out = made(), torch.zeros_like(x)
    torch.cuda._sleep(500_000_000)
    program(x, out=[out])
    began = time.perf_counter()
    del program
    gc.collect()
    took = time.perf_counter() - began
    other = torch.full((64, 1 << 20), float("nan"), device="cuda")  # who would take the freed workspace
    torch.cuda.synchronize()
    report(f"a program freed while its launch waits (free took {1e3 * took:.0f} ms)", "" if torch.allclose(out, right, atol=1e-6) else "wrong values", "")
    del other
    program, graph = made(), torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        program(x, out=[out])
    del program
    gc.collect()
    other = memory("cuMemAlloc", 1 << 20)
    out.zero_()
    graph.replay()
    torch.cuda.synchronize()
    report("a graph replayed when its program was freed", "" if torch.allclose(out, right, atol=1e-6) else "wrong values", "")
    other[1]()
    program, graph = made(), torch.cuda.CUDAGraph()
    victim = made()
    with torch.cuda.graph(graph):
        program(x, out=[out])
        del victim
        gc.collect()
    graph.replay()
    torch.cuda.synchronize()
    report("another program freed while a graph is captured", "" if torch.allclose(out, right, atol=1e-6) else "wrong values", "")


def times(x):
    values = [c_uint(), c_uint64(), c_int(), c_uint64(), c_size_t()]
    attributes, pointers = (c_int * 5)(2, 3, 9, 11, 12), (c_void_p * 5)(*[ctypes.addressof(v) for v in values])
    state, identity, at = c_int(), c_uint64(), c_uint64(x.data_ptr())
    stream = c_void_p(torch.cuda.Stream().cuda_stream)
    for name, call in (
        ("ctypes alone (cuDriverGetVersion)", lambda: driver.cuDriverGetVersion(byref(state))),
        ("cuPointerGetAttributes, 5 of them", lambda: driver.cuPointerGetAttributes(5, attributes, pointers, at)),
        ("cuStreamGetCaptureInfo", lambda: driver.cuStreamGetCaptureInfo_v2(stream, byref(state), byref(identity), None, None, None)),
    ):
        best = float("inf")
        for _ in range(20):
            began = time.perf_counter()
            for _ in range(2000):
                call()
            best = min(best, (time.perf_counter() - began) / 2000)
        print(f"time: {name}: {1e6 * best:.2f} us")


def expandable():
    """A tensor over several mappings of torch's expandable segments."""
    x = torch.rand(48 << 20, device="cuda")
    program = zellige.compile(doubled, x, on="gpu")
    y = program(x)
    print("taken" if torch.equal(y, x * 2) else "wrong values")


def main():
    if "--expandable" in sys.argv:
        return expandable()
    x = torch.rand(WANTS // 4, device="cuda")
    y = torch.empty_like(x)
    program = zellige.compile(doubled, x, on="gpu")
    program(x, out=[y])
    addresses(program, x, y)
    lifetimes()
    found = subprocess.run(
        [sys.executable, __file__, "--expandable"], env=dict(os.environ, PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True"), capture_output=True, text=True
    )
    report("torch's expandable segments", "" if found.stdout.strip() == "taken" else found.stdout + found.stderr[-600:], "")
    times(x)
    print(f"{len(failed)} wrong" if failed else "all as expected")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
