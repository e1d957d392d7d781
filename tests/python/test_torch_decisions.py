"""What the backend decided on a graph is found again in the next process: without planning or comparing anything, with the same
results. It is missed where anything differs, and where the entry on disk is damaged."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest

torch = pytest.importorskip("torch")
from torch.nn import functional as F  # noqa: E402

from zellige import _native, torch_backend  # noqa: E402
from zellige.torch import compilation, options  # noqa: E402
from zellige.torch.cache import graph_key  # noqa: E402
from zellige.torch.execute import part, source  # noqa: E402
from zellige.torch.measure import attention_kernels, clock  # noqa: E402
from zellige.torch.partition import mixtures, taking  # noqa: E402


@pytest.fixture(scope="module")
def folder():
    """A cache of this module's own."""
    path = pathlib.Path(tempfile.mkdtemp())
    yield path
    shutil.rmtree(path)


@pytest.fixture(autouse=True)
def cache(folder, monkeypatch):
    """Nothing is decided or planned yet; kernels may be compiled."""
    for file in entries(folder, "decisions") + entries(folder, "program"):
        file.unlink()
    monkeypatch.setenv("ZELLIGE_CACHE", str(folder))
    monkeypatch.setattr(options, "CACHE", True)
    graph_key._versions.cache_clear()


def entries(folder, suffix) -> list:
    return list(folder.glob(f"*/*.{suffix}"))


@pytest.fixture
def counted(monkeypatch):
    """Counts the steps of the planner, and calls of what decides."""
    counts = dict.fromkeys(("planned", "parts", "mixed", "measured", "aot", "traced"), 0)

    def count(where, name, what):
        before = getattr(where, name)

        def counting(*args, **kwargs):
            counts[what] += 1
            return before(*args, **kwargs)

        monkeypatch.setattr(where, name, counting)

    count(_native._Watched, "_call", "planned")
    count(taking.Taking, "round", "parts")
    count(mixtures, "cheaper", "mixed")
    count(clock, "cost", "measured")
    count(compilation, "aot_module_simplified", "aot")
    count(part.Part, "__init__", "traced")
    return counts


def compiled(function, *arguments, **options):
    """Compiles a function as a process would that has not compiled before; returns the results of two calls, and the report."""
    torch._dynamo.reset()
    attention_kernels._COSTS.clear()
    torch_backend.reports.clear()
    with torch.no_grad():
        run = torch.compile(function, backend=torch_backend.backend, options=options)
        results = run(*arguments), run(*arguments)
    assert len(torch_backend.reports) == 1
    return results, torch_backend.reports[0]


def twice(function, arguments, **options):
    """Compiles a function in two processes; returns both reports. The arguments are made for each, as they may be changed."""
    first, told = compiled(function, *arguments(), **options)
    second, again = compiled(function, *arguments(), **options)
    expected = arguments()
    for found in (*first[:1], *second[:1]):
        torch.testing.assert_close(found, function(*expected), rtol=1e-3, atol=1e-3)
        expected = arguments()
    torch.testing.assert_close(second, first, rtol=0, atol=0)
    assert told.decisions == "kept", told.decisions
    return told, again


def same(told, again) -> bool:
    fields = ("operators", "taken", "kept", "left", "rejected", "attention", "uncaptured")
    programs = [[(p.name, p.source, p.price, p.manifest, p.notes, p.rejected) for p in r.parts] for r in (told, again)]
    return all(getattr(told, f) == getattr(again, f) for f in fields) and programs[0] == programs[1]


def layer(x, w, g):
    for _ in range(2):
        y = F.rms_norm(torch.relu(x), g.shape, g)
        mask = torch.ones(8, 8, dtype=torch.bool).tril()
        a = torch.where(mask, y @ y.T, torch.tensor([0.5])) @ y
        x = x + torch.cumprod(F.silu(a @ w), 0)  # cumprod is not known
    return x


def layers_inputs():
    torch.manual_seed(1)
    return torch.randn(8, 32), torch.randn(32, 32) / 8, torch.rand(32)


