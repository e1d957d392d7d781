"""Measures the GPU time of a call, in microseconds.

    us = gpu_time(call, values, 3)     values: the arguments, as torch declares them; None if it cannot be measured
    cost(call, values, 3)              for the GPU and the host, a Cost

Processes use a GPU one after another, because each would slow the others. The calls are queued after a kernel that waits for a while,
so that they run back to back, independent of the host's launch time.
"""

import contextlib
import fcntl
import os
import tempfile
import time

import torch
from torch.utils._python_dispatch import _disable_current_modes

from .torch_costs import Cost

ROUNDS, WAITS = 5, 2000  # the latter: the waiting kernel's clocks per microsecond
MAX_SECONDS, MAX_QUEUED = 0.05, 400
LARGE = 256 << 20  # bytes


def gpu_time(call, values, launches):
    """`launches`: the approximate number of kernels per call. Calls that use more than half of the free memory are not
    measured."""
    found = cost(call, values, launches)
    return None if found is None else found.gpu


def cost(call, values, launches):
    """Also measures the host: its time until the last launch is issued."""
    taken = sum(v.numel() * v.element_size() for v in values)
    if taken > torch.cuda.mem_get_info()[0] // 2:
        return None
    try:
        with _disable_current_modes(), torch.no_grad(), _gpu_lock():
            return _measured(call, [like(v) for v in values], launches)
    except Exception:  # out of memory, or an operator without a kernel in this version of torch
        return None
    finally:
        if taken > LARGE:
            torch.cuda.empty_cache()  # releases free memory to others


@contextlib.contextmanager
def _gpu_lock():
    gpu = torch.cuda.get_device_properties(torch.cuda.current_device()).uuid
    with open(os.path.join(tempfile.gettempdir(), f"zellige-{os.getuid()}-{gpu}.lock"), "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def like(v):
    """A tensor with the declared properties and random numbers; indices are 0."""
    x = torch.empty_strided(v.shape, v.stride(), dtype=v.dtype, device=v.device)
    if not v.dtype.is_floating_point or v.element_size() == 1:
        return x.zero_()
    generator = torch.Generator(v.device)  # torch's default generator belongs to the user
    return x.normal_(generator=generator)


def _measured(call, inputs, launches):
    call(*inputs)
    torch.cuda.synchronize()
    begun = time.perf_counter()
    call(*inputs)
    first = time.perf_counter() - begun
    torch.cuda.synchronize()
    both = time.perf_counter() - begun
    count = max(1, min(10, MAX_QUEUED // max(launches, 1), int(MAX_SECONDS / ROUNDS / both)))
    gpu, host = [], []
    for _ in range(ROUNDS):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda._sleep(int((first * 1e6 * count * 1.5 + 20) * WAITS))
        begin.record()
        begun = time.perf_counter()
        for _ in range(count):
            call(*inputs)
        host.append((time.perf_counter() - begun) * 1e6 / count)
        end.record()
        torch.cuda.synchronize()
        gpu.append(begin.elapsed_time(end) * 1e3 / count)
    return Cost(min(gpu), min(host))  # other load only increases the times
