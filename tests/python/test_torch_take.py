"""Parts are taken if they cost less than torch's kernels; the estimates of these, and the report."""

import functools
import types

import pytest

import zellige

torch = pytest.importorskip("torch")
from zellige import torch_backend  # noqa: E402
from zellige.torch import execute  # noqa: E402
from zellige.torch.import_ import custom  # noqa: E402
from zellige.torch.measure import estimates  # noqa: E402
from zellige.torch.partition import taking  # noqa: E402
from zellige.torch.report import Report  # noqa: E402


def report(function, *arguments, **options):
    torch._dynamo.reset()
    with torch.no_grad():
        found = torch.compile(function, backend=torch_backend.backend, options=options)(*arguments)
        expected = function(*arguments)
    for f, e in zip(found if isinstance(found, tuple) else (found,), expected if isinstance(expected, tuple) else (expected,), strict=True):
        torch.testing.assert_close(f, e, rtol=1e-3, atol=1e-3)
    return torch_backend.reports[-1]


def norms(x, g):
    return [x := torch.nn.functional.rms_norm(torch.relu(x) + 1, g.shape, g) * 2 for _ in range(4)][-1]


def test_a_chain_of_norms_is_taken():
    r = report(norms, torch.randn(8, 64), torch.randn(64), take="cheaper")
    assert len(r.parts) == 1 and r.taken == r.operators


def test_one_operator_is_left_to_torch():
    r = report(lambda x: torch.relu(x), torch.randn(8, 64), take="cheaper")
    assert r.parts == [] and [why.partition(" (")[0] for why in r.left.values()] == ["stays by itself, and torch's kernel costs no more"]


def test_all_is_taken_where_asked_and_on_the_cpu():
    for options in ({"take": "all"}, {}):
        assert len(report(lambda x: torch.relu(x), torch.randn(8, 64), **options).parts) == 1


def test_what_saves_less_than_a_graph_with_parts_costs_is_not_taken(monkeypatch):
    monkeypatch.setattr(estimates, "of_part", lambda program, tensors: estimates.Cost(2.8, 13.0))
    r = report(lambda x: torch.relu(x) + 1, torch.randn(8, 64), take="cheaper")
    assert r.parts == [] and r.taken == 0
    assert r.left["the graph"].startswith("it saves 0.0 us of the GPU and 1.0 of the host, and costs the host 8 us more")


def test_a_part_that_loses_on_either_is_left(monkeypatch):
    for own in (estimates.Cost(5.0, 1.0), estimates.Cost(0.1, 30.0)):
        monkeypatch.setattr(estimates, "of_part", lambda program, tensors, own=own: own)
        r = report(lambda x: torch.relu(x) + 1, torch.randn(8, 64), take="cheaper")
        assert r.parts == [] and r.left["fused_0"] == f"as a program {own}, as torch's kernels 2.8 us of the GPU and 14.0 of the host (estimated)"


def test_a_part_that_saves_the_gpu_a_multiple_of_what_it_costs_the_host_is_taken(monkeypatch):
    """As layer_norm of 16 rows of 79064 elements: torch's kernel takes 88 us, three kernels of ours 9."""
    for torchs, taken in ((estimates.Cost(88.0, 15.0), True), (estimates.Cost(20.0, 15.0), False)):
        monkeypatch.setattr(estimates, "of_torch", lambda nodes, torchs=torchs: torchs)
        monkeypatch.setattr(estimates, "of_part", lambda program, tensors: estimates.Cost(9.0, 24.0))
        r = report(lambda x: torch.relu(x) + 1, torch.randn(8, 64), take="cheaper")
        assert len(r.parts) == taken


def test_the_host_does_not_count_where_the_gpu_is_the_slower(monkeypatch):
    """It loses 9 us. The GPU takes longer than the host in any case, or the graph saves more than a quarter of that in all."""
    monkeypatch.setattr(estimates, "of_part", lambda program, tensors: estimates.Cost(88.0, 24.0))
    for gpu, taken in ((100.0, True), (90.0, False)):
        monkeypatch.setattr(estimates, "of_torch", lambda nodes, gpu=gpu: estimates.Cost(gpu, 15.0))
        assert len(report(lambda x: torch.relu(x) + 1, torch.randn(8, 64), take="cheaper").parts) == taken
    monkeypatch.setattr(estimates, "of_part", lambda program, tensors: estimates.Cost(30.0, 24.0))
    for gpu, taken in ((36.0, True), (34.0, False)):  # 39.75 and 37.75 us in all, 36 as a program
        monkeypatch.setattr(estimates, "of_torch", lambda nodes, gpu=gpu: estimates.Cost(gpu, 15.0))
        assert len(report(lambda x: torch.relu(x) + 1, torch.randn(8, 64), take="cheaper").parts) == taken


