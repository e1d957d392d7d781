"""Folds constants of a torch graph: tensors that depend on no input, such as positions, masks and index tables, are
computed once, at compile time.

    constants = Constants(graph)
    node in constants; constants.value(node)      whether a node is constant; its value, on the CPU
    fold(work, output)                            makes constant tensors attributes of the module
"""

import torch
from torch.utils._python_dispatch import _disable_current_modes

from ..import_.kinds import COPY
from ..import_.symbols import OF_SIZES, sized
from . import positions

aten = torch.ops.aten

MAX_ELEMENTS = 1 << 27  # largest constant that is evaluated
MAX_BYTES = 256 << 20  # limit for all constants that a graph keeps
# key in a module's meta: (a graph that computes the module's constants, the module of the tensors that this graph reads)
MADE = "zellige: how the constants are computed"


class Constants:
    """The constant nodes of a torch graph, which depend on none of its inputs, and their values, which are
    computed on demand. Nodes with the same operator and equal arguments, such as the masks of a model's layers, share
    one value. A node that is made later is looked at when it is asked for."""

    def __init__(self, graph, on_cpu=True, of_sizes=True):
        """Finds the constants of a graph. on_cpu: compute their values on the CPU, wherever the graph's tensors
        are. of_sizes: also those that depend on the graph's open sizes, which are those of one value of each."""
        self.values, self.on_cpu, self.of_sizes = {}, on_cpu, of_sizes
        self._found, self._first, self._by_call = {}, {}, {}  # by node: whether it is constant; the first one computed so, also by call
        for n in graph.nodes:
            self._is_constant(n)

    def _is_constant(self, n) -> bool:
        if n not in self._found:
            self._found[n] = self._look(n)
        return self._found[n]

    def _look(self, n) -> bool:
        # a literal tensor
        if n.op == "get_attr" and all(u.target is aten.lift_fresh_copy.default for u in n.users):
            self.values[n] = getattr(n.graph.owning_module, n.target, None)
            return True
        if n.op != "call_function" or not isinstance(n.target, torch._ops.OpOverload) or n.target._schema.is_mutable:
            return False
        if torch.Tag.nondeterministic_seeded in n.target.tags or not all(map(self._is_constant, n.all_input_nodes)):
            return False
        if not self.of_sizes and (n.meta.get(OF_SIZES) or sized((n.args, n.kwargs))):
            return False
        arguments = torch.fx.map_arg((n.args, n.kwargs), self.first)
        self._first[n] = self._by_call.setdefault((n.target, str(arguments)), n)
        return True

    def __contains__(self, n) -> bool:
        return self._is_constant(n) and isinstance(n.meta.get("val"), torch.Tensor) and n.meta["val"].numel() <= MAX_ELEMENTS

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


def fold(work, output) -> int:
    """Replaces constant nodes by attributes of the module, if other nodes than constants read them."""
    graph, module, kept, folded = work.graph, work.module, 0, []
    constants = Constants(graph, on_cpu=False, of_sizes=False)
    for n in _read(graph, constants):
        value = constants.value(n)
        if value is not None and value.device == n.meta["val"].device and kept + value.nbytes <= MAX_BYTES:
            kept += value.nbytes
            folded.append(n)
    if folded:
        module.meta[MADE] = _computed(graph, constants, folded), module
    for i, n in enumerate(folded):  # after all are computed, as one may be computed of another
        module.register_buffer(_name(i), constants.value(n))
        with graph.inserting_before(n):
            attribute = graph.get_attr(_name(i))
        attribute.meta["val"] = n.meta["val"]
        n.replace_all_uses_with(attribute)
        work.attributes.append(attribute)
    return len(folded)


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


def _read(graph, constants) -> list:
    """Returns the constant nodes to store: those that are read by a node that is not constant. In place of a view, and of a function
    of positions, returns what it is computed of at each call."""
    found, shown = [], set()  # shown: views that other nodes read
    for n in reversed(graph.nodes):
        if n.op != "call_function" or n not in constants or all(u in constants and u not in shown for u in n.users):
            continue
        if (positions.is_view(n) or positions.evaluated(n, constants)) and all(m in constants for m in n.all_input_nodes):
            shown.add(n)
        else:
            found.append(n)
    return found[::-1]


def stored(module) -> None:
    """Stores the functions of positions that no program evaluates, as constants."""
    computed, owner = module.meta.get(MADE, (None, None))
    if computed is None:
        return
    output, values, copies = computed.output_node(), {}, {}
    for i, n in enumerate(output.args[0]):
        values[_name(i)] = n
    inside, roots = positions.functions(module.graph, lambda n: n.op == "get_attr" and n.target in values)
    real = {}
    for n in inside if roots else ():
        if n.op == "get_attr":
            copies[n], real[n] = values[n.target], getattr(module, n.target)
        else:
            with computed.inserting_before(output):
                copies[n] = computed.node_copy(n, copies.__getitem__)
            with _disable_current_modes(), torch.no_grad():
                real[n] = n.target(*torch.fx.map_arg(n.args, real.__getitem__), **n.kwargs)
    for n in roots:
        name = _name(len(output.args[0]))
        output.args = ([*output.args[0], copies[n]],)
        module.register_buffer(name, real[n])
        with module.graph.inserting_before(n):
            attribute = module.graph.get_attr(name)
        attribute.meta["val"] = n.meta["val"]
        n.replace_all_uses_with(attribute)
    for n in reversed(inside):
        if not n.users:
            module.graph.erase_node(n)


def copy_outputs(work, output) -> int:
    """Inserts a copy before each output of the graph that is a constant or a view of it, because the graph's caller may write
    to outputs."""
    reached, copied = list(work.attributes), 0
    for n in reached:
        reached += [u for u in n.users if positions.is_view(u)]
    for n in reached:
        if output in n.users:
            output.replace_input_with(n, work.call(output, COPY, n))
            copied += 1
    return copied
