"""torch.compile(backend="zellige") on the ways in which models are written: keyword arguments, symbolic sizes, all dtypes and
layouts."""

import math

import pytest
import zellige

torch = pytest.importorskip("torch", reason="torch is not installed")
F = torch.nn.functional
STEP = {torch.float16: 2**-10, torch.bfloat16: 2**-7, torch.float32: 2**-23}


@pytest.fixture
def backend():
    from zellige import torch_backend

    torch._dynamo.reset()
    torch_backend.reports.clear()
    return torch_backend


@pytest.fixture
def same(backend):
    """Runs a function eagerly and compiled, compares results and arguments in value, dtype and shape, and returns the reports.
    `steps`: the allowed difference of a result, in steps of the dtype at its largest element."""

    def run(function, *inputs, steps=4, **options):
        mine, theirs = ([x.clone() if isinstance(x, torch.Tensor) and 0 not in x.stride() else x for x in inputs] for _ in range(2))
        with torch.no_grad():
            found, expected = torch.compile(function, backend=backend.backend, **options)(*mine), function(*theirs)
        flat = lambda made: list(made) if isinstance(made, (tuple, list)) else [made]  # noqa: E731
        for x, y in zip([*flat(found), *mine], [*flat(expected), *theirs], strict=True):
            if isinstance(y, torch.Tensor):
                assert (x.dtype, x.shape) == (y.dtype, y.shape)
                if y.dtype in STEP and y.numel():
                    assert (x.float() - y.float()).abs().max() <= steps * STEP[y.dtype] * y.float().abs().max()
                else:
                    assert torch.equal(x, y)
            else:
                assert x == y
        assert not any(r.faults for r in backend.reports)
        return backend.reports

    return run


def draw(*shape, dtype=torch.float32):
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape))).to(dtype)


def taken(reports):
    return [r.taken for r in reports], [r.operators for r in reports]


# ---- Arguments by name ----

MASK = (torch.arange(64).view(8, 8) % 3 != 1) | torch.eye(8, dtype=torch.bool)
ATTENTION = {
    "none": {},
    "mask of bool": {"attn_mask": MASK},
    "mask of numbers": {"attn_mask": torch.where(MASK, 0.5, -torch.inf)},
    "causal": {"is_causal": True},
    "scale": {"scale": 0.3, "dropout_p": 0.0},
    "grouped": {"enable_gqa": True},
    "grouped and causal": {"enable_gqa": True, "is_causal": True, "scale": 0.7},
}


@pytest.mark.parametrize("name", ATTENTION)
def test_attention_takes_its_arguments_by_name(same, name):
    keys = draw(2, 2 if "enable_gqa" in ATTENTION[name] else 4, 8, 16)
    (report,) = same(lambda q, k, v: F.scaled_dot_product_attention(query=q, key=k, value=v, **ATTENTION[name]), draw(2, 4, 8, 16), keys, keys * 0.5)
    assert len(report.parts) == 1 and not any("attention" in n for n in report.left), str(report)


@pytest.mark.parametrize("shapes", [((4, 8, 16), (4, 8, 16)), ((2, 4, 8, 16), (1, 4, 8, 16)), ((1, 4, 8, 16), (2, 1, 8, 16))])
def test_attention_of_other_ranks_and_broadcasts_is_torchs(same, shapes):
    same(lambda q, k: F.scaled_dot_product_attention(query=q, key=k, value=k) * 2, *(draw(*s) for s in shapes))


def test_a_mask_with_is_causal_is_refused_as_torch_does(backend):
    q = draw(1, 2, 8, 16)
    with pytest.raises(Exception, match="attn_mask should not be set when is_causal=True"):
        torch.compile(lambda q: F.scaled_dot_product_attention(q, q, q, attn_mask=MASK, is_causal=True), backend=backend.backend)(q)