def test_inside_a_part_that_pays_the_graph_is_that_with_the_part():
    """As matmuls between norms of a layer, of which the whole is faster as a program in any case: as torch's kernels, the graph
    would be as slow on the host as on the GPU."""
    Cost = estimates.Cost
    decision = taking.Taking(None, set(), Report(), None, torch.device("cpu"), True)
    decision.graph = Cost(900.0, 900.0)
    whole = types.SimpleNamespace(torchs_cost=Cost(900.0, 900.0), own_cost=Cost(677.0, 180.0), weights=set(), node=types.SimpleNamespace(target="fused_0"))
    program, mixed, torchs = Cost(57.7, 60.0), Cost(51.6, 110.0), Cost(180.0, 380.0)
    assert not decision.pays(program, mixed, torchs)
    inside = decision.inside(whole, None)
    assert inside.pays(program, mixed, torchs) and inside.inside(whole, None).pays(program, mixed, torchs)
    assert inside.pays(Cost(262.0, 80.0), Cost(252.0, 156.0), Cost(318.0, 358.0))  # 4% of the GPU's time
    decision.graph = Cost(900.0, 1500.0)  # another part of the graph keeps the host busy
    assert not decision.inside(whole, None).pays(program, mixed, torchs)


def test_what_a_part_was_measured_to_cost_is_what_it_costs_the_graph():
    """As a softmax of 16 rows of 127280 elements: torch's kernel is estimated at 8 us and takes 34, two kernels of ours 8."""
    Cost = estimates.Cost
    decision = taking.Taking(None, set(), Report(), None, types.SimpleNamespace(type="cuda"), True)
    part = types.SimpleNamespace(expected_us=11.0)
    p = types.SimpleNamespace(part=part, torchs=lambda: Cost(8.0, 8.0), own=lambda: Cost(11.0, 17.0))
    decision.graph, decision._measure = Cost(8.0, 8.0), lambda p, host: (34.0, 8.0)
    assert decision._why_not(p) is None and decision.graph == Cost(34.0, 8.0)
    decision.graph, decision._measure = Cost(8.0, 8.0), lambda p, host: (10.0, 8.0)
    assert decision._why_not(p).endswith("as torch's kernels 10.0 us of the GPU and 8.0 of the host (measured)")


def test_equal_parts_share_a_program():
    def function(x, w, g):
        for _ in range(4):
            x = torch.special.bessel_j0(norms(x, g)) * w  # bessel_j0 is not known
        return x

    r = report(function, torch.randn(64, 64), torch.randn(64), torch.randn(64), take="all")
    assert len(r.parts) == 5 and len(set(map(id, r.parts))) == 3  # the first has no matmul before it, the last no norms after it


def test_products_that_cost_more_are_left_to_torch_and_the_rest_is_taken(monkeypatch):
    """As if programs with matmuls were slow."""
    of_part = estimates.of_part

    def slow(part, tensors):
        has_product = any(o["op"] == "custom" and "matmul" in str(o) for o in part.program.graph["operators"])
        return estimates.Cost(1e6, 5.0) if has_product else of_part(part, tensors)

    monkeypatch.setattr(estimates, "of_part", slow)

    def function(x, w, g):
        for _ in range(3):
            x = norms(x, g) @ w
        return x

    r = report(function, torch.randn(64, 256), torch.randn(256, 256) / 16, torch.randn(256), take="cheaper")
    assert len(r.parts) == 3 and r.taken == r.operators - 3
    assert r.left["fused_0"].startswith("as a program 1000000.0 us of the GPU and 5.0 of the host, as torch's kernels ")


