"""The hand-written kernels as a library: every row of the table compiled, refusals, fake tensors; on a GPU compared with
torch."""

import pytest
import zellige
from zellige import kernels
from zellige.kernel_table import KERNELS, Spec


def nvrtc() -> bool:
    try:
        return bool(zellige._native.cubin('extern "C" __global__ void k() {}', "sm_80"))
    except zellige.Error:
        return False


def spec(*shape, dtype="bf16", transposed=False):
    return Spec(dtype, shape, (1, shape[0]) if transposed else None)


# (kernel, the template's instance, options, target, tensors)
INSTANCES = [
    ("softmax", "softmax<bfloat16_t, 8, 256, 1, false, 4>", {}, "sm_80", [spec(3, 64, 1000)]),
    ("softmax", "softmax<half_t, 1, 256, 4, true, 4>", {}, "sm_90a", [spec(64, 37, dtype="f16")]),
    ("rms_norm", "norm<Norm::rms, bfloat16_t, 8, 512, 2, false, 4>", {}, "sm_90a", [spec(5, 4096), spec(4096)]),
    ("rms_norm", "norm<Norm::plain_rms, bfloat16_t, 8, 512, 2, true, 4>", {"eps": 1e-6}, "sm_80", [spec(5, 16384)]),
    ("layer_norm", "norm<Norm::layer, half_t, 8, 256, 1, false, 4>", {}, "sm_80", [spec(5, 768, dtype="f16"), *[spec(768, dtype="f16")] * 2]),
    ("transpose", "transpose<bfloat16_t, 128, 4, 256, true>", {}, "sm_90a", [spec(64, 128)]),
    ("transpose", "transpose<bfloat16_t, 64, 1, 128, false>", {}, "sm_80", [spec(63, 128)]),
    ("gemm", "gemm_sm80<GemmSm80<bfloat16_t, 128, 128, 64, 3, 2, 4, false>, Identity>", {}, "sm_80", [spec(1024, 512), spec(512, 1024)]),
    ("gemm", "gemm_ragged<half_t, 32, 32, 4, true, Identity>", {}, "sm_90a", [spec(50, 37, dtype="f16"), spec(37, 61, dtype="f16", transposed=True)]),
    ("gemm", "gemm_ragged<bfloat16_t, 64, 64, 3, false, Identity>", {}, "sm_90a", [spec(600, 601), spec(601, 600)]),
    ("gemm", "gemm_sm90<GemmTile<bfloat16_t, bfloat16_t, 256, 4, 2>, Identity>", {}, "sm_90a", [spec(4096, 512), spec(512, 4096, transposed=True)]),
    ("gemm", "gemm_sm90<GemmTile<bfloat16_t, bfloat16_t, 192, 4, 2>, Identity>", {}, "sm_90a", [spec(300, 512), spec(512, 600, transposed=True)]),
    ("gemm", "linear_rows_sm90<ManyRows<bfloat16_t, 64>, Identity>", {}, "sm_90a", [spec(50, 512), spec(512, 4096, transposed=True)]),
    ("gemm", "linear_rows_sm90<ManyRows<half_t, 128>, Identity>", {}, "sm_90a", [spec(99, 512, dtype="f16"), spec(512, 4096, dtype="f16", transposed=True)]),
    ("gemm", "linear_sm90<FewRows<bfloat16_t, Weights::nk, LinearWork::product, 8, 4>>", {}, "sm_90a", [spec(3, 512), spec(512, 200, transposed=True)]),
    ("rms_norm_linear", "linear_sm90<FewRows<bfloat16_t, Weights::kn, LinearWork::rms_norm, 16, 4>>", {}, "sm_90a", [spec(12, 512), spec(512, 200)]),
    ("gated_mlp", "linear_sm90<FewRows<half_t, Weights::kn, LinearWork::gated, 8, 4>>", {}, "sm_90a", [spec(2, 512, dtype="f16"), *[spec(512, 200, dtype="f16")] * 2]),
    ("attention", "attention_sm90<Attention<bfloat16_t, 128, 176, false>>", {}, "sm_90a", [spec(2, 8, 300, 128), *[spec(2, 2, 500, 128)] * 2]),
    ("attention", "attention_sm90<Attention<half_t, 64, 128, true>>", {"causal": True}, "sm_90a", [spec(2, 4, 300, 64, dtype="f16"), *[spec(2, 4, 300, 64, dtype="f16")] * 2]),
    ("decode_attention", "decode_attention<DecodePlan<bfloat16_t, 128, 8, 4, 3, 8>>", {}, "sm_90a", [spec(1, 32, 128), *[spec(1, 8, 4096, 128)] * 2]),
    ("decode_attention", "decode_attention<DecodePlan<bfloat16_t, 64, 8, 4, 3, 4>>", {"scale": 0.1}, "sm_90a", [spec(4, 8, 64), *[spec(4, 8, 600, 64)] * 2]),
    ("decode_attention", "decode_attention<DecodePlan<bfloat16_t, 64, 8, 8, 3, 1>>", {}, "sm_80", [spec(2, 32, 64), *[spec(2, 8, 777, 64)] * 2]),
]  # fmt: skip


