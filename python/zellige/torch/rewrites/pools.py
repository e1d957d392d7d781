"""Calls the faster one of two torch kernels for max pools in channels-last.

    saved = by_rows(graph)      max_pool2d(x)  ->  max_pool3d(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)

torch's kernel for two-dimensional pools in channels-last launches few blocks where the batch is small (8 for 512 channels of
14 x 14), so most of the GPU is idle. The permuted view is contiguous. A three-dimensional pool of it, whose windows have one
channel, gives the same numbers, and its kernel has a thread for each of them. On a GPU both kernels are measured, once per
shape.
"""

import operator

import torch
from torch._prims_common import suggest_memory_format

from ..applications import applied
from ..import_ import custom
from ..measure import clock, convolution_kernels, estimates

POOL = torch.ops.aten.max_pool2d_with_indices.default
MAX_ELEMENTS = 1 << 31  # the kernels number elements by 32 bits

_US = {}


def by_rows(graph) -> estimates.Cost:
    """Replaces max pools of a graph, in place, where the other kernel is faster or the two cannot be measured. Returns the
    cost that is saved, as far as it was measured."""
    saved = estimates.Cost()
    for n in graph.find_nodes(op="call_function", target=POOL):
        if _may(n):
            us = _us(n)
            if us is None or us[1] < us[0]:
                applied("max pool by rows")
                _replace(graph, n)
                saved += estimates.Cost(us[0] - us[1] if us else 0.0, -2 * estimates.VIEW)
    return saved


def _may(n) -> bool:
    """Returns true for a pool whose indices are not used, of a GPU tensor that torch takes for channels-last."""
    x = n.args[0].meta["val"]
    if x.ndim != 4 or x.device.type != convolution_kernels.DEVICE or not x.dtype.is_floating_point or not 0 < x.numel() < MAX_ELEMENTS:
        return False
    last = x.is_contiguous(memory_format=torch.channels_last) and suggest_memory_format(x) == torch.channels_last
    return last and all(u.target is operator.getitem and (u.args[1] == 0 or not u.users) for u in n.users)


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


def _replace(graph, n) -> None:
    """Replaces the node n of a pool by custom.MAX_POOL."""
    with graph.inserting_before(n):
        made = graph.call_function(custom.MAX_POOL, (n.args[0], *_windows(n)))
    made.meta["val"] = custom.MAX_POOL(n.args[0].meta["val"], *_windows(n))
    for getter in list(n.users):
        getter.replace_all_uses_with(made)
        graph.erase_node(getter)
    graph.erase_node(n)
