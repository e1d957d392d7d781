"""Defines the operators that Zellige's passes insert into torch graphs.

Each operator is a function on torch tensors, so that a graph with them runs on any device. FUNCTIONS maps the operators
to these functions, because a call through torch.library takes the host ten times as long.
"""

import functools
import math
import operator

import torch
from torch.utils.weak import WeakTensorKeyDictionary

from . import packed

FUNCTIONS = {}


def _operator(function, declared=None):
    """Registers a function as the torch operator zellige::NAME, and returns the operator. `declared`: computes the
    result's metadata, if the function itself cannot."""
    name = f"zellige::{function.__name__}"
    made = torch.library.custom_op(name, mutates_args=())(function)
    made.register_fake(declared or function)
    target = getattr(torch.ops.zellige, function.__name__).default
    FUNCTIONS[target] = function
    return target


def choose(condition: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Returns x where the numeric condition is not 0, else y."""
    return torch.where(condition != 0, x, y)


def fill(condition: torch.Tensor, x: torch.Tensor, value: float) -> torch.Tensor:
    """Returns `value` where the numeric condition is not 0, else x."""
    return torch.where(condition != 0, value, x)


def compare(x: torch.Tensor, y: torch.Tensor, kind: str) -> torch.Tensor:
    """Returns 1 where the comparison of x and y holds, else 0, in their common dtype. `kind`: name of the comparison in
    Python's module `operator`, such as "lt"."""
    return getattr(operator, kind)(x, y).to(x.dtype)


def compare_number(x: torch.Tensor, y: float, kind: str) -> torch.Tensor:
    """Returns 1 where the comparison of x with the number y holds, else 0, in x's dtype. `kind`: name of the comparison
    in Python's module `operator`, such as "lt"."""
    return getattr(operator, kind)(x, y).to(x.dtype)


def _kept(rows, columns, device, tril, triu, row_ends, column_ends, row_starts=None):
    """Returns where triu <= column - row <= tril, the row's start <= column < its end and row < the column's end (None: no limit), as bools."""
    i, j = torch.arange(rows, device=device)[:, None], torch.arange(columns, device=device)
    kept = torch.ones(rows, columns, dtype=torch.bool, device=device)
    kept = kept if tril is None else kept & (j - i <= tril)
    kept = kept if triu is None else kept & (j - i >= triu)
    kept = kept if row_ends is None else kept & (j < row_ends)
    kept = kept if row_starts is None else kept & (j >= row_starts)
    return kept if column_ends is None else kept & (i < column_ends)


def mask(
    x: torch.Tensor, tril: int | None, triu: int | None, value: float, row_ends: torch.Tensor | None = None, column_ends: torch.Tensor | None = None,
    row_starts: torch.Tensor | None = None,
) -> torch.Tensor:
    """Returns x where triu <= column - row <= tril, the row's start <= column < its end and row < the column's end (None: no limit), else `value`."""
    return torch.where(_kept(*x.shape[-2:], x.device, tril, triu, row_ends, column_ends, row_starts), x, value)


def attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor | None, causal: bool, scale: float | None, grouped: bool,
    row_ends: torch.Tensor | None = None, column_ends: torch.Tensor | None = None, row_starts: torch.Tensor | None = None,
    *, safe: bool = True, tril: int | None = None, triu: int | None = None,
) -> torch.Tensor:
    """Returns the result of torch's scaled_dot_product_attention in q's memory layout. (torch's own kernels return that
    layout if q is a transposed view of tokens, as in most models.) safe: a row of scores of minus infinity alone gives 0, as
    torch defines it; false: the model has a softmax, which gives NaN there. Programs keep to that, torch's kernels give 0.
    The other limits are those of a mask of the scores, whose value is -inf."""
    limits = tril, triu, row_ends, column_ends, row_starts
    if any(n is not None for n in limits) or causal and mask is not None:
        kept = _kept(q.shape[-2], k.shape[-2], q.device, 0 if causal else tril, *limits[1:])
        hidden = torch.where(kept, 0.0, -math.inf).to(q.dtype)
        mask, causal = hidden if mask is None else mask + hidden, False
    return as_q(torch._C._nn.scaled_dot_product_attention(q, k, v, mask, 0.0, causal, scale=scale, enable_gqa=grouped), q, v)


def as_q(made, q, v):
    """Returns `made`, the result of an attention kernel for queries q and values v, in q's memory layout; copies it if it
    has another layout."""
    if made.stride() == q.stride() and q.shape == made.shape:
        return made
    expected = _as_q(q, v)
    return made if made.stride() == expected.stride() else expected.copy_(made)


def _as_q(q, v):
    """Returns an empty tensor for the result of attention with queries q and values v: in q's memory layout, or
    contiguous if a head of v has another size than one of q."""
    return torch.empty_like(q) if q.shape[-1] == v.shape[-1] else q.new_empty((*q.shape[:-1], v.shape[-1]))


def _attention_declared(q, k, v, mask, causal, scale, grouped, row_ends=None, column_ends=None, row_starts=None, *, safe=True, tril=None, triu=None):
    return _as_q(q, v)


def allowed_kernels() -> tuple:
    """Returns a bool for each of torch's attention kernels: true if torch's flags allow it."""
    return tuple(getattr(torch.backends.cuda, f"{name}_sdp_enabled")() for name in ("cudnn", "flash", "mem_efficient", "math"))