def attended(x, w, g, layers=2):
    """Norms and matmuls around attention."""
    for _ in range(layers):
        q = norms(x @ w, g).view(1, 2, 32, 64)
        x = norms(torch.nn.functional.scaled_dot_product_attention(q, q, q).reshape(64, 64), g) @ w
    return norms(x, g)


@pytest.mark.parametrize("slow, parts", [("neither", 1), ("attention", 2), ("matmuls", 3)])
def test_of_a_part_that_pays_what_costs_more_than_torchs_kernels_is_left(monkeypatch, slow, parts):
    """As attention in a chain of norms, which as torch's kernels cost so much that the whole pays."""

    def own(planned):
        heavy = [n.target for n in planned.module.graph.nodes if estimates.heavy(n)]
        attention = heavy.count(custom.ATTENTION)
        return estimates.Cost(10.0 + 300.0 * {"neither": 0, "attention": attention, "matmuls": len(heavy) - attention}[slow], 5.0)

    monkeypatch.setattr(taking.Planned, "own", own)
    monkeypatch.setattr(estimates, "of_torch", lambda nodes: estimates.Cost(*[20.0 * sum(n.op == "call_function" for n in nodes)] * 2))
    layer = functools.partial(attended, layers=1)
    r = report(layer, torch.randn(64, 64), torch.randn(64, 64) / 8, torch.randn(64), take="cheaper")
    assert len(r.parts) == parts and (r.taken < r.operators) == (slow != "neither")
    assert {why.split("with torch's ")[1].split()[0] for why in r.left.values()} == {"neither": set(), "attention": {"attention"}, "matmuls": {"attention", "matmuls"}}[slow]


@pytest.mark.parametrize("attentions, compiled", [(20.0, True), (350.0, False)])
def test_an_alternative_is_compiled_only_if_its_estimated_time_may_pay(monkeypatch, attentions, compiled):
    """The program costs 300, and the programs around torch's attention (20 or 350, a fifth of which is doubted) are expected to
    cost a few microseconds."""
    from zellige.torch.execute import programs
    from zellige.torch.partition import mixtures

    names, before = [], estimates.of_torch

    def of_torch(nodes):
        nodes = list(nodes)
        alone = len(nodes) <= 2 and all(n.target is custom.ATTENTION for n in nodes)
        return estimates.Cost(attentions / 2 * len(nodes), 5.0) if alone else estimates.Cost(2000.0, 2000.0) if len(nodes) > 40 else before(nodes)

    monkeypatch.setattr(estimates, "of_torch", of_torch)
    monkeypatch.setattr(taking.Planned, "own", lambda p: estimates.Cost(300.0 if "inner" not in p.node.target else 1.0, 5.0))
    monkeypatch.setattr(mixtures, "_lower_bound", lambda p: p.part.program.price + (300.0 if attentions > 100 else 0.0))
    monkeypatch.setattr(programs.Programs, "compile", lambda self, program: names.append(program.name))
    r = report(attended, torch.randn(64, 64), torch.randn(64, 64) / 8, torch.randn(64), take="cheaper")
    assert "fused_0" in names and any("inner" in n for n in names) == compiled, names
    assert any("inner" in p.name for p in r.parts) == compiled


@pytest.mark.parametrize("measured, others", [(300.0, 20.0), (900.0, 5.0), (1e4, 5.0)])
def test_a_mix_costs_at_least_its_programs_and_what_torch_runs(measured, others):
    """Torch's kernels take 320 us for the part, and for the operators of the programs 300; as measured, also more than for all of it."""
    from zellige.torch.partition import mixtures

    Cost, inner = estimates.Cost, taking.Taking(None, set(), Report(), None, torch.device("cpu"), True)
    inner._spend(Cost(measured / 2, 40.0), Cost(8.0, 10.0))
    inner._spend(Cost(measured / 2, 40.0), Cost(9.0, 10.0))
    assert mixtures.mixed_cost(Cost(320.0, 100.0), inner, Cost(5.0, 15.0)) == Cost(17.0 + others, 40.0)
    assert mixtures.mixed_cost(Cost(320.0, 90.0), inner, Cost(5.0, 15.0)) == Cost(17.0 + others, 35.0)
    inner.captured = True
    assert mixtures.mixed_cost(Cost(320.0), inner, Cost(5.0, 15.0)).gpu == 17.0 + others


