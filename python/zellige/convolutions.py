"""Convolutions, made of windows and a matrix product: what is computed, and in which order memory is read.

    y = zellige.convolution(x, w, bias, stride=2, padding=1)     # x(N, C, H, W), w(O, C, 3, 3)

The windows of an image, one for each element of the result, are the rows of a matrix that no kernel stores: the product reads them
where they are (docs/explanation/convolutions.md).
"""

import math
from collections.abc import Sequence
from typing import Any

from . import operators as op
from ._native import Error
from .signatures import is_int, shown
from .tracing import Array


def convolution(
    x: Any, weight: Any, bias: Any = None, *, stride: int | Sequence[int] = 1, padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1, groups: int = 1, transposed: bool = False, channels_last: bool = True, tf32: bool = False,
) -> Any:  # fmt: skip
    """Returns the convolution of x(N, C, ...) with weight(O, C / groups, ...), as PyTorch's of 1 to 3 dimensions.

      y = zellige.convolution(x, weight, bias, stride=2, padding=1)

    A number of stride, padding or dilation is that of all dimensions. channels_last: kernels write all channels of a pixel one after
    another, and their rows run over all images; otherwise the images and channels are written one by one. transposed: weight is
    (C, O, ...), and the windows do not overlap. tf32: as for matmul.
    """
    dims = x.ndim - 2
    if not 1 <= dims <= 3 or weight.ndim != x.ndim:
        raise Error(f"convolution: expected x(N, C, ...) with 1 to 3 dimensions and a weight of its rank, found {x.shape} and {weight.shape}")
    stride, padding, dilation = (_each(name, n, dims) for name, n in (("stride", stride), ("padding", padding), ("dilation", dilation)))
    _check(x, weight, bias, groups, transposed)
    if transposed:
        return _transposed(x, weight, bias, stride, padding, dilation, groups, tf32)
    windows, sizes = _windows(x, weight.shape[2:], stride, padding, dilation)
    rows, taps, channels, outputs = math.prod(sizes), math.prod(weight.shape[2:]), x.shape[1], weight.shape[0]
    if taps == 1 and windows is x:
        windows = op.reshape(op.permute(x, (0, *range(2, dims + 2), 1)), (x.shape[0], rows, channels, 1))
    else:
        windows = op.reshape(windows, (x.shape[0], rows, channels, taps))
    if groups == channels and groups > 1:
        y = _depthwise(windows, weight, bias, taps)
    else:
        y = _product(windows, weight, groups, channels_last, tf32)
        y = y if bias is None else op.add(y, bias)
    y = op.reshape(y, (x.shape[0], *sizes, outputs))
    return op.permute(y, (0, dims + 1, *range(1, dims + 1)))


def _each(name: str, n: int | Sequence[int], dims: int) -> list[int]:
    """Returns a number for each dimension. Raises Error if there is another number of them."""
    each = [n] * dims if is_int(n) else list(n)
    each = each * dims if len(each) == 1 else each
    if len(each) != dims:
        raise Error(f"convolution: expected {name} to be one number or {dims}, found {shown(n)}")
    return each


def _check(x: Any, weight: Any, bias: Any, groups: int, transposed: bool) -> None:
    """Raises Error unless the shapes fit."""
    channels = x.shape[1]
    if groups < 1 or channels % groups or weight.shape[0] % groups:
        raise Error(f"convolution: expected groups that divide {channels} channels of x and {weight.shape[0]} of the weight, found {groups}")
    expected = channels if transposed else channels // groups
    found = weight.shape[0 if transposed else 1]
    if found != expected:
        raise Error(f"convolution: expected a weight of {expected} channels for x {tuple(x.shape)} in {groups} groups, found {found} in {tuple(weight.shape)}")
    outputs = weight.shape[1] * groups if transposed else weight.shape[0]
    if bias is not None and tuple(bias.shape) != (outputs,):
        raise Error(f"convolution: expected a bias of shape {(outputs,)}, found {tuple(bias.shape)}")


