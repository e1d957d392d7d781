"""Partitions a torch graph into parts that can become programs, in linear time.

A part must be convex: no path leads out of it and back into it through operators left to torch. Every node gets a
number that never decreases from a node to its users, and increases where a supported node reads the result of a node
left to torch. The supported nodes with the same number are a part. Independent operators may share a part, which is
called once. A node whose result only later parts read joins the first of these. An example, with the number after each
node, and conv left to torch:

    x -> relu 0 -> conv 0 -> relu 1 -> add 1        two parts: {relu}, {relu, add}
           '-----------------------------'
"""

import heapq
import math
import operator

import torch

from ..import_.kinds import COPY, GIVEN, bytes_of, shape_of
from ..import_.views import is_view, moves

UPDATE = torch.ops.aten.copy_.default
_MAX_NODES = 100  # limit of the nodes that are examined to compute a result in a later part
# key in the meta of a node that recreates a view where it is read
AGAIN = "zellige: a view made where it is read"


def parts(graph, is_known) -> list:
    """Returns the parts of a graph (convex sets of operators that can become programs) as lists of nodes in the graph's
    order. Each has at least one node that is not a view. `is_known(node)`: true if the node may be in a part."""
    nodes = [n for n in graph.nodes if n.op not in GIVEN]
    known = {n for n in nodes if is_known(n)}
    forward = _numbers(nodes, known)
    backward = _backward(nodes, known, forward)
    for number in (forward, backward):
        _sink(nodes, known, number)
        _postpone(nodes, known, number)
    number = min(forward, backward, key=lambda number: _rank(known, number))
    part_of = {n: number[n] for n in nodes if n in known}
    _peel(graph, part_of)
    found = {}
    for n in graph.nodes:
        if n in part_of:
            found.setdefault(part_of[n], []).append(n)
    return [found[i] for i in sorted(found) if kernels(found[i])]


def _rank(known, number) -> tuple:
    """Returns (how many parts there are, the negated count of arguments that one part alone reads and changes): fewer are better."""
    updates = [u for n in known for u in n.users if u.target is UPDATE and u.args[1] is n]
    inside = [u for u in updates if all(r in known and number[r] == number[u.args[1]] for r in u.args[0].users if r is not u)]
    return len({number[n] for n in kernels(known)}), -len(inside)


def kernels(part) -> list:
    """Returns the nodes of a part that are not views."""
    return [n for n in part if not is_view(n) or moves(n)]


def _peel(graph, part_of) -> None:
    """Recreates views that are read outside of their part where they are read, so that the part returns the base of
    several views once. Does so for a slice only if its part reads the base through views only; otherwise the part would
    have to store the complete base. `part_of`: a dict from each node to the number of its part, which is updated."""
    for n in reversed(list(part_of)):  # readers before their operands
        if not is_view(n) or n.target is COPY:
            continue
        own, of = part_of[n], n.all_input_nodes[0]
        if n.target is operator.getitem:
            of = of.all_input_nodes[0]
        # a split follows its results: a part returns tensors, not lists
        several = isinstance(n.meta.get("val"), (tuple, list))
        worth = several or math.prod(shape_of(n)) >= math.prod(shape_of(of)) or _read_by_views(of, own, part_of)
        readers = {}  # by part; None: nodes left to torch
        for u in n.users:
            if part_of.get(u) != own:
                readers.setdefault(part_of.get(u), []).append(u)
        for reader, users in readers.items() if worth else ():
            with graph.inserting_after(n):
                again = graph.node_copy(n)
            again.meta[AGAIN] = True
            for u in users:
                u.replace_input_with(n, again)
            if reader is not None:
                part_of[again] = reader
        if not n.users:
            del part_of[n]
            graph.erase_node(n)


def _read_by_views(of, own, part_of) -> bool:
    """Returns true if the part `own` reads the node `of` through views alone."""
    return all(is_view(u) and u.target is not COPY for u in of.users if part_of.get(u) == own)


def _numbers(nodes, known) -> dict:
    """Returns a number for each node: it never decreases from a node to its users, and increases where a supported
    node reads the result of an unsupported one. Supported nodes with the same number form a convex part."""
    number = {}
    for n in nodes:
        number[n] = max((number[m] + (n in known and m not in known) for m in n.all_input_nodes if m in number), default=0)
    return number


