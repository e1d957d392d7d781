"""What a part costs as torch's kernels and as a program: a part is taken where it wins.

Of torch's kernels this is an estimate: their bytes and multiplications at the rates that were measured on an H200, and what a launch takes;
of a program it is its price. Microseconds, of the GPU and of the host.
"""

import math
import operator
from dataclasses import dataclass

import torch

from . import aten as known

aten = torch.ops.aten

KERNEL = 2.0  # of a kernel beside what it moves: its launch, and the latency of its first and last bytes
BYTES = 3.9e6  # a microsecond, that torch's elementwise kernels and norms move
PRODUCT = 2.5  # of a product, beside its multiplications
RATES = {torch.float16: 650e6, torch.bfloat16: 650e6, torch.float32: 50e6}  # cuBLAS's floating-point operations a microsecond (no TF32)
ODD, ODD_PRODUCT = 3.0, 17.0  # cuBLAS's products of 16 bits whose lines are no multiple of 16 bytes: so much longer, and beside that
ATTENTION = {torch.float16: 450e6, torch.bfloat16: 450e6, torch.float32: 25e6}
OPERATOR, VIEW = 4.0, 1.2  # of the host, of an operator and of a view, called by torch's own bindings
PART, LAUNCH, TENSOR = 3.0, 2.5, 0.05  # of the host, of a call of a part, of each of its kernels, and of each tensor
WAITS = 0.25  # how much of what the faster one of host and GPU does shows
AROUND = 15.0  # of the host, what a graph with parts takes beside them


@dataclass(frozen=True)
class Cost:
    gpu: float = 0.0
    host: float = 0.0

    def __add__(self, other):
        return Cost(self.gpu + other.gpu, self.host + other.host)

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
    return node.target in _PRODUCTS or node.target is torch.ops.zellige.attention.default


def _tensors(value) -> list:
    if isinstance(value, torch.Tensor):
        return [value]
    return [t for v in value for t in _tensors(v)] if isinstance(value, (tuple, list)) else []


def _bytes(tensors) -> int:
    return sum(t.numel() * t.element_size() for t in tensors)


def _of_node(node) -> Cost:
    if node.target is operator.getitem:
        return Cost()
    if node.target in known.VIEWS:
        return Cost(host=VIEW)
    made = _tensors(node.meta.get("val"))
    read = [t for n in node.all_input_nodes for t in _tensors(n.meta.get("val"))]
    if node.target in _PRODUCTS:
        return Cost(_product(made[0], read), OPERATOR)
    if node.target is torch.ops.zellige.attention.default:
        return Cost(_attention(made[0], *read[:2], node.args[4]), OPERATOR)
    if node.target is aten.embedding.default:  # what it takes of the table
        read = made
    return Cost(KERNEL + _bytes(read + made) / BYTES, OPERATOR)


_PRODUCTS = (aten.mm.default, aten.bmm.default, aten.addmm.default, aten.baddbmm.default)


def _product(made, read) -> float:
    k = read[-2].shape[-1]
    moved = _bytes([made, *read[-2:]]) / BYTES
    computed = 2 * made.numel() * k / RATES.get(made.dtype, RATES[torch.float32])
    if made.element_size() == 2 and any(n % 8 for n in (k, made.shape[-1])):
        return ODD_PRODUCT + max(moved, computed) * ODD
    return PRODUCT + max(moved, computed)


def _attention(made, q, k, causal) -> float:
    pairs = math.prod(q.shape[:-1]) * k.shape[-2] * (0.5 if causal else 1)
    computed = 2 * pairs * (q.shape[-1] + made.shape[-1]) / ATTENTION.get(q.dtype, ATTENTION[torch.float32])
    return PRODUCT + max(_bytes([made, q, k, k]) / BYTES, computed)
