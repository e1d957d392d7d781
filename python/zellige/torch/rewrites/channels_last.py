"""Converts convolutions on a GPU to the channels-last layout, in which torch's kernels need no layout conversions.

A region is a set of connected nodes: convolutions, and operators between them for whose results torch itself uses the
layout of the operands. Views separate regions. A region is converted as a whole or not at all. The decision compares
the times of its convolutions in both layouts, which are measured (measure/convolution_kernels.py), and the cost of copies at the
region's border and of copies of weights. Weights are copied at every call, because they may change. If torch declares
other strides for a convolution than its kernel returns, the kernel's strides are used.
"""

import operator
import time
from dataclasses import dataclass, field

import torch
from torch._prims_common import suggest_memory_format

from ..import_ import declared
from ..import_ import operators as known
from ..import_.kinds import COPY, RESHAPES, lies_as
from ..import_.views import VIEWS
from ..measure import convolution_kernels, estimates

aten = torch.ops.aten

SECONDS = 3.0  # limit of the time for measuring a graph's convolutions
# operators whose channels-last kernels take several times as long
IN_NCHW = (aten._adaptive_avg_pool2d.default,)
# a weight's copy by a kernel of the program that runs before the convolution
WEIGHT = estimates.Kind(2.0, 2.5e6, estimates.LAUNCH)


def convert(work, output) -> int:
    """Converts convolutions, with the operators between them, to channels-last where that saves time. Returns how many."""
    graph = work.graph
    all_of = graph.find_nodes(op="call_function", target=aten.convolution.default)
    on_gpu = [n for n in all_of if n.meta["val"].device.type == convolution_kernels.DEVICE]
    declared.follow(graph, set(), real, on_gpu)
    selected, saved = _selected(graph, work.captured)
    if selected or any(_in_nchw(n) and not n.args[0].meta["val"].is_contiguous() for n in graph.nodes):
        _lay(graph, selected)
    work.saved += saved
    return len(selected)


def real(node, declared):
    """Returns `declared`, the result that torch declares for a node. If the node is a convolution, the result gets the
    strides that the convolution's kernel returns."""
    if node.target is not aten.convolution.default or declared.device.type != convolution_kernels.DEVICE:
        return declared
    strides = convolution_kernels.made(node, declared.stride())
    return declared if strides == declared.stride() else declared.new_empty_strided(declared.shape, strides)


@dataclass
class _Region:
    """A set of connected nodes that must have the same layout, and the convolutions among them."""
    convolutions: list = field(default_factory=list)
    nodes: list = field(default_factory=list)


def _selected(graph, captured=False):
    """Returns (the list of the graph's convolutions to convert to channels-last, the cost that this saves). `captured`: the
    host's cost does not count."""
    found = [r for r in _regions(graph) if r.convolutions]
    deadline = time.monotonic() + SECONDS
    selected, saved = [], estimates.Cost()
    for region in found:
        taken, gain = _saved(region, deadline)
        counted = estimates.Cost(gain.gpu, 0.0 if captured else min(gain.host, 0.0))
        if estimates.Cost().faster_gpu_bound(counted):
            selected += taken
            saved += gain
    if not selected or captured:
        return selected, saved
    convolutions = sum(convolution_kernels.us(n, deadline)[0] for r in found for n in r.convolutions)
    graphs = estimates.of_torch(graph.nodes) + estimates.Cost(convolutions)
    if (graphs - saved).clearly_faster(graphs) or (graphs - saved).faster(graphs):
        return selected, saved
    return [], estimates.Cost()


def _regions(graph) -> list:
    region_of = {}
    for n in graph.nodes:
        if not _carries(n):
            continue
        own = region_of[n] = _Region([n] if _may(n) else [], [n])
        for m in _read(n):
            other = region_of.get(m)
            if other is None or other is own:
                continue
            if len(other.nodes) < len(own.nodes):
                own, other = other, own
            other.convolutions += own.convolutions
            other.nodes += own.nodes
            region_of.update(dict.fromkeys(own.nodes, other))
            own = other
    return list({id(r): r for r in region_of.values()}.values())


def _value(n):
    """Returns the tensor that torch declares as the result of node n; the first one if n has several results."""
    value = n.meta.get("val")
    return value[0] if isinstance(value, (tuple, list)) and value else value