NAMED = {
    "linear": lambda x, w: F.linear(input=x, weight=w, bias=w[0, :4].repeat(2)),
    "layer_norm": lambda x, w: F.layer_norm(input=x, normalized_shape=(8,), weight=w[0], bias=w[1], eps=1e-3),
    "softmax": lambda x, w: F.softmax(input=x * 2, dim=-1),
    "sum": lambda x, w: torch.sum(input=x, dim=1, keepdim=True) + torch.mean(input=x, dim=[0, 1]),
    "amax": lambda x, w: torch.amax(input=x, dim=(0, 2), keepdim=False),
    "add": lambda x, w: torch.add(input=x, other=x, alpha=3) - torch.sub(x, other=2, alpha=2),
    "clamp": lambda x, w: torch.clamp(input=x, min=-0.5, max=0.5),
    "cat": lambda x, w: torch.cat(tensors=[x, x * 2], dim=-1),
    "transpose": lambda x, w: torch.transpose(input=x, dim0=1, dim1=2) * 2,
    "var": lambda x, w: torch.var(input=x, dim=None, correction=0),
    "slice": lambda x, w: torch.narrow(input=x, dim=1, start=1, length=2) * 3 + torch.select(input=x, dim=1, index=-1)[:, None],
    "embedding": lambda x, w: F.embedding(input=torch.tensor([1, 0]), weight=w, padding_idx=0) + 1,
    "gelu": lambda x, w: F.gelu(input=x, approximate="tanh") + torch.pow(input=x, exponent=2),
    "addmm": lambda x, w: torch.addmm(input=w, mat1=x[0].T, mat2=x[1], beta=0.5, alpha=2),
    # By ATen's own names, as graphs that other tools write have them.
    "aten": lambda x, w: torch.ops.aten.mean.dim(self=torch.ops.aten.mul.Tensor(self=x, other=x), dim=[2], keepdim=True),
    "aten softmax": lambda x, w: torch.ops.aten._softmax.default(self=x * 1.5, dim=2, half_to_float=False),
}


@pytest.mark.parametrize("name", NAMED)
def test_operators_take_their_arguments_by_name(same, name):
    same(NAMED[name], draw(3, 4, 8), draw(8, 8))


def test_a_schemas_arguments_are_bound_by_position():
    from zellige.torch.import_ import schema

    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    mean = graph.call_function(torch.ops.aten.mean.dim, (), {"keepdim": True, "dim": [1], "self": x, "dtype": None})
    add = graph.call_function(torch.ops.aten.add.Tensor, (x,), {"other": mean, "alpha": 2})
    schema.bind(graph)
    assert (mean.args, mean.kwargs) == ((x, [1], True), {}) and (add.args, add.kwargs) == ((x, mean), {"alpha": 2})


def test_arguments_that_are_not_known_leave_the_operator(refusal):
    from zellige.torch.import_ import schema

    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    node = graph.call_function(torch.ops.aten.mean.dim, (x, [1], True), {"dtype": torch.float32})
    assert schema.call(lambda x, dim, **_: dim, node, [x, [1], False], {"dtype": None}) == [1]
    assert refusal(lambda: schema.call(lambda x, dim: dim, node, node.args, {})) == "expected keepdim=False, found keepdim=True"
    found = refusal(lambda: schema.call(lambda x, dim, keepdim: dim, node, node.args, node.kwargs))
    assert found == "its argument dtype is not known, found dtype=torch.float32"


# ---- Results of several dtypes ----


@pytest.mark.parametrize("dtype", STEP)
def test_a_layer_norms_statistics_are_results(same, dtype):
    x, w = draw(2, 3, 8, dtype=dtype), draw(8, dtype=dtype)
    (report,) = same(lambda x: torch.native_layer_norm(x, (8,), w, None, 1e-5), x)
    assert report.taken == report.operators, str(report)
    same(lambda x: torch.native_layer_norm(x * 2, (8,), None, w, eps=1e-5)[2] * 3, x)
    same(lambda x: torch.native_layer_norm(input=x, normalized_shape=(3, 8), weight=None, bias=None, eps=1e-5), x)
    same(lambda x: F.linear(torch.native_layer_norm(F.linear(x, w.expand(8, 8)), (8,), w, w, 1e-5)[0], w.expand(8, 8)), x, steps=8)


