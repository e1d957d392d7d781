"""Costs of work, and which of two ways is taken. The C ABI decides it, with thresholds that src/cost/pays.hpp has.

    program.clearly_faster(torchs)       true if its time on the GPU is less by more than measurements vary
    Cost.pays(torchs, program, graph)    true if the graph takes less time with the program
"""

import math
from dataclasses import dataclass

from ..._abi import Cost as Given
from ...costs import compare, pays, time_of, worth


@dataclass(frozen=True)
class Cost:
    """A cost in microseconds, of the GPU and of the host."""
    gpu: float = 0.0
    host: float = 0.0

    def __add__(self, other):
        return Cost(self.gpu + other.gpu, self.host + other.host)

    def __sub__(self, other):
        return Cost(self.gpu - other.gpu, self.host - other.host)

    def of_gpu(self):
        """Returns the cost where the host's time does not count, as in CUDA graphs."""
        return Cost(self.gpu)

    def total(self) -> float:
        """Returns the expected time in microseconds of work with this cost. The host does not wait for the GPU, so the
        slower of the two determines the time, plus a share of the time of the faster one."""
        return time_of(_given(self))

    def better(self, other) -> bool:
        """Returns true if this is taken in place of the cost `other` of one launch: by the GPU's time, then by the host's."""
        return compare("better", _given(self), _given(other))

    def faster(self, other) -> bool:
        """Returns true if work of this cost takes less time in all."""
        return compare("faster", _given(self), _given(other))

    def faster_gpu_bound(self, other) -> bool:
        """Returns true if a graph of which the GPU is the slower takes less time with this in place of `other`."""
        return compare("faster_gpu_bound", _given(self), _given(other))

    def clearly_faster(self, other) -> bool:
        """Returns true if the GPU's time is less than that of `other` by more than measurements vary."""
        return compare("clearly_faster", _given(self), _given(other))

    def may_be_faster(self, other) -> bool:
        """Returns true if this, an estimate, may be clearly faster than `other` when it is measured."""
        return compare("may_be_faster", _given(self), _given(other))

    def worth_measuring(self, other) -> bool:
        """Returns true if this, an estimate, is not so much more than the estimate `other` that measuring it is in vain."""
        return compare("worth_measuring", _given(self), _given(other))

    @staticmethod
    def pays(before, after, whole) -> bool:
        """Returns true if a graph that costs `whole` with `after` is faster than with `before` in its place."""
        return pays(_given(before), _given(after), _given(whole))

    def worth(self, call, whole) -> bool:
        """Returns true if saving this of a graph that costs `whole` is worth what its calls cost more, `call`."""
        return worth(_given(self), _given(call), _given(whole))

    def __str__(self) -> str:
        return f"{self.gpu:.1f} us of the GPU and {self.host:.1f} of the host"


def _given(cost) -> Given:
    return Given(_known(cost.gpu), _known(cost.host))


def _known(us) -> float:
    """Returns a number of microseconds: the least one if it depends on a size that only the data give (a SymFloat of torch)."""
    if isinstance(us, (int, float)):
        return us
    minimum = float(us.node.shape_env.bound_sympy(us.node.expr).lower)
    return minimum if math.isfinite(minimum) else 0.0
