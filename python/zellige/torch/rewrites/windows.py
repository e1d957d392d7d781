"""Replaces pools, and the addition of overlapping windows, by operators that programs have.

    max_pool2d(x, 3, 2, 1)      the maximum of nine views of x, padded by -inf: of each place in a window
    avg_pool2d(x, 2)            a mean along two dimensions of a view, where windows neither overlap nor end outside
    adaptive_avg_pool2d(x, 3)   the elements of each window by constant numbers, and their mean
    col2im(x, ...)              likewise the elements of each place, and their sum
"""

import functools
import itertools
import math

import torch

from ..import_.kinds import value_of
from .expanded import expanded
from .expansions import MAX_ELEMENTS, is_program, taken

aten = torch.ops.aten

AVERAGES = {aten.avg_pool1d.default: 1, aten.avg_pool2d.default: 2, aten.avg_pool3d.default: 3}
MAXIMA = {aten.max_pool2d_with_indices.default: 2, aten.max_pool3d_with_indices.default: 3}
ADAPTIVE_MAXIMA = {aten.adaptive_max_pool2d.default: aten.max_pool2d_with_indices, aten.adaptive_max_pool3d.default: aten.max_pool3d_with_indices}
ADAPTIVE = {aten._adaptive_avg_pool2d.default: 2, aten._adaptive_avg_pool3d.default: 3, aten.adaptive_avg_pool1d.default: 1}
_PLACES = 64  # of a window, of which each is a view


