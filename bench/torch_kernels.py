#!/usr/bin/env python3
"""Measures torch's own kernels: the numbers of python/zellige/torch/measure/estimates.py.

  bench/torch_kernels.py    (needs torch with a GPU)

For each kind of operator and number of elements: GPU microseconds in a CUDA graph of 20 calls, and the time of its bytes at
3.9 TB/s; then host microseconds per call, on small tensors.
"""
import statistics
import time

import cuda_graph
import torch
import torch.nn.functional as F


def gpu_us(run, calls=20, rounds=7):
    replay = cuda_graph.captured(run, calls)
    replay()
    return statistics.median(cuda_graph.gpu_us(replay) / calls for _ in range(rounds))


def host_us(run, calls=300, rounds=7):
    for _ in range(20):
        run()
    times = []
    for _ in range(rounds):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(calls):
            run()
        times.append((time.perf_counter() - start) / calls * 1e6)
    torch.cuda.synchronize()
    return statistics.median(times)


def kinds(x, width):
    """By name: the call, and how often it moves the bytes of x."""
    y, w = torch.randn_like(x), torch.ones(width, device="cuda", dtype=x.dtype)
    other = torch.float32 if x.dtype is torch.float16 else torch.float16
    return {"relu": (lambda: torch.relu(x), 2), "add": (lambda: x + y, 3), "gelu": (lambda: F.gelu(x), 2), "layer_norm": (lambda: F.layer_norm(x, (width,), w, w), 2),
            "softmax": (lambda: torch.softmax(x, -1), 2), "logsumexp": (lambda: torch.logsumexp(x, -1), 6), "sum": (lambda: x.sum(-1), 1), "cast": (lambda: x.to(other), 1 + torch.finfo(other).bits / torch.finfo(x.dtype).bits),
            "transposed copy": (lambda: x.t().contiguous(), 2)}  # fmt: skip


def main():
    torch.manual_seed(0)
    with torch.no_grad():
        for dtype in (torch.float16, torch.float32):
            for elements, width in ((1 << 10, 256), (1 << 20, 256), (1 << 20, 1024), (1 << 24, 256), (1 << 24, 1024), (1 << 26, 256)):
                x = torch.randn(elements // width, width, device="cuda", dtype=dtype)
                cells = [f"{name} {gpu_us(run):.2f} ({x.numel() * x.element_size() * times / 3.9e6:.2f})" for name, (run, times) in kinds(x, width).items()]
                print(f"{dtype} {elements // width} x {width}: " + ", ".join(cells), flush=True)
            for layout in (torch.contiguous_format, torch.channels_last):
                x, w = torch.randn(32, 256, 28, 28, device="cuda", dtype=dtype).to(memory_format=layout), torch.ones(256, device="cuda", dtype=dtype)
                print(f"{dtype} batch norm {layout}: {gpu_us(lambda: F.batch_norm(x, w, w, w, w)):.2f} ({2 * x.numel() * x.element_size() / 3.9e6:.2f})")
        x, w, image, filters = (torch.randn(s, device="cuda") for s in ((64, 64), (64,), (8, 32, 16, 16), (32, 32, 3, 3)))
        heads = x.view(1, 1, 64, 64)
        calls = {"relu": lambda: torch.relu(x), "add": lambda: torch.add(x, x), "sum": lambda: x.sum(-1), "cast": lambda: x.to(torch.float16), "mm": lambda: torch.mm(x, x),
                 "addmm": lambda: torch.addmm(w, x, x), "softmax": lambda: torch.softmax(x, -1), "logsumexp": lambda: torch.logsumexp(x, -1), "layer_norm": lambda: F.layer_norm(x, (64,), w, w),
                 "batch_norm": lambda: F.batch_norm(image, w[:32], w[:32], w[:32], w[:32]), "convolution": lambda: F.conv2d(image, filters, None, 1, 1),
                 "attention": lambda: F.scaled_dot_product_attention(heads, heads, heads), "view": lambda: x.view(4096), "permute": lambda: x.permute(1, 0)}  # fmt: skip
        for name, run in calls.items():
            print(f"host, {name}: {host_us(run):.2f}")


if __name__ == "__main__":
    main()
