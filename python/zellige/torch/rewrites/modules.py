"""Replaces operators that modules of torch.nn and layers of experts call: transposed convolutions, unpooling, bags of rows, products of
groups, their counts, and the addition of rows by constant numbers.

    conv_transpose2d(x, w, 2, 1)       a convolution of x with zeros between its elements, by w in the other direction
    max_unpool2d(x, places, size)      a scatter into zeros
    embedding_bag(rows, bags)          the rows of all bags, and the sum, mean or maximum of each, where all bags are equally long
    _grouped_mm(x, w, ends)            a product of each row and the matrix of its group, whose number is that of the ends before it
    histc(x.float(), n, 0, n - 1)      the count of each number, of integers that are known to be from 0 to n - 1
    index_add(x, 0, [0, 0, 1, 1], y)   x + y.reshape(2, 2, ...).sum(1)
"""

import math

import torch

from ..import_.kinds import value_of
from .expanded import expanded
from .expansions import MAX_ELEMENTS, is_program
from .intervals import in_range

aten = torch.ops.aten

UNPOOLS = {aten.max_unpool2d.default: 2, aten.max_unpool3d.default: 3}
BAGS = (aten._embedding_bag_forward_only.default, aten._embedding_bag.default)
_SUM, _MEAN = 0, 1  # modes of bags; 2: a maximum
_ROWS = 64  # up to which rows have a product each, where the matrices are large


