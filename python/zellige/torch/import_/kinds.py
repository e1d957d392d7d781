"""Kinds of ATen's operators that several stages treat alike, and what they ask of nodes: the one list of each kind."""

import torch

aten = torch.ops.aten

GIVEN = ("placeholder", "get_attr")  # nodes that a graph does not compute
COPY = aten.clone.default  # a view in Zellige; torch copies the tensor
RESHAPES = (aten.view.default, aten._unsafe_view.default, aten.reshape.default)
SAME = (*RESHAPES, COPY, aten.expand.default)  # the elements of the operand, in its order
MATMULS = (aten.mm.default, aten.addmm.default)
PRODUCTS = (*MATMULS, aten.bmm.default, aten.baddbmm.default)
TIMES, QUOTIENTS = (aten.mul.Tensor, aten.mul.Scalar), (aten.div.Tensor, aten.div.Scalar)
SCALES = TIMES + QUOTIENTS
SOFTMAXES = (aten._softmax.default, aten._safe_softmax.default, aten._log_softmax.default)
# reductions whose second argument lists dimensions, of which there is a result for each of the others
REDUCTIONS = (aten.mean.dim, aten.sum.dim_IntList, aten.amax.default, aten.amin.default, aten.prod.dim_int, aten.var.correction,
              aten.logsumexp.default)  # fmt: skip
SORTS = (aten.sort.default, aten.sort.stable)


def is_pointwise(target) -> bool:
    """Returns true for an elementwise operator, by torch's own tag."""
    return isinstance(target, torch._ops.OpOverload) and torch.Tag.pointwise in target.tags


def computes_elementwise(n) -> bool:
    """Returns true for a new tensor that an elementwise operator, or a cast, computes without random numbers, and that one node
    reads."""
    if n.op != "call_function" or len(n.users) != 1 or not (is_pointwise(n.target) or n.target is aten._to_copy.default):
        return False
    return torch.Tag.nondeterministic_seeded not in n.target.tags and not n.target._schema.is_mutable


def value_of(n):
    """Returns what torch declares as the result of a node; None for what is no node."""
    return n.meta.get("val") if isinstance(n, torch.fx.Node) else None


def shape_of(n) -> tuple:
    """Returns the shape of a node's tensor; () for others."""
    value = value_of(n)
    return tuple(value.shape) if isinstance(value, torch.Tensor) else ()


def tensors(value) -> list:
    """Returns the tensors in a value, which may be a tensor or a nested list."""
    if isinstance(value, torch.Tensor):
        return [value]
    return [t for v in value for t in tensors(v)] if isinstance(value, (tuple, list)) else []


def bytes_of(value) -> int:
    """Returns the bytes of the tensors in a value."""
    return sum(t.numel() * t.element_size() for t in tensors(value))


def properties(value):
    """Returns the properties of a tensor, or of those in a list, by which an operator treats it as an argument: shape, strides,
    dtype and device. Returns other values themselves."""
    if isinstance(value, torch.Tensor):
        return tuple(value.shape), value.stride() if value.layout == torch.strided else value.layout, value.dtype, value.device
    return tuple(map(properties, value)) if isinstance(value, (tuple, list)) else value


def lies_as(x, strides) -> bool:
    """Returns true if a tensor has these strides, except in dimensions of one element."""
    return all(a == b for n, a, b in zip(x.shape, x.stride(), strides) if n > 1)
