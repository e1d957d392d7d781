"""Makes the function that dynamo calls for a graph, without the wrappers of AOT autograd if these have nothing to do.

    function = forward(module)     the Python function that torch.fx generates for a graph module
    run = unwrapped(wrapped, function, module, metadata, inputs)
                                   `function` if the wrappers have nothing to do, else `wrapped`

`wrapped` is AOT's wrapper around `function`, and `metadata` AOT's description of the graph. The wrappers update inputs
after the graph has run, create outputs that are views of inputs, and keep torch's records for gradients. On the host
they take about as long per call as a kernel launch.
"""

import torch
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

# namespaces of operators whose results AOT need not check, unlike those of custom operators
_NO_CUSTOM_OPERATORS = ("aten", "prims", "prim", "zellige")


def forward(module):
    """Returns the Python function that torch.fx generates for a graph module, already generated and compiled. (A call
    of the module itself would take longer: it goes through hooks, and torch might generate the function at the start of
    each call.)"""
    module.code  # noqa: B018 (compiles the code)
    return module.forward


def unwrapped(wrapped, function, module, metadata, inputs):
    """Returns `function`, the function of a graph, if AOT's wrapper around it, `wrapped`, would only pass arguments on;
    else `wrapped`. `function` takes the graph's inputs, or a list of them. `metadata`: AOT's description of the
    graph."""
    if not _idle(metadata) or not _is_simple(module, inputs) or torch._C._is_any_autocast_enabled():
        return wrapped
    if getattr(function, "_boxed_call", False):
        return lambda *given: function(list(given))
    return function


def _idle(metadata) -> bool:
    """Returns true if AOT's wrappers of a graph only pass their arguments on. `metadata`: AOT's description of the
    graph."""
    try:
        at_work = (metadata.num_mutated_inp_runtime_indices, metadata.mutated_graph_handled_indices_seen_by_autograd, metadata.num_outputs_aliased,
                   metadata.num_intermediate_bases, metadata.dynamic_outputs, metadata.tokens, metadata.is_rng_op_functionalized,
                   metadata.num_graphsafe_rng_states, metadata.grad_enabled_mutation is not None)  # fmt: skip
    except AttributeError:  # a torch version with other names
        return False
    return not any(at_work)


def _is_simple(module, inputs) -> bool:
    """Returns true if a graph has no custom operators and no inputs that are tensor subclasses."""
    placeholders = [n for n in module.graph.nodes if n.op == "placeholder"]
    operators = [n.target for n in module.graph.nodes if isinstance(n.target, torch._ops.OpOverload)]
    known = all(o.namespace in _NO_CUSTOM_OPERATORS for o in operators)
    return known and len(placeholders) == len(inputs) and not any(is_traceable_wrapper_subclass(x) for x in inputs)