def _each(sizes, n, default=None):
    sizes = default if not isinstance(sizes, int) and not sizes else sizes
    return [sizes] * n if isinstance(sizes, int) else list(sizes) * (n // len(sizes))


def _views(x, out, kernel, stride, padding, dilation, fill) -> list:
    """Returns for each place of a window the elements there of all windows, as views of x, which is padded by `fill`."""
    n, pads = len(out), []
    for size, o, k, s, p, d in zip(x.shape[-n:], out, kernel, stride, padding, dilation):
        pads = [p, ((k - 1) * d // s + o) * s - p - size] + pads
    x = aten.constant_pad_nd(x, pads, fill) if any(pads) else x
    made = []
    for place in itertools.product(*map(range, kernel)):
        y = x
        for dim, o, s, d, i in zip(range(x.ndim - n, x.ndim), out, stride, dilation, place):
            y = y.narrow(dim, i * d // s * s, o * s)
            y = y if s == 1 else y.reshape(*y.shape[:dim], o, s, *y.shape[dim + 1 :]).select(dim + 1, i * d % s)
        made.append(y)
    return made


def _parts(x, out, kernel):
    """Returns (x with windows that are adjacent as dimensions of their own, these dimensions)."""
    n, lead = len(out), x.ndim - len(out)
    for dim, o, k in zip(range(lead, x.ndim), out, kernel):
        x = x.narrow(dim, 0, o * k)
    shape = [m for pair in zip(out, kernel) for m in pair]
    return x.reshape(*x.shape[:lead], *shape), [lead + 2 * i + 1 for i in range(n)]


def _counts(x, out, kernel, stride, padding, with_padding):
    """Returns how many elements the windows have: a number, or a tensor if they differ."""
    n, product = len(out), 1
    for i, (size, o, k, s, p) in enumerate(zip(x.shape[-n:], out, kernel, stride, padding)):
        ends = [min(at * s - p + k, size + p) for at in range(o)]
        found = {e - at * s + p if with_padding else min(e, size) - max(at * s - p, 0) for at, e in enumerate(ends)}
        if len(found) == 1:
            product = product * found.pop()
            continue
        begin = torch.arange(0, o, dtype=torch.int32, device=x.device) * s - p
        end = torch.clamp(begin + k, max=size + p)
        count = end - begin if with_padding else torch.clamp(end, max=size) - torch.clamp(begin, min=0)
        product = count.to(torch.float32).reshape([-1 if j == i else 1 for j in range(n)]) * product
    return product


def _may(node, n) -> bool:
    x, made = value_of(node.args[0]), node.meta["val"]
    made = made[0] if isinstance(made, (tuple, list)) else made
    return is_program(x, made) and x.ndim > n and x.is_floating_point() and max(x.numel(), made.numel()) < MAX_ELEMENTS


def average(work, node) -> bool:
    """Replaces an average pool."""
    n = AVERAGES[node.target]
    x, kernel, stride, padding, _, with_padding, divisor = (*node.args, *([], 0, False, True, None)[len(node.args) - 2 :], None)[:7]
    kernel, padding = _each(kernel, n), _each(padding, n)
    stride, out = _each(stride, n, kernel), value_of(node).shape[-n:]
    adjacent = kernel == stride and not any(padding) and all(o * k <= m for o, k, m in zip(out, kernel, value_of(x).shape[-n:]))
    if not _may(node, n) or not adjacent and math.prod(kernel) > _PLACES or node.kwargs:
        return False

    def pooled(x):
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        count = divisor or _counts(x, out, kernel, stride, padding, with_padding)
        if adjacent:
            parts, dims = _parts(wide, out, kernel)
            made = parts.sum(dims)
        else:
            made = functools.reduce(torch.add, _views(wide, out, kernel, stride, padding, [1] * n, 0.0))
        return (made / count).to(x.dtype)

    return expanded(work, node, pooled, x)


def maximum(work, node) -> bool:
    """Replaces a max pool."""
    n = MAXIMA[node.target]
    x, kernel, stride, padding, dilation, _ = (*node.args, *([], 0, 1, False)[len(node.args) - 2 :])
    kernel, padding, dilation = _each(kernel, n), _each(padding, n), _each(dilation, n)
    stride, out = _each(stride, n, kernel), node.meta["val"][0].shape[-n:]
    adjacent = kernel == stride and not any(padding) and set(dilation) == {1} and all(o * k <= m for o, k, m in zip(out, kernel, value_of(x).shape[-n:]))
    placed = any(u.args[1] for u in node.users)
    if not _may(node, n) or (placed or not adjacent) and math.prod(kernel) > _PLACES or node.kwargs:
        return False

    def pooled(x):
        if adjacent and not placed:
            return [aten.amax(*_parts(x, out, kernel))]
        values = _views(x, out, kernel, stride, padding, dilation, float("-inf"))
        if not placed:
            return [functools.reduce(torch.maximum, values)]
        sizes = x.shape[-n:]
        numbers = torch.arange(math.prod(sizes), dtype=torch.int32, device=x.device).reshape(sizes)
        (value, *values), (place, *places) = values, _views(numbers, out, kernel, stride, padding, dilation, -1)
        for v, p in zip(values, places):  # as torch does: the first of equal elements, the last NaN, an element before the padding
            later = ((v > value) | (v != v) | (place < 0)) & (p >= 0)
            value, place = torch.where(later, v, value), torch.where(later, p, place)
        return [value, place.expand(value.shape).to(torch.int64)]

    return expanded(work, node, pooled, x)


def _elements(x, size, tables, fill):
    """Returns (elements of x, of shape (lead, size), the dimensions of a window): for each dimension a table has, by place of the result
    and of the window, the number of elements before (of int32), and whether there is one; else the element is `fill`."""
    n, number, there = len(tables), 0, None
    for i, (at, valid) in enumerate(tables):
        shape = [m for j in range(n) for m in (at.shape if i == j else (1, 1))]
        number = number + at.reshape(shape)
        there = valid.reshape(shape) if there is None else there & valid.reshape(shape)
    rows = torch.arange(x.shape[0], dtype=torch.int32, device=x.device).reshape(-1, *[1] * 2 * n) * size
    return torch.where(there, taken(x, rows + torch.where(there, number, 0)), fill), [2 * i + 2 for i in range(n)]


def _joined(x, size, tables):
    """Returns the totals of the elements of x that `_elements` returns, in float32 (float64 of float64)."""
    elements, dims = _elements(x, size, tables, 0.0)
    return elements.to(torch.promote_types(x.dtype, torch.float32)).sum(dims)


def _windows(size, out, step, device):
    """Returns (the numbers of the elements of each window, times `step`; which there are) along a dimension of an adaptive pool."""
    longest = max(-(-(i + 1) * size // out) - i * size // out for i in range(out))
    window = torch.arange(out, dtype=torch.int32, device=device)
    begin = torch.div(window * size, out, rounding_mode="floor").unsqueeze(1)
    end = torch.div(window * size + (size + out - 1), out, rounding_mode="floor").unsqueeze(1)
    at = begin + torch.arange(longest, dtype=torch.int32, device=device)
    return at * step, at < end, end - begin


def adaptive(work, node) -> bool:
    """Replaces an adaptive average pool."""
    n, x = ADAPTIVE[node.target], value_of(node.args[0])
    out, sizes = value_of(node).shape[-n:], x.shape[-n:]
    longest = math.prod(-(-s // o) + 1 for s, o in zip(sizes, out))
    if not _may(node, n) or value_of(node).numel() * longest >= MAX_ELEMENTS:
        return False

    def pooled(x):
        if all(s % o == 0 for s, o in zip(sizes, out)):
            parts, dims = _parts(x, out, [s // o for s, o in zip(sizes, out)])
            return parts.mean(dims)
        tables = [_windows(s, o, math.prod(sizes[d + 1 :]), x.device) for d, (s, o) in enumerate(zip(sizes, out))]
        made = _joined(x.reshape(-1, math.prod(sizes)), math.prod(sizes), [t[:2] for t in tables])
        count = functools.reduce(torch.mul, [t[2].reshape([-1 if i == j else 1 for j in range(n)]) for i, t in enumerate(tables)])
        return (made / count.to(torch.float32)).reshape(*x.shape[:-n], *out).to(x.dtype)

    return expanded(work, node, pooled, node.args[0])


def adaptive_maximum(work, node) -> bool:
    """Replaces an adaptive max pool: by a max pool, if all windows have one size."""
    pool, x, out = ADAPTIVE_MAXIMA[node.target], value_of(node.args[0]), node.args[1]
    n, sizes = len(out), value_of(node.args[0]).shape[-len(out) :]
    longest = math.prod(-(-s // o) + 1 for s, o in zip(sizes, out))
    equal = all(s % o == 0 for s, o in zip(sizes, out))
    if not _may(node, n) or not equal and (any(u.args[1] for u in node.users) or node.meta["val"][0].numel() * longest >= MAX_ELEMENTS):
        return False

    def pooled(x):
        if equal:
            return list(pool(x, [s // o for s, o in zip(sizes, out)]))
        tables = [_windows(s, o, math.prod(sizes[d + 1 :]), x.device)[:2] for d, (s, o) in enumerate(zip(sizes, out))]
        elements, dims = _elements(x.reshape(-1, math.prod(sizes)), math.prod(sizes), tables, float("-inf"))
        return [elements.amax(dims).reshape(*x.shape[:-n], *out)]

    return expanded(work, node, pooled, node.args[0])


def overlapped(work, node) -> bool:
    """Replaces col2im."""
    x, (_, size, kernel, dilation, padding, stride) = value_of(node.args[0]), node.args
    made = value_of(node)
    if not is_program(x, made) or not x.is_floating_point() or made.numel() * math.prod(kernel) >= MAX_ELEMENTS:
        return False
    blocks = [(s + 2 * p - d * (k - 1) - 1) // t + 1 for s, k, d, p, t in zip(size, kernel, dilation, padding, stride)]
    area, count = math.prod(blocks), math.prod(kernel) * math.prod(blocks)

    def table(s, k, d, p, t, b, of_place, of_block, device):
        place = torch.arange(k, dtype=torch.int32, device=device)
        at = torch.arange(s, dtype=torch.int32, device=device).unsqueeze(1) + p - place * d
        block = torch.div(at, t, rounding_mode="floor")
        return place * of_place + block * of_block, (at == block * t) & (block >= 0) & (block < b)

    def added(x):
        steps = (kernel[1] * area, area), (blocks[1], 1)
        tables = [table(*of, x.device) for of in zip(size, kernel, dilation, padding, stride, blocks, *steps)]
        return _joined(x.reshape(-1, count), count, tables).reshape(made.shape).to(x.dtype)

    return expanded(work, node, added, node.args[0])
