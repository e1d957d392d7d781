"""Replaces sorts, and other operators whose order follows from comparisons, by operators that programs have.

    sort(x)                  the place of each element is the number of elements before it; the one of each place is selected
    topk(x, k)               the first k of these
    masked_scatter(x, m, y)  where(m, y[cumsum(m) - 1], x)
    pdist(x)                 norms of x[i] - x[j], with constant numbers i < j
"""

import torch

from ..import_.kinds import SORTS, value_of
from .expanded import expanded
from .expansions import MAX_ELEMENTS, is_program, running, taken

aten = torch.ops.aten

TOPK = aten.topk.default
LONGEST = 512  # elements of a line: each is compared with each


def _options(node):
    """Returns (the dimension, whether from the largest on, how many elements) of a sort or topk."""
    x, names = value_of(node.args[0]), [a.name for a in node.target._schema.arguments]
    given = {**dict(zip(names, node.args)), **node.kwargs}
    dim = given.get("dim", -1) % x.ndim
    return dim, given.get("largest", True) if node.target is TOPK else given.get("descending", False), given.get("k", x.shape[dim])


def sort(work, node) -> bool:
    """Replaces a sort, or the selection of the largest or smallest elements."""
    x = value_of(node.args[0])
    if not is_program(x) or x.ndim == 0 or x.ndim > 6:
        return False
    dim, descending, count = _options(node)
    n = x.shape[dim]
    if work.is_open(node.args[0], dim) or n > LONGEST or x.numel() * n >= MAX_ELEMENTS or count == 0:
        return False

    def ordered(x):
        line = x.to(torch.int32) if x.dtype in (torch.bool, torch.uint8, torch.int16, torch.int8) else x
        own, other = line.unsqueeze(dim + 1), line.unsqueeze(dim)
        before, same = other > own if descending else other < own, other == own
        if x.is_floating_point():  # NaNs are above all numbers, and equal
            nan, others = own != own, other != other
            before = before | (others & ~nan if descending else nan & ~others)
            same = same | (nan & others)
        along = lambda n, d: torch.arange(n, dtype=torch.int32, device=x.device).reshape([n if e == d else 1 for e in range(x.ndim + 1)])  # noqa: E731
        before = before | (same & (along(n, dim + 1) < along(n, dim)))
        rank = torch.where(before, 1, 0).to(torch.int32).sum(dim + 1, dtype=torch.int32)
        hit = rank.unsqueeze(dim) == along(count, dim)
        lowest = float("-inf") if line.is_floating_point() else torch.iinfo(line.dtype).min
        values = aten.amax(torch.where(hit, line.unsqueeze(dim), lowest), [dim + 1]).to(x.dtype)
        return values, aten.amax(torch.where(hit, along(n, dim + 1), -1), [dim + 1]).to(torch.int64)

    return expanded(work, node, ordered, node.args[0])


def filled(work, node) -> bool:
    """Replaces masked_scatter from a tensor that has an element for each of the mask."""
    x, mask, source = map(value_of, node.args)
    if not is_program(x, mask, source) or source.dtype != x.dtype or source.numel() < x.numel() or x.numel() >= MAX_ELEMENTS or x.numel() > 65536:
        return False

    def scattered(x, mask, source):
        flat = mask.expand(x.shape).reshape(-1)
        number = running(flat.to(torch.int32), True).reshape(x.shape)
        return torch.where(mask, taken(source, number), x)

    return expanded(work, node, scattered, *node.args)


def distances(work, node) -> bool:
    """Replaces the distances of all pairs of rows."""
    x, p = value_of(node.args[0]), node.args[1] if len(node.args) > 1 else 2.0
    n = x.shape[0]
    if not is_program(x) or p not in (1.0, 2.0, float("inf")) or n < 2 or n * n * x.shape[1] >= MAX_ELEMENTS:
        return False

    def paired(x):
        pairs = torch.triu_indices(n, n, 1, dtype=torch.int32, device=x.device)
        first, second = (aten.embedding.default(x, pairs.select(0, i)) for i in (0, 1))
        difference = (first - second).abs()
        return difference.amax(-1) if p == float("inf") else difference.sum(-1) if p == 1 else difference.square().sum(-1).sqrt()

    return expanded(work, node, paired, node.args[0])
