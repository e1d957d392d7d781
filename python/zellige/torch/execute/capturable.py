"""Decides whether calls of a torch graph can be captured in a CUDA graph.

    why_not(graph, static, names)      why the graph cannot be captured, as a sentence; None if it can
    device(graph)                      the GPU on which it runs
    overlaps(value)                    true if elements of a tensor share memory, other than by an expanded dimension

static: indices of the inputs that have fixed addresses, such as parameters; names: names of all inputs, for messages.
"""

import operator

import torch
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

from ..import_.kinds import is_pointwise, tensors

aten = torch.ops.aten

DEVICE = "cuda"
_SYNCHRONISES = (torch.Tag.dynamic_output_shape, torch.Tag.data_dependent_output, torch.Tag.cudagraph_unsafe)
_BY_INDEX = (aten.index.Tensor, aten._unsafe_index.Tensor, aten.index_put.default, aten._unsafe_index_put.default)


def why_not(graph, static, names):
    """Returns why a graph cannot be captured, as a sentence; None if it can. `static`: indices of the inputs that have
    fixed addresses, which are read in place and may be changed in place. `names`: names of all inputs, for the
    sentence."""
    gpus = sorted({str(t.device) for n in graph.nodes for t in tensors(n.meta.get("val")) if t.device.type == DEVICE})
    if len(gpus) != 1:
        return f"expected tensors on one GPU, found them on {', '.join(gpus) or 'none'}"
    placeholders = {n: i for i, n in enumerate(graph.find_nodes(op="placeholder"))}
    for n, i in placeholders.items():
        why = _why_not_input(n.meta.get("val"), i in static) if n.users else None
        if why:
            return f"input {names[i]} {why}"
    for n in graph.nodes:
        if n.op == "call_function":
            changed = [names[placeholders[x]] for x in _changed(n) if x in placeholders and placeholders[x] not in static]
            why = f"input {changed[0]} is changed in place" if changed else _why_not_operator(n)
            if why:
                return why
    return None


def device(graph):
    """Returns the GPU of the first GPU tensor in the graph."""
    return next(t.device for n in graph.nodes for t in tensors(n.meta.get("val")) if t.device.type == DEVICE)


def overlaps(value) -> bool:
    """Returns true if elements of a tensor share memory, other than by an expanded dimension."""
    reach = 1  # number of elements that the previous dimensions span
    for stride, n in sorted((s, n) for s, n in zip(value.stride(), value.shape) if n > 1 and s > 0):
        if stride < reach:
            return True
        reach += stride * (n - 1)
    return False


def _why_not_input(value, static):
    """Returns why a graph with the input `value` cannot be captured, as a predicate of the input ("lies on cpu"); None
    if it can. `static`: the input has a fixed address."""
    if isinstance(value, torch.SymInt):
        return None  # a size, for each of which there is a capture
    if not isinstance(value, torch.Tensor):
        return "is a number, which may differ from call to call"
    if value.device.type != DEVICE:
        return f"lies on {value.device}"
    if not static and (value.layout != torch.strided or overlaps(value)):
        return "cannot be copied: its elements share memory, or it has no strides"
    return None


def _changed(n) -> list:
    """Returns the nodes whose tensors an operator mutates."""
    schema = getattr(n.target, "_schema", None)
    if schema is None or not schema.is_mutable:
        return []
    given = {a.name: x for a, x in zip(schema.arguments, n.args)} | n.kwargs
    return [x for a in schema.arguments if a.alias_info is not None and a.alias_info.is_write for x in _nodes(given.get(a.name))]


def _nodes(x) -> list:
    if isinstance(x, torch.fx.Node):
        return [x]
    return [n for v in x for n in _nodes(v)] if isinstance(x, (tuple, list)) else []


def _why_not_operator(n):
    """Returns why an operator cannot be captured, as a sentence; None if it can."""
    target, value = n.target, n.meta.get("val")
    if target is operator.getitem or isinstance(value, (torch.SymInt, torch.SymFloat)):
        return None
    if not isinstance(target, torch._ops.OpOverload):
        return f"{getattr(target, '__name__', target)} is no operator of torch's"
    if torch.Tag.nondeterministic_seeded in target.tags and not _without_dropout(n):
        return f"{target} draws random numbers"
    if free_unbacked_symbols(value) or (_by_condition(n.args[1]) if target in _BY_INDEX else any(tag in target.tags for tag in _SYNCHRONISES)):
        return f"{target} waits for results of the GPU"
    given, made = [t for m in n.all_input_nodes for t in tensors(m.meta.get("val"))], tensors(value)
    return None if _is_kept(target, given, made) else f"{target} copies between the host and the GPU"


def _is_kept(target, given, made) -> bool:
    """Returns true if an operator copies nothing between host and GPU: its operands `given` and results `made` are all
    on the host, or all on the GPU. A pointwise GPU operator may also read host tensors without dimensions, which are
    passed as numbers."""
    host = [t for t in given + made if t.device.type != DEVICE]
    if len(host) in (0, len(given) + len(made)):
        return True
    return is_pointwise(target) and all(t.ndim == 0 for t in host) and all(t.device.type == DEVICE for t in made)


def _without_dropout(n) -> bool:
    """Returns true if an operator's dropout probability is 0, so that it draws no random numbers."""
    given = {a.name: x for a, x in zip(n.target._schema.arguments, n.args)} | n.kwargs
    default = {a.name: a.default_value for a in n.target._schema.arguments}
    return (default | given).get("dropout_p") == 0


def _by_condition(indices) -> bool:
    """Returns true if one of `indices` is a mask, whose true elements the host must count."""
    return any(i.meta["val"].dtype in (torch.bool, torch.uint8) for i in _nodes(indices))
