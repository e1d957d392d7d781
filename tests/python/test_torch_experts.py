"""Layers of experts: products of groups in the spellings that models have, and weights that are read where they lie."""

import numpy as np
import pytest
import zellige

torch = pytest.importorskip("torch", reason="torch is not installed")
import op_samples  # noqa: E402
from zellige import torch_backend  # noqa: E402

F = torch.nn.functional
TOKENS, EXPERTS, WIDTH, INNER, CHOSEN = 5, 4, 32, 16, 2


class Experts(torch.nn.Module):
    """Routes tokens to experts. Tokens are grouped by expert, or each has the weights of its experts."""

    def __init__(self, grouped):
        super().__init__()
        torch.manual_seed(61)
        self.grouped, self.gate = grouped, torch.nn.Linear(WIDTH, EXPERTS, bias=False)
        self.up, self.down = (torch.nn.Parameter(torch.randn(s) / 8) for s in ((EXPERTS, 2 * INNER, WIDTH), (EXPERTS, WIDTH, INNER)))

    def forward(self, x):
        factors, indices = torch.topk(self.gate(x).softmax(-1), CHOSEN, -1)
        experts = indices.reshape(-1)
        tokens = torch.arange(x.shape[0]).unsqueeze(1).expand(-1, CHOSEN).reshape(-1)
        if not self.grouped:
            gate, up = torch.bmm(self.up[experts], x[tokens].unsqueeze(-1)).squeeze(-1).chunk(2, -1)
            made = torch.bmm(self.down[experts], (F.silu(gate) * up).unsqueeze(-1)).squeeze(-1) * factors.reshape(-1, 1)
            return torch.zeros_like(x).index_add_(0, tokens, made)
        order = torch.argsort(experts, stable=True)
        back = torch.argsort(order, stable=True)
        counts = torch.histc(experts[order].float(), bins=EXPERTS, min=0, max=EXPERTS - 1)
        ends = torch.cumsum(counts, 0, dtype=torch.int32)
        gate, up = torch._grouped_mm(x[tokens][order], self.up.transpose(-2, -1), offs=ends).chunk(2, -1)
        made = torch._grouped_mm(F.silu(gate) * up, self.down.transpose(-2, -1), offs=ends) * factors.reshape(-1)[order].unsqueeze(-1)
        return torch.zeros_like(x).index_add_(0, tokens, made[back])


@pytest.mark.parametrize("grouped", [True, False])
def test_a_layer_of_experts_is_one_part(grouped):
    """The router prefers one expert, so that others may have no tokens."""
    layer = Experts(grouped).to(torch.bfloat16).eval()
    x = torch.randn(TOKENS, WIDTH, generator=torch.Generator().manual_seed(1)).to(torch.bfloat16)
    torch._dynamo.reset()
    with torch.no_grad(), op_samples._without_kernels():
        eager = layer(x)
        found = torch.compile(layer, backend="zellige", options={"take": "all"})(x)
    assert op_samples.differs(found, eager, eager.double()) is None
    report = torch_backend.reports[-1]
    assert report.taken == report.operators and len(report.parts) == 1 and not report.faults, str(report)


@pytest.mark.parametrize("tokens", [1, 8])
def test_weights_of_an_expert_are_read_where_they_lie(tokens):
    """No kernel gathers them: a block reads the number of its expert."""
    of = lambda name, dtype, *shape: {"name": name, "dtype": dtype, "shape": shape}  # noqa: E731
    graph = {
        "zellige_graph": 1,
        "name": "experts",
        "inputs": [of("x", "f32", 3, tokens, 32), of("w", "f32", 5, 48, 32), of("ids", "int32", 3)],
        "operators": [
            {"op": "gather", "inputs": ["w", "ids"], "outputs": ["own"]},
            {"op": "permute", "inputs": ["own"], "outputs": ["columns"], "dims": [0, 2, 1]},
            {"op": "matmul", "inputs": ["x", "columns"], "outputs": ["products"]},
            {"op": "relu", "inputs": ["products"], "outputs": ["y"]},
        ],
        "outputs": ["y"],
    }
    program = zellige.compile(graph)
    random = np.random.default_rng(61)
    x, w = (random.integers(-4, 5, s).astype(np.float32) for s in ((3, tokens, 32), (5, 48, 32)))
    for ids in ([4, 0, 4], [2, 2, 2]):
        found = np.asarray(program(x, w, np.array(ids, np.int32)))
        assert np.array_equal(found, np.maximum(x @ w[ids].transpose(0, 2, 1), 0))
    assert len(program.manifest["kernels"]) == 1