def _carries(n) -> bool:
    """Returns true if the result of n can have the channels-last layout: a GPU tensor with four dimensions that is not
    a view."""
    value = _value(n)
    if n.op != "call_function" or not isinstance(value, torch.Tensor) or value.ndim != 4 or value.device.type != convolution_kernels.DEVICE:
        return False
    made_by = n.args[0] if n.target is operator.getitem else n
    return made_by.target is COPY or made_by.target not in VIEWS


def _read(n) -> list:
    """Returns the operands of n that have the same layout as the result of n: the input of a convolution, and all
    operands of other operators."""
    return [n.args[0]] if n.target is aten.convolution.default else n.all_input_nodes


def _may(n) -> bool:
    """Returns true if n is a two-dimensional convolution that may be converted: floating-point, with at least 4 output
    channels."""
    if n.target is not aten.convolution.default:
        return False
    x = n.args[0].meta["val"]
    return x.ndim == 4 and x.device.type == convolution_kernels.DEVICE and x.dtype.is_floating_point and n.meta["val"].shape[1] >= 4


def _in_nchw(n) -> bool:
    """Returns true for an operator that is faster on contiguous tensors (NCHW)."""
    return n.target in IN_NCHW and n.meta["val"].device.type == convolution_kernels.DEVICE


def _needs_no_copy(n) -> bool:
    """Returns true if the result of n has channels-last strides already, so that no conversion is needed."""
    return _value(n).is_contiguous(memory_format=torch.channels_last)


def _saved(region, deadline):
    """Returns (the list of the convolutions to convert to channels-last in a region, the cost that this saves). A
    region is a set of connected convolutions and operators between them. A convolution that is slower in channels-last
    is converted, too, if copies before and after it would cost more. `deadline`: time.monotonic() after which nothing
    is measured."""
    taken, saved = [], estimates.Cost()
    for n in region.convolutions:
        before, after = convolution_kernels.us(n, deadline)
        copies = _copy(n.args[0].meta["val"]) + _copy(n.meta["val"])
        if estimates.Cost(after).better(estimates.Cost(before) + copies.of_gpu()):
            taken.append(n)
            saved += estimates.Cost(before - after)
        else:
            saved -= copies
    for weight in dict.fromkeys(n.args[1] for n in taken):
        if not _needs_no_copy(weight) and not _is_computed(weight):
            saved -= _copy(weight.meta["val"], WEIGHT)
    return taken, saved - _at_border(region)


def _is_computed(n) -> bool:
    """Returns true if n, or the tensor of which it is a view, is computed by an operator that may be part of a
    program, which can store it in either layout."""
    while n.target in VIEWS and isinstance(n.args[0], torch.fx.Node):
        n = n.args[0]
    return n.target in known.OPERATORS


def _copy(value, kind=None) -> estimates.Cost:
    """Returns the cost of converting a tensor between NCHW and channels-last. The cost is 0 if the tensor's strides are
    valid in both layouts. `kind`: the kind of kernel that copies; None: torch's."""
    if value.is_contiguous() and value.is_contiguous(memory_format=torch.channels_last):
        return estimates.Cost()
    kind = kind or (estimates.SIMPLE if value.stride(1) == 1 else estimates.TRANSPOSED)
    return estimates.Cost(kind.kernel + 2 * value.numel() * value.element_size() / kind.bytes, kind.host)


def _at_border(region) -> estimates.Cost:
    """Returns the cost of the layout conversions at the border of a region (a set of connected nodes that use
    channels-last). Two kinds of tensors are converted. First, tensors from outside that a node of the region reads, if
    the node is a convolution or its result has the tensor's shape. Second, results that an operator needs in NCHW."""
    inside, copied = set(region.nodes), {}
    for n in region.nodes:
        for m in _read(n):
            value = _value(m)
            if m not in inside and isinstance(value, torch.Tensor) and value.ndim == 4 and not _needs_no_copy(m):
                if n.target is aten.convolution.default or value.shape == _value(n).shape:
                    copied[m] = value
        value = _value(n)
        if any(u not in inside and _needs_nchw(u, value) or _in_nchw(u) for u in n.users if u.target is not operator.getitem):
            copied[n] = value
    return sum(map(_copy, copied.values()), estimates.Cost())


def _needs_nchw(user, value) -> bool:
    """Returns true if the node `user` needs its operand `value` in NCHW: it is the output node, or a view that
    channels-last does not allow."""
    if user.op == "output":
        return True
    if user.target not in RESHAPES:
        return False
    try:
        torch.empty_strided(value.shape, convolution_kernels.in_channels_last(value.shape), device="meta").view(user.args[1])
    except (RuntimeError, ValueError):  # not viewable; ValueError for tensors without memory
        return True
    return False


