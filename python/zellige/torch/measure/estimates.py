"""Estimates the cost of a part of a torch graph, as torch's kernels and as a program. A part becomes a program if
that costs less.

The cost of torch's kernels is estimated from their bytes and multiplications, at rates measured on an H200, and from
their launches (bench/torch_kernels.py). The cost of a program is its expected time. Both are in microseconds, for the
GPU and for the host. On a machine with a GPU, the GPU times are measured in place of the estimates
(measure/clock.py).
"""

import math
import operator
from dataclasses import dataclass

import torch

from ..import_ import convolutions, custom
from ..import_.kinds import COPY, PRODUCTS, REDUCTIONS, SOFTMAXES, bytes_of, tensors, value_of
from ..import_.products import allows_tf32
from ..import_.quantized import QUANTIZED
from ..import_.views import VIEWS
from .cost import Cost

aten = torch.ops.aten

PRODUCT = 2.5  # microseconds per matmul, in addition to its multiplications
# floating-point operations per microsecond of cuBLAS; those of float32 as tf32 are half those of 16 bits
RATES = {torch.float16: 650e6, torch.bfloat16: 650e6, torch.float32: 50e6}
TF32_RATE = RATES[torch.float16] / 2
BYTES = 3.9e6  # bytes per microsecond of the GPU's memory
# factor, and additional microseconds, of 16-bit matmuls by cuBLAS whose rows are not multiples of 16 bytes
ODD, ODD_PRODUCT = 3.0, 17.0
# floating-point operations per microsecond of torch's attention
ATTENTION = {torch.float16: 450e6, torch.bfloat16: 450e6, torch.float32: 25e6}
# of a program's convolutions, as measured on an H200: floating-point operations per microsecond in 16 bits; multiplications of depthwise ones;
# how much longer those take whose elements are copied one by one
OWN_CONVOLUTIONS, OWN_DEPTHWISE, OWN_NARROW = 280e6, 1.1e6, 9.0
VIEW = 1.2  # microseconds of the host per view, called by torch's own bindings
# microseconds of the host per call of a part, per kernel and per tensor
PART, LAUNCH, TENSOR = 3.0, 7.0, 0.05


@dataclass(frozen=True)
class Kind:
    """Cost of a kind of torch kernel: microseconds of the GPU in addition to memory traffic, bytes per
    microsecond, and microseconds of the host."""

    kernel: float
    bytes: float
    host: float


SIMPLE, ALONG, NORM = Kind(1.4, BYTES, 7.0), Kind(2.3, 3.0e6, 8.0), Kind(2.8, 1.8e6, 15.0)
# LOGSUMEXP: torch launches nine kernels (amax, abs, eq, masked_fill_, sub, exp_, sum, log_, add_), which read or write the
# operand six times. This is estimated from the kernels above, and from 4 microseconds of the host for each one after
# the first, since a kernel that another operator calls does not pass through Python.
LOGSUMEXP = Kind(2 * ALONG.kernel + 7 * SIMPLE.kernel, 1 / (2 / ALONG.bytes + 4 / BYTES), ALONG.host + 8 * 4.0)
# TRANSPOSED: copies that change the contiguous dimension
CAST, TRANSPOSED = Kind(1.4, 2.5e6, 8.0), Kind(1.8, 0.7e6, 7.0)
# of the emulator: floating-point operations per second of products in float32 and in 16 bits; seconds per element, and per element of
# a line that is reduced
EMULATED_PRODUCTS, EMULATED_ELEMENT, EMULATED_LINE = (150e6, 300e6), 6e-8, 3e-7
HEAVY = {"product": 11.5, "attention": 15.5}  # microseconds of the host
KINDS = {
    aten.native_layer_norm.default: NORM,
    aten._native_batch_norm_legit_no_training.default: NORM,
    aten._to_copy.default: CAST,
    **dict.fromkeys((*SOFTMAXES, *REDUCTIONS, aten.mean.default), ALONG),
    aten.logsumexp.default: LOGSUMEXP,
}


