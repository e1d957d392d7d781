"""Rewrites int64, bool and complex values in torch graphs to types that Zellige supports, with small torch operators.

Indices of embedding rows and of cache positions become int32. A bool condition becomes a number, 0 for false; the
operators that compute the condition are replaced by operators on numbers. A product of complex numbers becomes four
real products, which form a rotary embedding.
"""

import math

import torch

from ... import dtypes
from ..import_ import custom
from ..import_.kinds import value_of
from ..import_.scalars import overflows, rounded
from .intervals import in_range

_ATEN = torch.ops.aten
_DTYPES = {dtypes.torch_dtype(n) for n in dtypes.NAMES if n not in dtypes.PACKED}
_INDICES = (torch.int64, torch.int32)


def _is_number_of_row(index, count) -> bool:
    """Returns true if a node of int32 indices is selected from the numbers 0 to `count` - 1, and is so in range."""
    if index.target not in (_ATEN.index_select.default, _ATEN.index.Tensor):
        return False
    numbers = index.args[0]
    return numbers.target is _ATEN.arange.default and numbers.args == (count,) and value_of(numbers).dtype == torch.int32


def embedding(work, node) -> bool:
    """Checks the indices of an embedding, and converts them to int32."""
    table, index = node.args[:2]
    rows, is_flat = value_of(table).shape[0], value_of(index).ndim == 1
    if value_of(table).dtype not in _DTYPES or _is_number_of_row(index.args[0] if index.target is _ATEN.view.default else index, rows):
        return False
    if in_range(work, index, rows):
        return value_of(index).dtype != torch.int32 and _narrowed(work, node, 1, index)
    if work.opened and not is_flat:  # whose extents say what the sizes are
        node.update_arg(1, work.once(node, _ATEN.index.Tensor, _numbers(work, node, rows, index), (index,)))
        return True
    flat = index if is_flat else work.once(node, _ATEN.reshape.default, index, (-1,))
    found = work.once(node, _ATEN.index_select.default, _numbers(work, node, rows, index), 0, flat)
    node.update_arg(1, found if is_flat else work.once(node, _ATEN.view.default, found, tuple(value_of(index).shape)))
    return True


def pages(work, node) -> bool:
    """Rewrites a selection of the pages of a cache by a table of their numbers as an embedding, whose rows are the pages."""
    if len(node.args[1]) != 1 or node.args[1][0] is None or node.args[1][0] in work.constants:
        return False
    x, at = node.args[0], node.args[1][0]
    cache, table = value_of(x), value_of(at)
    if cache.dtype not in _DTYPES or cache.ndim < 3 or table.ndim < 2 or table.dtype not in _INDICES or table.device != cache.device:
        return False
    checked = work.once(node, _ATEN.index.Tensor, _numbers(work, node, cache.shape[0], at), (at,))
    rows = work.once(node, _ATEN.reshape.default, x, (cache.shape[0], math.prod(cache.shape[1:])))
    found = work.once(node, _ATEN.embedding.default, rows, checked)
    return work.replace(node, _ATEN.reshape.default, found, tuple(value_of(node).shape))


def unneeded_check(work, node) -> bool:
    """Replaces the check of numbers that are known to be in range by their conversion to int32."""
    at = node.args[2] if node.target is _ATEN.index_select.default else node.args[1][0]
    if at is None or not _is_number_of_row(node, value_of(node.args[0]).numel()) or value_of(at).dtype not in _INDICES:
        return False
    if value_of(at).shape != value_of(node).shape or work.is_open(node.args[0]) or not in_range(work, at, value_of(node.args[0]).numel()):
        return False
    node.replace_all_uses_with(at if value_of(at).dtype == torch.int32 else _cast(work, node, at, torch.int32))
    return True


def replaced_row(work, node) -> bool:
    """Rewrites an index_put that replaces a single row: its index is checked, and becomes int32. A negative index,
    which counts from the end, becomes the nonnegative index of the same row."""
    found = [(d, at) for d, at in enumerate(node.args[1]) if at is not None]
    if len(found) != 1 or node.args[3] or value_of(node).dtype not in _DTYPES:
        return False
    d, at = found[0]
    if value_of(at).dtype not in _INDICES or value_of(at).shape != (1,):
        return False
    count = value_of(node).shape[d]
    if _is_number_of_row(at, count):
        return False
    if in_range(work, at, count):
        return value_of(at).dtype != torch.int32 and _narrowed(work, node, 1, [at if i == d else None for i in range(len(node.args[1]))])
    at = work.once(node, _ATEN.index.Tensor, _numbers(work, node, count, at), (at,))
    node.update_arg(1, [at if i == d else None for i in range(len(node.args[1]))])
    return True


def _narrowed(work, node, argument, indices) -> bool:
    """Lets a node read indices that are known to be in range as int32."""
    narrow = lambda index: work.once(node, _ATEN._to_copy.default, index, dtype=torch.int32)  # noqa: E731
    node.update_arg(argument, torch.fx.map_arg(indices, narrow))
    return True


def _numbers(work, node, count, index):
    """Returns a node with the numbers 0 to `count` - 1 in int32, before the node `node`. An index becomes an int32 as
    the number that it selects: torch's kernel checks it as in eager torch, and takes no longer than a conversion."""
    made = value_of(index).new_empty((count,), dtype=torch.int32)
    return work.once(node, _ATEN.arange.default, count, value=made, dtype=torch.int32, device=made.device)


def _selection(node):
    """Returns (the condition, the numbers, the tensors among the other operands) of a `where` that may become an operator with
    a numeric condition: for an operand that is a tensor the number is None. Returns None for another node."""
    condition, x, y = node.args
    value = value_of(node)
    if value_of(condition).dtype != torch.bool or not value.is_floating_point() or value.dtype not in _DTYPES or value.ndim == 0:
        return None
    numbers = [_number(a, value.dtype) for a in (x, y)]
    tensors = [a for a, n in zip((x, y), numbers) if n is None]
    return (condition, numbers, tensors) if tensors and all(value_of(a).dtype == value.dtype for a in tensors) else None