def _backward(nodes, known, forward) -> dict:
    """Returns a number for each node as `_numbers` does, the greatest one for which no number is above the greatest one of `forward`. So
    two operators that are left to torch do not divide what may run between them."""
    top, number = max(forward.values(), default=0), {}
    for n in reversed(nodes):
        number[n] = min((number[u] - (u in known and n not in known) for u in n.users if u in number), default=top)
        if n in known:  # results of a split stay with it
            number.update(dict.fromkeys(_pieces(n), number[n]))
    return number


def _sink(nodes, known, number) -> None:
    """Increases the numbers, in `number`, of nodes that depend only on the graph's inputs, such as a transposed weight:
    each gets the number of its first user. `known`: the supported nodes; those with the same number form a part. So such
    a node is no part of its own: it joins the part of its user or, if the user is left to torch, a part that runs
    before the user."""
    alone = set()
    for n in nodes:
        if n in known and all(m.op in GIVEN or m in alone for m in n.all_input_nodes):
            alone.add(n)
    for n in reversed(nodes):
        if n not in alone or (n.target is operator.getitem and n.args[0] in alone):
            continue
        # results of a split stay with it
        pieces = [u for u in n.users if u.target is operator.getitem and u in alone]
        users = {u for m in (n, *pieces) for u in m.users if u not in pieces and u in number}
        if users:
            number[n] = max(number[n], min(number[u] for u in users))
            for piece in pieces:
                number[piece] = number[n]


def _postpone(nodes, known, number) -> None:
    """Increases the numbers, in `number`, of nodes whose results only later parts read, and of what is computed for these
    nodes alone: they get the number of the first such part, so that the results need not be stored. Does so if then
    fewer bytes are stored and read. `known`: the supported nodes; those with the same number form a part. An example,
    with convolutions left to torch:

        a = batch_norm(conv(x)); y = conv(relu(z)); relu(batch_norm(y) + a)       a joins the part of the addition
    """
    place = {n: i for i, n in enumerate(nodes)}
    for n in reversed(nodes):
        if n not in known or n.target is operator.getitem and n.args[0] in known:
            continue
        made = [n, *_pieces(n)]
        users = [u for m in made for u in m.users if u not in made]
        if not users or not all(u in known for u in users):
            continue
        later = min(number[u] for u in users)
        moved = _alone(made, place, known, number) if later > number[n] else None
        if moved:
            number.update(dict.fromkeys(moved, later))


def _pieces(n) -> list:
    """Returns the getitems of an operator with several results."""
    return [u for u in n.users if u.target is operator.getitem] if isinstance(n.meta.get("val"), (tuple, list)) else []


def _alone(made, place, known, number):
    """Returns the nodes that are computed for the nodes `made` alone, with these, if fewer bytes are stored and read when a
    later part computes them: what they read then instead of the results. Returns None if this is not the case, or if
    there are too many nodes. `place`: the nodes' order in the graph."""
    own = number[made[0]]
    moved, costs, seen = set(made), 0, set()
    waiting = [(-place[m], m.name, m) for n in made for m in n.all_input_nodes if m in place and m not in moved]
    outside = {m for n in made for m in n.all_input_nodes if m not in place}
    heapq.heapify(waiting)
    while waiting:
        _, _, m = heapq.heappop(waiting)
        if m in seen:
            continue
        seen.add(m)
        if m not in known or number[m] != own:
            outside.add(m)
            continue
        if m.target is operator.getitem and m.args[0] in known:
            m = m.args[0]  # with all of its results
        unit = [m, *_pieces(m)]
        alone = all(u in moved or u in unit for k in unit for u in k.users)
        if alone or is_view(m) and m.target is not COPY:  # _peel recreates a view where it is read
            moved.update(unit if alone else ())
            outside.update(k for k in m.all_input_nodes if k not in place)
            for k in m.all_input_nodes:
                if k in place:
                    heapq.heappush(waiting, (-place[k], k.name, k))
        else:
            stored = any(u not in known or number[u] != own for k in unit for u in k.users)
            costs += sum(bytes_of(k.meta.get("val")) for k in unit) * (1 if stored else 2)
        if len(seen) > _MAX_NODES:
            return None
    # what others of the part read, too, is read twice
    costs += sum(bytes_of(m.meta.get("val")) for m in outside if any(u in known and number[u] == own and u not in moved for u in m.users))
    return moved if costs < 2 * sum(bytes_of(n.meta.get("val")) for n in made) else None
