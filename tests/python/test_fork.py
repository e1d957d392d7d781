"""Processes that are forked: calls work in a child, and are refused in a child of a process in which a thread was in a call."""

import os

import pytest
import zellige
from zellige import _native

np = pytest.importorskip("numpy", reason="NumPy is not installed")

GRAPH = {
    "zellige_graph": 1, "name": "scaled", "inputs": [{"name": "X", "dtype": "f32", "shape": [8, 8]}],
    "operators": [{"op": "mul_scalar", "inputs": ["X"], "outputs": ["Y"], "scalar": 2}], "outputs": ["Y"],
}  # fmt: skip


def in_child(work) -> str:
    """Returns what `work` returns, or the message of the Error that it raises, in a child process."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            says = str(work())
        except zellige.Error as why:
            says = str(why)
        except BaseException as why:
            says = repr(why)
        os.write(writing, says.encode())
        os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading) as output:
        return output.read()


def outputs():
    return len(_native.Graph(GRAPH).outputs())


def test_a_child_calls_the_library():
    assert outputs() == 1 and in_child(outputs) == "1"


def test_a_child_that_was_forked_during_a_call_is_refused():
    output = []

    def watch(phase, done, of):
        output.append(in_child(outputs))
        return False

    _native.Program(_native.Graph(GRAPH), on="reference", target=None, tiling=None, tune=0, constants=[], workers=0, fuse=True, watch=watch)
    assert output[0] == (
        "this process was forked while a thread was in a call of Zellige, whose locks are never released here; start processes by spawn or"
        " forkserver, or fork before other threads call Zellige"
    )
    assert outputs() == 1  # the parent goes on