def test_every_kernel_has_an_instance_here():
    assert {row[0] for row in INSTANCES} == set(KERNELS)


@pytest.mark.parametrize("name, instance, options, target, tensors", INSTANCES)
def test_the_instance_compiles(name, instance, options, target, tensors):
    specs, options = tuple(zip(KERNELS[name][1], tensors)), tuple(options.items())
    assert kernels._launch(name, target, specs, options).instance == instance
    if not nvrtc():
        pytest.skip("there is no NVRTC")
    program = kernels.program(name, target, specs, options)  # the source asserts that the table's bytes are the template's
    (kernel,) = program.manifest["kernels"]
    assert kernel["name"].startswith("_ZN7zellige7kernels") and program.target == target
    assert [i.name for i in program.inputs] == [key for key, _ in specs] and len(program.outputs) == 1


def test_what_is_refused(refusal):
    def message(name, *tensors, target="sm_90a", **options):
        return refusal(lambda: kernels._launch(name, target, list(zip(KERNELS[name][1], tensors)), options))

    assert message("softmax", spec(4, 8, dtype="f32")) == "softmax, x: expected f16 or bf16, found f32"
    assert message("gemm", spec(4, 8), spec(8, 4, dtype="f16")) == "gemm, b: expected bf16, as a is, found f16"
    assert message("gemm", spec(4, 8), spec(9, 4)) == "gemm, b: expected 8 rows, as a has 8 columns, found 9"
    assert message("gemm", spec(2, 4, 8), spec(8, 4)) == "gemm, a: expected a matrix, found 3 dimensions"
    assert message("rms_norm", spec(4, 8), spec(9)) == "rms_norm, weight: expected shape (8,), as rows of x have 8 columns, found (9,)"
    assert message("softmax", spec(4, 0)) == "softmax, x: expected at least one element in one dimension, found shape (4, 0)"
    assert message("gated_mlp", *[spec(8, 64)] * 3, target="sm_80") == "gated_mlp: expected a GPU with sm_90a, found sm_80"
    assert message("rms_norm_linear", spec(17, 64), spec(64, 8)) == "rms_norm_linear, x: expected a matrix of 1 to 16 rows, found (17, 64)"
    assert message("rms_norm_linear", spec(4, 60), spec(60, 8)) == "rms_norm_linear, x: expected a multiple of 64 columns, found 60"
    assert message("attention", *[spec(1, 2, 8, 96)] * 3) == "attention, q: expected heads of 64 or 128, found 96"
    assert message("attention", spec(1, 3, 8, 64), *[spec(1, 2, 8, 64)] * 2) == "attention, q: expected a multiple of 2 heads, as k has 2, found 3"
    keys = [spec(1, 2, 8, 64)] * 2
    assert message("attention", spec(1, 2, 9, 64), *keys, causal=True) == "attention, k: expected at least 9 keys, as q has 9 queries, found 8"
    if zellige.gpu()[1]:
        assert refusal(lambda: kernels.softmax([1.0])).startswith("softmax, x: expected an array of NumPy, torch or another that has DLPack")


