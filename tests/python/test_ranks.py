"""Graphs over ranks, traced from functions of one rank's arrays."""

import numpy as np
import pytest

import zellige
from zellige import ranks

X, UP, DOWN = (zellige.TensorSpec(shape, "bf16") for shape in ((4, 8), (8, 6), (6, 8)))


def mlp(x, up, down):
    return ranks.all_reduce(zellige.silu(x @ up) @ down)


def test_function_becomes_a_graph_over_ranks():
    form = ranks.graph(mlp, X, UP, DOWN, ranks=2)
    assert form["ranks"] == 2
    assert [o["op"] for o in form["operators"]] == ["matmul", "silu", "matmul", "all_reduce"]


def test_every_collective_has_the_shape_of_its_ranks():
    def all_of(x):
        whole = ranks.all_gather(x, -1)
        assert whole.shape == (4, 24)
        part = ranks.reduce_scatter(whole, 1)
        assert part.shape == (4, 8)
        permuted = ranks.all_to_all(whole, 1, 0)
        assert permuted.shape == (12, 8)
        number = ranks.rank()
        assert number.shape == (1,)
        return ranks.broadcast(part, 2), ranks.all_reduce(permuted, "max"), number

    form = ranks.graph(all_of, X, ranks=3)
    used = {o["op"] for o in form["operators"]}
    assert used == {"all_gather", "reduce_scatter", "all_to_all", "rank", "broadcast", "all_reduce_max"}
    assert next(o for o in form["operators"] if o["op"] == "all_to_all")["dims"] == [1, 0]
    assert next(o for o in form["operators"] if o["op"] == "broadcast")["root"] == 2


def test_one_rank_has_no_key():
    assert "ranks" not in ranks.graph(mlp, X, UP, DOWN, ranks=1)


@pytest.mark.parametrize(
    ("function", "count", "sentence"),
    [
        (lambda x: ranks.reduce_scatter(x, 0), 3, "reduce_scatter: expected a dimension 0 that the graph's 3 ranks divide, found 4 of (4, 8)"),
        (lambda x: ranks.broadcast(x, 2), 2, "broadcast: expected a root of the graph's 2 ranks, 0 to 1, found 2"),
        (lambda x: ranks.all_reduce(x, "min"), 2, "all_reduce: expected op to be sum or max, found 'min'"),
    ],
)
def test_wrong_collectives_are_refused(function, count, sentence, refusal):
    assert sentence in refusal(lambda: ranks.graph(function, X, ranks=count))


def test_collectives_need_a_trace(refusal):
    assert refusal(ranks.rank) == "rank: expected a function that ranks.graph traces, found a call outside of one"
    found = refusal(lambda: ranks.all_reduce(np.ones(3)))
    assert found == "all_reduce: expected an array of a function that ranks.graph traces, found ndarray"


def test_compile_refuses_several_programs(refusal):
    sentence = refusal(lambda: zellige.compile(ranks.graph(mlp, X, UP, DOWN, ranks=2), on="emulator"))
    assert "expected a graph without collectives, found one over 2 ranks" in sentence
