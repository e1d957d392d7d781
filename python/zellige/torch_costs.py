"""The cost of a part as torch's kernels and as a program: a part is taken if its program costs less.

For torch's kernels this is an estimate from their bytes and multiplications, at rates measured on an H200, and their launches
(bench/torch_kernels.py); for a program it is its estimated time. In microseconds, for the GPU and for the host. If there is a
GPU, the GPU's part of both is measured (torch_measure.py).
"""

import math
import operator
from dataclasses import dataclass

import torch

from . import aten as known
from . import torch_own

aten = torch.ops.aten

PRODUCT = 2.5  # per matmul, in addition to its multiplications
RATES = {torch.float16: 650e6, torch.bfloat16: 650e6, torch.float32: 50e6}  # cuBLAS's floating-point operations per microsecond (no TF32)
BYTES = 3.9e6  # per microsecond, of the GPU's memory
ODD, ODD_PRODUCT = 3.0, 17.0  # cuBLAS's 16-bit matmuls whose rows are no multiple of 16 bytes: the factor, and the additional microseconds
ATTENTION = {torch.float16: 450e6, torch.bfloat16: 450e6, torch.float32: 25e6}
VIEW = 1.2  # on the host, called by torch's own bindings
PART, LAUNCH, TENSOR = 3.0, 7.0, 0.05  # on the host: per call of a part, per kernel of it, and per tensor
WAITS = 0.25  # the fraction of the faster one's time, of host and GPU, that is not hidden
AROUND = 8.0  # on the host: the overhead of a graph with parts


@dataclass(frozen=True)
class Kind:
    """The cost of a kind of torch kernel: microseconds in addition to memory traffic, bytes per microsecond, and microseconds
    of the host."""

    kernel: float
    bytes: float
    host: float


SIMPLE, ALONG, NORM = Kind(1.4, BYTES, 7.0), Kind(2.3, 3.0e6, 8.0), Kind(2.8, 1.8e6, 15.0)
CAST, TRANSPOSED = Kind(1.4, 2.5e6, 8.0), Kind(1.8, 0.7e6, 7.0)  # the latter: copies that change the contiguous dimension
HEAVY = {"product": 11.5, "attention": 15.5}  # on the host
KINDS = {
    aten.native_layer_norm.default: NORM,
    aten._native_batch_norm_legit_no_training.default: NORM,
    aten._to_copy.default: CAST,
    **dict.fromkeys((aten._softmax.default, aten._log_softmax.default, aten._safe_softmax.default, aten.logsumexp.default, aten.sum.dim_IntList,
                     aten.mean.dim, aten.mean.default, aten.amax.default, aten.amin.default, aten.var.correction), ALONG),
}  # fmt: skip


@dataclass(frozen=True)
class Cost:
    gpu: float = 0.0
    host: float = 0.0

    def __add__(self, other):
        return Cost(self.gpu + other.gpu, self.host + other.host)

    def __sub__(self, other):
        return Cost(self.gpu - other.gpu, self.host - other.host)

    def total(self) -> float:
        """The host does not wait for the GPU: the slower one determines the time, plus a fraction of the other."""
        return max(self.gpu, self.host) + WAITS * min(self.gpu, self.host)

    def __str__(self) -> str:
        return f"{self.gpu:.1f} us of the GPU and {self.host:.1f} of the host"


def of_torch(nodes) -> Cost:
    """The cost of operators, one kernel each."""
    return sum((_of_node(n) for n in nodes if n.op == "call_function"), Cost())


def of_part(program, tensors: int) -> Cost:
    kernels = len(program.manifest["kernels"])
    return Cost(program.price, PART + LAUNCH * kernels + TENSOR * tensors)


def heavy(node) -> bool:
    """Matmuls and attention: the rest of a part without them may cost less than torch's even if the whole part does not."""
    return node.target in _PRODUCTS or node.target is torch_own.ATTENTION


def _tensors(value) -> list:
    if isinstance(value, torch.Tensor):
        return [value]
    return [t for v in value for t in _tensors(v)] if isinstance(value, (tuple, list)) else []


def _bytes(tensors) -> int:
    return sum(t.numel() * t.element_size() for t in tensors)


def _of_node(node) -> Cost:
    if node.target is operator.getitem:
        return Cost()
    made = _tensors(node.meta.get("val"))
    read = [t for n in node.all_input_nodes for t in _tensors(n.meta.get("val"))]
    if node.target is aten.clone.default:
        kind = SIMPLE if _innermost(read[0]) == _innermost(made[0]) else TRANSPOSED
        return Cost(kind.kernel + _bytes(read + made) / kind.bytes, kind.host)
    if node.target in known.VIEWS:
        return Cost(host=VIEW)
    if node.target in _PRODUCTS:
        return Cost(_product(made[0], *_operands(node)[-2:]), HEAVY["product"])
    if node.target is torch_own.ATTENTION:
        return Cost(_attention(made[0], *_operands(node)[:2], node.args[4]), HEAVY["attention"])
    if node.target is aten.embedding.default:  # the rows that it reads of the table
        read = made
    kind = KINDS.get(node.target, SIMPLE)
    return Cost(kind.kernel + _bytes(read + made) / kind.bytes, kind.host)


def _operands(node) -> list:
    """Its tensors in the order of its arguments; all_input_nodes lists a repeated one once."""
    return [a.meta["val"] for a in node.args if isinstance(a, torch.fx.Node)]


def _innermost(x):
    """The contiguous dimension."""
    return next((d for d in reversed(range(x.ndim)) if x.stride(d) == 1 and x.shape[d] > 1), None)


_PRODUCTS = (aten.mm.default, aten.bmm.default, aten.addmm.default, aten.baddbmm.default)


def _product(made, a, b) -> float:
    k = a.shape[-1]
    moved = _bytes([made, a, b]) / BYTES
    computed = 2 * made.numel() * k / RATES.get(made.dtype, RATES[torch.float32])
    if made.element_size() == 2 and any(n % 8 for n in (k, made.shape[-1])):
        return ODD_PRODUCT + max(moved, computed) * ODD
    return PRODUCT + max(moved, computed)


def _attention(made, q, k, causal) -> float:
    pairs = math.prod(q.shape[:-1]) * k.shape[-2] * (0.5 if causal else 1)
    computed = 2 * pairs * (q.shape[-1] + made.shape[-1]) / ATTENTION.get(q.dtype, ATTENTION[torch.float32])
    return PRODUCT + max(_bytes([made, q, k, k]) / BYTES, computed)