def _lay(graph, selected) -> None:
    """Inserts copies so that the selected convolutions use channels-last, and operators that need NCHW get NCHW."""
    selected, output = set(selected), next(iter(graph.find_nodes(op="output")))
    inside = {n for r in _regions(graph) if not selected.isdisjoint(r.convolutions) for n in r.nodes}
    before = {n: _strides(n) for n in output.all_input_nodes}
    changed, copies = set(), {}

    def copied(n, at, layout):
        x = n.args[at]
        if (x, layout) not in copies:
            with graph.inserting_before(n):
                copies[x, layout] = graph.call_function(COPY, (x,), {"memory_format": layout})
            copies[x, layout].meta["val"] = x.meta["val"].clone(memory_format=layout)
            changed.add(copies[x, layout])
        n.update_arg(at, copies[x, layout])

    for n in list(graph.nodes):
        if n in selected:
            copied(n, 0, torch.channels_last)
            if not _needs_no_copy(n.args[1]):
                copied(n, 1, torch.channels_last)
        elif _in_nchw(n) or _may(n) and n.args[0].meta["val"].is_contiguous():
            copied(n, 0, torch.contiguous_format)
    for (x, layout), copy in copies.items():
        if layout == torch.channels_last:
            _share(graph, x, copy, inside)
    declared.follow(graph, changed, real)
    for (x, _), copy in copies.items():
        if lies_as(x.meta["val"], copy.meta["val"].stride()) and not _only_declares(x, copy):
            copy.replace_all_uses_with(x)
            graph.erase_node(copy)
    for n, strides in before.items():
        if _strides(n) != strides:
            with graph.inserting_before(output):
                output.replace_input_with(n, _restored(graph, n, strides))


def _share(graph, x, copy, inside) -> None:
    """Lets other operators of the regions that are converted, `inside`, read the copy of x, too, if x is their only operand
    of four dimensions. So pools of an image give the layout that convolutions of the same tensor give."""
    others = [u for u in x.users if u in inside and not _in_nchw(u) and u.target not in (COPY, aten.convolution.default)]
    others = [u for u in others if [m for m in u.all_input_nodes if isinstance(_value(m), torch.Tensor) and _value(m).ndim == 4] == [x]]
    if others:
        first = next(n for n in graph.nodes if n.op not in ("placeholder", "get_attr"))
        first.prepend(copy) if x.op in ("placeholder", "get_attr") else x.append(copy)
    for u in others:
        u.replace_input_with(x, copy)


def _only_declares(x, copy) -> bool:
    """Returns true for a copy of x, the input of a convolution, that moves nothing, but makes torch use channels-last. Torch
    considers the strides along dimensions of one element, too: it takes a contiguous (N, C, 1, 1) for NCHW."""
    return suggest_memory_format(x.meta["val"]) != suggest_memory_format(copy.meta["val"]) == torch.channels_last


def declare(graph) -> None:
    """Replaces copies of a graph by views where they only change the strides of a convolution's input along dimensions of
    one element (_only_declares). Copies of what a program makes are part of the program, and cost nothing."""
    for n in graph.find_nodes(op="call_function", target=COPY):
        x, made = n.args[0].meta.get("val"), n.meta.get("val")
        if n.users and all(_is_input(u, n) for u in n.users) and x.stride() != made.stride() and lies_as(x, made.stride()):
            n.target, n.args, n.kwargs = aten.as_strided.default, (n.args[0], list(made.shape), list(made.stride())), {}


def _is_input(user, n) -> bool:
    """Returns true if n is the input of the convolution `user`, and not its weight."""
    return user.target is aten.convolution.default and user.args[0] is n and n not in user.args[1:]


def _restored(graph, n, strides):
    """Returns a node with a copy of n that has dense strides, with the dimensions in the same order in memory as in
    `strides`."""

    def called(target, x, *args, **kwargs):
        made = graph.call_function(target, (x, *args), kwargs)
        made.meta["val"] = target(x.meta["val"], *args, **kwargs)
        return made

    order = sorted(range(len(strides)), key=lambda d: -strides[d])
    if order == sorted(order):
        return called(COPY, n, memory_format=torch.contiguous_format)
    copy = called(COPY, called(aten.permute.default, n, order), memory_format=torch.contiguous_format)
    return called(aten.permute.default, copy, [order.index(d) for d in range(len(order))])


def _strides(n):
    value = n.meta.get("val")
    return value.stride() if isinstance(value, torch.Tensor) else None