def test_an_operator_that_was_replaced_is_put_back_where_its_part_is_left(monkeypatch):
    """As if programs that sort were slow: torch runs its own kernel, and not the comparisons that replaced it."""
    from zellige.torch.execute import direct

    modules, straighten, costs = [], direct.straighten, []
    monkeypatch.setattr(direct, "straighten", lambda module: (modules.append(module), straighten(module)))

    def own(planned):
        sorts = any(n.target is torch.ops.aten.amax.default for n in planned.module.graph.nodes)
        costs.extend([planned.torchs()] * sorts)
        return estimates.Cost(1e6, 1e6) if sorts else estimates.Cost(1.0, 1.0)

    monkeypatch.setattr(taking.Planned, "own", own)
    r = report(lambda x, g: (torch.special.bessel_j0(norms(x, g)) * 2).topk(3, -1), torch.randn(8, 64), torch.randn(64), take="cheaper")
    names = [getattr(n.target, "__name__", str(n.target)) for n in modules[-1].graph.nodes if n.op == "call_function"]
    assert len(r.parts) == 1 and names.count("topk") == 1 and not any("amax" in name or "where" in name for name in names), names
    assert costs[0].host < 4 * estimates.SIMPLE.host  # of two kernels


def test_an_operator_whose_part_is_taken_is_not_put_back(monkeypatch):
    """The call of the part has the meta of the operator's result."""
    from zellige.torch.execute import direct

    modules, straighten = [], direct.straighten
    monkeypatch.setattr(direct, "straighten", lambda module: (modules.append(module), straighten(module)))
    r = report(lambda x: torch.nn.functional.max_pool2d(x, 3, 2, 1), torch.randn(1, 2, 8, 8), take="all")
    assert len(r.parts) == 1 and not any("pool" in str(n.target) for n in modules[-1].graph.nodes)


def cost(function, *arguments):
    from torch._subclasses import FakeTensorMode
    from torch.fx.experimental.proxy_tensor import make_fx

    with FakeTensorMode() as mode:
        graph = make_fx(function, tracing_mode="fake")(*[mode.from_tensor(x) for x in arguments]).graph
    return estimates.of_torch(graph.nodes)


def test_estimates():
    half = lambda *shape: torch.empty(*shape, dtype=torch.float16)  # noqa: E731
    big = cost(torch.mm, half(4096, 4096), half(4096, 4096))
    assert 190 < big.gpu < 250 and big.host == estimates.HEAVY["product"]  # cuBLAS: 216 us
    wide = cost(torch.mm, torch.empty(2048, 2048), torch.empty(2048, 2048))
    assert 300 < wide.gpu < 400  # cuBLAS: 352 us
    assert cost(torch.mm, half(257, 1023), half(1023, 2047)).gpu > 2 * cost(torch.mm, half(257, 1024), half(1024, 2048)).gpu
    moved = cost(torch.relu, torch.empty(4096, 4096))
    assert 30 < moved.gpu < 40
    views = cost(lambda x: x.view(-1).view(2, -1), torch.empty(4, 4))
    assert views.gpu == 0 and views.host == pytest.approx(2 * estimates.VIEW)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_logsumexp_is_many_kernels_of_torchs(dtype):
    """A long row is two kernels of a program, which cost the host less than torch's nine."""
    x = torch.randn(1, 29661, dtype=dtype)
    assert cost(lambda x: torch.logsumexp(x, -1), x).host > 3 * cost(lambda x: torch.softmax(x, -1), x).host
    r = report(lambda x: torch.logsumexp(x, -1), x, take="cheaper")
    assert r.taken == r.operators == 1, r.left


def test_the_slower_of_host_and_gpu_counts():
    assert estimates.Cost(10, 2).total() == estimates.Cost(2, 10).total() == 10.5


class Compiled:
    """A program that NVRTC compiles."""

    def __init__(self, name, compile):
        self.name, self.compile = name, compile


@pytest.fixture
def programs(monkeypatch):
    from zellige.torch.execute import programs

    monkeypatch.setattr(torch.cuda, "set_device", lambda device: None)
    monkeypatch.setattr(programs.os, "cpu_count", lambda: 3)
    return programs.Programs(torch.device("cuda", 0))


