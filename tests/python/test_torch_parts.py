"""Parts of random graphs against the definition: supported nodes, each in one part, with no path out of a part and back in."""

import random

import pytest

torch = pytest.importorskip("torch")
from zellige.torch.partition import convex  # noqa: E402


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
        made[-1].meta["val"] = torch.empty(draw.choice((1, 10, 100)), device="meta")
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
    found = convex.parts(graph, known.__contains__)
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


def test_a_residual_around_what_is_left_is_two_parts():
    graph, made = chain([("x", None), ("relu", ["x"]), ("left", ["relu"]), ("more", ["left"]), ("total", ["more", "relu"])])
    assert names(convex.parts(graph, all_but(made["left"]))) == [["more", "total"], ["relu"]]


def test_what_is_made_of_weights_alone_joins_its_reader():
    graph, made = chain([("x", None), ("w", None), ("swapped", ["w"]), ("cast", ["swapped"]), ("left", ["x"]), ("product", ["left", "cast"])])
    assert names(convex.parts(graph, all_but(made["left"]))) == [["cast", "product", "swapped"]]


def test_what_does_not_depend_on_each_other_is_one_part():
    graph, made = chain([("x", None), ("left", ["x"]), ("one", ["left"]), ("other", ["left"]), ("third", ["x"])])
    assert names(convex.parts(graph, all_but(made["left"]))) == [["one", "other", "third"]]


def test_what_may_run_between_left_operators_is_one_part():
    """One is read by a part, and the other one reads it."""
    graph, made = chain([("x", None), ("y", None), ("before", ["x"]), ("one", ["y"]), ("left", ["before"]), ("other", ["one"])])
    known = lambda n: n.op == "call_function" and n.name not in ("left", "one")  # noqa: E731
    assert names(convex.parts(graph, known)) == [["before", "other"]]


def test_an_argument_is_changed_by_the_part_that_reads_it():
    graph, made = chain([("x", None), ("y", None), ("left", ["y"]), ("value", ["y"]), ("read", ["left", "x"])])
    graph.inserting_before(next(iter(graph.find_nodes(op="output"))))
    graph.call_function(convex.UPDATE, (made["x"], made["value"]))
    assert names(convex.parts(graph, lambda n: n in made.values() and n.op == "call_function" and n is not made["left"])) == [["read", "value"]]


def test_what_two_parts_read_remains_before_the_first():
    graph, made = chain(
        [("w", None), ("x", None), ("scale", ["w"]), ("first", ["x", "scale"]), ("left", ["first"]), ("last", ["left", "scale"])]
    )
    assert names(convex.parts(graph, all_but(made["left"]))) == [["first", "scale"], ["last"]]


def sized(operators, **sizes):
    graph, made = chain(operators)
    for name, n in made.items():
        n.meta["val"] = torch.empty(sizes.get(name, 100), device="meta")
    return graph, made


BRANCHES = [("x", None), ("conv", ["x"]), ("left", ["x"]), ("norm", ["conv"]), ("relu", ["left"]), ("last", ["relu"]), ("total", ["last", "norm"])]


def test_what_only_a_later_part_reads_is_computed_there():
    """As the batch norm of a residual network's downsampling. Not if that reads more than the result has."""

    def found(*operators, **sizes):
        graph, made = sized(operators, **sizes)
        return names(convex.parts(graph, lambda n: n.op == "call_function" and n.name not in ("conv", "left", "last")))

    assert found(*BRANCHES) == [["norm", "total"], ["relu"]]
    assert found(*BRANCHES, ("more", ["norm"])) == [["more", "norm", "relu"], ["total"]]  # "more" is a result
    both = [*BRANCHES[:4], ("scaled", ["norm"]), ("relu", ["left", "norm"]), ("last", ["relu"]), ("total", ["last", "scaled"])]
    assert found(*both) == [["norm", "relu", "scaled"], ["total"]]  # it would store norm in place of scaled
    assert found(*both, norm=10) == [["norm", "relu"], ["scaled", "total"]]
    mean = [*BRANCHES[:4], ("mean", ["norm"]), ("relu", ["left", "conv"]), ("last", ["relu"]), ("total", ["last", "mean"])]
    assert found(*mean, mean=1) == [["mean", "norm", "relu"], ["total"]]  # all of conv would be read twice
    assert found(*mean) == [["mean", "norm", "total"], ["relu"]]


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

        convex.parts(graph, is_known)
        looked.append(seen / count)
    assert looked[1] <= looked[0] * 1.1