# key in the meta of a node: the operator that it replaces with others (rewrites/expanded.py), which has a cost of its own
ORIGINAL = "zellige: the operator that was replaced"
AROUND = Cost(host=8.0)  # of a call of a graph with parts, in addition to its parts


def of_torch(nodes) -> Cost:
    """Returns the estimated cost of a graph's operators as torch's kernels, one kernel per operator: of those that were replaced by
    others, as they were."""
    nodes = [n for n in nodes if n.op == "call_function"]
    replaced = dict.fromkeys(n.meta[ORIGINAL] for n in nodes if ORIGINAL in n.meta)
    return sum((_of_node(n) for n in nodes if ORIGINAL not in n.meta), Cost()) + sum((o.cost for o in replaced), Cost())


def of_part(part, tensors: int) -> Cost:
    """Returns the estimated cost of a call of a part's program with `tensors` inputs and outputs."""
    kernels = len(part.program.manifest["kernels"])
    return Cost(part.expected_us, PART + LAUNCH * kernels + TENSOR * tensors)


def of_copy(value) -> Cost:
    """Returns the estimated cost of a copy of a tensor in its own order."""
    return Cost(SIMPLE.kernel + 2 * bytes_of(value) / SIMPLE.bytes, SIMPLE.host)


def emulated(nodes) -> float:
    """Returns the seconds that the emulator is expected to take for a graph's operators, on one core of 2020 or later."""
    return sum(_emulated(n) for n in nodes if n.op == "call_function" and n.target is not operator.getitem and n.target not in VIEWS)


def _emulated(node) -> float:
    made = tensors(node.meta.get("val"))
    elements = sum(t.numel() for t in made if all(isinstance(n, int) for n in t.shape))
    read = sum(v.numel() for v in map(value_of, node.all_input_nodes) if isinstance(v, torch.Tensor) and all(isinstance(n, int) for n in v.shape))
    if node.target in PRODUCTS:
        return 2 * elements * _operands(node)[-1].shape[-2] / EMULATED_PRODUCTS[made[0].dtype in (torch.float16, torch.bfloat16)]
    if node.target is convolutions.CONVOLUTION:
        return 2 * _multiplications(node) / EMULATED_PRODUCTS[made[0].dtype in (torch.float16, torch.bfloat16)]
    if node.target in QUANTIZED:
        return 2 * elements * _operands(node)[0].shape[-1] / EMULATED_PRODUCTS[True]
    if node.target is custom.ATTENTION:
        return 4 * elements * _operands(node)[1].shape[-2] / EMULATED_PRODUCTS[True]
    return max(elements, read) * (EMULATED_LINE if node.target in (*SOFTMAXES, *REDUCTIONS) or node.target in KINDS else EMULATED_ELEMENT)


def heavy(node) -> bool:
    """Returns true for matmuls, convolutions and attention. Where a program costs more than torch's kernels, a program without
    these operators may cost less."""
    return node.target in (*PRODUCTS, *QUANTIZED, convolutions.CONVOLUTION, custom.ATTENTION)


def _of_node(node) -> Cost:
    if node.target is operator.getitem:
        return Cost()
    made = tensors(node.meta.get("val"))
    read = [t for n in node.all_input_nodes for t in tensors(n.meta.get("val"))]
    if node.target is COPY:
        kind = SIMPLE if _innermost(read[0]) == _innermost(made[0]) else TRANSPOSED
        return Cost(kind.kernel + bytes_of(read + made) / kind.bytes, kind.host)
    if node.target in VIEWS:
        return Cost(host=VIEW)
    if node.target in PRODUCTS:
        return Cost(_product(made[0], *_operands(node)[-2:]), HEAVY["product"])
    if node.target in QUANTIZED:
        return Cost(_narrow_product(node, made[0]), HEAVY["product"])
    if node.target is convolutions.CONVOLUTION:
        return Cost(_convolution(node, made[0], read), HEAVY["product"])
    if node.target is custom.ATTENTION:
        return Cost(_attention(made[0], *_operands(node)[:2], node.args[4]), HEAVY["attention"])
    if node.target is aten.embedding.default:  # reads only the number of rows of the table that it returns
        read = made
    kind = KINDS.get(node.target, SIMPLE)
    return Cost(kind.kernel + bytes_of(read + made) / kind.bytes, kind.host)


