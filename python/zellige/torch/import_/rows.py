"""Translates the operators of a part of an FX graph (the operators of one program) to Zellige's operators; keeps
activations 2-D where possible.

torch reshapes (batch, tokens, width) to (batch * tokens, width) before each matmul and back after it. Operators that
treat each row of `width` elements independently give the same result in both shapes. On the 2-D tensor they can be
fused into the matmul's kernel; a view between matmul and operator would prevent that.

Such operators are the elementwise ones, by torch's own tags, and norms and reductions along the last dimension alone. What
depends on an element's position (masks, batch norms with a channel per token) or on several rows (a mean of everything) is
computed in the shape that torch declares.
"""

import math

import torch

from ... import operators as op
from ...tracing import Array
from ..applications import applied
from . import custom, operators
from .kinds import MATMULS, REDUCTIONS, RESHAPES, SOFTMAXES, is_pointwise, shape_of
from .quantized import QUANTIZED
from .views import VIEWS

_ATEN = torch.ops.aten
_ELEMENTWISE = (_ATEN._to_copy.default, custom.CHOOSE, custom.FILL, custom.COMPARE, custom.COMPARE_NUMBER)


def is_elementwise(target) -> bool:
    """Returns true for an operator, other than a copy, whose result at a place depends on its operands there alone, and not
    on the place."""
    return is_pointwise(target) and target not in VIEWS or target in _ELEMENTWISE


class Rows:
    """Translates the operators of one part of an FX graph, node by node: calls Zellige's operators on traced arrays."""

    def __init__(self, graph):
        # leading shapes, such as (batch, tokens), of activations that are an operand or result of a matmul
        self.leads = set()
        self.matrices = {}  # by an array's name: the matrix of which the array is a view
        for node in graph.nodes:
            if node.target in RESHAPES:
                ends = shape_of(node.args[0]), shape_of(node)
                for (matrix, other), at in ((ends, node.args[0]), (ends[::-1], node)):
                    products = [at] if at is not node else list(node.users)
                    if _folded(other) == matrix and any(p.target in (*MATMULS, *QUANTIZED) for p in products):
                        self.leads.add(other[:-1])

    def matrix(self, x: Array):
        """Returns x, of shape (..., width), as a matrix with rows of `width` elements; x itself if it has one dimension.
        Returns None unless the other dimensions of x are all 1, or those of an operand or result of a matmul in the
        graph, such as (batch, tokens)."""
        if x._name not in self.matrices and x.ndim > 1:
            if x.shape[:-1] not in self.leads and math.prod(x.shape[:-1]) > 1:
                return None
            self.matrices[x._name] = op.reshape(x, _folded(x.shape)) if x.ndim > 2 else x
        return self.matrices.get(x._name, x)

    def evaluate(self, node, arrays):
        """Returns the traced result of an FX node, as operators.evaluate does, but computed on two-dimensional activations
        where that gives the same result. `arrays` maps the node's operands to their traced arrays."""
        shape = shape_of(node)
        if node.target in RESHAPES:
            x = arrays[node.args[0]]
            x = self.matrices.get(x._name, x)
            if shape[:-1] in self.leads and x.shape == _folded(shape):
                return self._view(x, shape)
            if x.shape == shape:
                return x
            if x.shape[:-1] in self.leads and shape == _folded(x.shape):
                return self.matrix(x)
            return op.reshape(x, shape)
        made = self._on_matrices(node, arrays)
        return operators.evaluate(node, arrays) if made is None else operators.as_declared(made, node.meta["val"])

    def _view(self, matrix, shape):
        y = op.reshape(matrix, shape)
        self.matrices[y._name] = matrix
        return y

    def _on_matrices(self, node, arrays):
        """Computes the FX node on two-dimensional activations (batch * tokens, width), and returns its result, or a
        list of results, as views in the node's own shape. Returns None if the node does not treat each row of `width`
        elements independently, or if its operands have no such two-dimensional form."""
        operands = {n: arrays[n] for n in node.all_input_nodes}
        if not all(isinstance(x, Array) for x in operands.values()):
            return None
        lead = next((x.shape[:-1] for x in operands.values() if x.shape[:-1] in self.leads), ())
        args = _along_rows(node, operands, lead) if len(lead) > 1 else None
        if args is None or any(not _has_rows(x.shape, lead) for x in operands.values()):
            return None
        applied("rows of a matrix")
        made = operators.evaluate_on(node, args, {n: self.matrix(x) for n, x in operands.items()})
        listed = isinstance(made, list)
        views = [self._view(y, (*lead, y.shape[-1])) for y in (made if listed else [made])]
        return views if listed else views[0]


def _along_rows(node, operands, lead):
    """Returns the node's arguments for operands of two dimensions, if it treats each row of an activation of shape (*lead,
    width) independently; else None. `operands`: the traced arrays of the node's operands."""
    args = list(node.args)
    if node.target is _ATEN.native_layer_norm.default:
        return args if operands[args[0]].shape == (*lead, *args[1]) else None
    if node.target not in SOFTMAXES + REDUCTIONS:
        return args if is_elementwise(node.target) else None
    last = operands[args[0]].ndim - 1
    dims = args[1] if isinstance(args[1], (tuple, list)) else [args[1]]
    if dims == [None] or [d % (last + 1) for d in dims] != [last] or shape_of(node)[:-1] != lead:
        return None
    args[1] = [-1] if isinstance(args[1], (tuple, list)) else -1
    return args


def _has_rows(shape, lead) -> bool:
    """Returns true if a tensor of this shape has a row for each row of an activation of shape (*lead, width), or one for all."""
    return shape[:-1] == lead or len(shape) <= len(lead) + 1 and math.prod(shape[:-1]) == 1


def _folded(shape) -> tuple:
    """Returns the shape of the matrix that has an activation's rows: (batch * tokens, width) for (batch, tokens,
    width). Returns () for shapes with fewer than three dimensions."""
    return (math.prod(shape[:-1]), shape[-1]) if len(shape) > 2 else ()
