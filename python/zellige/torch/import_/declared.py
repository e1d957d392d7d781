"""Corrects the dtypes that torch declares for operators with several results, where torch's kernels return other
dtypes.

    correct(graph)      # node.meta["val"] of such operators, and of all nodes that depend on them

torch declares float32 for the running statistics that functional batch norms return, but these have the arguments'
dtype. It declares the input's dtype for the indices and counts of `unique`, but these are int64.
"""

import torch

from ..applications import applied

_ATEN = torch.ops.aten
# Per operator and index of a result: the index of the argument whose dtype the result has, or its dtype.
MADE = {
    _ATEN._native_batch_norm_legit_functional.default: {3: 3, 4: 4},
    _ATEN._batch_norm_with_update_functional.default: {4: 3, 5: 4},
    _ATEN.unique_consecutive.default: {1: torch.int64, 2: torch.int64},
    _ATEN.unique_dim.default: {1: torch.int64, 2: torch.int64},
}


def correct(graph) -> None:
    """Corrects node.meta["val"] of a graph in place, for the operators in MADE and all nodes that depend on them."""
    changed = set()
    for node in graph.nodes:
        if node.target in MADE:
            values = list(node.meta["val"])
            for i, of in MADE[node.target].items():
                dtype = of if isinstance(of, torch.dtype) else node.args[of].meta["val"].dtype
                if values[i].dtype != dtype:
                    applied("dtype of a further result")
                    values[i] = values[i].to(dtype)
                    changed.add(node)
            node.meta["val"] = tuple(values)
    follow(graph, changed)


def follow(graph, changed, real=None, asked=()) -> None:
    """Recomputes the metadata (node.meta["val"]) of all nodes that depend on the nodes `changed`.

    `real(node, value)`, if given, is called for each recomputed node with the result `value` that torch declares, and
    returns this result with the strides of the node's kernel. `asked`: nodes for which `real` is called even if they do
    not depend on `changed`."""
    asked = set(asked)
    for node in graph.nodes if changed or asked else ():
        if node.op != "call_function" or node in changed:
            continue
        before = after = node.meta.get("val")
        if not changed.isdisjoint(node.all_input_nodes):
            after = _called(node)
        elif node not in asked:
            continue
        after = real(node, after) if real and isinstance(after, torch.Tensor) else after
        if _differs(before, after):
            node.meta["val"] = after
            changed.add(node)


def _called(node):
    """Returns the result that torch declares for a node's current arguments. If the node is a view that the arguments'
    strides do not allow, makes it a reshape."""
    args, kwargs = torch.fx.map_arg((node.args, node.kwargs), lambda n: n.meta["val"])
    try:
        return node.target(*args, **kwargs)
    except Exception:
        if node.target not in (_ATEN.view.default, _ATEN._unsafe_view.default):
            raise
        node.target = _ATEN.reshape.default  # the new strides do not allow a view
        return node.target(*args, **kwargs)


def _differs(before, after) -> bool:
    if not isinstance(before, torch.Tensor) or not isinstance(after, torch.Tensor):
        return True
    return before.dtype != after.dtype or before.stride() != after.stride()
