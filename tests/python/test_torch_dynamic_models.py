"""Models of transformers under dynamic=True: one compilation for calls of random lengths, right results, and few operators left that are
taken where sizes are fixed. Programs are planned, and evaluated by the reference.

With ZELLIGE_ALL=1 and transformers (tests/python/transformers_models.py); by default one layer in their style.
"""

import os
import random

import pytest

torch = pytest.importorskip("torch")
import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402

ALL = "ZELLIGE_ALL" in os.environ
CALLS, PROMPTS, NEW = 10, 20, 6
SEED = 60
if ALL:
    pytest.importorskip("transformers", reason="transformers is not installed")
    from transformers_models import MODELS, WORDS

# operators that are left to torch only where sizes are open: they make masks and positions
MORE_LEFT = 8


@pytest.fixture
def backend(monkeypatch):
    """The backend, whose programs the reference evaluates."""
    from zellige import _native, torch_backend

    program = _native.Program
    monkeypatch.setattr(_native, "Program", lambda *args, **options: program(*args, **options | {"on": "reference"}))
    torch._dynamo.reset()
    torch_backend.reports.clear()
    return torch_backend


def compiled(backend, function, **how):
    return torch.compile(function, backend=lambda m, i: backend.backend(m, i, options={"take": "all"}), **how)


class Layer(nn.Module):
    """Embeddings of flattened tokens, and attention of heads with rotary positions."""

    def __init__(self):
        super().__init__()
        self.words, self.qkv, self.out = nn.Embedding(50, 32), nn.Linear(32, 96), nn.Linear(32, 32)

    def forward(self, tokens):
        batch, length = tokens.shape
        x = self.words(tokens)
        angles = torch.arange(length)[:, None] * torch.tensor([1.0, 0.1, 0.01, 0.001]).repeat(2)
        q, k, v = self.qkv(x).view(batch, length, 3, 4, 8).permute(2, 0, 3, 1, 4)
        rotated = [y * angles.cos() + torch.cat([-y[..., 4:], y[..., :4]], -1) * angles.sin() for y in (q, k)]
        made = F.scaled_dot_product_attention(*rotated, v, is_causal=True)
        return x + self.out(made.transpose(1, 2).reshape(batch, length, 32))


def result(made):
    if isinstance(made, torch.Tensor):
        return made
    return next(made[k] for k in ("logits", "last_hidden_state") if k in made)


def checked(backend, model, inputs, **how):
    """Calls the compiled model, compares results, and returns the reports."""
    run = compiled(backend, model, **how)
    with torch.no_grad():
        for given in inputs:
            found, expected = result(run(**given)), result(model(**given))
            assert found.shape == expected.shape and found.stride() == expected.stride()
            torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4 * expected.abs().max().item())
    return list(backend.reports)


def fresh(backend):
    torch._dynamo.reset()
    backend.reports.clear()


def test_a_layer_of_flattened_tokens(backend):
    draw = random.Random(SEED)
    torch.manual_seed(SEED)
    inputs = [{"tokens": torch.randint(0, 50, (draw.randint(2, 4), draw.randint(2, 30)))} for _ in range(CALLS)]
    (report,) = checked(backend, Layer().eval(), inputs, dynamic=True)
    assert len(report.parts) == 1 and not report.specialised, str(report)
    fresh(backend)
    (fixed,) = checked(backend, Layer().eval(), inputs[:1], dynamic=False)
    assert report.operators - report.taken <= fixed.operators - fixed.taken + MORE_LEFT, f"{report}\n{fixed}"


if ALL:

    @pytest.mark.parametrize("name", MODELS)
    def test_random_lengths_of_a_model(backend, name):
        draw, model = random.Random(SEED), MODELS[name].make()
        torch.manual_seed(SEED)
        inputs = [MODELS[name].inputs(draw) for _ in range(CALLS)]
        reports = checked(backend, model, inputs, dynamic=True)
        print(name, *reports, sep="\n")
        assert len(reports) == 1 and not reports[0].specialised, "\n".join(map(str, reports))
        fresh(backend)
        fixed = checked(backend, model, inputs[:1], dynamic=False)
        left = [sum(r.operators - r.taken for r in of) for of in (reports, fixed)]
        assert left[0] <= left[1] + MORE_LEFT, "\n".join(map(str, (*reports, *fixed)))

    @pytest.mark.parametrize("cache", ["dynamic", "static"])
    @pytest.mark.parametrize("name", [n for n, m in MODELS.items() if m.generates])
    def test_generate(backend, name, cache):
        """Prompts of random lengths, with a cache that grows and with one of fixed length."""
        draw, model = random.Random(SEED), MODELS[name].make()
        torch.manual_seed(SEED)
        eager, run = model.forward, compiled(backend, model.forward, dynamic=True)
        how = {"max_new_tokens": NEW, "do_sample": False, "pad_token_id": 0, "eos_token_id": None, "disable_compile": True}
        how |= {"cache_implementation": "static"} if cache == "static" else {}
        for _ in range(PROMPTS):
            prompt = torch.randint(3, WORDS, (1, draw.randint(2, 40)))
            made = []
            for model.forward in (run, eager):
                with torch.no_grad():
                    made.append(model.generate(prompt, attention_mask=torch.ones_like(prompt), **how))
            assert torch.equal(*made)
        assert len(backend.reports) == 2, "\n".join(map(str, backend.reports))