def test_torchs_operators_have_fake_tensors():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from torch._subclasses import FakeTensorMode

    with FakeTensorMode():
        x, w = torch.empty(3, 5, 64, dtype=torch.bfloat16), torch.empty(64, dtype=torch.bfloat16)
        y = torch.ops.zellige_kernels.rms_norm(x, w, eps=1e-6)
        assert y.shape == x.shape and y.dtype == x.dtype
        a, b = torch.empty(3, 64, dtype=torch.float16), torch.empty(40, 64, dtype=torch.float16)
        assert torch.ops.zellige_kernels.gemm(a, b.T).shape == (3, 40)
        assert torch.ops.zellige_kernels.transpose(a).shape == (64, 3)
        q, k = torch.empty(1, 4, 8, 64, dtype=torch.float16), torch.empty(1, 2, 8, 64, dtype=torch.float16)
        assert torch.ops.zellige_kernels.attention(q, k, k, causal=True).shape == q.shape
        with pytest.raises(zellige.Error, match="^softmax, x: expected f16 or bf16, found f32$"):
            torch.ops.zellige_kernels.softmax(torch.empty(4, 8))

    def model(x):
        return torch.ops.zellige_kernels.softmax(x) * 2

    graphs = []

    def backend(graph, inputs):
        graphs.append(graph)
        return lambda *a: (a[0],)

    torch._dynamo.reset()
    torch.compile(model, backend=backend, fullgraph=True)(torch.zeros(2, 8, dtype=torch.float16))
    assert any(n.target is torch.ops.zellige_kernels.softmax for n in graphs[0].graph.nodes)  # left whole


def on_gpu():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if not torch.cuda.is_available():
        pytest.skip("torch finds no GPU")
    torch.manual_seed(5)
    return torch


def expected(torch, name, x, options):
    F, f = torch.nn.functional, [t.float() for t in x]
    if name == "attention":
        q, k, v = f
        groups = q.shape[1] // k.shape[1]
        k, v = k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)
        s = q @ k.mT * options.get("scale", q.shape[-1] ** -0.5)
        if options.get("causal"):
            s += torch.full(s.shape[-2:], -torch.inf, device=s.device).triu(1 + s.shape[-1] - s.shape[-2])
        return s.softmax(-1) @ v
    if name == "decode_attention":
        return expected(torch, "attention", [x[0][:, :, None], *x[1:]], options)[:, :, 0]
    return {
        "softmax": lambda x: x.softmax(-1),
        "rms_norm": lambda x, w=None: F.rms_norm(x, x.shape[-1:], w, options.get("eps", 1e-5)),
        "layer_norm": lambda x, w, b: F.layer_norm(x, x.shape[-1:], w, b, 1e-5),
        "transpose": lambda x: x.T,
        "gemm": lambda a, b: a @ b,
        "rms_norm_linear": lambda x, w: x / x.square().mean(-1, keepdim=True).sqrt() @ w,
        "gated_mlp": lambda x, w, v: F.silu(x @ w) * (x @ v),
    }[name](*f)


@pytest.mark.parametrize("name, instance, options, target, tensors", INSTANCES)
def test_results_are_torchs(name, instance, options, target, tensors):
    torch = on_gpu()
    if target == "sm_90a" and zellige.gpu()[0] != target:
        pytest.skip(f"for {target}; the GPU here has {zellige.gpu()[0]}")
    x = []
    for i, s in enumerate(tensors):
        dtype = torch.bfloat16 if s.dtype == "bf16" else torch.float16
        scale = s.shape[0] ** -0.5 if i and name in ("gemm", "gated_mlp", "rms_norm_linear") else 1
        t = torch.randn(s.shape[::-1] if s.strides else s.shape, device="cuda") * scale
        x.append((t.T if s.strides else t).to(dtype))
    found = getattr(kernels, name)(*x, **options)
    right = expected(torch, name, x, options)
    assert found.dtype == x[0].dtype and found.shape == right.shape
    bound = (2**-7 if found.dtype == torch.bfloat16 else 2**-9) * max(1, right.abs().max().item())
    assert (found.float() - right).abs().max() <= bound
    out = torch.empty_like(found)
    assert getattr(kernels, name)(*x, **options, out=out) is out
    assert torch.equal(out, found)


def test_a_call_costs_little_and_strides_are_looked_at(refusal):
    torch = on_gpu()
    x = torch.randn(64, 32, device="cuda", dtype=torch.float16)
    assert refusal(lambda: kernels.softmax(x.T)) == "program softmax, input x: expected strides (64, 1), found (1, 32)"
    assert torch.equal(torch.ops.zellige_kernels.softmax(x), kernels.softmax(x))


@pytest.mark.parametrize("name, shapes", {"softmax": [(4, 64)], "rms_norm": [(4, 64), (64,)], "transpose": [(8, 16)], "gemm": [(8, 16), (16, 24)]}.items())
def test_operators_of_torch_keep_its_rules(name, shapes):
    torch = on_gpu()
    x = tuple(torch.randn(s, device="cuda", dtype=torch.float16) for s in shapes)
    torch.library.opcheck(getattr(torch.ops.zellige_kernels, name).default, x, test_utils=("test_schema", "test_faketensor"))
