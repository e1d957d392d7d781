"""Decides which operators of a torch graph may be in parts: those that Zellige supports, on the device of the graph."""

import collections

import torch

from ..._native import Error
from ...tracing import Trace
from .. import words
from ..execute.traced import input_of
from ..import_ import custom, flex, operators
from ..import_.convolutions import CONVOLUTION
from ..import_.schema import Left
from ..measure import convolution_kernels
from . import taking


class Supported:
    """Decides whether Zellige supports a node, by tracing the node on its own. The reasons against a node go to
    the report."""

    def __init__(self, report, device):
        self.report, self.device = report, device
        self.known = {}  # by node: true if it is supported

    def __call__(self, node) -> bool:
        # Taking (partition/taking.py) handles in-place updates
        if node.op != "call_function" or node.target is taking.UPDATE or node.target in custom.ONCE or is_nothing(node):
            return False
        if node not in self.known:
            try:
                self._try(node)
                self.known[node] = True
            except Error as why:
                if not isinstance(why, taking.OfOperand):  # the operand is in the report
                    self.report.leave(words.target(node), why, node)
                self.known[node] = False
        return self.known[node]

    def _try(self, node) -> None:
        if getattr(node.target, "namespace", "") == "_c10d_functional":
            raise Left("is a collective, which torch's process group does between the programs")
        if node.target is flex.FLEX:
            raise Left(flex.why_left(node))
        if node.target not in operators.OPERATORS:
            raise Left("is not known")
        if node.target is CONVOLUTION:
            convolution_kernels.check(node)
        trace, arrays = Trace("node"), {}
        for n in node.all_input_nodes:
            value = n.meta.get("val")
            if isinstance(value, (list, tuple)):  # the results of a split
                if not (n.op == "call_function" and self(n)):
                    raise taking.OfOperand("its operand is left")
                arrays[n] = [input_of(trace, f"{n.name}_{i}", v) if i == node.args[1] else None for i, v in enumerate(value)]
            else:
                # strides depend on the part's inputs
                arrays[n] = input_of(trace, n.name, value, strides=False, is_int4=custom.is_int4(n, node))
            self._is_kept(value if isinstance(value, torch.Tensor) else value[node.args[1]])
        operators.evaluate(node, arrays)

    def _is_kept(self, value) -> None:
        if value.device != self.device:
            raise Left(f"expected tensors on {self.device}, where most of the graph is, found {value.device}")


def is_nothing(node) -> bool:
    """Returns true for an operator whose result has no elements, so that torch computes nothing."""
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and any(isinstance(n, int) and n == 0 for n in value.shape)


def device_of(graph):
    """Returns the device of most tensors of a graph. Only operators on this device become parts of programs."""
    values = [n.meta.get("val") for n in graph.nodes]
    devices = collections.Counter(v.device for v in values if isinstance(v, torch.Tensor) and v.ndim > 0)
    return devices.most_common(1)[0][0] if devices else torch.device("cpu")
