"""Considers to run a part of a torch graph with torch's attention, or with torch's matmuls, and with programs for the other
operators of the part.

    mixed = cheaper(taking, planned)     a Mixed that costs less than the part's program; None if there is none

A part that is faster as a program than as torch's kernels need not be fastest so: a chain of norms and activations saves
enough to hide that a matmul in it takes longer than torch's. If a part has attention, first only the attention is left
to torch. The parts before and after it are then decided in the same way, so that torch runs their matmuls, too, if
that costs less.
"""

from dataclasses import dataclass

import torch

from ..import_ import custom
from ..measure import estimates
from . import convex


@dataclass
class Mixed:
    """A part of which some operators are programs, and torch runs the others."""

    module: torch.fx.GraphModule  # the part's operators, with calls of programs
    cost: estimates.Cost
    report: object  # the report on its programs
    what: str  # which operators torch runs


def cheaper(taking, p):
    """Returns a Mixed for a part that would become a program, if it costs clearly less than the program; else None.
    `taking`: the decision on the parts of the graph (partition/taking.py); `p`: the part."""
    heavy = [n for n in p.module.graph.nodes if estimates.heavy(n)]
    attention = [n for n in heavy if n.target is custom.ATTENTION]
    left, what = (attention, "attention") if attention else (heavy, "matmuls")
    if not left or not estimates.of_torch(left).may_be_faster(p.own_cost):
        return None
    module, copies = _copy(p.module)
    inner = taking.inside(p, module)
    torchs = {copies[n] for n in left}
    operators = {n for n in module.graph.nodes if n.op == "call_function" and n not in torchs}

    def may_pay(planned) -> bool:
        """Returns true if torch's kernels and the planned programs together may cost less than the part's program, by
        estimates alone. So programs of an alternative that has no chance are not compiled."""
        bound = estimates.of_torch(left).gpu + sum(map(_lower_bound, planned))
        return estimates.Cost(bound).may_be_faster(p.own_cost)

    lost = inner.round(convex.parts(module.graph, operators.__contains__), may_pay)
    taking.report.faults += inner.report.faults
    taking.report.exhausted += inner.report.exhausted
    taking.report.rejected += inner.report.rejected
    if lost is None:
        return None
    cost = mixed_cost(p.torchs_cost, inner, estimates.of_torch(left))
    if not cost.clearly_faster(p.own_cost) or not taking.pays(p.own_cost, cost, p.torchs_cost):
        return None
    return Mixed(module, cost, inner.report, what)


def mixed_cost(torchs, inner, left):
    """Returns the cost of a part of which the decision `inner` has made programs: that of the programs, and of torch's kernels for the
    other operators, among which are those of the estimated cost `left`. `torchs`: the cost of torch's kernels for the part. Each cost
    is measured by itself, so the difference of two may be less than any kernel takes: the others cost at least `left`."""
    others = torchs - (inner.saved + inner.spent)
    others = estimates.Cost(max(others.gpu, left.gpu), max(others.host, left.host))
    return inner.spent + (others.of_gpu() if inner.captured else others)


def _lower_bound(p) -> float:
    """Returns the smallest estimate of a planned part's time on the GPU: as a program, as torch's kernels, or mixed, which
    takes as long as torch's matmuls alone, or longer."""
    heavy = [n for n in p.module.graph.nodes if estimates.heavy(n)]
    return min(p.part.expected_us, estimates.of_torch(heavy).gpu if heavy else p.torchs().gpu)


def _copy(module) -> tuple:
    """Returns (a copy of a module, a dict from the nodes of its graph to those of the copy)."""
    graph, copies = torch.fx.Graph(), {}
    result = graph.graph_copy(module.graph, copies)
    graph.output(result)
    return torch.fx.GraphModule(module, graph), copies