@pytest.mark.parametrize("take", ["all", "cheaper"])
def test_a_warm_start_plans_and_compares_nothing(counted, take):
    _, told = compiled(layer, *layers_inputs(), take=take)
    assert counted["planned"] > 0 and counted["parts"] > 0 and counted["aot"] == 1 and counted["traced"] > 0
    before = dict(counted)
    torch._dynamo.reset()
    _, again = compiled(layer, *layers_inputs(), take=take)
    assert counted == before
    assert again.decisions == "from the cache" and "decisions: from the cache" in str(again) and same(told, again)
    assert list(again.seconds) == ["cache", "programs"] and min(again.seconds.values()) > 0


def test_the_result_is_that_of_the_first_process():
    told, again = twice(layer, layers_inputs, take="all")
    assert told.parts and again.decisions == "from the cache" and same(told, again)


def changes(cache, row):
    cache[:, 1:2] = row
    return cache.sum() + row


def flat(x):
    return x.view(-1), torch.exp(x) * 2 + 1


def advanced(x, y):
    x.add_(y)
    return torch.exp(x) * 2 + y


@pytest.mark.parametrize("function, shapes", [(changes, [(2, 4, 8), (2, 1, 8)]), (flat, [(4, 8)]), (advanced, [(4, 8), (4, 8)])])
def test_inputs_that_are_changed_and_results_that_are_views(counted, function, shapes):
    def arguments():
        torch.manual_seed(2)
        return [torch.randn(s) for s in shapes]

    _, again = twice(function, arguments, take="all")
    assert again.decisions == "from the cache"
    planned = counted["planned"]
    given, expected = arguments(), arguments()
    result, _ = compiled(function, *given)
    for _ in range(2):
        function(*expected)
    torch.testing.assert_close(given, expected)
    assert counted["planned"] == planned
    if function is flat:
        assert result[0][0].data_ptr() == given[0].data_ptr()


def test_what_is_left_to_torch_is_found_too(counted):
    _, again = twice(lambda x: torch.relu(x), lambda: (torch.ones(8, 64),), take="cheaper")
    assert not again.kept and again.parts == [] and again.decisions == "from the cache" and again.left and counted["aot"] == 1


def test_a_module_with_parameters():
    module = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.SiLU(), torch.nn.LayerNorm(16)).eval()
    told, again = twice(module, lambda: (torch.ones(4, 16),), take="all")
    assert again.decisions == "from the cache" and all(i.constant for i in again.parts[0].inputs[1:2]) and same(told, again)


@pytest.mark.parametrize("take", ["all", "cheaper"])
def test_calls_that_are_replayed_from_cuda_graphs(monkeypatch, counted, take):
    """Also of a graph that is left to torch, and captured as it is."""
    from test_torch_cudagraphs import MadeUp

    from zellige.torch.execute import capturable, cudagraphs

    monkeypatch.setattr(cudagraphs, "Gpu", MadeUp)
    monkeypatch.setattr(capturable, "DEVICE", "cpu")
    MadeUp.captures, module = [], torch.nn.Linear(16, 16)
    told, again = twice(module if take == "all" else torch.relu, lambda: (torch.ones(8, 16),), cudagraphs=True, take=take)
    assert told.kept == again.kept == (take == "all") and again.decisions == "from the cache"
    assert told.captured == again.captured == 1 and [c.replays for c in MadeUp.captures] == [1, 1]
    assert counted["aot"] == (1 if take == "all" else 2)


def test_arguments_unlike_the_declared_run_as_torchs_operators():
    """A part calls torch's operators for what its program refuses."""
    _, told = compiled(lambda x: torch.exp(x) * 2 + 1, torch.ones(4, 8), take="all")
    part = next(iter(told.parts))
    assert part.name
    text = source.written(torch.fx.symbolic_trace(lambda x: torch.exp(x) * 2).graph, lambda x: None)
    assert source.made(text, ())(torch.zeros(3, dtype=torch.float64)).tolist() == [2, 2, 2]


def chain(x, g):
    return F.rms_norm(torch.relu(x) + 1, g.shape, g) * 2


