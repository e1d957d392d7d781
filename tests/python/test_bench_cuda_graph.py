"""bench/cuda_graph.py with a fake GPU: how often a call runs, and what is timed."""

import contextlib
import importlib.util
import os
import sys

import pytest

torch = pytest.importorskip("torch")
BENCH = os.path.join(os.path.dirname(__file__), "..", "..", "bench")


def bench(name):
    spec = importlib.util.spec_from_file_location(name, os.path.join(BENCH, name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Clock:
    """Every call takes 10 microseconds; a graph is the calls that were made while it was captured."""

    us, graph = 0.0, None

    @staticmethod
    def call():
        if Clock.graph is None:
            Clock.us += 10
        else:
            Clock.graph.calls += 1


class Graph:
    calls = 0

    def replay(self):
        Clock.us += 10 * self.calls


class Event:
    def __init__(self, enable_timing):
        pass

    def record(self):
        self.at = Clock.us

    def elapsed_time(self, other):
        return (other.at - self.at) * 1e-3


@contextlib.contextmanager
def capture(graph):
    Clock.graph = graph
    yield
    Clock.graph = None


@pytest.fixture
def cuda_graph(monkeypatch):
    made_up = {"Stream": object, "stream": lambda s: contextlib.nullcontext(), "synchronize": lambda: None, "CUDAGraph": Graph, "graph": capture, "Event": Event}
    for name, function in made_up.items():
        monkeypatch.setattr(torch.cuda, name, function)
    module = bench("cuda_graph")
    monkeypatch.setitem(sys.modules, "cuda_graph", module)
    return module


def test_a_replay_runs_the_captured_calls(cuda_graph):
    replay = cuda_graph.captured(Clock.call, calls=7)
    before = Clock.us
    replay()
    assert Clock.us - before == 70
    assert cuda_graph.gpu_us(replay) == pytest.approx(70) and cuda_graph.gpu_us(Clock.call) == pytest.approx(10)


def test_the_benches_time_a_call(cuda_graph):
    assert bench("torch_kernels").gpu_us(Clock.call) == pytest.approx(10)
    assert bench("draws").times_of({"ours": Clock.call, "three": lambda: [Clock.call() for _ in range(3)]}, 3) == {"ours": 10.0, "three": 30.0}