NORMS = {
    "batch": lambda x, m, v, w, b: F.batch_norm(x, m, v, w, b, training=True) + m[:, None],
    "batch in evaluation": lambda x, m, v, w, b: F.batch_norm(x, m, v, training=False) * 2,
    "instance": lambda x, m, v, w, b: F.instance_norm(x, running_mean=m, running_var=v) * 2,
    "instance in evaluation": lambda x, m, v, w, b: F.instance_norm(x, m, v, use_input_stats=False) * 2,
    "legit": lambda x, m, v, w, b: [t * 2 for t in torch.ops.aten._native_batch_norm_legit(x, w, b, m, v, True, 0.1, 1e-5)],
    "functional": lambda x, m, v, w, b: [t * 2 for t in torch.ops.aten._native_batch_norm_legit_functional(x, w, b, m, v, True, 0.1, 1e-5)],
    "no statistics": lambda x, m, v, w, b: [t * 2 for t in torch.ops.aten._native_batch_norm_legit.no_stats(x, w, b, True, 0.1, 1e-5)],
    "no training": lambda x, m, v, w, b: torch.ops.aten._native_batch_norm_legit_no_training(x, w, b, m, v, 0.1, 1e-5)[0] * 2,
    "with update": lambda x, m, v, w, b: [t * 2 for t in torch.ops.aten._batch_norm_with_update(x, w, b, m, v, 0.1, 1e-5)[:3]],
    "native": lambda x, m, v, w, b: [t * 2 for t in torch.native_batch_norm(x, w, b, m, v, True, 0.1, 1e-5)],
    "group": lambda x, m, v, w, b: [t * 2 for t in torch.native_group_norm(x, w, b, 4, 6, 5, 3, 1e-5)],
    "topk": lambda x, m, v, w, b: [x.topk(2)[0] * 2, x.topk(2)[1] * 2],
    "unique": lambda x, m, v, w, b: [t * 2 for t in torch.unique(x[:, 0, 0], return_inverse=True, return_counts=True)],
}


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
@pytest.mark.parametrize("name", NORMS)
def test_operators_of_several_results_have_torchs_dtypes(same, name, dtype):
    channels = [draw(6, dtype=dtype) * n for n in (1, 0.5, 2, 3)]
    channels[1] = channels[1].abs() + 0.5
    same(NORMS[name], draw(4, 6, 5, dtype=dtype), *channels, steps=8)


def test_a_part_whose_operand_is_not_as_declared_runs_torchs_kernels(same):
    @torch.library.custom_op("zellige_test::misstated", mutates_args=())
    def misstated(x: torch.Tensor) -> torch.Tensor:
        return x.half()

    @misstated.register_fake
    def _(x):
        return torch.empty_like(x)

    (report,) = same(lambda x: torch.tanh(misstated(x)) * 2, draw(4, 8))
    assert len(report.parts) == 1


# ---- Symbolic sizes ----


def sizes(x):
    n = x.shape[0] * x.size(1)
    return torch.relu(x).reshape(n, -1) * n + x.numel() / 7 - x.size(-1) ** 0.5


def test_numbers_that_depend_on_sizes_are_torchs(same):
    (report,) = same(sizes, draw(3, 4, 8), dynamic=True)
    assert report.sizes and any("expected scalar to be the same for all sizes" in why for why in report.left.values()), str(report)


@pytest.mark.parametrize("dynamic", [None, True])
def test_all_sizes_have_one_compilation(backend, dynamic):
    compiled = torch.compile(sizes, backend=backend.backend, dynamic=dynamic)
    with torch.no_grad():
        for n in (2, 3, 5, 3, 2, 5):
            x = draw(n, 4, 8)
            assert (compiled(x) - sizes(x)).abs().max() <= 4 * 2**-23 * sizes(x).abs().max()
    assert [bool(r.sizes) for r in backend.reports] == ([True] if dynamic else [False, True])


