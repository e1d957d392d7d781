"""Convolutions on a GPU in channels-last, where torch's kernels need no copies into that layout and back.

    last(graph)      convolutions of two dimensions read and make tensors in channels-last; the graph's outputs lie as they did

What is computed element by element between them keeps the layout by torch's own rule. Where torch states another layout than its kernels
make, the kernel's is taken: convolutions are run once for each shape.
"""

import torch
from torch.utils._python_dispatch import _disable_current_modes

from . import aten_stated, torch_costs

aten = torch.ops.aten


def last(graph) -> None:
    convolutions = [n for n in graph.find_nodes(op="call_function", target=aten.convolution.default) if _may(n)]
    if not _gains(convolutions):
        return
    output = next(iter(graph.find_nodes(op="output")))
    before = {n: _strides(n) for n in output.all_input_nodes}
    changed, made = set(), {}
    for n in convolutions:
        for at in (0, 1):
            x = n.args[at]
            if at == 1 and _lies_alike(x):
                continue
            if x not in made:
                with graph.inserting_before(n):
                    made[x] = graph.call_function(aten.clone.default, (x,), {"memory_format": torch.channels_last})
                made[x].meta["val"] = x.meta["val"].clone(memory_format=torch.channels_last)
                changed.add(made[x])
            n.update_arg(at, made[x])
    aten_stated.follow(graph, changed, real)
    for x, copy in made.items():
        if _strides(x) == _strides(copy):
            copy.replace_all_uses_with(x)
            graph.erase_node(copy)
    for n, strides in before.items():
        if _strides(n) != strides:
            with graph.inserting_before(output):
                copy = graph.call_function(aten.clone.default, (n,), {"memory_format": torch.contiguous_format})
            copy.meta["val"] = n.meta["val"].clone(memory_format=torch.contiguous_format)
            output.replace_input_with(n, copy)


def _strides(n):
    value = n.meta.get("val")
    return value.stride() if isinstance(value, torch.Tensor) else None


def _may(n) -> bool:
    """Of two dimensions, in half or single precision, with channels enough that they are a line."""
    x, weight, _, _, _, _, transposed, _, groups = n.args
    x, weight = x.meta["val"], weight.meta["val"]
    return x.ndim == 4 and x.device.type == "cuda" and not transposed and x.dtype.is_floating_point and min(x.shape[1], weight.shape[0]) >= 4


def _lies_alike(weight) -> bool:
    """Of one row and column, or of one channel a group."""
    return weight.meta["val"].is_contiguous(memory_format=torch.channels_last)


MOVED = 2e6  # bytes a microsecond, of cuDNN's copies into its own layout and back


def _gains(convolutions) -> bool:
    """Whether the GPU saves more, by copies of activations, than the host takes to copy weights, at every call since they may change."""
    bytes_of = lambda n: n.meta["val"].numel() * n.meta["val"].element_size()  # noqa: E731
    saved = sum(2 * (bytes_of(n) + bytes_of(n.args[0])) for n in convolutions) / MOVED
    return saved > torch_costs.SIMPLE.host * len({n.args[1] for n in convolutions if not _lies_alike(n.args[1])}) and saved > 0


_REAL = {}


def real(node, stated):
    """A convolution's result in the strides that its kernel makes, found by running it."""
    if node.target is not aten.convolution.default or stated.device.type != "cuda":
        return stated
    values = [a.meta["val"] if isinstance(a, torch.fx.Node) else a for a in node.args]
    key = tuple((tuple(v.shape), v.stride(), v.dtype) if isinstance(v, torch.Tensor) else str(v) for v in values)
    if key not in _REAL:
        try:
            with _disable_current_modes(), torch.no_grad():
                inputs = [torch.empty_strided(v.shape, v.stride(), dtype=v.dtype, device=v.device) if isinstance(v, torch.Tensor) else v for v in values]
                _REAL[key] = aten.convolution.default(*inputs).stride()
        except Exception:  # memory
            _REAL[key] = stated.stride()
    return stated if _REAL[key] == stated.stride() else stated.new_empty_strided(stated.shape, _REAL[key])