def choice(work, node) -> bool:
    """Rewrites where(condition, x, y) to an operator with a numeric condition."""
    found = _selection(node)
    if found is None or len(found[2]) != 2:
        return False
    return work.replace(node, custom.CHOOSE, _cast(work, node, found[0], value_of(node).dtype), *node.args[1:])


def choice_of_a_number(work, node) -> bool:
    """Rewrites where(condition, x, number) or where(condition, number, x) to an operator with a numeric condition."""
    condition, numbers, tensors = _selection(node) or (None, (), ())
    if len(tensors) != 1 or value_of(tensors[0]).shape != value_of(node).shape:
        return False
    if numbers[1] is not None:  # the number is selected where the condition is false
        condition = work.once(node, _ATEN.logical_not.default, condition)
    number = numbers[0] if numbers[1] is None else numbers[1]
    return work.replace(node, custom.FILL, _cast(work, node, condition, value_of(node).dtype), tensors[0], number)


def _cast(work, before, x, dtype):
    return work.once(before, _ATEN._to_copy.default, x, dtype=dtype)


def comparison(work, node) -> bool:
    """Rewrites the conversion of a bool condition to a floating-point dtype as an operator that computes the
    condition as numbers."""
    x, to = node.args[0], value_of(node).dtype
    if value_of(x).dtype != torch.bool or not to.is_floating_point or to not in _DTYPES or not set(node.kwargs) <= {"dtype"}:
        return False
    made = _number_of(work, node, x, to)
    if made is not None:
        node.replace_all_uses_with(made)
    return made is not None


def _number_of(work, before, condition, dtype):
    """Returns a node that computes the bool node `condition` as numbers 1 and 0 of `dtype`. Returns None unless the
    condition is a comparison of supported numbers, or a logical combination of such comparisons."""
    args = condition.args
    if condition.target in custom.COMPARISONS:
        kind, (x, y) = custom.COMPARISONS[condition.target], args
        if not value_of(x).dtype.is_floating_point or value_of(x).ndim == 0:
            return None
        if not isinstance(y, torch.fx.Node):
            made = work.once(before, custom.COMPARE_NUMBER, x, rounded(y, value_of(x).dtype), kind)
        elif value_of(y).dtype == value_of(x).dtype:
            made = work.once(before, custom.COMPARE, x, y, kind)
        else:
            return None
        made.meta |= {key: condition.meta[key] for key in ("stack_trace", "source_fn_stack") if key in condition.meta}  # its words
        return made if value_of(made).dtype == dtype else _cast(work, before, made, dtype)
    if condition.target not in custom.CONDITIONS or any(value_of(c) is None or value_of(c).dtype != torch.bool for c in args):
        return None
    numbers = [_number_of(work, before, c, dtype) for c in args]
    if any(n is None for n in numbers):
        return None
    if len(numbers) == 1:
        return work.once(before, custom.COMPARE_NUMBER, numbers[0], 0.0, "eq")
    both = condition.target in (_ATEN.logical_and.default, _ATEN.bitwise_and.Tensor)
    return work.once(before, _ATEN.minimum.default if both else _ATEN.maximum.default, *numbers)


def complex_product(work, node) -> bool:
    """Rewrites view_as_real(view_as_complex(a) * f) to real operators."""
    product = node.args[0]
    if product.target is not _ATEN.mul.Tensor:
        return False
    for a, f in (product.args, product.args[::-1]):
        if isinstance(a, torch.fx.Node) and a.target is _ATEN.view_as_complex.default:
            break
    else:
        return False
    if not isinstance(f, torch.fx.Node) or not value_of(f).is_complex() or value_of(product).shape != value_of(a).shape:
        return False
    halves = lambda z: [work.once(node, _ATEN.select.int, z, value_of(z).ndim - 1, i) for i in (0, 1)]  # noqa: E731
    (x, y), (cos, sin) = halves(a.args[0]), _parts(work, node, f, halves)
    times = lambda p, q: work.once(node, _ATEN.mul.Tensor, p, q)  # noqa: E731
    ends = (
        work.once(node, _ATEN.sub.Tensor, times(x, cos), times(y, sin)),
        work.once(node, _ATEN.add.Tensor, times(y, cos), times(x, sin)),
    )
    ends = tuple(work.once(node, _ATEN.unsqueeze.default, e, -1) for e in ends)
    node.replace_all_uses_with(work.once(node, _ATEN.cat.default, ends, -1))
    return True


def _parts(work, before, f, halves):
    """Returns the real and the imaginary part of a complex node, without the node if it is made of them.
    `halves`: the function that splits a tensor of both."""
    if f.target is _ATEN.complex.default and all(value_of(p).shape == value_of(f).shape for p in f.args):
        return f.args
    return halves(f.args[0] if f.target is _ATEN.view_as_complex.default else work.once(before, _ATEN.view_as_real.default, f))


def _number(node, dtype):
    """Returns the value in `dtype` of a node whose result is one number (a tensor without dimensions), if the graph has
    it as a constant; else None."""
    if not isinstance(node, torch.fx.Node) or value_of(node) is None or value_of(node).ndim > 0:
        return None
    at = {_ATEN.scalar_tensor.default: 0, _ATEN.full.default: 1, _ATEN.full_like.default: 1}.get(node.target)
    if at is None or any(overflows(node.args[at], d) for d in (value_of(node).dtype, dtype)):
        return None
    return rounded(node.args[at], value_of(node).dtype, dtype)