def traced(function, *arguments):
    """A graph of ATen's operators, with what each gives."""
    from torch._subclasses import FakeTensorMode
    from torch.fx.experimental.proxy_tensor import make_fx

    with FakeTensorMode() as mode:
        return make_fx(function, tracing_mode="fake")(*[mode.from_tensor(x) for x in arguments]).graph


def targets(part):
    return sorted(str(n.target).split(".")[1] for n in part)


def only(*left):
    return lambda n: n.op == "call_function" and str(n.target).split(".")[1] not in left


def test_views_that_others_read_are_made_there():
    def function(x, w):
        y = torch.relu(x) + 1
        return torch.ops.aten.convolution(y.view(1, 2, 8, 8), w.permute(1, 0, 2, 3), None, [1], [0], [1], False, [0], 1), y.view(16, 8)

    graph = traced(function, torch.randn(2, 64), torch.randn(2, 4, 3, 3))
    (part,) = convex.parts(graph, only("convolution"))
    assert targets(part) == ["add", "relu"]
    graph.lint()
    assert [str(n.target) for n in graph.nodes].count("aten.view.default") == 2


def test_a_view_between_parts_is_the_later_ones():
    def function(x, w, v):
        y = torch.relu(x) + 1
        z = torch.ops.aten.convolution(y, w, None, [1], [0], [1], False, [0], 1)
        return torch.mm(y.view(2, 128), v) + z.sum() * 2

    graph = traced(function, torch.randn(1, 4, 8, 8), torch.randn(4, 4, 3, 3), torch.randn(128, 8))
    first, second = convex.parts(graph, only("convolution"))
    assert targets(first) == ["add", "relu"] and "view" in targets(second)


def test_a_slice_of_what_the_part_reads_is_kept():
    def function(x):
        y = torch.relu(x) + 1
        return y[:, :3], (y * 2).sum(1)

    graph = traced(function, torch.randn(4, 8))
    (part,) = convex.parts(graph, only())
    assert "slice" in targets(part)


def test_a_split_of_what_the_part_reads_is_made_where_its_results_are_read():
    """A part returns tensors: of an operator with several results it would return a list."""

    def function(x):
        return torch.relu(x) + 1, torch.ops.aten.split_with_sizes(x, [8], -1)[0]

    graph = traced(function, torch.randn(4, 8))
    (part,) = convex.parts(graph, lambda n: n.op == "call_function")
    assert targets(part) == ["add", "relu"]
    graph.lint()


def test_slices_alone_are_made_of_the_whole():
    def function(x):
        y = torch.relu(x) + 1
        return y[:, :3], y[:, 3:]

    graph = traced(function, torch.randn(4, 8))
    (part,) = convex.parts(graph, only())
    assert targets(part) == ["add", "relu"]


def test_a_copy_is_no_view():
    graph = traced(lambda x: (torch.relu(x) + 1).permute(1, 0).clone(memory_format=torch.contiguous_format), torch.randn(4, 8))
    (part,) = convex.parts(graph, only())
    assert targets(part) == ["add", "clone", "permute", "relu"]


def test_results_of_one_operator_are_in_one_part():
    def function(x, w, g):
        y = torch.ops.aten.convolution(x, w, None, [1], [1], [1], False, [0], 1)
        a, b = torch.split(y * 2, 2, 1)
        z = torch.ops.aten.convolution(torch.relu(b.repeat(1, 2, 1)), w, None, [1], [1], [1], False, [0], 1)
        n, mean, _ = torch.native_layer_norm(y, [16], g, g, 1e-5)
        return z + a.repeat(1, 2, 1) * n, mean

    graph = traced(function, torch.randn(1, 4, 16), torch.randn(4, 4, 3), torch.randn(16))
    for part in convex.parts(graph, lambda n: n.op == "call_function" and "convolution" not in str(n.target)):
        for n in part:
            made = n.args[0] if "getitem" in str(n.target) else n
            assert made in part