class Layer(torch.nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.norm, self.qkv, self.out = torch.nn.LayerNorm(dim), torch.nn.Linear(dim, 3 * dim), torch.nn.Linear(dim, dim)

    def forward(self, x):
        batch, length, dim = x.size()
        q, k, v = self.qkv(self.norm(x)).view(batch, length, 3, 4, dim // 4).permute(2, 0, 3, 1, 4)
        made = F.scaled_dot_product_attention(query=q, key=k, value=v, is_causal=True, scale=length**-0.5)
        return x + self.out(made.transpose(1, 2).reshape(batch, length, -1))


def test_a_layer_of_changing_length(backend):
    layer = Layer().eval()
    compiled = torch.compile(layer, backend=backend.backend)
    with torch.no_grad():
        for n in (4, 6, 7):
            x = draw(2, n, 32)
            assert (compiled(x) - layer(x)).abs().max() <= 64 * 2**-23 * layer(x).abs().max()
    assert [len(r.parts) for r in backend.reports] == [1, 1, 1], [*map(str, backend.reports)]
    assert not any("attention" in name or "Sym" in why for r in backend.reports for name, why in r.left.items())


def test_what_mark_dynamic_keeps_and_cannot_stay_open_is_torchs(backend):
    """A fraction of the rows, rounded up, is nothing that the graph computes of a size."""
    function = lambda x, s: torch.relu(x) * 2 + math.ceil(s * x.shape[0])  # noqa: E731
    x = draw(4, 8)
    torch._dynamo.mark_dynamic(x, 0)
    with torch.no_grad():
        assert torch.equal(torch.compile(function, backend=backend.backend)(x, 1.5), function(x, 1.5))
    (report,) = backend.reports
    assert list(report.left) == ["the graph"] and "mark_dynamic forbids to specialise" in str(report)


SYMBOLS = {
    "float": lambda x, s: torch.tanh(x) * s + s,
    "float as an attribute": lambda x, s: F.layer_norm(x, (8,), eps=s) + 1,
    "float as a power": lambda x, s: torch.abs(x) ** s + 1,
    "float as a scale": lambda x, s: F.scaled_dot_product_attention(x[None], x[None], x[None], scale=s),
    "bool": lambda x, s: torch.relu(x) if x.shape[0] * s > 3 else torch.tanh(x),
    "size as a number": lambda x, s: torch.relu(x) / x.shape[1] + int(s * x.shape[0]),
    "data": lambda x, s: torch.relu(x[x > 0]) * 2,
}


@pytest.mark.parametrize("name", SYMBOLS)
def test_symbols_of_all_kinds(same, name):
    same(SYMBOLS[name], draw(2, 4, 8), 1.5, dynamic=True)


def test_a_size_that_depends_on_data_is_torchs(same):
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        (report,) = same(lambda x: torch.tanh(x[x > 0]) * 2 + torch.relu(x).sum(), draw(4, 8), fullgraph=True)
    assert any("sizes that do not depend on data" in why for why in report.left.values()), str(report)


# ---- Dtypes, layouts, mutation ----

SHAPES = {
    "empty": (0, 8),
    "no dimensions": (),
    "one element": (1,),
    "one row": (1, 8),
    "nine dimensions": (1, 2, 1, 2, 1, 2, 1, 2, 1),
}
WHOLE = {
    "elementwise": lambda x: torch.tanh(x) * x + 1,
    "all": lambda x: (x * 2).sum() + x.mean() * x,
    "views": lambda x: x.reshape(-1).unsqueeze(0) * 2,
}


@pytest.mark.parametrize("function", WHOLE)
@pytest.mark.parametrize("shape", SHAPES)
def test_tensors_of_all_shapes(same, shape, function):
    same(lambda x: torch.nan_to_num(WHOLE[function](x)), draw(*SHAPES[shape]))


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex64, torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64, torch.bool])
def test_other_dtypes_are_torchs_or_right(same, dtype):
    x = (draw(4, 8) * 50).to(dtype)
    same(lambda x: (x + x, x * 2, x.sum(), x.reshape(8, 4).T, torch.cat((x, x)), x[1:, ::2], x == x), x)
    if dtype != torch.bool:
        same(lambda x: (-x, x - 3, x / 2, torch.abs(x), x * x * x * x, x @ x.T, x**2), x)
    same(lambda x, y: (x * y, y + x, torch.cat((x, y)), torch.where(x != 0, y, y * 2)), x, draw(4, 8))
    same(lambda x, y: (x * y, y * 2 + 0.5 * x[0, 0]), x, draw(4, 8, dtype=torch.bfloat16), steps=8)


