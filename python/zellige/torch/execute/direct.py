"""Generates the Python function of a torch graph in which some parts (sets of operators) have become programs. The
function calls each part's program and, for all other operators, torch's own Python bindings. It calls them directly,
not through submodules or ATen's operator lookup."""

import warnings

import torch
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols
from torch.fx.node import _get_qualified_name
from torch.utils._python_dispatch import TorchDispatchMode

from ..applications import applied
from ..import_ import custom, open_graph
from ..import_.kinds import properties
from ..measure import attention_kernels
from ..rewrites import channels_last, constants, expanded, speculation
from ..rewrites.rule import Level, Work, apply
from ..rewrites.table import rows
from . import wrappers

# where torch's bindings of ATen's operators are
_OWNERS = torch._C._VariableFunctions, torch._C.TensorBase, torch._C._nn
PART = "zellige: the part that this node calls"  # key in the meta of a node


def call(module, node, part) -> None:
    """Replaces `node`, which calls the submodule with the operators of `part`, by a call of the function part.call, which
    runs these operators as a program. Deletes the submodule."""
    with module.graph.inserting_before(node):
        made = module.graph.call_function(part.call, (*node.args, *part.markers))
    made.meta = {**node.meta, PART: part}
    node.replace_all_uses_with(made)
    module.graph.erase_node(node)
    module.delete_submodule(node.target)


def function_of(module):
    """Returns the function of a graph with the calls of parts."""
    straighten(module)
    return wrappers.forward(module)


def straighten(module) -> None:
    """Prepares the module for calls: inlines its submodules, replaces calls through ATen by torch's own bindings where
    possible, and regenerates its Python code."""
    for node in module.graph.find_nodes(op="call_module"):
        inline(module, node)
    expanded.restore(module.graph)
    constants.stored(module)
    speculation.revert(module.graph)
    channels_last.declare(module.graph)
    apply(rows(Level.call), Work(module), 1)
    bindings = {}
    for node in module.graph.nodes:
        if node.op == "call_function":
            node.target = _binding_as_before(node, bindings)
    open_graph.insert(module)
    module.recompile()


def inline(module, node) -> list:
    """Replaces the call of a submodule by the submodule's operators. Returns the new nodes."""
    inside, here, given = module.get_submodule(node.target), {}, iter(node.args)
    for n in inside.graph.nodes:
        if n.op == "placeholder":
            here[n] = next(given)
        elif n.op != "output":
            with module.graph.inserting_before(node):
                here[n] = module.graph.node_copy(n, here.__getitem__)
        elif isinstance(n.args[0], torch.fx.Node):
            node.replace_all_uses_with(here[n.args[0]])
        else:
            for getter in list(node.users):  # operator.getitem, which the partition inserted
                getter.replace_all_uses_with(here[n.args[0][getter.args[1]]])
                module.graph.erase_node(getter)
    module.graph.erase_node(node)
    module.delete_submodule(node.target)
    return [here[n] for n in inside.graph.nodes if n.op == "call_function"]


def _binding_as_before(node, bindings):
    """Returns the function to call for a node, as _binding does, but examines only the first of several ATen calls of
    the same operator with like arguments. `bindings`: the cache of the results."""
    if not isinstance(node.target, torch._ops.OpOverload) or node.target.namespace != "aten":
        return _binding(node)
    of = lambda n: properties(n.meta.get("val"))  # noqa: E731
    called = open_graph.shown((torch.fx.map_arg(node.args, of), torch.fx.map_arg(node.kwargs, of)))
    key = node.target, called, repr(properties(node.meta.get("val")))
    if key not in bindings:
        bindings[key] = _binding(node)
    return bindings[key]


def _binding(node):
    """Returns the function to call for a node: torch's own function with the ATen operator's name, if it calls this
    operator with the same arguments and returns tensors like those that torch declared, else node.target. A call of
    node.target takes three times as long, because ATen looks the operator up by name and parses its arguments by the
    schema."""
    target = node.target
    if target is custom.ATTENTION:
        return attention_kernels.of(node).call
    if target in custom.FUNCTIONS:
        return custom.FUNCTIONS[target]
    if not isinstance(target, torch._ops.OpOverload) or target.namespace != "aten" or target._schema.is_mutable:
        return target
    function = named(target._schema.name.removeprefix("aten::"))
    declared, mode = node.meta.get("val"), torch._guards.detect_fake_mode([n.meta.get("val") for n in (node, *node.all_input_nodes)])
    # data-dependent sizes never compare as equal
    if function is None or declared is None or mode is None or free_unbacked_symbols(declared):
        return target
    args, kwargs = torch.fx.map_arg((node.args, node.kwargs), lambda n: n.meta["val"])
    try:
        # torch's autograd kernels decompose some operators
        with warnings.catch_warnings(), mode, torch.no_grad(), _Called() as called, torch._C._AutoDispatchBelowAutograd():
            warnings.simplefilter("ignore")  # torch's own, about a signature that is only tried
            made = function(*args, **kwargs)
    except Exception:  # the function has another signature
        return target
    # an operator that is made of others is none of those that are called
    made_of_others = target.has_kernel_for_dispatch_key(torch._C.DispatchKey.CompositeImplicitAutograd)
    if not made_of_others and called.operators != [target.overloadpacket] or not _matches(made, declared):
        return target
    applied("torch's own binding")
    return function


def named(name):
    """Returns torch's function, method, or function of networks with the name of an ATen operator; None if there is none,
    or if fx cannot write its name in the code of a graph."""
    for owner in _OWNERS:
        function = getattr(owner, name, None)
        if function is not None:
            try:
                _get_qualified_name(function)
                return function
            except RuntimeError:
                continue
    return None


class _Called(TorchDispatchMode):
    """Lists the operators of ATen that are called within it, without their overloads."""

    def __init__(self):
        super().__init__()
        self.operators = []

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        if operator.namespace == "aten":
            self.operators.append(operator.overloadpacket)
        return operator(*args, **(kwargs or {}))


def _matches(made, declared) -> bool:
    """Returns true if the tensors `made` have the shapes, dtypes, devices and strides of the tensors `declared`."""
    if isinstance(declared, (tuple, list)):
        return isinstance(made, (tuple, list)) and len(made) == len(declared) and all(map(_matches, made, declared))
    if not isinstance(declared, torch.Tensor):
        return made == declared
    same = isinstance(made, torch.Tensor) and made.shape == declared.shape and made.dtype == declared.dtype
    return same and made.device == declared.device and made.stride() == declared.stride()
