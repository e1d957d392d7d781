"""Parts of random graphs against what a part is: known nodes, each in one part, with no way out of it and back in."""

import random

import pytest

torch = pytest.importorskip("torch")
from zellige import torch_parts  # noqa: E402


def random_graph(seed, count=60):
    """Nodes that read one to three earlier ones, mostly near ones, and the set of those that are known."""
    draw = random.Random(seed)
    graph = torch.fx.Graph()
    made = [graph.placeholder(f"x{i}") for i in range(3)]
    known = set()
    for _ in range(count):
        near = made[-6:] if draw.random() < 0.8 else made
        reads = [draw.choice(near) for _ in range(draw.choice((1, 1, 2, 3)))]
        made.append(graph.call_function(torch.add, tuple(reads)))
        if draw.random() < 0.7:
            known.add(made[-1])
    graph.output(tuple(n for n in made if not n.users))
    return graph, known


def leads_back(part, graph):
    """Is there a way out of the part and back in?"""
    inside, outside = set(part), set()
    for n in graph.nodes:  # what is reached from the part by leaving it
        if n not in inside and any(m in inside or m in outside for m in n.all_input_nodes):
            outside.add(n)
    return any(m in outside for n in part for m in n.all_input_nodes)


@pytest.mark.parametrize("seed", range(200))
def test_parts_are_convex_and_hold_each_known_node_once(seed):
    graph, known = random_graph(seed)
    found = torch_parts.parts(graph, known.__contains__)
    assert sorted(n.name for part in found for n in part) == sorted(n.name for n in known)
    for part in found:
        assert not leads_back(part, graph), [n.name for n in part]
    # All of them together, each as one node, are in an order.
    place = {n: i for i, part in enumerate(found) for n in part}
    after = {i: {place.get(m, m) for n in part for m in n.all_input_nodes} - {i} for i, part in enumerate(found)}
    after.update({n: {place.get(m, m) for m in n.all_input_nodes} for n in graph.nodes if n not in place})
    done = set()
    while len(done) < len(after):
        ready = [n for n, earlier in after.items() if n not in done and earlier <= done]
        assert ready, "two parts wait for each other"
        done.update(ready)


def chain(operators):
    """A graph of operators one after the other, each of (name, operands' names)."""
    graph, made = torch.fx.Graph(), {}
    for name, operands in operators:
        made[name] = graph.placeholder(name) if operands is None else graph.call_function(torch.add, tuple(made[o] for o in operands), name=name)
    graph.output(tuple(n for n in made.values() if not n.users))
    return graph, made


def all_but(left):
    return lambda n: n.op == "call_function" and n is not left


def names(found):
    return sorted(sorted(n.name for n in part) for part in found)


def test_a_residual_past_what_is_left_is_two_parts():
    graph, made = chain([("x", None), ("relu", ["x"]), ("left", ["relu"]), ("more", ["left"]), ("total", ["more", "relu"])])
    assert names(torch_parts.parts(graph, all_but(made["left"]))) == [["more", "total"], ["relu"]]


def test_what_is_made_of_weights_alone_joins_its_reader():
    graph, made = chain([("x", None), ("w", None), ("turned", ["w"]), ("cast", ["turned"]), ("left", ["x"]), ("product", ["left", "cast"])])
    assert names(torch_parts.parts(graph, all_but(made["left"]))) == [["cast", "product", "turned"]]


def test_what_does_not_depend_on_each_other_is_one_part():
    graph, made = chain([("x", None), ("left", ["x"]), ("one", ["left"]), ("other", ["left"]), ("third", ["x"])])
    assert names(torch_parts.parts(graph, all_but(made["left"]))) == [["one", "other", "third"]]


def test_what_two_parts_read_stays_before_the_first():
    graph, made = chain(
        [("w", None), ("x", None), ("scale", ["w"]), ("first", ["x", "scale"]), ("left", ["first"]), ("last", ["left", "scale"])]
    )
    assert names(torch_parts.parts(graph, all_but(made["left"]))) == [["first", "scale"], ["last"]]


def test_a_long_graph_takes_linear_time():
    """Steps, counted by how often a node's operands are looked at."""
    looked = []
    for count in (500, 4000):
        graph, known = random_graph(1, count)
        seen = 0

        def is_known(n):
            nonlocal seen
            seen += 1
            return n in known

        torch_parts.parts(graph, is_known)
        looked.append(seen / count)
    assert looked[1] <= looked[0] * 1.1
