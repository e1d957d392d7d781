"""Rewrites int64, bool and complex values in torch graphs to types that Zellige supports, with small torch operators.

Indices of embedding rows and of cache positions become int32. A bool condition becomes a number, 0 for false; the
operators that compute the condition are replaced by operators on numbers. A product of complex numbers becomes four
real products, which form a rotary embedding if import_/rotary.py recognises it.
"""

import torch

from ... import dtypes
from ..applications import applied
from ..import_ import custom
from ..import_.scalars import overflows, rounded

_ATEN = torch.ops.aten
_DTYPES = set(map(dtypes.torch_dtype, dtypes.NAMES))
_INDICES = (torch.int64, torch.int32)


def in_our_numbers(module):
    """Rewrites the int64, bool and complex values in a module's graph to types that Zellige supports, in place."""
    Numbers(module.graph).run()


def _value(node):
    return node.meta.get("val") if isinstance(node, torch.fx.Node) else None


def is_number_of_row(index, count) -> bool:
    """Returns true if a node of int32 indices is selected from the numbers 0 to `count` - 1, and is so in range."""
    if index.target is not _ATEN.index_select.default:
        return False
    numbers = index.args[0]
    return numbers.target is _ATEN.arange.default and numbers.args == (count,) and _value(numbers).dtype == torch.int32


