"""Implements each of Zellige's operators on torch tensors by torch's own functions."""

import torch
import torch.nn.functional as F

from ... import dtypes

exp, log, log1p, square, sqrt, rsqrt = torch.exp, torch.log, torch.log1p, torch.square, torch.sqrt, torch.rsqrt
neg, abs, sin, cos, tanh = torch.neg, torch.abs, torch.sin, torch.cos, torch.tanh  # noqa: A001
sigmoid, silu, relu, gelu = torch.sigmoid, F.silu, torch.relu, F.gelu
softmax, log_softmax, logsumexp = torch.softmax, torch.log_softmax, torch.logsumexp


def gelu_tanh(x):
    return F.gelu(x, approximate="tanh")


def matmul(x, y, tf32=False):
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = tf32
    try:
        return torch.matmul(x, y)
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


def clamp(x, lo, hi):
    return torch.clamp(x, lo, hi)


def cast(x, dtype, saturate=False):
    to = dtypes.torch_dtype(dtype)
    if saturate:
        info = torch.finfo(to) if to.is_floating_point else torch.iinfo(to)
        x = torch.clamp(x, info.min, info.max)
    return x.to(to)


def _tensors(x, y):
    """Returns x and y, of which a number is converted to a tensor of the other operand's dtype and device, for
    torch functions that do not accept numbers."""
    if not isinstance(x, torch.Tensor):
        return torch.as_tensor(x, dtype=y.dtype, device=y.device), y
    if not isinstance(y, torch.Tensor):
        return x, torch.as_tensor(y, dtype=x.dtype, device=x.device)
    return x, y


def _pair(function):
    return lambda x, y: function(*_tensors(x, y))


def _comparison(function):
    """Returns a function that compares by `function`, and whose result is 1 or 0 in the operands' dtype."""
    def compare(x, y):
        x, y = _tensors(x, y)
        return function(x, y).to(torch.promote_types(x.dtype, y.dtype))

    return compare


add, sub, mul, div = map(_pair, (torch.add, torch.sub, torch.mul, torch.div))
pow, maximum, minimum = map(_pair, (torch.pow, torch.maximum, torch.minimum))  # noqa: A001
logaddexp = torch.logaddexp
eq, ne, lt = map(_comparison, (torch.eq, torch.ne, torch.lt))
le, gt, ge = map(_comparison, (torch.le, torch.gt, torch.ge))


def where(condition, x, y):
    return torch.where(condition != 0, x, y)


def _along(function):
    def along(x, dim, keepdim):
        dim = tuple(range(x.ndim)) if dim is None else dim
        return function(x, dim=dim, keepdim=keepdim)

    return along


def _prod(x, dim, keepdim):  # torch's takes one dimension
    for d in sorted((d % x.ndim for d in ((dim,) if isinstance(dim, int) else dim)), reverse=True):
        x = torch.prod(x, d, keepdim=keepdim)
    return x


sum, mean, amax, amin, prod = map(_along, (torch.sum, torch.mean, torch.amax, torch.amin, _prod))  # noqa: A001


def safe_softmax(x, dim):
    return torch.where(torch.isneginf(x).all(dim, keepdim=True), torch.zeros_like(x), torch.softmax(x, dim))


def rms_norm(x, weight=None, *, eps):
    return F.rms_norm(x, x.shape[-1:], weight, eps)


def layer_norm(x, weight=None, bias=None, *, eps):
    return F.layer_norm(x, x.shape[-1:], weight, bias, eps)


def permute(x, dims):
    return x.permute(dims)


def reshape(x, shape):
    return x.reshape(shape)


def expand(x, shape):
    return x.expand(shape)


def slice(x, dim, start, end):  # noqa: A001
    return x.narrow(dim, start, end - start)


def unfold(x, dim, size, step, dilation, padding):
    before, after = padding
    zeros = [0] * (2 * (x.ndim - 1 - dim % x.ndim)) + [before, after]
    return torch.nn.functional.pad(x, zeros).unfold(dim, (size - 1) * dilation + 1, step)[..., ::dilation]


def concat(*tensors, dim):
    return torch.cat(tensors, dim)


def split(x, dim, sizes):
    return list(torch.split(x, sizes, dim))


def mask(x, tril, triu, length, value, dims, first=None):
    i, j = (torch.arange(x.shape[d], device=x.device).reshape([-1 if k == d else 1 for k in range(x.ndim)]) for d in dims)
    keep = torch.ones(x.shape, dtype=torch.bool, device=x.device)
    if tril is not None:
        keep &= j - i <= tril
    if triu is not None:
        keep &= j - i >= triu
    if length is not None:
        keep &= j < length
    if first is not None:
        keep &= j >= first
    return torch.where(keep, x, torch.as_tensor(value, dtype=x.dtype, device=x.device))


def rotary(x, cos, sin):
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


def rotary_interleaved(x, cos, sin):
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, b * cos + a * sin), -1).reshape(x.shape)


def gather(x, numbers):
    return x[numbers.long()]


def scatter(x, numbers, updates):
    return x.index_put((numbers.long(),), updates)


def slice_scatter(x, part, dim, start):
    start = int(start)
    return torch.slice_scatter(x, part, dim, start, start + part.shape[dim])
