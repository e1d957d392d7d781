"""Functions of positions, such as distances of queries and keys, and ALiBi's bias: programs evaluate them where they are read, of
vectors of positions, and no tensor of them is stored.

    evaluated(node, constants)       true for such a function
    functions(graph, is_leaf)        those that are left in a graph
    as_inputs(module, values)        a module that is given their values, as torch's kernels would be
"""

import copy

import torch

from ..import_ import custom
from ..import_.kinds import COPY, is_pointwise
from ..import_.symbols import sized
from ..import_.views import VIEWS

aten = torch.ops.aten

# what a program computes again, to the same bits: at most _STEPS operators, of constants with a _SMALLER-th of the elements
_EXACT = (aten.add.Tensor, aten.sub.Tensor, aten.mul.Tensor, aten.add.Scalar, aten.sub.Scalar, aten.mul.Scalar, aten.rsub.Scalar, aten.neg.default,
          aten.abs.default, aten.minimum.default, aten.maximum.default, aten.clamp.default, aten._to_copy.default)  # fmt: skip
_EXACT_DTYPES = (torch.float32, torch.int32, torch.int64)
_STEPS, _SMALLER, _LARGE = 8, 8, 1024


def is_view(n) -> bool:
    return n.target in VIEWS and n.target is not COPY


def evaluated(n, constants) -> bool:
    """Returns true for an elementwise function of constants that are much smaller, such as a distance of positions or ALiBi's bias. It is
    evaluated where it is read, and not stored."""
    value, leaves, waiting, steps = n.meta["val"], set(), [n], 0
    if n.target not in _EXACT or value.numel() < _LARGE or value.dtype not in _EXACT_DTYPES or not all(map(_evaluates, n.users)):
        return False
    while waiting and steps <= _STEPS:
        m = waiting.pop()
        if m.op == "call_function" and (is_view(m) or m.target in _EXACT and m.meta["val"].dtype in _EXACT_DTYPES and set(m.kwargs) <= {"dtype"}):
            steps += m.target in _EXACT
            waiting += m.all_input_nodes
        else:
            leaves.add(constants.first(m))
    return not waiting and steps <= _STEPS and sum(m.meta["val"].numel() for m in leaves) * _SMALLER <= value.numel()


def _evaluates(user) -> bool:
    """Returns true if an operator reads each element once or more, where programs evaluate it: not as the number of a row."""
    return is_pointwise(user.target) or user.target in (custom.ATTENTION, custom.MASK) or is_view(user) and all(map(_evaluates, user.users))


def raised(work, node) -> bool:
    """Lets a function of positions have the dimensions of its view, so that no view is between it and what reads it."""
    x, constants = node.args[0], work.constants
    if work.opened or x.target not in _EXACT or x not in constants or node not in constants or not evaluated(x, constants):
        return False
    node.replace_all_uses_with(_unsqueezed(work, node, x, node.args[1]))
    return True


def _unsqueezed(work, before, x, dim):
    if x.target not in _EXACT:
        return work.once(before, aten.unsqueeze.default, x, dim)

    def operand(a):
        at = dim - x.meta["val"].ndim + a.meta["val"].ndim
        return _unsqueezed(work, before, a, at) if at >= 0 else a  # the dimension broadcasts

    return work.once(before, x.target, *torch.fx.map_arg(x.args, operand), **x.kwargs)


def functions(graph, is_leaf) -> tuple:
    """Returns (the nodes that follow from the leaves by views and by operators of positions alone, without numbers of open sizes; those of
    the operators that others read), in the graph's order."""
    inside = {}
    for n in graph.nodes:
        if is_leaf(n) or n.op == "call_function" and not sized((n.args, n.kwargs)) and (is_view(n) or n.target in _EXACT) and n.all_input_nodes and all(m in inside for m in n.all_input_nodes):
            inside[n] = None
    made = [n for n in inside if n.target in _EXACT]
    return list(inside), [n for n in made if any(u not in inside or is_view(u) for u in n.users)]


def as_inputs(module, values) -> tuple:
    """Returns (a copy of a part's module in which functions of positions are further inputs, the declared tensors of its inputs)."""
    graph = copy.deepcopy(module.graph)
    inside, roots = functions(graph, lambda n: n.op == "placeholder" and n.name.startswith("constant_"))
    if not roots:
        return module, values
    last = [n for n in graph.nodes if n.op == "placeholder"][-1]
    for n in roots:
        with graph.inserting_after(last):
            last = graph.placeholder(f"{n.name}_of_positions")
        last.meta["val"] = n.meta["val"]
        n.replace_all_uses_with(last)
    for n in reversed(inside):
        if not n.users and n.op == "call_function":
            graph.erase_node(n)
    made = torch.fx.GraphModule(module, graph)
    made.recompile()
    return made, [*values, *(n.meta["val"] for n in roots)]
