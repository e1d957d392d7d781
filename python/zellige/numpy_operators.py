"""Defines each operator on NumPy arrays: computed in float64 and rounded once to the operands' dtype; integers are
exact."""

import functools
import math

import numpy as np

from . import dtypes


def _float(x):
    """Converts an operand to the type of the computation: float64, or unchanged for integers and bool."""
    x = np.asarray(x)
    return x if x.dtype.kind in "iub" else x.astype(np.float64)


def _result_dtype(operands):
    """Returns the promoted dtype of the operands that are arrays with dimensions; float64 if there are none."""
    arrays = [np.asarray(x).dtype for x in operands if getattr(x, "shape", ())]
    return functools.reduce(np.promote_types, arrays) if arrays else np.float64


def _rounded(meaning):
    """Returns an operator that converts its operands to float64, applies the function `meaning`, and rounds the result
    to the operands' dtype."""

    @functools.wraps(meaning)
    def operator(*operands, **attributes):
        with np.errstate(all="ignore"):
            result = meaning(*(_float(x) for x in operands), **attributes)
            return np.asarray(result).astype(_result_dtype(operands), copy=False)

    return operator


_erf = np.vectorize(math.erf, otypes=[np.float64])


def _sigmoid(x):
    """Returns 1 / (1 + exp(-x))."""
    return 1 / (1 + np.exp(-x))


def _softmax(x, dim):
    e = np.exp(x - x.max(axis=dim, keepdims=True))
    return e / e.sum(axis=dim, keepdims=True)


def _safe_softmax(x, dim):
    e = np.exp(x - np.maximum(x.max(axis=dim, keepdims=True), -3.4028234663852886e38))
    return e / np.maximum(e.sum(axis=dim, keepdims=True), 2.0**-126)


def _logsumexp(x, dim, keepdim):
    m = x.max(axis=dim, keepdims=True)
    y = m + np.log(np.exp(x - m).sum(axis=dim, keepdims=True))
    return y if keepdim else y.squeeze(dim)


def _rms_norm(x, weight=1.0, *, eps):
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps) * weight


def _layer_norm(x, weight=1.0, bias=0.0, *, eps):
    c = x - x.mean(axis=-1, keepdims=True)
    return c / np.sqrt((c * c).mean(axis=-1, keepdims=True) + eps) * weight + bias


def _rotated(a, b, cos, sin):
    return a * cos - b * sin, b * cos + a * sin


def _rotary(x, cos, sin):
    a, b = np.split(x, 2, axis=-1)
    return np.concatenate(_rotated(a, b, cos, sin), axis=-1)


def _rotary_interleaved(x, cos, sin):
    pair = _rotated(x[..., ::2], x[..., 1::2], cos, sin)
    return np.stack(pair, axis=-1).reshape(x.shape)


def matmul(x, y, tf32=False):
    x, y = np.asarray(x), np.asarray(y)
    dtype = np.promote_types(x.dtype, y.dtype)
    if dtype.itemsize == 1 and dtype.kind != "i":
        dtype = np.dtype(np.float32)
    return np.matmul(*(_to_tf32(a) if tf32 else _float(a) for a in (x, y))).astype(dtype)


def _to_tf32(x):
    """Returns float32 values rounded to tf32 (10 bits of fraction), ties away from zero, as float64."""
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    kept = np.where((bits & 0x7F800000) == 0x7F800000, bits, (bits + np.uint32(0x1000)) & np.uint32(0xFFFFE000))
    return kept.view(np.float32).astype(np.float64)