def chains_inputs(rows=4):
    return torch.ones(rows, 16), torch.ones(16)


MISSES = {
    "a shape": lambda: (chain, chains_inputs(5), {}),
    "strides": lambda: (chain, (torch.ones(16, 4).t(), torch.ones(16)), {}),
    "a dtype": lambda: (chain, [x.half() for x in chains_inputs()], {}),
    "an option": lambda: (chain, chains_inputs(), {"take": "cheaper"}),
    "an operator": lambda: (lambda x, g: F.rms_norm(torch.exp(x) + 1, g.shape, g) * 2, chains_inputs(), {}),
    "a number": lambda: (lambda x, g: F.rms_norm(torch.relu(x) + 1, g.shape, g) * 3, chains_inputs(), {}),
    "memory that is shared": lambda: (chain, (lambda x: (x[:4], x[4]))(torch.ones(5, 16)), {}),
    "a weight": lambda: (chain, (torch.ones(4, 16), torch.nn.Parameter(torch.ones(16), requires_grad=False)), {}),
}


@pytest.mark.parametrize("what", MISSES)
def test_where_anything_differs_it_is_decided_anew(what):
    compiled(chain, *chains_inputs(), take="all")
    function, arguments, options = MISSES[what]()
    _, report = compiled(function, *arguments, **({"take": "all"} | options))
    assert report.decisions == "kept"
    assert compiled(function, *arguments, **({"take": "all"} | options))[1].decisions == "from the cache"


def test_a_buffer_is_no_input():
    """It has a fixed address, which CUDA graphs rely on."""

    class Scaled(torch.nn.Module):
        def __init__(self, g):
            super().__init__()
            self.register_buffer("g", g)

        def forward(self, x):
            return chain(x, 2 * self.g)

    x = torch.ones(4, 16)
    compiled(Scaled(torch.ones(16)), x)
    assert compiled(Scaled(torch.zeros(16)), x)[1].decisions == "from the cache"
    assert compiled(lambda g, x: chain(x, 2 * g), torch.ones(16), x)[1].decisions == "kept"


def test_another_version_or_setting_decides_anew(monkeypatch):
    compiled(chain, *chains_inputs())
    assert compiled(chain, *chains_inputs())[1].decisions == "from the cache"
    monkeypatch.setattr(torch, "__version__", "2.99")
    graph_key._versions.cache_clear()
    assert compiled(chain, *chains_inputs())[1].decisions == "kept"
    before = torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision("high")
        assert compiled(chain, *chains_inputs())[1].decisions == "kept"
    finally:
        torch.set_float32_matmul_precision(before)


def test_the_option_cache_decides_anew_and_keeps_nothing(folder):
    for _ in range(2):
        assert compiled(chain, *chains_inputs(), cache=False)[1].decisions == "not kept: the option cache is False"
    assert entries(folder, "decisions") == [] and entries(folder, "program") == []
    with pytest.raises(Exception, match="options: cache: expected True or False, found 3"):
        compiled(chain, *chains_inputs(), cache=3)


def test_a_decision_holds_for_the_range_of_a_size():
    """The second time with other lengths first, and a third time with a range of its own."""

    def function(x):
        return (torch.exp(x) * 2).sum(1), torch.tanh(x + 1) + x.shape[0]

    found = []
    for lengths, limit in (((3, 4), None), ((40, 5, 3), None), ((7, 9), 9)):
        torch._dynamo.reset()
        torch_backend.reports.clear()
        with torch.no_grad():
            run = torch.compile(function, backend=torch_backend.backend, dynamic=None)
            for rows in lengths:
                x = torch.ones(rows, 8)
                torch._dynamo.mark_dynamic(x, 0, **({} if limit is None else {"min": 2, "max": limit}))
                torch.testing.assert_close(run(x), function(x))
        (report,) = torch_backend.reports
        found.append((report.decisions, list(report.sizes.values()), [p.sizes[0].max for p in report.parts]))
    open_range = ["L['x'].size()[0], 2 to 8192"]
    assert found[0] == ("kept", open_range, [8192] * len(found[0][2])) and found[0][2]
    assert found[1] == ("from the cache", *found[0][1:])
    assert found[2] == ("kept", ["L['x'].size()[0], 2 to 9"], [9] * len(found[0][2]))


