"""Which of two costs is taken: what the C ABI decides is what these rules say, on drawn costs and at the thresholds."""

import dataclasses
import itertools
import random

import pytest

pytest.importorskip("torch")
from zellige.torch.measure.cost import Cost  # noqa: E402


@dataclasses.dataclass(frozen=True)
class Rules:
    """The rules, spelled out, with their thresholds."""

    clear: float = 0.97
    hopeful: float = 0.8
    hopeless: float = 4.0
    waits: float = 0.25
    longer: float = 1.02
    longer_us: float = 0.2
    host_us: float = 3.0
    shorter: float = 0.95
    gpu_bound: float = 1.5
    host_doubt: float = 0.25
    whole: float = 0.05

    def total(self, cost):
        return max(cost.gpu, cost.host) + self.waits * min(cost.gpu, cost.host)

    def better(self, a, b):
        return (a.gpu + 0.4, a.host) < (b.gpu + 0.4, b.host)

    def faster(self, a, b):
        return self.total(a) < self.total(b)

    def faster_gpu_bound(self, a, b):
        return a.gpu + self.waits * a.host < b.gpu + self.waits * b.host

    def clearly_faster(self, a, b):
        return a.gpu <= self.clear * b.gpu

    def may_be_faster(self, a, b):
        return a.gpu * self.hopeful <= self.clear * b.gpu

    def worth_measuring(self, a, b):
        return not a.gpu > self.hopeless * b.gpu

    def pays(self, before, after, graph):
        saves = before - after
        gpu_counts = graph.gpu > self.gpu_bound * graph.host and after.gpu < self.clear * before.gpu
        hidden = gpu_counts or self.total(graph + saves) - self.total(graph) > -self.host_doubt * saves.host
        loses = after.gpu > self.longer * before.gpu + self.longer_us or (-saves.host > self.host_us and not hidden)
        return not loses and (gpu_counts or after.gpu < self.shorter * before.gpu or self.total(after) < self.total(before))

    def worth(self, saved, call, graph):
        return saved.host + saved.gpu >= call.host or saved.gpu >= self.whole * graph.gpu


PAIRS = ("better", "faster", "faster_gpu_bound", "clearly_faster", "may_be_faster", "worth_measuring")


def pairs():
    """Yields pairs of costs: those of a grid with values at the thresholds, and drawn ones."""
    gpu, host = (0.0, 1.0, 80.0, 95.0, 97.0, 100.0, 102.2, 121.25, 400.0), (0.0, 5.0, 100.0)
    grid = [Cost(g, h) for g in gpu for h in host]
    yield from itertools.product(grid, grid)
    draw = random.Random(59)
    for _ in range(2000):
        a = Cost(draw.uniform(0, 200), draw.uniform(-50, 200))
        yield a, Cost(a.gpu * draw.uniform(0.2, 1.3), a.host + draw.uniform(-20, 20))


def triples():
    """Yields (before, after, whole): of parts that the GPU or the host loses by a little or much, in graphs of which either is the
    slower."""
    factors, hosts = (0.0, 0.5, 0.949, 0.95, 0.96, 0.97, 1.0, 1.02, 1.021, 1.1), (-40.0, -3.0, 0.0, 2.9, 3.0, 3.1, 9.0, 60.0)
    graphs = (Cost(1500.0, 1000.0), Cost(1501.0, 1000.0), Cost(3000.0, 10.0), Cost(1000.0, 3000.0), Cost(100.0, 100.0), None)
    for gpu, host, factor, more, graph in itertools.product((0.0, 1.0, 10.0, 100.0), (0.0, 8.0, 100.0), factors, hosts, graphs):
        before = Cost(gpu, host)
        after = Cost(gpu * factor, host + more)
        yield before, after, graph or after
    for gpu in (19.2, 19.27, 19.3):  # of 9 us that the host loses
        yield Cost(gpu, 8.0), Cost(8.0, 17.0), Cost(8.0, 17.0)
    draw = random.Random(60)
    for _ in range(6000):
        before = Cost(draw.uniform(0, 100), draw.uniform(0, 100))
        after = Cost(before.gpu * draw.uniform(0.85, 1.1) + draw.uniform(0, 0.4), before.host + draw.uniform(-5, 30))
        yield before, after, Cost(draw.uniform(0, 400), draw.uniform(0, 200))


def savings():
    """Yields (saved, call, whole)."""
    saved = (-5.0, 0.0, 0.2, 3.9, 4.0, 5.0, 8.0)
    for gpu, host, whole in itertools.product(saved, saved, (0.0, 4.0, 78.0, 80.0, 100.0, 1000.0)):
        yield Cost(gpu, host), Cost(0.0, 8.0), Cost(whole, 50.0)


def cases():
    """Yields (name of a rule, its arguments)."""
    for a, b in pairs():
        yield "total", (a,)
        for name in PAIRS:
            yield name, (a, b)
    for name, of in (("pays", triples), ("worth", savings)):
        for arguments in of():
            yield name, arguments


def test_the_library_decides_by_the_rules():
    rules, seen = Rules(), set()
    for name, arguments in cases():
        expected = getattr(rules, name)(*arguments)
        assert getattr(Cost, name)(*arguments) == expected, (name, arguments)
        seen.add((name, bool(expected)))
    assert {(name, found) for name in (*PAIRS, "pays", "worth") for found in (False, True)} <= seen


@pytest.mark.parametrize("threshold", [field.name for field in dataclasses.fields(Rules)])
def test_other_thresholds_would_be_seen(threshold):
    """The cases tell rules apart that differ in one threshold by two percent."""
    rules, others = Rules(), dataclasses.replace(Rules(), **{threshold: getattr(Rules(), threshold) * 1.02})
    assert any(getattr(rules, name)(*arguments) != getattr(others, name)(*arguments) for name, arguments in cases() if name != "total")


def test_of_a_size_that_only_the_data_give_the_least_counts():
    import torch
    from torch._subclasses import FakeTensorMode
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    with FakeTensorMode(shape_env=ShapeEnv()):
        size = torch.nonzero(torch.empty(100)).shape[0]
    made = Cost(size / 10 + 9.0, 1.0)
    assert not isinstance(made.gpu, float)
    assert made.total() == 9.25 and made.clearly_faster(Cost(9.3)) and not made.clearly_faster(Cost(9.2))


def test_what_is_no_number_is_refused():
    from zellige import Error

    with pytest.raises(Error, match="^a, us: expected microseconds, found nan$"):
        Cost(float("nan")).faster(Cost())
    with pytest.raises(Error, match="^cost, host_us: expected microseconds, found nan$"):
        Cost(1.0, float("nan")).total()
    with pytest.raises(Error, match="^whole, us: expected microseconds, found nan$"):
        Cost.pays(Cost(), Cost(), Cost(float("nan")))