def _operands(node) -> list:
    """Returns the node's tensors in the order of its arguments. (all_input_nodes lists a repeated tensor once.)"""
    return [a.meta["val"] for a in node.args if isinstance(a, torch.fx.Node)]


def _innermost(x):
    """Returns the index of the contiguous dimension; None if there is none."""
    return next((d for d in reversed(range(x.ndim)) if x.stride(d) == 1 and x.shape[d] > 1), None)


def _product(made, a, b) -> float:
    """Returns the estimated time on the GPU of torch's matmul of a and b, with the result `made`, in microseconds."""
    k = a.shape[-1]
    moved = bytes_of([made, a, b]) / BYTES
    rate = TF32_RATE if made.dtype == torch.float32 and allows_tf32() else RATES.get(made.dtype, RATES[torch.float32])
    computed = 2 * made.numel() * k / rate
    if made.element_size() == 2 and any(n % 8 for n in (k, made.shape[-1])):
        return ODD_PRODUCT + max(moved, computed) * ODD
    return PRODUCT + max(moved, computed)


def _narrow_product(node, made) -> float:
    """Returns the estimated time on the GPU of torch's product of narrow numbers, in microseconds."""
    x, weight, *rest = _operands(node)
    rate = RATES[torch.float16] * (2 if x.element_size() == 1 else 1)
    numbers = rest[:1] if node.target is custom.INT4_MM else rest
    return PRODUCT + max(bytes_of([made, x, weight, *numbers]) / BYTES, 2 * made.numel() * x.shape[-1] / rate)


def _multiplications(node) -> int:
    x, weight, *_ = _operands(node)
    return convolutions.multiplications(x, weight, node.meta["val"], node.args[8], node.args[6])


def _convolution(node, made, read) -> float:
    """Returns the estimated time on the GPU of torch's convolution with the result `made`, in microseconds."""
    tf32 = made.dtype == torch.float32 and convolutions.allows_tf32()
    rate = TF32_RATE if tf32 else RATES.get(made.dtype, RATES[torch.float32])
    return PRODUCT + max(bytes_of([made, *read]) / BYTES, 2 * _multiplications(node) / rate)


def own_convolution(node) -> float:
    """Returns the estimated time on the GPU of a program's convolution, in microseconds."""
    x, weight, *_ = _operands(node)
    made = node.meta["val"]
    tf32 = made.dtype == torch.float32 and convolutions.allows_tf32()
    rate = OWN_CONVOLUTIONS / 2 if tf32 else {4: OWN_CONVOLUTIONS / 8}.get(made.element_size(), OWN_CONVOLUTIONS)
    stride, padding, groups = node.args[3], node.args[4], node.args[8]
    if groups == x.shape[1] > 1:
        return PRODUCT + _multiplications(node) / OWN_DEPTHWISE
    line = x.shape[1] * (weight.shape[-1] if list(stride) == list(weight.shape[2:]) and not any(padding) else 1)
    narrow = math.prod(weight.shape[2:]) > 1 and (_innermost(x) != 1 or line % 8 != 0)  # neighbours are copied one by one
    return PRODUCT + max(bytes_of([made, x, weight]) / BYTES, 2 * _multiplications(node) / rate) * (OWN_NARROW if narrow else 1)


def _attention(made, q, k, causal) -> float:
    """Returns the estimated time on the GPU of torch's attention of q and k, with the result `made`, in
    microseconds."""
    pairs = math.prod(q.shape[:-1]) * k.shape[-2] * (0.5 if causal else 1)
    computed = 2 * pairs * (q.shape[-1] + made.shape[-1]) / ATTENTION.get(q.dtype, ATTENTION[torch.float32])
    return PRODUCT + max(bytes_of([made, q, k, k]) / BYTES, computed)