def transposed(work, node) -> bool:
    """Replaces a transposed convolution, if programs have none of its kind."""
    x, weight, bias, stride, padding, dilation, is_transposed, more, groups = node.args
    operands = [n for n in (x, weight, bias) if n is not None]
    n = value_of(x).ndim - 2
    stride, padding, dilation, more = (list(of) * (n // len(of)) for of in (stride, padding, dilation, more))
    kernel = list(value_of(weight).shape[2:])
    adjacent = stride == kernel and not any(padding) and not any(more) and set(dilation) == {1} and groups == 1
    made = value_of(node)
    if not is_transposed or adjacent or not is_program(made, *map(value_of, operands)) or not made.is_floating_point() or not made.is_contiguous():
        return False
    if max(made.numel(), value_of(weight).numel(), value_of(x).numel() * math.prod(stride)) >= MAX_ELEMENTS:
        return False

    def spread(x, w, *b):
        for dim, s in enumerate(stride, 2):
            if s > 1:
                between = aten.constant_pad_nd(x.unsqueeze(dim + 1), [0, 0] * (x.ndim - 1 - dim) + [0, s - 1], 0)
                x = between.reshape(*x.shape[:dim], -1, *x.shape[dim + 1 :]).narrow(dim, 0, (x.shape[dim] - 1) * s + 1)
        before = [d * (k - 1) - p for d, k, p in zip(dilation, kernel, padding)]
        x = aten.constant_pad_nd(x, [m for low, o in zip(before[::-1], more[::-1]) for m in (low, low + o)], 0)
        w = w.reshape(groups, -1, *w.shape[1:]).transpose(1, 2).reshape(made.shape[1], -1, *kernel).flip([2 + i for i in range(n)])
        return aten.convolution(x, w, b[0] if b else None, [1] * n, [0] * n, dilation, False, [0] * n, groups)

    return expanded(work, node, spread, *operands)


def unpooled(work, node) -> bool:
    """Replaces the inverse of a max pool."""
    n, (x, places) = UNPOOLS[node.target], node.args[:2]
    made, numbers = value_of(node), value_of(places)
    if not is_program(value_of(x), made) or numbers.dtype != torch.int64 or numbers.shape != value_of(x).shape:
        return False

    def put(x, places):
        rows = x.reshape(math.prod(x.shape[:-n]), -1)
        zeros = torch.zeros(rows.shape[0], math.prod(made.shape[-n:]), dtype=x.dtype, device=x.device)
        return zeros.scatter(1, places.reshape(rows.shape), rows).reshape(made.shape)

    return expanded(work, node, put, x, places)


def bags(work, node) -> bool:
    """Replaces bags of rows that are equally long."""
    rows, numbers, begins, _, mode, _, weights, last, padding = (*node.args, *(False, _SUM, False, None, False, -1)[len(node.args) - 3 :])
    if work.opened or padding != -1 or begins not in work.constants or any(u.args[1] for u in node.users) or not is_program(value_of(rows), value_of(numbers)):
        return False
    found = work.constants.value(begins)
    ends = torch.cat([found, found.new_tensor([] if last else [value_of(numbers).numel()])]).tolist()
    lengths = {b - a for a, b in zip(ends, ends[1:])}
    if ends[0] != 0 or ends[-1] != value_of(numbers).numel() or len(lengths) != 1 or 0 in lengths:
        return False
    (length,) = lengths

    def summed(rows, numbers, *weights):
        found = aten.embedding(rows, numbers)
        found = found * weights[0].unsqueeze(1) if weights else found
        found = found.reshape(-1, length, rows.shape[1])
        return [found.sum(1) if mode == _SUM else found.mean(1) if mode == _MEAN else found.amax(1)]

    return expanded(work, node, summed, rows, numbers, *([] if weights is None else [weights]))


def grouped(work, node) -> bool:
    """Replaces products of rows, which are sorted by group, and the matrix of each group."""
    x, w, ends, bias, _ = (*node.args, *(None, None, None)[len(node.args) - 2 :])
    if ends is None or bias is not None or value_of(x).ndim != 2 or value_of(w).ndim != 3 or not is_program(*map(value_of, (node, x, w, ends))):
        return False
    rows = value_of(x).shape[0]  # of which each has a matrix that some kernel may have to store
    if value_of(node).dtype != value_of(x).dtype or rows > _ROWS and rows * value_of(w)[0].numel() >= MAX_ELEMENTS:
        return False

    def multiplied(x, w, ends):
        row = torch.arange(x.shape[0], dtype=torch.int32, device=x.device)
        before = (ends.to(torch.int32).unsqueeze(0) <= row.unsqueeze(1)).to(torch.int32).sum(1, dtype=torch.int32)
        # rows after the last end, which torch leaves as they are, get the last group's
        group = before.clamp(max=w.shape[0] - 1).unsqueeze(1)
        own = w.transpose(1, 2) if by_columns else w  # as it is stored
        matrices = aten.embedding(own.reshape(w.shape[0], -1), group).reshape(x.shape[0], *own.shape[1:])
        return aten.bmm(x.unsqueeze(1), matrices.transpose(1, 2) if by_columns else matrices).squeeze(1)

    by_columns = not value_of(w).is_contiguous() and value_of(w).transpose(1, 2).is_contiguous()
    return expanded(work, node, multiplied, x, w, ends)


def counted(work, node) -> bool:
    """Replaces a histogram of integers with a bin for each."""
    x, bins, low, high = (*node.args, *(100, 0, 0)[len(node.args) - 1 :])
    at = x.args[0] if x.target is aten._to_copy.default else None
    if at is None or value_of(at).is_floating_point() or (low, high) != (0, bins - 1) or not 1 < bins < 1 << 20 or value_of(node).dtype != torch.float32:
        return False
    if not is_program(value_of(at)) or not in_range(work, at, bins) or value_of(at).numel() * bins >= MAX_ELEMENTS:
        return False

    def summed(at):
        numbers = torch.arange(bins, dtype=torch.int32, device=at.device)
        return (at.to(torch.int32).reshape(-1, 1) == numbers).to(torch.int32).sum(0, dtype=torch.int32).to(torch.float32)

    return expanded(work, node, summed, at)


def added_rows(work, node) -> bool:
    """Replaces the addition of rows by constant numbers, of which each occurs as often as the others, in their order."""
    x, dim, at, source = node.args
    if node.kwargs or at not in work.constants or not is_program(value_of(x), value_of(source)) or value_of(x).dtype != value_of(source).dtype:
        return False
    dim, numbers = dim % max(1, value_of(x).ndim), work.constants.value(at)
    if numbers is None or numbers.ndim != 1 or numbers.numel() == 0 or value_of(x).ndim == 0 or not value_of(x).is_floating_point():
        return False
    n = value_of(x).shape[dim]
    if numbers.numel() % n or not torch.equal(numbers.long(), torch.arange(n).repeat_interleave(numbers.numel() // n)):
        return False

    to = torch.promote_types(value_of(x).dtype, torch.float32)

    def summed(source, *x):
        parts = source.reshape(*source.shape[:dim], n, -1, *source.shape[dim + 1 :]).to(to).sum(dim + 1)
        return (x[0].to(to) + parts if x else parts).to(source.dtype)

    return expanded(work, node, summed, source, *([] if x.target is aten.zeros_like.default else [x]))