@pytest.mark.parametrize("damage", [b"", b"no entry", None])
def test_a_damaged_entry_is_ignored(folder, damage):
    compiled(chain, *chains_inputs())
    (file,) = entries(folder, "decisions")
    content = file.read_bytes()
    file.write_bytes(content[:90] + b"#" + content[91:] if damage is None else damage)
    results, report = compiled(chain, *chains_inputs())
    assert report.decisions == "kept"
    torch.testing.assert_close(results[0], chain(*chains_inputs()))


@pytest.mark.parametrize("change", ["{}", "null", "[", '"function": {"source": "def forward(self"', "builtins:no_function"])
def test_an_entry_that_cannot_be_read_is_ignored(monkeypatch, change):
    """As none that this version writes."""
    kept = {}
    monkeypatch.setattr(_native, "keep", lambda key, text: kept.update({key: text}))
    compiled(layer, *layers_inputs())
    (key, text) = kept.popitem()
    if change.startswith("builtins"):
        entry = json.loads(text)
        entry["function"]["names"] = dict.fromkeys(entry["function"]["names"], change)
        text = json.dumps(entry)
    elif change.startswith('"function'):
        text = text.replace('"source": "', '"source": "(', 1)
    else:
        text = change
    monkeypatch.setattr(_native, "kept", lambda key: text)
    results, report = compiled(layer, *layers_inputs())
    assert report.decisions == "kept"
    torch.testing.assert_close(results[0], layer(*layers_inputs()), rtol=1e-3, atol=1e-3)


library = torch.library.Library("zellige_test_decisions", "FRAGMENT")
library.define("twice(Tensor x) -> Tensor")
library.define("more(Tensor x) -> Tensor")
library.impl("twice", lambda x: x * 2, "CPU")
library.impl("twice", torch.empty_like, "Meta")
MORE = [1]
library.impl("more", lambda x: x + MORE[0], "CompositeImplicitAutograd")


def test_operators_of_another_library(counted):
    """AOT traces them again, as their library may have changed."""
    told, again = twice(lambda x: torch.ops.zellige_test_decisions.twice(torch.exp(x) + 1), lambda: (torch.ones(4, 8),), take="all")
    assert again.decisions == "from the cache" and same(told, again) and list(again.seconds) == ["cache", "programs", "tracing"]
    function = lambda x: torch.ops.zellige_test_decisions.more(torch.exp(x) + 1) * 2  # noqa: E731
    for MORE[0] in (1, 5):
        _, again = twice(function, lambda: (torch.ones(4, 8),), take="all")
        assert again.decisions == "from the cache" and again.taken == again.operators


@pytest.mark.parametrize(
    "function, why",
    [
        (lambda x: torch.cond(x.sum() > 0, torch.exp, torch.sin, (x,)) + 1, "it has get_attr cond_true_0"),
    ],
)
def test_a_graph_with_what_cannot_be_described_is_not_kept(folder, function, why):
    for _ in range(2):
        (found, _), report = compiled(function, torch.ones(4, 8))
        assert report.decisions.startswith(f"not kept: {why}"), report.decisions
        torch.testing.assert_close(found, function(torch.ones(4, 8)))
    assert entries(folder, "decisions") == []


def test_under_autocast_it_is_another_decision():
    product = lambda x, y: torch.exp(x @ y) * 2  # noqa: E731
    given = torch.ones(8, 8) / 8, torch.ones(8, 8)
    compiled(product, *given, take="all")
    for dtype in (torch.bfloat16, torch.float16):
        with torch.autocast("cpu", dtype=dtype):
            told, again = twice(product, lambda: given, take="all")
            assert again.decisions == "from the cache" and same(told, again)
            assert compiled(product, *given, take="all")[0][0].dtype == product(*given).dtype