def max_pool_by_rows(
    x: torch.Tensor, kernel: list[int], stride: list[int], padding: list[int], dilation: list[int], ceil: bool
) -> torch.Tensor:
    """Returns the result of max_pool2d of a tensor in channels-last, in channels-last, too. Computes it as a pool of three
    dimensions, of which the last one has the channels, and whose windows have one channel."""
    windows = [*kernel, 1], [*stride, 1], [*padding, 0], [*dilation, 1]
    return torch._C._nn.max_pool3d_with_indices(x.permute(0, 2, 3, 1), *windows, ceil)[0].permute(0, 3, 1, 2)


def version(x) -> tuple:
    """Returns what differs after each change of a tensor that torch counts: one in place, or of its memory."""
    return None if x.is_inference() else x._version, x.data_ptr()


def _once(function):
    """Wraps `function` of a tensor in one that computes nothing again for a tensor that is unchanged. What it made lives as long as
    the tensor."""
    made = WeakTensorKeyDictionary()

    @functools.wraps(function)
    def of(x, *args):
        key = *version(x), *args
        if x not in made or made[x][0] != key:
            made[x] = key, function(x, *args)
        return made[x][1]

    return of


@_once
def int4_rows(weight: torch.Tensor, inner: int) -> torch.Tensor:
    """Returns the rows of a weight of 4 bits (packed.py), as long as it is unchanged the same tensor."""
    return packed.rows(weight, inner)


@_once
def int4_numbers(numbers: torch.Tensor) -> torch.Tensor:
    """Returns torch's scales and zeros (groups, n, 2) as (2, n, groups)."""
    return numbers.permute(2, 1, 0).contiguous()


def _strides_of_lines(weight) -> list:
    """Returns the strides of a tensor with the order of dimensions of `weight`, whose lines begin at multiples of 16 bytes."""
    strides, step = [0] * weight.ndim, 1
    for d in sorted(range(weight.ndim), key=lambda d: (weight.stride(d), -d)):
        strides[d], step = step, step * weight.shape[d]
        step += -step * weight.element_size() % 16 // weight.element_size()
    return strides


@_once
def aligned_lines(weight: torch.Tensor) -> torch.Tensor:
    """Returns a copy of a weight whose lines begin at multiples of 16 bytes, as long as it is unchanged the same tensor."""
    return weight.new_empty_strided(weight.shape, _strides_of_lines(weight)).copy_(weight)


def int4_mm(
    x: torch.Tensor, weight: torch.Tensor, inner: int, group: int, numbers: torch.Tensor, rows: torch.Tensor, scales: torch.Tensor
) -> torch.Tensor:
    """Returns x times a weight of 4 bits as torch's kernel does, which reads `weight` and `numbers`. Programs read `rows` and `scales`.
    inner: the inner tiles of K with which torch is to pack the weight; 0: it is packed."""
    on = "_for_cpu" if x.device.type == "cpu" else ""
    if inner:
        weight = getattr(torch.ops.aten, f"_convert_weight_to_int4pack{on}")(weight, inner)
    return getattr(torch.ops.aten, f"_weight_int4pack_mm{on}")(x, weight, group, numbers)


def is_int4(node, reader=None) -> bool:
    """Returns true for the rows of a weight of 4 bits, which `reader`, or everything that reads the node, takes as such."""
    users = [reader] if reader else list(node.users)
    return bool(users) and all(u.target is INT4_MM and [i for i, a in enumerate(u.args) if a is node] == [5] for u in users)


CHOOSE, FILL, COMPARE, COMPARE_NUMBER, MASK = map(_operator, (choose, fill, compare, compare_number, mask))
MAX_POOL = _operator(max_pool_by_rows)
ATTENTION = _operator(attention, _attention_declared)
INT4_ROWS = _operator(int4_rows, lambda weight, inner: weight.new_empty((n := packed.shape(weight, inner))[0], n[1] // 2, dtype=torch.uint8))
INT4_NUMBERS = _operator(int4_numbers, lambda numbers: numbers.new_empty(numbers.shape[::-1]))
ALIGNED_LINES = _operator(aligned_lines, lambda weight: weight.new_empty_strided(weight.shape, _strides_of_lines(weight)))
INT4_MM = _operator(int4_mm, lambda x, weight, inner, group, numbers, rows, scales: x.new_empty(x.shape[0], rows.shape[0]))
ONCE = (INT4_ROWS, INT4_NUMBERS, ALIGNED_LINES)  # computed once, outside of programs

# Comparisons of numbers, and conditions made of them, which become numbers (rewrites/numbers.py)
COMPARISONS = {getattr(getattr(torch.ops.aten, kind), form): kind for kind in ("eq", "ne", "lt", "le", "gt", "ge") for form in ("Scalar", "Tensor")}
CONDITIONS = (*COMPARISONS, torch.ops.aten.logical_not.default, torch.ops.aten.logical_and.default, torch.ops.aten.logical_or.default,
              torch.ops.aten.bitwise_not.default, torch.ops.aten.bitwise_and.Tensor, torch.ops.aten.bitwise_or.Tensor)  # fmt: skip

