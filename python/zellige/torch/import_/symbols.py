"""Specialises the symbolic sizes of a torch graph to numbers, because a program has fixed sizes.

    if marked(graph_module): ...            # true: the caller declared sizes dynamic, which must not be specialised
    specialize(graph_module)                # for a backend's graph: each symbol gets a guard, so each size gets its own graph
    fix(module.graph, known)                # for AOT's graph: symbols become their numbers; known: Zellige's operators

Data-dependent sizes (nonzero, item) have no number; operators that read them are left to torch.
"""

import torch
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

NUMBERS = {torch.SymInt: int, torch.SymFloat: float, torch.SymBool: bool}


def number(x):
    """Returns the value of the symbolic number x, and adds a guard on it. Returns None for a data-dependent number."""
    return None if free_unbacked_symbols(x) else NUMBERS[type(x)](x)


def _symbols(value) -> list:
    """Returns the symbolic numbers in a value: in a list, or in the sizes, strides and offset of a tensor."""
    if isinstance(value, torch.Tensor) and value.layout == torch.strided:
        value = (*value.shape, *value.stride(), value.storage_offset())
    found = value if isinstance(value, (tuple, list)) else (value,)
    return [n for n in found if type(n) in NUMBERS]


def _inputs(graph_module):
    return [n.meta.get("example_value") for n in graph_module.graph.nodes if n.op == "placeholder"]


def marked(graph_module) -> bool:
    """Returns true if the caller has marked the size of an input as dynamic (mark_dynamic), so that it must not be
    specialised."""
    env = next((s.node.shape_env for v in _inputs(graph_module) for s in _symbols(v)), None)
    contexts = [t.symbolic_context for t in (env.tracked_fakes or [])] if env is not None else []
    constraints = [c for x in contexts for c in (*(getattr(x, "constraint_sizes", None) or ()), getattr(x, "constraint", None))]
    return any(c is not None and not c.warn_only for c in constraints)


def changes_shared(graph_module) -> bool:
    """Returns true if a graph mutates tensors, and some of its inputs have symbolic sizes and share memory. torch's
    analysis of overlaps fails for such inputs once their sizes are specialised."""
    tensors = [v for v in _inputs(graph_module) if isinstance(v, torch.Tensor) and v.layout == torch.strided]
    memories = [v.untyped_storage()._cdata for v in tensors]
    shared = any(_symbols(v) and memories.count(m) > 1 for v, m in zip(tensors, memories))
    return shared and any(_changes(n) for n in graph_module.graph.nodes)


def _changes(node) -> bool:
    """Returns true if a node's name shows that it mutates a tensor."""
    name = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "")
    return node.op in ("call_method", "call_function") and (
        name.split(".")[0].endswith("_") or name.startswith(("i", "set")) or "out" in node.kwargs
    )


def specialize(graph_module) -> None:
    """Adds a guard on each symbolic size of the inputs."""
    for value in _inputs(graph_module):
        for symbol in _symbols(value):
            number(symbol)


def fix(graph, known) -> None:
    """Replaces the symbolic numbers in a graph by their values, in place. `known`: the operators that may become
    programs. A symbolic float is replaced only where one of these operators reads it."""
    for node in graph.nodes:
        value = node.meta.get("val")
        if type(value) in NUMBERS:
            users = [u for u in node.users if u.target in known or isinstance(value, torch.SymInt)]
            fixed = number(value) if users else None
            for user in users if fixed is not None else ():
                user.args, user.kwargs = torch.fx.map_arg((user.args, user.kwargs), lambda n: fixed if n is node else n)
        elif isinstance(value, (tuple, list)):
            node.meta["val"] = type(value)(map(_fixed, value))
        else:
            node.meta["val"] = _fixed(value)


def _fixed(value):
    """Returns a fake tensor like `value` whose sizes are numbers. Returns `value` itself if its sizes are numbers
    already, or if one of them is data-dependent."""
    if not isinstance(value, torch.Tensor) or not _symbols(value):
        return value
    shape, strides = ([number(n) if type(n) in NUMBERS else n for n in sizes] for sizes in (value.shape, value.stride()))
    if None in shape or None in strides:
        return value
    with value.fake_mode:
        return torch.empty_strided(shape, strides, dtype=value.dtype, device=value.device)
