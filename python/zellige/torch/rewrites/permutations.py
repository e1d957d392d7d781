"""Removes permutations of rows that a torch graph undoes later, as models of experts do: they sort tokens by expert, and
permute results back to the tokens' order.

    (x * w[p])[q]  ->  x[q] * w, where q is the inverse permutation of p

A permutation is what sort returns as indices. Its inverse is the indices of sorting it, or a tensor q with q[p] = arange(n).
Elementwise operators and permutations of rows may be exchanged, which changes no bit of a result.
"""

import operator

import torch

from ..import_.kinds import SORTS, computes_elementwise, shape_of
from . import ranges

aten = torch.ops.aten

ROWS = aten.index.Tensor


def exchanged(work, n) -> bool:
    """Exchanges a permutation of rows with elementwise operators, where another permutation is undone so, and no tensor is
    permuted in addition."""
    exchange = _Exchange(work, n)
    if exchange.index is None or exchange.kernels(n.args[0]) > 1 or not exchange.undoes or exchange.vanishes():
        return False
    n.replace_all_uses_with(exchange.permuted(n.args[0]))
    return True


class _Exchange:
    """The exchange of a permutation of rows with the operators before it."""

    def __init__(self, work, node):
        self.graph, self.node, self.constants = work.graph, node, work.constants
        self.index = _index(node)
        self.undoes = False  # true if another permutation is undone; set by `kernels`

    def kernels(self, x) -> int:
        """Returns how many tensors have to be permuted in place of the tensor x."""
        if self._is_undone(x):
            self.undoes = True
            return 0
        return sum(map(self.kernels, _of_rows(x))) if _goes_through(x, self.node) else 1

    def vanishes(self) -> bool:
        """Returns true if another tensor would take the node's place, but the graph returns a tensor of its own."""
        return self._is_undone(self.node.args[0]) and ranges.returned(self.node)

    def permuted(self, x):
        """Returns a node with the permuted rows of x."""
        if self._is_undone(x):
            return x.args[0]
        rows = _of_rows(x) if _goes_through(x, self.node) else None
        with self.graph.inserting_before(self.node):
            if rows is None:
                made = self.graph.call_function(ROWS, (x, [self.index]))
            else:
                here = {a: self.permuted(a) for a in rows}
                made = self.graph.node_copy(x, lambda a: here.get(a, a))
        made.meta = {"val": x.meta["val"]}
        return made

    def _is_undone(self, x) -> bool:
        """Returns true if x permutes rows by the inverse of the node's permutation, and is stored as the tensor that it
        permutes."""
        other = _index(x)
        if other is None or x.meta["val"].stride() != x.args[0].meta["val"].stride():
            return False
        return self._inverted(self.index) is other or self._inverted(other) is self.index

    def _inverted(self, q):
        """Returns the permutation of which the tensor q of indices is the inverse; None if none is known."""
        if q.target is operator.getitem and q.args[1] == 1 and q.args[0].target in SORTS:
            return q.args[0].args[0] if _is_permutation(q.args[0].args[0]) and not ranges.descends(q.args[0]) else None
        if q.target is not aten.index_put.default or len(q.args[1]) != 1 or q.args[3]:
            return None
        base, (p,), values, _ = q.args
        if p is None or not _is_permutation(p) or base.meta["val"].shape != p.meta["val"].shape:
            return None
        made = self.constants.value(values) if values in self.constants else None
        return p if made is not None and torch.equal(made, torch.arange(p.meta["val"].numel(), dtype=made.dtype)) else None


def _index(n):
    """Returns the indices by which a node permutes or repeats the rows of a tensor; None if the node is none such."""
    if n.target is not ROWS or len(n.args[1]) != 1 or n.args[1][0] is None:
        return None
    index = n.args[1][0]
    return index if index.meta["val"].shape == n.args[0].meta["val"].shape[:1] and index.meta["val"].dtype == torch.int64 else None


def _is_permutation(p) -> bool:
    """Returns true if p is the indices of a sorted vector."""
    return p.target is operator.getitem and p.args[1] == 1 and p.args[0].target in SORTS and p.meta["val"].ndim == 1


def _goes_through(x, node) -> bool:
    """Returns true if x is an elementwise result, or x with a dimension of one element, that only one node reads."""
    if x.op != "call_function" or len(x.users) != 1 or shape_of(x)[:1] != shape_of(node)[:1]:
        return False
    if x.target is aten.unsqueeze.default:
        return x.args[1] % x.meta["val"].ndim > 0
    return computes_elementwise(x)


def _of_rows(x) -> list:
    """Returns the operands of an elementwise result x that have its rows; the others have the same elements in each row."""
    value = x.meta["val"]
    ndim = value.ndim - (x.target is aten.unsqueeze.default)
    return [a for a in x.all_input_nodes if a.meta["val"].ndim == ndim and a.meta["val"].shape[0] == value.shape[0]]
