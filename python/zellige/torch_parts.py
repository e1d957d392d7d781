"""Cuts a graph of torch's into parts, in time linear in the graph.

A part is convex: no way leads out of it and back in through what is left to torch. So every node gets a number that never falls from a
node to its users, and rises where a known one reads what is left; the known nodes of one number are a part. What does not depend on each
other may share a part, which is called once for all of it.

    x -> relu 0 -> conv 0 -> relu 1 -> add 1        two parts: {relu}, {relu, add}
           '-----------------------------'
"""

import operator

from . import aten

_GIVEN = ("placeholder", "get_attr")


def parts(graph, is_known) -> list:
    """Lists of nodes in the graph's order, each of at least one that is no view. `is_known(node)`: may it be in a part?"""
    nodes = [n for n in graph.nodes if n.op not in _GIVEN]
    known = {n for n in nodes if is_known(n)}
    number = _numbers(nodes, known)
    _sink(nodes, known, number)
    found = {}
    for n in nodes:
        if n in known:
            found.setdefault(number[n], []).append(n)
    return [found[i] for i in sorted(found) if any(n.target not in aten.VIEWS for n in found[i])]


def _numbers(nodes, known) -> dict:
    number = {}
    for n in nodes:
        number[n] = max((number[m] + (n in known and m not in known) for m in n.all_input_nodes if m in number), default=0)
    return number


def _sink(nodes, known, number) -> None:
    """What is made of the graph's inputs alone, such as a transposed weight, goes to its first user: by itself it would be a part.
    A user that is left may have its number, since what is left comes after the part of its number."""
    alone = set()
    for n in nodes:
        if n in known and all(m.op in _GIVEN or m in alone for m in n.all_input_nodes):
            alone.add(n)
    for n in reversed(nodes):
        if n not in alone or (n.target is operator.getitem and n.args[0] in alone):
            continue
        pieces = [u for u in n.users if u.target is operator.getitem and u in alone]  # of a split: they stay with it
        users = {u for m in (n, *pieces) for u in m.users if u not in pieces and u in number}
        if users:
            number[n] = max(number[n], min(number[u] for u in users))
            for piece in pieces:
                number[piece] = number[n]
