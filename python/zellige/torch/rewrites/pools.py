"""Calls the faster one of two torch kernels for max pools in channels-last.

    max_pool2d(x)  ->  max_pool3d(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)

torch's kernel for two-dimensional pools in channels-last launches few blocks where the batch is small (8 for 512 channels of
14 x 14), so most of the GPU is idle. The permuted view is contiguous. A three-dimensional pool of it, whose windows have one
channel, gives the same numbers, and its kernel has a thread for each of them. On a GPU both kernels are measured, once per
shape.
"""

import operator

import torch
from torch._prims_common import suggest_memory_format

from ..import_ import custom
from ..measure import clock, convolution_kernels, estimates

POOL = torch.ops.aten.max_pool2d_with_indices.default
MAX_ELEMENTS = 1 << 31  # the kernels number elements by 32 bits

_US = {}


def pool_of_rows(work, n) -> bool:
    """Replaces a max pool by the other kernel, where that is faster or the two cannot be measured."""
    if not _may(n):
        return False
    us = _us(n)
    if us is not None and not estimates.Cost(us[1]).better(estimates.Cost(us[0])):
        return False
    made = work.call(n, custom.MAX_POOL, n.args[0], *_windows(n))
    for getter in list(n.users):
        getter.replace_all_uses_with(made)
        work.graph.erase_node(getter)
    work.graph.erase_node(n)
    work.saved += estimates.Cost(us[0] - us[1] if us else 0.0, -2 * estimates.VIEW)
    return True


def _may(n) -> bool:
    """Returns true for a pool whose indices are not used, of a GPU tensor that torch takes for channels-last."""
    x = n.args[0].meta["val"]
    if x.ndim != 4 or x.device.type != convolution_kernels.DEVICE or not x.dtype.is_floating_point or not 0 < x.numel() < MAX_ELEMENTS:
        return False
    channels_last = x.is_contiguous(memory_format=torch.channels_last) and suggest_memory_format(x) == torch.channels_last
    return channels_last and all(u.target is operator.getitem and (u.args[1] == 0 or not u.users) for u in n.users)


def _us(n):
    """Returns (microseconds of a pool as torch calls it, microseconds by rows); None if they cannot be measured."""
    if not torch.cuda.is_available():
        return None
    x, windows = n.args[0].meta["val"], _windows(n)
    key = tuple(x.shape), x.dtype, x.device, str(windows)
    if key not in _US:
        calls = lambda y: POOL(y, *n.args[1:]), lambda y: custom.max_pool_by_rows(y, *windows)
        found = tuple(clock.gpu_time(call, [x], 1) for call in calls)
        _US[key] = None if None in found else found
    return _US[key]


def _windows(n) -> list:
    """Returns the arguments of max_pool_by_rows that follow the tensor."""
    pair = lambda sizes: list(sizes) * (2 // len(sizes)) if isinstance(sizes, (list, tuple)) else [sizes] * 2  # noqa: E731
    _, kernel, stride, padding, dilation, ceil = n.args
    return [pair(kernel), pair(stride or kernel), pair(padding), pair(dilation), ceil]