exp, log, log1p, sqrt = _rounded(np.exp), _rounded(np.log), _rounded(np.log1p), _rounded(np.sqrt)
square, neg, abs = _rounded(np.square), _rounded(np.negative), _rounded(np.abs)  # noqa: A001
sin, cos, tanh = _rounded(np.sin), _rounded(np.cos), _rounded(np.tanh)
rsqrt = _rounded(lambda x: 1 / np.sqrt(x))
sigmoid = _rounded(_sigmoid)
silu = _rounded(lambda x: x * _sigmoid(x))
relu = _rounded(lambda x: np.maximum(x, 0))
gelu = _rounded(lambda x: x / 2 * (1 + _erf(x / math.sqrt(2))))
gelu_tanh = _rounded(lambda x: x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))))
clamp = _rounded(lambda x, lo, hi: np.minimum(np.maximum(x, lo), hi))
add, sub, mul, div = _rounded(np.add), _rounded(np.subtract), _rounded(np.multiply), _rounded(np.divide)
pow = _rounded(np.power)  # noqa: A001
maximum, minimum, logaddexp = _rounded(np.maximum), _rounded(np.minimum), _rounded(np.logaddexp)
eq, ne, lt = _rounded(np.equal), _rounded(np.not_equal), _rounded(np.less)
le, gt, ge = _rounded(np.less_equal), _rounded(np.greater), _rounded(np.greater_equal)
softmax, safe_softmax = _rounded(_softmax), _rounded(_safe_softmax)
log_softmax = _rounded(lambda x, dim: x - _logsumexp(x, dim, True))
logsumexp = _rounded(_logsumexp)
rms_norm, layer_norm = _rounded(_rms_norm), _rounded(_layer_norm)
rotary, rotary_interleaved = _rounded(_rotary), _rounded(_rotary_interleaved)


def _reduction(function):
    def along(x, dim, keepdim):
        return function(x, axis=tuple(dim) if isinstance(dim, list) else dim, keepdims=keepdim)

    return _rounded(along)


sum, mean, amax, amin, prod = map(_reduction, (np.sum, np.mean, np.max, np.min, np.prod))  # noqa: A001


def where(condition, x, y):
    return np.where(np.asarray(condition) != 0, x, y).astype(_result_dtype((x, y)), copy=False)


def cast(x, dtype, saturate=False):
    """Returns x in a dtype, rounded to nearest; to integers, truncated. saturate: overflow becomes the nearest
    limit of the dtype."""
    x, to = np.asarray(x), dtypes.numpy_dtype(dtype)
    if x.dtype == to:
        return x
    with np.errstate(all="ignore"):
        y = _float(x)
        if dtypes.is_integer(dtype):
            info = np.iinfo(to if saturate else np.int32)
            whole = np.clip(np.nan_to_num(np.trunc(y), nan=0, posinf=info.max, neginf=info.min), info.min, info.max)
            return whole.astype(np.int64).astype(to)
        if x.dtype.kind in "iub":
            y = y.astype(np.float32).astype(np.float64)
        if saturate:
            import ml_dtypes

            y = np.clip(y, -float(ml_dtypes.finfo(to).max), float(ml_dtypes.finfo(to).max))
        return y.astype(to)


def permute(x, dims):
    return np.transpose(x, dims)


def reshape(x, shape):
    return np.reshape(x, shape)


def expand(x, shape):
    return np.broadcast_to(x, shape)


def slice(x, dim, start, end):  # noqa: A001
    return np.take(x, np.arange(start, end), axis=dim)


def unfold(x, dim, size, step, dilation, padding):
    x = np.moveaxis(np.asarray(x), dim, -1)
    x = np.pad(x, [(0, 0)] * (x.ndim - 1) + [tuple(padding)])
    reach = (size - 1) * dilation + 1
    windows = np.lib.stride_tricks.sliding_window_view(x, reach, -1)[..., ::step, ::dilation]
    return np.moveaxis(windows, -2, dim)


def concat(*arrays, dim):
    return np.concatenate(arrays, axis=dim)


def split(x, dim, sizes):
    return np.split(x, np.cumsum(sizes)[:-1], axis=dim)


def mask(x, tril, triu, length, value, dims, first=None):
    i, j = (np.arange(x.shape[d]).reshape([-1 if k == d else 1 for k in range(x.ndim)]) for d in dims)
    keep = np.ones(x.shape, bool)
    if tril is not None:
        keep &= j - i <= tril
    if triu is not None:
        keep &= j - i >= triu
    if length is not None:
        keep &= j < length
    if first is not None:
        keep &= j >= first
    return np.where(keep, x, np.asarray(value, x.dtype))


def gather(x, numbers):
    return np.asarray(x)[np.asarray(numbers)]


def scatter(x, numbers, updates):
    y = np.array(x)
    y[np.asarray(numbers)] = updates
    return y


def slice_scatter(x, part, dim, start):
    y = np.array(x)
    at = int(np.asarray(start).reshape(()))
    where_to = [np.s_[:]] * y.ndim
    where_to[dim] = np.s_[at : at + part.shape[dim]]
    y[tuple(where_to)] = part
    return y
