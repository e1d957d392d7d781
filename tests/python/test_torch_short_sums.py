"""Sums of a few slices as additions: which, their results, and that they become one kernel with what is around them."""

import pytest

torch = pytest.importorskip("torch")
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402
from rewriting import rewrite  # noqa: E402
from zellige import torch_backend  # noqa: E402
from zellige.torch.import_ import schema  # noqa: E402

SUM = torch.ops.aten.sum.dim_IntList


def added(function, *inputs):
    """Returns (a module with the graph of the function after the replacement, the number of sums that stayed)."""
    with torch.no_grad():
        module = make_fx(function, tracing_mode="fake")(*inputs)
    schema.bind(module.graph)
    rewrite(module.graph, "sum of slices")
    module.graph.lint()
    module.recompile()
    return module, len(module.graph.find_nodes(op="call_function", target=SUM))


def close(function, *inputs):
    module, stayed = added(function, *inputs)
    found, expected = module(*inputs), function(*inputs)
    assert found.dtype == expected.dtype and found.shape == expected.shape
    torch.testing.assert_close(found, expected)
    return module, stayed


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_results(dtype):
    torch.manual_seed(1)
    x, w = torch.randn(6, 2, 3, 16, dtype=dtype), torch.rand(6, 1, 3, 1)
    for dim, keepdim in ((1, False), (2, True), (-2, False), (-3, True)):
        assert close(lambda x: x.sum(dim, keepdim) + 1, x)[1] == 0  # noqa: B023
        assert close(lambda x, w: (torch.relu(x).float() * w + 2).sum(dim, keepdim), x, w)[1] == 0  # noqa: B023
    assert close(lambda x: (x * x[0, 0, 0]).sum(0), x)[1] == 0  # operands with fewer dimensions


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_rows_numbered_by_two_dimensions(dtype):
    """What is elementwise is computed of strided rows; the tensor itself is viewed once."""
    torch.manual_seed(2)
    x, w, b = torch.randn(12, 16, dtype=dtype), torch.rand(12), torch.rand(16)
    module, stayed = close(lambda x, w, b: (x * w.unsqueeze(-1) + b).view(4, 3, 16).sum(1), x, w, b)
    assert stayed == 0
    assert all(n.meta["val"].shape[0] != 12 or not n.meta["val"].is_floating_point() for n in module.graph.find_nodes(op="call_function", target=torch.ops.aten.mul.Tensor))
    views = [n for n in module.graph.find_nodes(op="call_function", target=torch.ops.aten.view.default) if n.args[0].op == "placeholder"]
    assert len(views) == 1


def test_other_sums_are_kept():
    """Sums along the last dimension, of many slices, over several dimensions, into another dtype; of integers."""
    x = torch.randn(4, 12, 16)
    assert close(lambda x: x.sum(-1), x[:, :, :8])[1] == 1
    assert close(lambda x: x.sum(1), x)[1] == 1
    assert close(lambda x: x.sum((0, 1)), x)[1] == 1
    assert close(lambda x: x.sum(0), x[:, :, :4])[1] == 1
    assert close(lambda x: x.half().sum(0, dtype=torch.float32), x)[1] == 1
    assert close(lambda x: x.sum(0), torch.ones(2, 16, dtype=torch.int64))[1] == 1


def test_an_operand_that_others_read_is_computed_once():
    def function(x):
        y = torch.exp(x)
        return y.sum(0) + y[1]

    module, stayed = close(function, torch.randn(2, 3, 16))
    assert stayed == 0 and len(module.graph.find_nodes(op="call_function", target=torch.ops.aten.exp.default)) == 1


def test_one_kernel_with_a_norm():
    """Weighted results of experts, a residual and an RMS norm."""

    def function(x, w, r, g):
        y = (x * w.view(-1).unsqueeze(-1)).view(64, 2, 256).sum(1).to(r.dtype) + r
        return y, torch.nn.functional.rms_norm(y, (256,), g)

    torch.manual_seed(3)
    inputs = torch.randn(128, 256).bfloat16(), torch.rand(64, 2), torch.randn(64, 256).bfloat16(), torch.rand(256).bfloat16()
    torch._dynamo.reset()
    with torch.no_grad():
        found, expected = torch.compile(function, backend=torch_backend.backend)(*inputs), function(*inputs)
    for f, e in zip(found, expected, strict=True):
        torch.testing.assert_close(f, e, rtol=2e-2, atol=2e-2)
    (part,) = torch_backend.reports[-1].parts
    assert len(part.manifest["kernels"]) == 1
