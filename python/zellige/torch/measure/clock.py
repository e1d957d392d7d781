"""Measures the time of a call on the GPU and on the host, in microseconds.

    us = gpu_time(call, values, launches)     microseconds of the GPU; None if the call cannot be measured
    cost(call, values, launches)              a Cost: microseconds of the GPU and of the host

values: the arguments as torch declares them (shapes, strides, dtypes); launches: about how many kernels a call
launches. Processes use a GPU one after another, because each would slow the others. Calls are queued after a kernel
that waits for a while, so that they run back to back on the GPU, however long the host takes for a launch.
"""

import contextlib
import fcntl
import os
import tempfile
import time

import torch
from torch.utils._python_dispatch import _disable_current_modes

from .estimates import Cost

ROUNDS, WAITS = 5, 2000  # number of samples; clocks of the waiting kernel per microsecond
MAX_SECONDS, MAX_QUEUED = 0.05, 400  # limits of a sample: seconds, and kernels in the queue
LARGE = 256 << 20  # bytes


def gpu_time(call, values, launches):
    """Measures call(*inputs) with new tensors like `values`, and returns its microseconds on the GPU. Returns None if the
    call fails, or if the inputs take more than half of the free memory. `launches`: the approximate number of kernels
    per call."""
    found = cost(call, values, launches)
    return None if found is None else found.gpu


def cost(call, values, launches):
    """Measures call(*inputs) with new tensors like `values`, and returns its Cost: microseconds of the GPU and of the
    host. The host's time ends when the last kernel has been launched. Returns None if the call fails, or if the inputs
    take more than half of the free memory. `launches`: the approximate number of kernels per call."""
    return _of_rank_0(_cost(call, values, launches))


def _cost(call, values, launches):
    taken = sum(v.numel() * v.element_size() for v in values)
    if taken > torch.cuda.mem_get_info()[0] // 2:
        return None
    try:
        with _disable_current_modes(), torch.no_grad(), gpu_lock():
            return _measured(call, [like(v) for v in values], launches)
    except Exception:  # out of memory, or an operator without a kernel in this version of torch
        return None
    finally:
        if taken > LARGE:
            torch.cuda.empty_cache()  # gives the free memory back to others


_group = None  # the name of the process group whose ranks measure together


@contextlib.contextmanager
def of_ranks(group):
    """Within it, measured costs are those of rank 0 of a process group on all of its ranks, so that they decide equally: each of them
    must measure the same, in the same order. `group`: its name; None: each process measures by itself. Yields the name, or ""."""
    global _group
    before, _group = _group, group
    try:
        yield group or ""
    finally:
        _group = before


@contextlib.contextmanager
def exchanging():
    """Within it, ranks exchange values while a graph is traced. torch's Python dispatcher is off: it would hold the interpreter lock while
    the call waits for the lock of the process group, whose thread holds that and may wait for the interpreter's."""
    with _disable_current_modes(), torch.no_grad(), torch._C._DisablePythonDispatcher():
        yield


def _of_rank_0(cost):
    if _group is None:
        return cost
    import torch.distributed as dist

    group, values = dist.distributed_c10d._resolve_process_group(_group), [cost]
    with exchanging():
        dist.broadcast_object_list(values, src=dist.get_global_rank(group, 0), group=group)
    return values[0]


@contextlib.contextmanager
def gpu_lock():
    """Locks the current GPU against measurements by other processes of this user."""
    gpu = torch.cuda.get_device_properties(torch.cuda.current_device()).uuid
    with open(os.path.join(tempfile.gettempdir(), f"zellige-{os.getuid()}-{gpu}.lock"), "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def like(v):
    """Returns a new tensor with the shape, strides, dtype and device of `v`, and random values. Integers and 8-bit values
    are 0 instead, so that indices are valid."""
    x = torch.empty_strided(v.shape, v.stride(), dtype=v.dtype, device=v.device)
    memory = x.as_strided((x.untyped_storage().nbytes() // x.element_size(),), (1,))  # elements of x may share it
    if not v.dtype.is_floating_point or v.element_size() == 1:
        memory.zero_()
    else:
        memory.normal_(generator=torch.Generator(v.device))  # torch's default generator belongs to the user
    return x


def _measured(call, inputs, launches):
    """Returns the Cost of call(*inputs): the smallest of several samples, separately for the GPU's and the host's time.
    `launches`: the approximate number of kernels per call."""
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
