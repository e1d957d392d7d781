"""Measures torch's convolutions on a GPU. Each combination of shapes, strides and dtype is measured once.

    made(node, otherwise)       strides of the result; `otherwise` if they cannot be measured
    us(node, deadline)          a pair: microseconds with the tensors' own strides, and with channels-last tensors
    adds_bias(node)             true if torch adds the bias in a separate kernel

Without a GPU, or after the deadline, times are estimated. The estimate adds conversions to and from channels-last for
tensors in other layouts, because cuDNN's tensor-core kernels read and write channels-last.
"""

import time

import torch
from torch._prims_common import suggest_memory_format
from torch.utils._python_dispatch import _disable_current_modes

from ..import_.kinds import bytes_of, properties, tensors
from ..import_.schema import Left
from . import clock, estimates

CONVOLUTION = torch.ops.aten.convolution.default
COPY = estimates.Kind(2.0, 2.0e6, 0.0)  # rates of cuDNN's layout conversions
DEVICE = "cuda"  # device type of the convolutions
SECONDS = 1.0  # in which a convolution is measured
LAUNCHES = 4  # approximate number of kernels per convolution, with its layout conversions

_STRIDES, _US = {}, {}


def made(node, otherwise) -> tuple:
    """Returns the strides of the result that the convolution's kernel returns. Returns `otherwise` if there is no GPU,
    or if the convolution fails."""
    if not torch.cuda.is_available():
        return otherwise
    values = _values(node)
    key = properties(values)
    if key not in _STRIDES:
        try:
            with _disable_current_modes(), torch.no_grad():
                _STRIDES[key] = CONVOLUTION(*map(_empty, values)).stride()
        except Exception:  # out of memory
            _STRIDES[key] = otherwise
    return _STRIDES[key]


def us(node, deadline) -> tuple:
    """Returns (microseconds with the tensors' own strides, microseconds with channels-last tensors). Both are measured,
    or both estimated. `deadline`: time.monotonic() after which nothing is measured."""
    values = _values(node)
    both = values, [_in_channels_last(v) if isinstance(v, torch.Tensor) and v.ndim == 4 else v for v in values]
    found = [_measured(v, deadline) for v in both]
    return tuple(_estimated(v, node.meta["val"]) for v in both) if None in found else tuple(found)


def _measured(values, deadline):
    """Returns the measured microseconds of a convolution with the arguments `values`; None if it cannot be measured
    before the deadline."""
    key = properties(values)
    if key not in _US and time.monotonic() < deadline and torch.cuda.is_available():
        _US[key] = clock.gpu_time(lambda *given: CONVOLUTION(*_with(values, given)), tensors(values), LAUNCHES)
    return _US.get(key)


def check(node) -> None:
    """Raises Left, with both times, if torch's kernel of a convolution on a GPU takes less time than a program is estimated to take."""
    if node.meta["val"].device.type != DEVICE:
        return
    torchs, own = us(node, time.monotonic() + SECONDS)[0], estimates.own_convolution(node)
    if torchs < own:
        raise Left(f"torch's kernel takes {torchs:.1f} us, a program is expected to take {own:.1f} us")


def adds_bias(node) -> bool:
    """Returns true if torch adds the bias in a separate kernel, because it calls cuDNN without the bias. torch's own
    kernels, for depthwise convolutions in NCHW, add the bias themselves."""
    values = _values(node)
    if node.args[2] is None or values[0].device.type != DEVICE:
        return False
    try:
        selected = torch._C._select_conv_backend(*values)
    except Exception:  # this version of torch has no such function
        return False
    return selected in (torch._C._ConvBackend.Cudnn, torch._C._ConvBackend.CudnnTranspose)


def in_channels_last(shape) -> tuple:
    """Returns the strides of a tensor with four dimensions in channels-last."""
    _, channels, rows, columns = shape
    return rows * columns * channels, 1, columns * channels, channels


def _values(node) -> list:
    return [a.meta["val"] if isinstance(a, torch.fx.Node) else a for a in node.args]


def _with(values, given) -> list:
    given = iter(given)
    return [next(given) if isinstance(v, torch.Tensor) else v for v in values]


def _empty(v):
    return torch.empty_strided(v.shape, v.stride(), dtype=v.dtype, device=v.device) if isinstance(v, torch.Tensor) else v


def _in_channels_last(v):
    return v.new_empty_strided(v.shape, in_channels_last(v.shape))


def _estimated(values, result) -> float:
    """Returns the estimated time of a convolution with the arguments `values` and the result `result`, in microseconds.
    Includes the layout conversions that cuDNN needs."""
    x, weight, groups = values[0], values[1], values[8]
    us = estimates.SIMPLE.kernel + bytes_of([x, weight, result]) / estimates.BYTES
    wide = x.dtype == torch.float32 and not torch.backends.cudnn.allow_tf32
    if wide or x.ndim != 4 or groups == x.shape[1] > 1 or suggest_memory_format(x) == torch.channels_last:
        return us
    copied = [t for t in (x, weight, result) if t is result or not t.is_contiguous(memory_format=torch.channels_last)]
    return us + sum(COPY.kernel + 2 * bytes_of(t) / COPY.bytes for t in copied)
