"""Replaces sums of a few slices by additions, which become one kernel with the operators around them.

    x.view(tokens, 2, width).sum(1)  ->  x[0::2] + x[1::2] + 0.0

The slices are views. What is computed elementwise for the sum alone is computed for each slice. A sum in 16 bits is added in
float32 and rounded once, as torch's kernel does it. A sum of -0.0 alone is 0.0, as torch's kernel begins at 0.0.
"""

import functools

import torch

from ..import_.kinds import computes_elementwise

aten = torch.ops.aten

MAX_SLICES = 8  # slices


def sum_of_slices(work, n) -> bool:
    """Replaces a sum over a short dimension that is not the last one by additions."""
    if not _may(n):
        return False
    x, (d,) = n.args[:2]
    value, kept = x.meta["val"], len(n.args) > 2 and n.args[2]
    slices = _Slices(work, n, value.shape[d])
    terms = [slices.slice(x, d % value.ndim - value.ndim, i) for i in range(value.shape[d])]
    made = functools.reduce(lambda a, b: slices.call(aten.add.Tensor, a, b), (slices.cast(t, torch.promote_types(value.dtype, torch.float32)) for t in terms))
    made = slices.cast(slices.call(aten.add.Tensor, made, 0.0), value.dtype)
    n.replace_all_uses_with(slices.call(aten.unsqueeze.default, made, d % value.ndim) if kept else made)
    return True


def _may(n) -> bool:
    x, dims = n.args[0].meta["val"], n.args[1]
    if not isinstance(dims, (list, tuple)) or len(dims) != 1 or n.meta["val"].dtype != x.dtype or not x.dtype.is_floating_point:
        return False
    d = dims[0] % max(x.ndim, 1)
    return x.dtype.itemsize in (2, 4) and d < x.ndim - 1 and 2 <= x.shape[d] <= MAX_SLICES and x.shape[-1] > MAX_SLICES


class _Slices:
    """Makes nodes with slices of tensors. Dimensions are counted from the last one: -2 is the last but one."""

    def __init__(self, work, node, count):
        """`node`: before which they are made; `count`: the number of slices of a dimension."""
        self.call, self.count = functools.partial(work.call, node), count
        self.views = {}  # by tensor and dimension: the tensor with this dimension split in two

    def cast(self, x, dtype):
        return x if x.meta["val"].dtype == dtype else self.call(aten._to_copy.default, x, dtype=dtype)

    def slice(self, x, d, i):
        """Returns the i-th slice of x along the dimension d. What is computed elementwise for x alone is computed for the
        slice."""
        if _is_elementwise(x):
            return self._computed(x, d, lambda a: self.slice(a, d, i), lambda a: self.call(aten.select.int, a, d, 0))
        if _splits_rows(x, d):
            return self._rows(x.args[0], d, i)
        return self.call(aten.select.int, x, d, i)

    def _rows(self, x, d, i):
        """Returns a node with every count-th element of x along the dimension d, from the i-th one on."""
        if _is_elementwise(x):
            return self._computed(x, d, lambda a: self._rows(a, d, i), lambda a: a)
        if (x, d) not in self.views:
            shape = list(x.meta["val"].shape)
            at = len(shape) + d
            self.views[x, d] = self.call(aten.view.default, x, [*shape[:at], shape[at] // self.count, self.count, *shape[at + 1 :]])
        return self.call(aten.select.int, self.views[x, d], d, i)

    def _computed(self, x, d, part, one):
        """Returns a node with the operator of x and parts of its operands: `part(a)` of an operand that has the dimension d,
        `one(a)` of one with a single element along it."""

        def of(a):
            shape = a.meta["val"].shape
            return a if len(shape) < -d else one(a) if shape[d] == 1 else part(a)

        here = {a: of(a) for a in x.all_input_nodes}
        args, kwargs = torch.fx.map_arg((x.args, x.kwargs), here.__getitem__)
        return self.call(x.target, *args, **kwargs)


def _splits_rows(x, d) -> bool:
    """Returns true if x is a view that splits a dimension of a tensor in the dimensions d - 1 and d, and if only one node
    reads it."""
    shape = list(x.meta["val"].shape)
    at = len(shape) + d
    if x.target is not aten.view.default or len(x.users) != 1 or at == 0:
        return False
    return list(x.args[0].meta["val"].shape) == [*shape[: at - 1], shape[at - 1] * shape[at], *shape[at + 1 :]]


def _is_elementwise(x) -> bool:
    """Returns true for the result of an elementwise operator on tensors that only one node reads."""
    return computes_elementwise(x) and all(isinstance(a.meta.get("val"), torch.Tensor) for a in x.all_input_nodes)
