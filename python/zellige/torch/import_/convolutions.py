"""Convolutions of torch's graphs on traced arrays, in the order of memory that torch's kernels have."""

import functools
import math

import torch

from ... import convolutions
from ..._native import Error
from .schema import Left
from .symbols import EXTENTS

CONVOLUTION = torch.ops.aten.convolution.default


def allows_tf32() -> bool:
    """Returns true if torch may compute float32 convolutions as tf32, by its setting for cuDNN."""
    precision = getattr(getattr(torch.backends.cudnn, "conv", None), "fp32_precision", None)
    return torch.backends.cudnn.allow_tf32 if precision in (None, "none") else precision == "tf32"


def of(node):
    """Returns the function of torch's arguments for a convolution of a graph. Raises Left if an extent depends on sizes."""
    if any(n.meta.get(EXTENTS) is not None for n in (node, *node.all_input_nodes)):
        raise Left("expected an image of constant extents, found one with open sizes")
    made = node.meta["val"]
    last = made.ndim == 4 and made.is_contiguous(memory_format=torch.channels_last) and not made.is_contiguous()
    return functools.partial(_convolution, channels_last=last, tf32=made.dtype == torch.float32 and made.device.type == "cuda" and allows_tf32())


def _convolution(x, weight, bias, stride, padding, dilation, transposed, output_padding, groups, *, channels_last, tf32):
    if any(output_padding):
        raise Left(f"expected no padding of the output, found {list(output_padding)}")
    if {a._dtype for a in (x, weight, bias) if a is not None} not in ({"f16"}, {"bf16"}, {"f32"}):
        raise Left(f"expected tensors in f16, bf16 or f32, found {x._dtype} and {weight._dtype}")
    try:
        return convolutions.convolution(x, weight, bias, stride=stride, padding=padding, dilation=dilation, groups=groups,
                                        transposed=transposed, channels_last=channels_last, tf32=tf32)  # fmt: skip
    except Error as why:
        raise Left(str(why)) from None


def multiplications(x, weight, result, groups, transposed) -> int:
    """Returns how many multiplications a convolution of tensors takes."""
    taps = math.prod(weight.shape[2:])
    return x.numel() * weight.shape[1] * taps if transposed else result.numel() * x.shape[1] // groups * taps
