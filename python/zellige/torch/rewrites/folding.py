"""Folds constants of a torch graph: tensors that depend on no input, such as positions, masks and index tables, are
computed once, at compile time.

    constants = Constants(graph)
    node in constants; constants.value(node)      whether a node is constant; its value, on the CPU
    fold(module)                                  makes constant tensors attributes of the module
"""

import torch
from torch.utils._python_dispatch import _disable_current_modes

from ..applications import applied
from ..import_.views import VIEWS

aten = torch.ops.aten

MAX_ELEMENTS = 1 << 27  # largest constant that is evaluated
MAX_BYTES = 256 << 20  # limit for all constants that a graph keeps
# key in a module's meta: (a graph that computes the module's constants, the module of the tensors that this graph reads)
MADE = "zellige: how the constants are computed"


class Constants:
    """The constant nodes of a torch graph, which depend on none of its inputs, and their values, which are
    computed on demand. Nodes with the same operator and equal arguments, such as the masks of a model's layers, share
    one value."""

    def __init__(self, graph, on_cpu=True):
        """Finds the constants of a graph. on_cpu: compute their values on the CPU, wherever the graph's tensors
        are."""
        self.found, self.values, self.on_cpu = set(), {}, on_cpu
        self._first, first = {}, {}  # by node: the first constant that is computed in the same way
        for n in graph.nodes:
            # a literal tensor
            if n.op == "get_attr" and all(u.target is aten.lift_fresh_copy.default for u in n.users):
                self.found.add(n)
                self.values[n] = getattr(graph.owning_module, n.target, None)
            elif n.op == "call_function" and isinstance(n.target, torch._ops.OpOverload) and not n.target._schema.is_mutable:
                if torch.Tag.nondeterministic_seeded not in n.target.tags and all(m in self.found for m in n.all_input_nodes):
                    self.found.add(n)
                    arguments = torch.fx.map_arg((n.args, n.kwargs), self.first)
                    self._first[n] = first.setdefault((n.target, str(arguments)), n)

    def __contains__(self, n) -> bool:
        return n in self.found and isinstance(n.meta.get("val"), torch.Tensor) and n.meta["val"].numel() <= MAX_ELEMENTS

    def first(self, n):
        """Returns the first constant node that is computed as the constant node n is, which may be n itself."""
        return self._first.get(n, n)

    def value(self, n):
        """Returns the value of a constant node; None if it cannot be computed."""
        n = self.first(n)
        if n not in self.values:
            try:
                args, kwargs = torch.fx.map_arg((n.args, n.kwargs), self._operand)
                if self.on_cpu and "device" in kwargs:
                    kwargs = {**kwargs, "device": "cpu"}
                made = n.target(*args, **kwargs)
                self.values[n] = made.cpu() if self.on_cpu and isinstance(made, torch.Tensor) else made
            except Exception:  # for example, no kernel for this device
                self.values[n] = None
        return self.values[n]

    def _operand(self, n):
        value = self.value(n)
        if value is None:
            raise ValueError(n.name)
        return value

    def number(self, x):
        """Returns the number that all elements of a constant node have, or x itself if it is a number. Returns None if
        the elements differ or the node is not constant."""
        if isinstance(x, (int, float)):
            return float(x)
        value = self.value(x) if isinstance(x, torch.fx.Node) and x in self else None
        if value is None or value.numel() == 0 or not bool((value == value.flatten()[0]).all()):
            return None
        return float(value.flatten()[0])



def fold(module) -> set:
    """Replaces constant nodes by attributes of the module, if other nodes than constants read them. Returns the names
    of the attributes' nodes. An output becomes a copy of its constant, because the graph's caller may write to
    outputs."""
    graph, kept, names, folded = module.graph, 0, set(), []
    with _disable_current_modes(), torch.no_grad():
        constants = Constants(graph, on_cpu=False)
        for n in _read(graph, constants):
            value = constants.value(n)
            if value is None or value.device != n.meta["val"].device or kept + value.nbytes > MAX_BYTES:
                continue
            applied("constant computed while compiling")
            kept += value.nbytes
            folded.append(n)
            name = _name(len(names))
            module.register_buffer(name, value)
            with graph.inserting_before(n):
                attribute = graph.get_attr(name)
            attribute.meta["val"] = n.meta["val"]
            n.replace_all_uses_with(attribute)
            names.add(attribute.name)
            _copy_outputs(graph, attribute)
        if folded:
            module.meta[MADE] = _computed(graph, constants, folded), module
    graph.eliminate_dead_code()
    return names


def named(values) -> dict:
    """Returns the constants that the graph in MADE computed, by the names of the module's attributes."""
    return {_name(i): value for i, value in enumerate(values)}


def _name(i) -> str:
    return f"constant_{i}"


def _computed(graph, constants, folded):
    """Returns a graph without inputs that computes the constants `folded`, nodes of `graph`, as a list."""
    read, waiting = set(), [constants.first(n) for n in folded]
    while waiting:
        n = waiting.pop()
        if n not in read:
            read.add(n)
            waiting += map(constants.first, n.all_input_nodes)
    made, copies = torch.fx.Graph(graph.owning_module), {}
    for n in graph.nodes:
        if n in read:
            copies[n] = made.node_copy(n, lambda m: copies[constants.first(m)])
    made.output([copies[constants.first(n)] for n in folded])
    return made


def _is_view(n) -> bool:
    return n.target in VIEWS and n.target is not aten.clone.default


def _read(graph, constants) -> list:
    """Returns the constant nodes to store: those that are read by a node that is not constant. In place of a view
    returns its base; the view is then computed at each call."""
    found, shown = [], set()  # shown: views that other nodes read
    for n in reversed(graph.nodes):
        if n.op != "call_function" or n not in constants or all(u in constants and u not in shown for u in n.users):
            continue
        if _is_view(n) and all(m in constants for m in n.all_input_nodes):
            shown.add(n)
        else:
            found.append(n)
    return found[::-1]


def _copy_outputs(graph, attribute) -> None:
    """Inserts a copy before each output of the graph that is the constant `attribute` or a view of it, because the
    graph's caller may write to outputs."""
    output = next(iter(graph.find_nodes(op="output")))
    reached = [attribute]
    for n in reached:
        reached += [u for u in n.users if _is_view(u)]
    for n in reached:
        if output in n.users:
            applied("copy of a constant output")
            with graph.inserting_before(output):
                copy = graph.call_function(aten.clone.default, (n,))
            copy.meta["val"] = n.meta["val"]
            output.replace_input_with(n, copy)
