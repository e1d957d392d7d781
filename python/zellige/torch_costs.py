"""What a part costs as torch's kernels and as a program: a part is taken where it wins.

Of torch's kernels this is an estimate: their bytes and multiplications at the rates that were measured on an H200, and what a launch takes
(bench/torch_kernels.py); of a program it is its price. Microseconds, of the GPU and of the host. Where there is a GPU, its part of both is
measured (torch_measure.py).
"""

import math
import operator
from dataclasses import dataclass

import torch

from . import aten as known
from . import torch_own

aten = torch.ops.aten

PRODUCT = 2.5  # of a product, beside its multiplications
RATES = {torch.float16: 650e6, torch.bfloat16: 650e6, torch.float32: 50e6}  # cuBLAS's floating-point operations a microsecond (no TF32)
BYTES = 3.9e6  # a microsecond, of the GPU's memory
ODD, ODD_PRODUCT = 3.0, 17.0  # cuBLAS's products of 16 bits whose lines are no multiple of 16 bytes: so much longer, and beside that
ATTENTION = {torch.float16: 450e6, torch.bfloat16: 450e6, torch.float32: 25e6}
VIEW = 1.2  # of the host, called by torch's own bindings
PART, LAUNCH, TENSOR = 3.0, 7.0, 0.05  # of the host, of a call of a part, of each of its kernels, and of each tensor
WAITS = 0.25  # how much of what the faster one of host and GPU does shows
AROUND = 8.0  # of the host, what a graph with parts takes beside them


@dataclass(frozen=True)
class Kind:
    """Of torch's kernels: microseconds beside what they move, bytes a microsecond, and microseconds of the host."""

    kernel: float
    bytes: float
    host: float


SIMPLE, ALONG, NORM = Kind(1.4, BYTES, 7.0), Kind(2.3, 3.0e6, 8.0), Kind(2.8, 1.8e6, 15.0)
CAST, TURNED = Kind(1.4, 2.5e6, 8.0), Kind(1.8, 0.7e6, 7.0)  # the latter: copies that change which dimension is the contiguous one
HEAVY = {"product": 11.5, "attention": 15.5}  # of the host
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
        """The host runs ahead of the GPU, and who is slower counts; the other one where it waits."""
        return max(self.gpu, self.host) + WAITS * min(self.gpu, self.host)

    def __str__(self) -> str:
        return f"{self.gpu:.1f} us of the GPU and {self.host:.1f} of the host"


def of_torch(nodes) -> Cost:
    """Of operators, each by its own kernel."""
    return sum((_of_node(n) for n in nodes if n.op == "call_function"), Cost())


def of_part(program, tensors: int) -> Cost:
    kernels = len(program.manifest["kernels"])
    return Cost(program.price, PART + LAUNCH * kernels + TENSOR * tensors)


def heavy(node) -> bool:
    """Products and attention: what is left of a part without them may win where all of it does not."""
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
        kind = SIMPLE if _innermost(read[0]) == _innermost(made[0]) else TURNED
        return Cost(kind.kernel + _bytes(read + made) / kind.bytes, kind.host)
    if node.target in known.VIEWS:
        return Cost(host=VIEW)
    if node.target in _PRODUCTS:
        return Cost(_product(made[0], *_operands(node)[-2:]), HEAVY["product"])
    if node.target is torch_own.ATTENTION:
        return Cost(_attention(made[0], *_operands(node)[:2], node.args[4]), HEAVY["attention"])
    if node.target is aten.embedding.default:  # what it takes of the table
        read = made
    kind = KINDS.get(node.target, SIMPLE)
    return Cost(kind.kernel + _bytes(read + made) / kind.bytes, kind.host)


def _operands(node) -> list:
    """Its tensors in the order of its arguments: all_input_nodes has one that is given twice once."""
    return [a.meta["val"] for a in node.args if isinstance(a, torch.fx.Node)]


def _innermost(x):
    """Which dimension is contiguous."""
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