def _windows(x, kernel, stride, padding, dilation):
    """Returns (x in windows (N, ..., C, ...), their number along each dimension); x itself if these are its elements."""
    sizes = []
    for d, (k, s, p, r) in enumerate(zip(kernel, stride, padding, dilation)):
        reach, extent = (k - 1) * r + 1, x.shape[2 + d] + 2 * p
        if reach > extent:
            raise Error(f"convolution: expected a kernel that reaches over at most {extent} elements of dimension {2 + d}, with its padding, found {reach}")
        sizes.append((extent - reach) // s + 1)
    dims = len(sizes)
    if all(k == 1 and s == 1 and p == 0 for k, s, p in zip(kernel, stride, padding)):
        return x, sizes
    windows = op.permute(x, (0, *range(2, dims + 2), 1))
    for d in range(dims):
        windows = op.unfold(windows, 1 + d, kernel[d], stride[d], dilation=dilation[d], padding=padding[d])
    return windows, sizes


def _product(windows, weight, groups, channels_last, tf32):
    """Returns the product of windows (N, P, C, taps) and a weight (O, C / groups, ...), (N, P, O). Its K runs over the channels of a tap
    first if `channels_last`, and over the taps of a channel otherwise, as both operands lie in memory."""
    images, rows, channels, taps = windows.shape
    outputs = weight.shape[0]
    order = (lambda a, c, t: (*a, t, c)) if channels_last else (lambda a, c, t: (*a, c, t))
    weight = op.reshape(weight, (groups, outputs // groups, channels // groups, taps))
    weight = op.reshape(op.permute(weight, (0, *order((), 2, 3), 1)), (groups, channels // groups * taps, outputs // groups))
    batch = (1, images * rows) if channels_last else (images, rows)
    windows = op.reshape(windows, (*batch, groups, channels // groups, taps))
    windows = op.reshape(op.permute(windows, (2, *order((0, 1), 3, 4))), (groups, *batch, channels // groups * taps))
    if groups == 1:
        given = op.reshape(windows, windows.shape[2:] if channels_last else windows.shape[1:])
        made = op.matmul(given, op.reshape(weight, weight.shape[1:]), tf32=tf32)
        return op.reshape(made, (images, rows, outputs))
    weight = op.reshape(weight, (groups, 1, *weight.shape[1:]))
    made = op.permute(op.matmul(windows, weight, tf32=tf32), (1, 2, 0, 3))
    return op.reshape(made, (images, rows, outputs))


def _depthwise(windows, weight, bias, taps):
    """Returns the convolution of each channel by itself, (N, P, O): a sum over the taps in float32, which no matrix product would
    be faster for."""
    images, rows, channels, _ = windows.shape
    each = weight.shape[0] // channels
    factors = op.permute(op.reshape(weight, (channels, each, taps)), (2, 0, 1))
    windows = op.permute(windows, (0, 1, 3, 2))
    if each == 1:
        factors = op.reshape(factors, (taps, channels))
    else:
        windows = op.reshape(windows, (images, rows, taps, channels, 1))
    made = op.sum(op.mul(op.cast(windows, "f32"), op.cast(factors, "f32")), 2, True)
    if bias is not None:
        made = op.add(made, op.cast(bias if each == 1 else op.reshape(bias, (channels, each)), "f32"))
    made = op.cast(made, windows._dtype if isinstance(windows, Array) else windows.dtype)
    return op.reshape(made, (images, rows, channels * each))


def _transposed(x, weight, bias, stride, padding, dilation, groups, tf32):
    """Returns a transposed convolution whose windows do not overlap: each element of x makes the elements of one window."""
    kernel = list(weight.shape[2:])
    if kernel != stride or any(padding) or any(r != 1 for r in dilation) or groups != 1:
        raise Error(
            f"convolution: expected a transposed one with a stride of its kernel {tuple(kernel)}, without padding, dilation and groups, "
            f"found stride {tuple(stride)}, padding {tuple(padding)}, dilation {tuple(dilation)} and groups {groups}"
        )
    dims, (images, channels, *sizes), outputs = len(kernel), x.shape, weight.shape[1]
    rows = op.reshape(op.permute(x, (0, *range(2, dims + 2), 1)), (images * math.prod(sizes), channels))
    columns = op.reshape(op.permute(weight, (0, *range(2, dims + 2), 1)), (channels, math.prod(kernel) * outputs))
    y = op.reshape(op.matmul(rows, columns, tf32=tf32), (images, *sizes, *kernel, outputs))
    y = y if bias is None else op.add(y, bias)
    y = op.permute(y, (0, 2 * dims + 1, *(d for k in range(dims) for d in (1 + k, 1 + dims + k))))
    return op.reshape(y, (images, outputs, *(n * k for n, k in zip(sizes, kernel))))
