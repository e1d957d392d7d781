"""Makes the function that dynamo calls for a graph, without the wrappers of AOT autograd if these have nothing to do.

    function = forward(module)     the Python function that torch.fx generates for a graph module
    is_alone(module, metadata, inputs)
                                   true if the wrappers have nothing to do: then dynamo may call
    run = alone(function)

`metadata` is AOT's description of the graph. The wrappers update inputs
after the graph has run, create outputs that are views of inputs, and keep torch's records for gradients. On the host
they take about as long per call as a kernel launch.
"""

import torch
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from . import kept

# namespaces of operators whose results AOT need not check, unlike those of custom operators
_NO_CUSTOM_OPERATORS = ("aten", "prims", "prim", "zellige")


def forward(module):
    """Returns the Python function that torch.fx generates for a graph module, already generated and compiled. (A call
    of the module itself would take longer: it goes through hooks, and torch might generate the function at the start of
    each call.) CUDA graphs that capture a call keep the constants that it reads."""
    module.code  # noqa: B018 (compiles the code)
    return kept.keeping(module.forward, kept.read_by(module))


def is_alone(module, metadata, inputs) -> bool:
    """Returns true if AOT's wrapper around the function of a graph would only pass arguments on. `module`: the graph that
    AOT traced; `metadata`: AOT's description of it."""
    return _idle(metadata) and _is_simple(module, inputs) and not torch._C._is_any_autocast_enabled()


def guards() -> tuple:
    """Returns the numbers of guards on sizes, and on which inputs share memory, of the graph that is being compiled."""
    context = torch._guards.TracingContext.try_get()
    if context is None:
        return ()
    env = context.fake_mode.shape_env if context.fake_mode is not None else None
    return len(env.guards) if env is not None else 0, len(context.guards_context.aotautograd_guards)


def alone(function, dynamic=()):
    """Returns a function of a graph's inputs that calls `function`, which takes them, or a list of them. `dynamic`: as of `dynamic_in`."""
    takes_list = getattr(function, "_boxed_call", False)
    if dynamic:

        def marking(*given):
            made = function(list(given)) if takes_list else function(*given)
            for i, dims in dynamic:
                made[i]._dynamo_weak_dynamic_indices = {*dims}
            return made

        return marking
    return (lambda *given: function(list(given))) if takes_list else function


def dynamic_in(metadata) -> list:
    """Returns (its index, its dimensions with open sizes) for each result that has some, which AOT marks for graphs that read it."""
    return [(i, sorted(o.dynamic_dims)) for i, o in enumerate(metadata.output_info) if o.dynamic_dims] if metadata.dynamic_outputs else []


def _idle(metadata) -> bool:
    """Returns true if AOT's wrappers of a graph only pass their arguments on, and mark results. `metadata`: AOT's description of
    the graph."""
    try:
        at_work = (metadata.num_mutated_inp_runtime_indices, metadata.mutated_graph_handled_indices_seen_by_autograd, metadata.num_outputs_aliased,
                   metadata.num_intermediate_bases, metadata.tokens, metadata.is_rng_op_functionalized,
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
