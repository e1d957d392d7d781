"""Microseconds of the GPU that a call takes, measured on it.

    us = gpu_time(call, values, 3)     values: what it is called with, as torch states it; None where it cannot be measured
    cost(call, values, 3)              of the GPU and of the host, a Cost

Processes take turns on a GPU, since each would slow the others. The calls are put into the stream behind a kernel that does nothing for a while, so that they run one right after the other, however long the
host takes for a launch.
"""

import contextlib
import fcntl
import os
import tempfile
import time

import torch
from torch.utils._python_dispatch import _disable_current_modes

from .torch_costs import Cost

ROUNDS, WAITS = 5, 2000  # the latter: clocks of a microsecond that the kernel waits
MAX_SECONDS, MAX_QUEUED = 0.05, 400
LARGE = 256 << 20  # bytes


def gpu_time(call, values, launches):
    """`launches`: about how many kernels a call is. What takes more than half of the memory that is free is not measured."""
    found = cost(call, values, launches)
    return None if found is None else found.gpu


def cost(call, values, launches):
    """The host's part as well: what it takes until the last launch is made."""
    taken = sum(v.numel() * v.element_size() for v in values)
    if taken > torch.cuda.mem_get_info()[0] // 2:
        return None
    try:
        with _disable_current_modes(), torch.no_grad(), _turn():
            return _measured(call, [like(v) for v in values], launches)
    except Exception:  # memory, or an operator that this torch has no kernel for
        return None
    finally:
        if taken > LARGE:
            torch.cuda.empty_cache()  # others take what is free


@contextlib.contextmanager
def _turn():
    gpu = torch.cuda.get_device_properties(torch.cuda.current_device()).uuid
    with open(os.path.join(tempfile.gettempdir(), f"zellige-{os.getuid()}-{gpu}.lock"), "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def like(v):
    """A tensor as stated, of random numbers; indices are 0."""
    x = torch.empty_strided(v.shape, v.stride(), dtype=v.dtype, device=v.device)
    if not v.dtype.is_floating_point or v.element_size() == 1:
        return x.zero_()
    generator = torch.Generator(v.device)  # torch's own is the user's
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
    return Cost(min(gpu), min(host))  # what else runs there only adds
