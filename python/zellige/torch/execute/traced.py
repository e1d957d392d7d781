"""Traces a part of a torch graph: the operators of one program become a graph of Zellige."""

from dataclasses import dataclass

import torch

from ... import operators as op
from ..._native import Error
from ...tracing import Array, Trace
from .. import words
from ..import_ import custom, operators
from ..import_.kinds import COPY
from ..import_.rows import Rows
from ..import_.schema import Left
from ..import_.views import VIEWS, moves


def input_of(trace, name, value, constant=False, strides=True, is_int4=False):
    """Returns a new input of a trace, with the dtype and shape of the torch tensor `value` and, if `strides` is true,
    its strides. is_int4: its bytes are two numbers of int4 each. Raises Left if Zellige does not support the tensor."""
    if not isinstance(value, torch.Tensor) or value.layout != torch.strided:
        raise Left(f"expected tensors with strides, found {f'one of {value.layout}' if isinstance(value, torch.Tensor) else type(value).__name__}")
    if value.is_neg() or value.is_conj():
        raise Left("expected tensors whose memory has their elements, found a lazily negated one")
    if any(not isinstance(n, int) for n in value.shape):
        raise Left(f"expected sizes that do not depend on data, found {tuple(value.shape)}")
    if is_int4:
        return trace.input(name, "int4", (*value.shape[:-1], 2 * value.shape[-1]), None, constant)
    return trace.input(name, operators.dtype_of(value), operators.shape_of(value), (tuple(value.stride()) or (1,)) if strides else None, constant)


@dataclass
class Traced:
    """A part as a graph, and what the call of its program needs of its arguments and results."""

    form: dict  # the graph in JSON form
    read: list  # for each input of the graph, the index of its argument
    order: list  # names of the arguments
    which: list  # for each result, the index of an output, or the complemented index of an argument
    single: bool  # the part returns a tensor, not a list
    shapes: list  # of the results, as torch declares them
    strides: list
    updates: dict  # by index of a result, the index of the argument that is updated in place with it
    copied: set  # indices of the arguments of which programs read copies
    owners: dict  # by name of a tensor, the operator and line of the user's that made it
    nodes: dict  # by name of a tensor, the node that made it


def traced(name, module, constants, given_updates, rows_of=()) -> Traced:
    """Traces the operators of `module`. `constants`: names of read-only placeholders. `given_updates`: a dict from the
    index of a result to the placeholder that is updated in place with this result. `rows_of`: names of
    placeholders of which the program reads row-major copies. Raises Left or Error if an operator is not supported."""
    trace, arrays, order, copied, nodes_of = Trace(name), {}, [], set(), {}
    rows, outputs = Rows(module.graph), ()
    for node in module.graph.nodes:
        if node.op == "placeholder":
            try:
                arrays[node] = _input(trace, node, node.name in constants, node in given_updates.values(), copied, len(order), node.name in rows_of)
            except Error as why:
                raise type(why)(words.operands(str(why), [node.name])) from None
            order.append(arrays[node]._name)
        elif node.op == "output":
            outputs = node.args[0]
        else:
            try:
                arrays[node] = rows.evaluate(node, arrays)
            except Error as why:
                raise words.at(node, why) from None
            nodes_of |= {o: node for o in trace.arrays if o not in nodes_of and o not in order}
    single = not isinstance(outputs, (tuple, list))
    nodes = [outputs] if single else list(outputs)
    updates = {}
    for i, x in given_updates.items():
        op.in_place(arrays[nodes[i]], arrays[x])
        updates[i] = order.index(arrays[x]._name)
    which, made, strides = _results(nodes, arrays, order, rows)
    names = [trace.fresh(f"Y{i}") for i in range(len(made))]
    nodes_of |= {y: nodes_of[m] for m, y in zip(made, names) if m in nodes_of}
    form, read = trace.form([trace.arrays[m] for m in made], names, strides)
    values = [n.meta["val"] for n in nodes]
    owners = {o: words.owner(n) for o, n in nodes_of.items()}
    return Traced(form, [order.index(n) for n in read], order, which, single, [tuple(v.shape) for v in values], [tuple(v.stride()) for v in values],
                  updates, copied, owners, nodes_of)  # fmt: skip


def _results(nodes, arrays, order, rows) -> tuple:
    """Returns (for each of the results `nodes` the index of an output, or the complemented index of an argument; the names of the
    outputs' arrays; their strides)."""
    made, strides, memories, which = [], [], [], []
    for n in nodes:
        value, array = n.meta["val"], arrays[n]
        if array._name in order and not moves(n):
            which.append(~order.index(array._name))
            continue
        if value.is_contiguous():
            array = rows.matrices.get(array._name, array)
        memory = array._name, value.stride(), _copied(n, arrays)
        if memory not in memories:
            if array._name in made or array._name in order:
                array = op.reshape(array, array.shape)  # a separate output: a copy, or another layout
            memories.append(memory)
            made.append(array._name)
            strides.append(tuple(value.stride()) or (1,) if array.shape == arrays[n].shape else (array.shape[1], 1))
        which.append(memories.index(memory))
    if not made:
        raise Left("computes nothing")
    return which, made, strides


def _input(trace, node, constant, updated, copied, at, as_rows):
    """Returns the input for a placeholder. If programs cannot read it in place, such as an expanded tensor or a result of
    `unfold`, the program reads a copy, except of one that it updates; then `at`, its index, is added to `copied`."""
    value = node.meta["val"]
    try:
        if not as_rows:
            return input_of(trace, node.name, value, constant, is_int4=custom.is_int4(node))
    except Error:
        if updated or not isinstance(value, torch.Tensor):
            raise
    made = input_of(trace, node.name, value, constant, strides=False)
    copied.add(at)
    return made


def _copied(node, arrays):
    """Returns the aten.clone node that makes the memory of a result: `node` itself, or the clone of which `node` is a
    view with the same elements in the same order. Returns None if torch makes no copy for this result. `arrays`: the
    traced array of each node."""
    while node.target in VIEWS and node.target is not COPY:
        of = node.args[0]
        if not isinstance(arrays[of], Array) or arrays[of]._name != arrays[node]._name:
            return None
        node = of
    return node if node.target is COPY else None