class Seeing(torch.utils._python_dispatch.TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        return function(*args, **(kwargs or {}))


def test_a_mode_of_the_users_is_not_known():
    with Seeing(), pytest.raises(source.Unknown, match="a dispatch mode"):
        graph_key._settings()


def test_a_decision_that_the_time_ended_is_not_kept(folder, monkeypatch):
    for _ in range(2):
        assert compiled(chain, *chains_inputs(), seconds=1e-9)[1].decisions == "not kept: the planning time ended before everything was planned"
    assert entries(folder, "decisions") == [] and entries(folder, "program") == []
    assert compiled(chain, *chains_inputs(), seconds=100.0)[1].decisions == "kept"


def test_ctrl_c_leaves_nothing(folder, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(taking.Taking, "_planned", interrupted)
    with pytest.raises(KeyboardInterrupt):
        compiled(layer, *layers_inputs())
    assert entries(folder, "decisions") == [] and list(folder.glob("scratch/*")) == []


PROCESS = """
import sys, torch
sys.path.insert(0, {here!r})
from test_torch_decisions import layer, layers_inputs
from zellige import torch_backend
with torch.no_grad():
    y = torch.compile(layer, backend=torch_backend.backend)(*layers_inputs())
torch.testing.assert_close(y, layer(*layers_inputs()), rtol=1e-3, atol=1e-3)
print(torch_backend.reports[0].decisions)
"""


def test_processes_at_once_and_the_next_one():
    program = [sys.executable, "-c", PROCESS.format(here=str(pathlib.Path(__file__).parent))]
    both = [subprocess.Popen(program, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    for p in both:
        assert p.communicate()[0].strip() in ("kept", "from the cache") and p.returncode == 0
    assert subprocess.run(program, stdout=subprocess.PIPE, text=True, check=True).stdout.strip() == "from the cache"


def test_the_selected_attention_kernel_has_a_name():
    graph = torch.fx.Graph()
    q, k, v = map(graph.placeholder, "qkv")
    graph.output(graph.call_function(attention_kernels.kernel("math"), (q, k, v, None, False, None, False)))
    text = source.written(graph, lambda x: None)
    assert list(text["names"].values()) == ["attention math"]
    x = torch.randn(1, 2, 4, 8)
    torch.testing.assert_close(source.made(text, ())(x, x, x), F.scaled_dot_product_attention(x, x, x))
    with pytest.raises(source.Unknown):
        source.made({**text, "names": {name: "attention none" for name in text["names"]}}, ())


@pytest.mark.parametrize("x", [torch.arange(6).reshape(2, 3), torch.tensor(2.5, dtype=torch.bfloat16), torch.empty(0, 3), torch.tensor([True, False]),
                               torch.arange(6.0).reshape(2, 3).t()])  # fmt: skip
def test_small_tensors_are_written_and_made(x):
    made = source.tensor_made(source.tensor_written(x))
    assert made.dtype == x.dtype and torch.equal(made, x)


def test_large_tensors_are_not_written():
    with pytest.raises(source.Unknown, match="a constant tensor of 100000 elements"):
        source.tensor_written(torch.zeros(100000))


@pytest.mark.parametrize(
    "error, why",
    [
        (_native.Exhausted("no memory"), "not kept: the machine had no memory, files or threads left for fused_0"),
        (_native.Fault("a rule undoes another"), "not kept: a fault is reported in each process"),
    ],
)
@pytest.mark.filterwarnings("ignore:zellige leaves fused_0")
def test_what_was_left_for_want_of_memory_or_by_a_fault_is_decided_again(monkeypatch, error, why):
    def fails(*_):
        raise error

    x = torch.randn(4, 32)
    with monkeypatch.context() as failing:
        failing.setattr(part.Part, "plan", fails)
        results, told = compiled(torch.exp, x, take="all")
    assert told.decisions.startswith(why) and (told.left, told.parts) == ({"fused_0": str(error)}, [])
    torch.testing.assert_close(results, (x.exp(), x.exp()))
    _, again = compiled(torch.exp, x, take="all")
    assert (again.decisions, again.left, len(again.parts)) == ("kept", {}, 1)