def test_programs_are_compiled_side_by_side(programs):
    """One that cannot be says so when it is called, and keeps no other from being compiled."""
    import threading

    from zellige._native import Error

    together, compiled = threading.Barrier(3, timeout=20), []

    def compile(name):
        together.wait()
        if name == "faulty":
            raise Error("no")
        compiled.append(name)

    with programs:
        for name in ("a", "faulty", "b", "costs more"):
            programs.begin(lambda name=name: Compiled(name, lambda: compile(name)), lambda p: p.name != "costs more")
    assert sorted(compiled) == ["a", "b"]


def test_a_program_is_compiled_while_the_next_is_planned(programs):
    import threading

    compiling = threading.Event()

    def second():
        assert compiling.wait(20)
        return Compiled("second", lambda: None)

    with programs:
        futures = [programs.begin(plan, lambda p: True) for plan in (lambda: Compiled("first", compiling.set), second)]
        assert [f.result().name for f in futures] == ["first", "second"]
        assert list(programs.compiled()) == [1, 2]


def test_an_interrupt_leaves_out_what_has_not_begun(programs):
    import threading

    begun, done = threading.Event(), []

    def until_ended():
        begun.set()
        while not programs.ended:
            pass

    with pytest.raises(KeyboardInterrupt), programs:
        programs.begin(until_ended, lambda p: True)
        waiting = programs.begin(lambda: done.append(1), lambda p: True)
        begun.wait(20)
        raise KeyboardInterrupt
    assert waiting.cancelled() and done == []


@pytest.mark.parametrize("take", ["cheaper", "all"])
def test_an_operand_that_is_given_twice(take):
    attention = torch.nn.functional.scaled_dot_product_attention
    for function, x in ((lambda x: x @ x + 1, torch.randn(16, 16)), (lambda x: torch.addmm(x, x, x) * 2, torch.randn(16, 16)),
                        (lambda x: torch.bmm(x, x) + 1, torch.randn(2, 16, 16)), (lambda x: attention(x, x, x) * 2, torch.randn(1, 2, 16, 8))):  # fmt: skip
        report(function, x, take=take)


def test_importing_the_backend_registers_its_name():
    """Also where the package is not installed, so that no entry point names it."""
    assert "zellige" in torch._dynamo.list_backends(exclude_tags=())


def function_of_parts(x, y):
    a, b = torch.exp(x).chunk(2, -1)
    h = torch.tanh(a * b + 1)
    return torch.relu(h @ y) * 2, b + 3


@pytest.mark.parametrize("refused", ["exp", "tanh", "relu", "matmul"])
@pytest.mark.parametrize("where", ["traced", "planned"])
def test_what_one_operator_needs_is_refused_for_it_alone(monkeypatch, where, refused):
    """An operator that a part cannot have, as its tracing tells or the planner."""
    evaluate, plan, programs = execute.traced.Rows.evaluate, execute.part.Part.plan, []
    target = {"matmul": torch.ops.aten.mm}.get(refused) or getattr(torch.ops.aten, refused)

    def evaluated(self, node, arrays):
        if where == "traced" and node.target is target.default:
            raise zellige.Error("expected another operator")
        return evaluate(self, node, arrays)

    def planned(self, *arguments):
        operators = [o["op"] for o in self.form["operators"]]
        if refused in operators:
            raise zellige.Error("expected another operator")
        programs.append(operators)
        return plan(self, *arguments)

    monkeypatch.setattr(execute.traced.Rows, "evaluate", evaluated)
    monkeypatch.setattr(execute.part.Part, "plan", planned)
    torch._dynamo.reset()
    torch_backend.reports.clear()
    x, y = torch.randn(4, 16), torch.randn(8, 8)
    with torch.no_grad():
        made = torch.compile(function_of_parts, backend=torch_backend.backend)(x, y)
        for found, expected in zip(made, function_of_parts(x, y), strict=True):
            torch.testing.assert_close(found, expected)
    (report,) = torch_backend.reports
    computed = sorted(o for of in programs for o in of if o not in ("slice", "reshape"))
    assert computed == [o for o in ("add", "add", "exp", "matmul", "mul", "mul_scalar", "relu", "tanh") if o != refused]
    assert len(report.parts) == len(programs) and "expected another operator" in report.left["fused_0"]