@pytest.mark.parametrize("a, b", [(torch.float16, torch.bfloat16), (torch.float16, torch.float32), (torch.bfloat16, torch.float32)])
def test_mixed_dtypes_promote_as_torchs(same, a, b):
    x, y = draw(4, 8, dtype=a), draw(4, 8, dtype=b)
    same(lambda x, y: (x + y, x * y[0], torch.maximum(x, y), torch.cat((x, y))), x, y)
    # Torch rounds the sum and the mean to the dtypes of x and y; in one kernel they keep their float32.
    same(lambda x, y: (x / y.sum(), x.mean() * y), x, y, steps=4 + max(STEP[a], STEP[b]) / STEP[torch.promote_types(a, b)])


@pytest.mark.parametrize("scalar", [2, 2.5, True, -torch.inf, torch.nan, 1j])
def test_numbers_of_all_kinds(same, scalar):
    def function(x):
        y = x * scalar
        return torch.nan_to_num(y) if not y.is_complex() else y

    same(function, draw(4, 8) if isinstance(scalar, complex) else draw(4, 8).half())


def overlapping():
    return draw(4, 8).as_strided((3, 4), (2, 1))


LAYOUTS = {
    "transposed": lambda: draw(8, 4).T,
    "strided": lambda: draw(4, 16)[:, ::2],
    "offset": lambda: draw(5, 8)[1:],
    "expanded": lambda: draw(1, 8).expand(4, 8),
    "overlapping": overlapping,
    "channels last": lambda: draw(2, 3, 4, 4).to(memory_format=torch.channels_last),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_inputs_of_all_layouts(same, name):
    same(lambda x: torch.tanh(x) + x.sum(-1, keepdim=True), LAYOUTS[name]())


def in_place(x, y):
    x.add_(y).mul_(2)
    x[1:3] = torch.tanh(y[1:3])
    z = x.view(-1)
    z[3:5].relu_()
    x.T.sub_(1)
    return z * 2, x[::2]


@pytest.mark.parametrize("dtype", STEP)
def test_arguments_changed_in_place_and_their_views(same, dtype):
    same(in_place, draw(4, 8, dtype=dtype), draw(4, 8, dtype=dtype))


def test_an_argument_and_a_view_of_it(backend):
    x, y = draw(4, 8), draw(4, 8)
    with torch.no_grad():
        found = torch.compile(lambda a, b: (a.mul_(2), b + a[1:3])[1], backend=backend.backend, dynamic=True)(x, x[1:3])
        y.mul_(2)
        assert torch.equal(found, y[1:3] + y[1:3]) and torch.equal(x, y)


# ---- Faults of ours ----


def test_a_fault_of_ours_is_told_and_the_operator_left(backend, monkeypatch):
    from zellige.torch.import_ import operators

    def broken(x):
        raise zellige.Fault("graph node: expected no fault, found one")

    monkeypatch.setitem(operators.OPERATORS, torch.ops.aten.tanh.default, broken)
    x = draw(4, 8)
    with torch.no_grad(), pytest.warns(RuntimeWarning, match="leaves aten.tanh.default to torch, by a fault of its own: graph node"):
        found = torch.compile(lambda x: torch.tanh(x) * 2, backend=backend.backend)(x)
    assert torch.equal(found, torch.tanh(x) * 2)
    assert backend.reports[0].faults == ["aten.tanh.default: graph node: expected no fault, found one"]


@pytest.mark.parametrize("kind", [TypeError, IndexError, KeyError, AttributeError])
def test_an_exception_of_ours_is_not_hidden(backend, monkeypatch, kind):
    from zellige.torch.import_ import operators

    def broken(x):
        raise kind("ours")

    monkeypatch.setitem(operators.OPERATORS, torch.ops.aten.tanh.default, broken)
    with torch.no_grad(), pytest.raises(Exception, match=f"{kind.__name__}: .?ours"):
        torch.compile(lambda x: torch.tanh(x) * 2, backend=backend.backend)(draw(4, 8))
