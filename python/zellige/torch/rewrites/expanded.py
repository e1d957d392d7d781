"""Replaces an operator by several that programs have, and puts it back where no program has become of them.

    expanded(work, node, function, *operands)    replaces the node by what `function` computes of the nodes `operands`
    restore(graph)                               puts operators back whose replacements are all left to torch
    restored(module)                             the same in a copy of a module, which is measured as torch's kernels
"""

import copy
import operator
from dataclasses import dataclass

import torch
from torch.fx.experimental.proxy_tensor import make_fx

from ..import_ import schema
from ..import_.decompositions import decompositions
from ..import_.kinds import value_of
from ..measure import estimates

_RESULT = "zellige: result of an operator that was replaced"  # key in the meta of a node: the index of the result, or None


@dataclass(frozen=True, eq=False)
class Original:
    """An operator that was replaced. Nodes are known by their names, which copies of a graph keep."""

    target: object
    args: tuple
    kwargs: dict
    operands: dict  # by name of an operand, its declared tensor
    value: object  # what torch declares as the result
    inside: set  # names of the nodes that replace it
    cost: estimates.Cost


@dataclass(frozen=True)
class _Named:
    name: str


def expanded(work, node, function, *operands) -> bool:
    """Replaces a node by what `function` computes of the nodes `operands`, in operators that programs have."""
    values = [value_of(n) for n in operands]
    with values[0].fake_mode:
        made = make_fx(function, decomposition_table=decompositions())(*values).graph
    if any(n.op == "get_attr" for n in made.nodes):  # a tensor that was made while tracing has no numbers
        return False
    schema.bind(made)
    original = node.meta.get(estimates.ORIGINAL) or _original(node)
    placeholders, copies = iter(operands), {}
    for n in made.nodes:
        if n.op == "placeholder":
            copies[n] = next(placeholders)
        elif n.op == "output":
            results = n.args[0]
        else:
            with work.graph.inserting_before(node):
                copies[n] = work.graph.node_copy(n, copies.__getitem__)
            copies[n].meta |= {key: node.meta[key] for key in ("stack_trace", "source_fn_stack") if key in node.meta}
            copies[n].meta[estimates.ORIGINAL] = original
            original.inside.add(copies[n].name)
    several = isinstance(results, (tuple, list))
    for user, result in [(u, copies[results[u.args[1]]]) for u in list(node.users)] if several else [(node, copies[results])]:
        if estimates.ORIGINAL not in node.meta and result not in operands:
            result.meta[_RESULT] = user.args[1] if several else None
        elif _RESULT in user.meta:
            result.meta[_RESULT] = user.meta[_RESULT]
        user.replace_all_uses_with(result)
    return True


def _original(node) -> Original:
    args, kwargs = torch.fx.map_arg((node.args, node.kwargs), lambda n: _Named(n.name))
    operands = {n.name: n.meta["val"] for n in node.all_input_nodes}
    return Original(node.target, args, kwargs, operands, node.meta["val"], set(), estimates.of_torch([node]))


def restore(graph) -> int:
    """Puts operators back whose replacements are all in this graph. Returns how many."""
    results = {}
    for n in graph.nodes:
        if _RESULT in n.meta and _is_operator(n):
            results.setdefault(n.meta[estimates.ORIGINAL], []).append(n)
    return sum(_put_back(graph, original, nodes) for original, nodes in results.items())


def _put_back(graph, original, results) -> bool:
    named = {n.name: n for n in graph.nodes if n.name in original.operands}
    inside = _inside(original, results)
    if inside is None or set(named) != set(original.operands) or not all(_same(named[k].meta["val"], v) for k, v in original.operands.items()):
        return False
    first = min(results)
    if not all(n < first for n in named.values()):
        return False
    back = lambda tree: torch.utils._pytree.tree_map(lambda x: named[x.name] if isinstance(x, _Named) else x, tree)  # noqa: E731
    with graph.inserting_before(first):
        made = graph.call_function(original.target, back(original.args), back(original.kwargs))
        made.meta = {"val": original.value} | {key: first.meta[key] for key in ("stack_trace", "source_fn_stack") if key in first.meta}
        for n in results:
            result = made if n.meta[_RESULT] is None else graph.call_function(operator.getitem, (made, n.meta[_RESULT]))
            result.meta.setdefault("val", n.meta["val"])
            n.replace_all_uses_with(result)
    for n in sorted(inside, reverse=True):
        if not n.users:
            graph.erase_node(n)
    return True


def _inside(original, results):
    """Returns the nodes of this graph from which the results are computed, after the operands; None if others compute some."""
    found, waiting = set(), list(results)
    while waiting:
        n = waiting.pop()
        if n in found or n.name in original.operands:
            continue
        if n.meta.get(estimates.ORIGINAL) is original and _is_operator(n):
            found.add(n)
            waiting += n.all_input_nodes
        elif n.op != "get_attr" and (n.op != "placeholder" or n.name in original.inside):  # other placeholders are constants
            return None
    return found


def _is_operator(n) -> bool:
    """Returns true for an operator that replaces another. The call of a part has the meta of what the part returns."""
    return estimates.ORIGINAL in n.meta and (isinstance(n.target, torch._ops.OpOverload) or n.target is operator.getitem)


def _same(x, y) -> bool:
    return isinstance(x, torch.Tensor) and isinstance(y, torch.Tensor) and (x.shape, x.dtype, x.stride()) == (y.shape, y.dtype, y.stride())


def restored(module):
    """Returns a copy of a module with the operators that `restore` puts back; the module itself if there is none."""
    if all(_RESULT not in n.meta for n in module.graph.nodes):
        return module
    graph = copy.deepcopy(module.graph)
    if not restore(graph):
        return module
    made = torch.fx.GraphModule(module, graph)
    made.recompile()
    return made
