"""What the C ABI says of costs: which of two is taken, and what is worth what.

    compare("better", Cost(us=10), Cost(us=12))     true
"""

from ctypes import byref

from ._abi import Cost, checked, counted, library

RELATIONS = {"better": 0, "faster": 1, "faster_gpu_bound": 2, "clearly_faster": 3, "may_be_faster": 4, "worth_measuring": 5}


def compare(relation: str, a: Cost, b: Cost) -> bool:
    """Returns true if two costs have one of the RELATIONS, which <zellige/api.h> describes."""
    return bool(counted(library().zellige_cost_compare(RELATIONS[relation], byref(a), byref(b))))


def time_of(cost: Cost) -> float:
    """Returns how long work of this cost takes in all, in microseconds, while the host launches what the GPU computes."""
    us = library().zellige_cost_time(byref(cost))
    if us != us:
        checked(1)
    return us


def pays(before: Cost, after: Cost, whole: Cost) -> bool:
    """Returns true if a graph takes less time with a part of it at the cost `after` in place of `before`. `whole`: the graph's
    cost with `after`."""
    return bool(counted(library().zellige_cost_pays(byref(before), byref(after), byref(whole))))


def worth(saved: Cost, call: Cost, whole: Cost) -> bool:
    """Returns true if parts that save `saved` of a graph are worth `call`, what a call of the graph with parts costs more.
    `whole`: the graph's cost without parts."""
    return bool(counted(library().zellige_cost_worth(byref(saved), byref(call), byref(whole))))