class Numbers:
    """Rewrites the int64, bool and complex values of a graph to types that Zellige supports."""
    def __init__(self, graph):
        self.graph, self.made = graph, {}

    def run(self):
        """Rewrites the embeddings, index_puts, wheres, dtype conversions and complex products of the graph that have
        int64, bool or complex operands."""
        rewrites = {_ATEN.embedding.default: self._embedding, _ATEN.index_put.default: self._index_put,
                    _ATEN.where.self: self._where, _ATEN._to_copy.default: self._copied,
                    _ATEN.view_as_real.default: self._product}  # fmt: skip
        for node in list(self.graph.nodes):
            if node.target in rewrites:
                rewrites[node.target](node)
        self.graph.eliminate_dead_code()

    def _call(self, before, target, *args, **options):
        """Returns a node that calls `target`, inserted before the node `before`; equal calls share a node."""
        key = target, repr((args, options))  # distinguishes 0.0 from -0.0
        if key not in self.made:
            with self.graph.inserting_before(before):
                self.made[key] = self.graph.call_function(target, args, options)
            values = torch.fx.map_arg(args, _value)
            self.made[key].meta["val"] = target(*values, **options)
        return self.made[key]

    def _cast(self, before, x, dtype):
        return self._call(before, _ATEN._to_copy.default, x, dtype=dtype)

    def _embedding(self, node):
        """Checks the indices of an embedding, and converts them to int32."""
        table, index = node.args[:2]
        if _value(table).dtype in _DTYPES:
            applied("embedding by 32-bit numbers")
            is_flat = _value(index).ndim == 1
            flat = index if is_flat else self._call(node, _ATEN.reshape.default, index, (-1,))
            rows = self._call(node, _ATEN.index_select.default, self._numbers(node, _value(table).shape[0], index), 0, flat)
            node.update_arg(1, rows if is_flat else self._call(node, _ATEN.view.default, rows, tuple(_value(index).shape)))

    def _index_put(self, node):
        """Rewrites an index_put that replaces a single row: its index is checked, and becomes int32. A negative index,
        which counts from the end, becomes the nonnegative index of the same row."""
        found = [(d, at) for d, at in enumerate(node.args[1]) if at is not None]
        if len(found) != 1 or node.args[3] or _value(found[0][1]).dtype not in _INDICES or _value(found[0][1]).shape != (1,) or _value(node).dtype not in _DTYPES:
            return
        d, at = found[0]
        applied("replaced row by a 32-bit number")
        if not is_number_of_row(at, _value(node).shape[d]):
            at = self._call(node, _ATEN.index.Tensor, self._numbers(node, _value(node).shape[d], at), (at,))
        node.update_arg(1, [at if i == d else None for i in range(len(node.args[1]))])

    def _numbers(self, node, count, index):
        """Returns a node with the numbers 0 to `count` - 1 in int32, before the node `node`. An index becomes an int32 as
        the number that it selects: torch's kernel checks it as in eager torch, and takes no longer than a conversion."""
        made_in, key = {"dtype": torch.int32, "device": _value(index).device}, (_ATEN.arange.default, count, _value(index).device)
        if key not in self.made:
            with self.graph.inserting_before(node):
                self.made[key] = self.graph.call_function(_ATEN.arange.default, (count,), made_in)
            self.made[key].meta["val"] = _value(index).new_empty((count,), dtype=torch.int32)
        return self.made[key]

    def _where(self, node):
        """Rewrites where(condition, x, y) to an operator with a numeric condition."""
        condition, x, y = node.args
        value = _value(node)
        if _value(condition).dtype != torch.bool or not value.is_floating_point() or value.dtype not in _DTYPES or value.ndim == 0:
            return
        number = [_number(a, value.dtype) for a in (x, y)]
        kept = [a for a, n in zip((x, y), number) if n is None]
        if not kept or any(_value(a).dtype != value.dtype for a in kept):
            return
        if len(kept) == 2:
            applied("choice of tensors by numbers")
            made = self._call(node, custom.CHOOSE, self._holds(node, condition, value.dtype), x, y)
        elif _value(kept[0]).shape != value.shape:
            return
        else:
            if number[1] is not None:  # the number is selected where the condition is false
                condition = self._call(node, _ATEN.logical_not.default, condition)
            number = number[0] if number[1] is None else number[1]
            applied("choice of a number by numbers")
            made = self._call(node, custom.FILL, self._holds(node, condition, value.dtype), kept[0], number)
        node.replace_all_uses_with(made)

    def _copied(self, node):
        """Rewrites the conversion of a bool condition to a floating-point dtype as an operator that computes the
        condition as numbers."""
        x, to = node.args[0], _value(node).dtype
        if _value(x).dtype == torch.bool and to.is_floating_point and to in _DTYPES and set(node.kwargs) <= {"dtype"}:
            made = self._number_of(node, x, to)
            if made is not None:
                node.replace_all_uses_with(made)

    def _holds(self, before, condition, dtype):
        """Returns a node that has the values of the bool node `condition` as numbers 1 and 0 of `dtype`, inserted
        before the node `before`. The node computes the numbers directly if possible (_number_of), else it is a cast."""
        made = self._number_of(before, condition, dtype)
        return self._cast(before, condition, dtype) if made is None else made

    def _number_of(self, before, condition, dtype):
        """Returns a node that computes the bool node `condition` as numbers 1 and 0 of `dtype`. Returns None unless the
        condition is a comparison of supported numbers, or a logical combination of such comparisons."""
        args = condition.args
        if condition.target in custom.COMPARISONS:
            kind, (x, y) = custom.COMPARISONS[condition.target], args
            if not _value(x).dtype.is_floating_point or _value(x).ndim == 0:
                return None
            if not isinstance(y, torch.fx.Node):
                made = self._call(before, custom.COMPARE_NUMBER, x, rounded(y, _value(x).dtype), kind)
            elif _value(y).dtype == _value(x).dtype:
                made = self._call(before, custom.COMPARE, x, y, kind)
            else:
                return None
            applied("comparison as numbers")
            made.meta |= {key: condition.meta[key] for key in ("stack_trace", "source_fn_stack") if key in condition.meta}  # its words
            return made if _value(made).dtype == dtype else self._cast(before, made, dtype)
        if condition.target not in custom.CONDITIONS or any(_value(c) is None or _value(c).dtype != torch.bool for c in args):
            return None
        numbers = [self._number_of(before, c, dtype) for c in args]
        if any(n is None for n in numbers):
            return None
        if len(numbers) == 1:
            return self._call(before, custom.COMPARE_NUMBER, numbers[0], 0.0, "eq")
        both = condition.target in (_ATEN.logical_and.default, _ATEN.bitwise_and.Tensor)
        return self._call(before, _ATEN.minimum.default if both else _ATEN.maximum.default, *numbers)

    def _product(self, node):
        """Rewrites view_as_real(view_as_complex(a) * f) to real operators."""
        product = node.args[0]
        if product.target is not _ATEN.mul.Tensor:
            return
        for a, f in (product.args, product.args[::-1]):
            if isinstance(a, torch.fx.Node) and a.target is _ATEN.view_as_complex.default:
                break
        else:
            return
        if not isinstance(f, torch.fx.Node) or not _value(f).is_complex() or _value(product).shape != _value(a).shape:
            return
        applied("product of complex numbers")
        halves = lambda z: [self._call(node, _ATEN.select.int, z, _value(z).ndim - 1, i) for i in (0, 1)]  # noqa: E731
        (x, y), (cos, sin) = halves(a.args[0]), self._parts(node, f, halves)
        times = lambda p, q: self._call(node, _ATEN.mul.Tensor, p, q)  # noqa: E731
        ends = (
            self._call(node, _ATEN.sub.Tensor, times(x, cos), times(y, sin)),
            self._call(node, _ATEN.add.Tensor, times(y, cos), times(x, sin)),
        )
        ends = tuple(self._call(node, _ATEN.unsqueeze.default, e, -1) for e in ends)
        node.replace_all_uses_with(self._call(node, _ATEN.cat.default, ends, -1))

    def _parts(self, before, f, halves):
        """Returns the real and the imaginary part of a complex node, without the node if it is made of them.
        `halves`: the function that splits a tensor of both."""
        if f.target is _ATEN.complex.default and all(_value(p).shape == _value(f).shape for p in f.args):
            return f.args
        return halves(f.args[0] if f.target is _ATEN.view_as_complex.default else self._call(before, _ATEN.view_as_real.default, f))


def _number(node, dtype):
    """Returns the value in `dtype` of a node whose result is one number (a tensor without dimensions), if the graph has
    it as a constant; else None."""
    if not isinstance(node, torch.fx.Node) or _value(node) is None or _value(node).ndim > 0:
        return None
    at = {_ATEN.scalar_tensor.default: 0, _ATEN.full.default: 1, _ATEN.full_like.default: 1}.get(node.target)
    if at is None or any(overflows(node.args[at], d) for d in (_value(node).dtype, dtype)):
        return None
    return rounded(node.args[at], _value(node).dtype, dtype)
