"""Which operators are decomposed into supported ones, and which are not: by operators of torch.nn.functional, and by
conditions."""

import pytest

torch = pytest.importorskip("torch")
import torch.nn.functional as F  # noqa: E402
from zellige import torch_backend  # noqa: E402

TAKEN = {
    "leaky_relu": F.leaky_relu,
    "hardswish": F.hardswish,
    "hardsigmoid": F.hardsigmoid,
    "threshold": lambda x: F.threshold(x, 0.1, 0.5),
    "relu6": F.relu6,
    "glu": lambda x: F.glu(x, 1),
    "group_norm": lambda x: F.group_norm(x, 2),
    "group_norm of rows": lambda x: F.group_norm(x[:, :, 0, 0], 2),
    "instance_norm": F.instance_norm,
    "standardized weights": lambda x: F.batch_norm(x.reshape(1, 8, -1), None, None, training=True),
    "var_mean": lambda x: torch.var_mean(x, -1)[0],
    "normalize": lambda x: F.normalize(x, dim=1),
    "rms_norm": lambda x: F.rms_norm(x, (16,)),
    "a condition of two": lambda x: torch.where((x > 0) & (x < 1), x, -x),
    "a negated condition": lambda x: x.masked_fill(~(x >= 0.5), 2.0),
    "a condition as a number": lambda x: (x > 0).float() * x,
    "compared tensors": lambda x: torch.where(x > x.mean(-1, keepdim=True), x, 0.0),
    "upsample_nearest2d": lambda x: F.interpolate(x, scale_factor=1.7),
    "_upsample_nearest_exact2d": lambda x: F.interpolate(x, scale_factor=1.7, mode="nearest-exact"),
    "elu": F.elu,
    "mish": F.mish,
    "constant_pad_nd": lambda x: F.pad(x, (1, 1)),
}
WHOLE = {
    "upsample_bicubic2d": lambda x: F.interpolate(x, scale_factor=2, mode="bicubic"),
    "upsample_bilinear2d": lambda x: F.interpolate(x, size=(20, 31), mode="bilinear", align_corners=True),
    "_upsample_bilinear2d_aa": lambda x: F.interpolate(x, size=(7, 7), mode="bilinear", antialias=True),
    "upsample_linear1d": lambda x: F.interpolate(x[0], scale_factor=1.5, mode="linear"),
    "upsample_trilinear3d": lambda x: F.interpolate(x[None], scale_factor=(1, 2, 2), mode="trilinear"),
}


def compiled(function, x):
    torch._dynamo.reset()
    between = lambda x: function(x * 2) + 1  # noqa: E731
    with torch.no_grad():
        found, expected = torch.compile(between, backend=torch_backend.backend)(x), between(x)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
    return torch_backend.reports[-1]


@pytest.mark.parametrize("name", TAKEN)
def test_taken_to_the_last_piece(name):
    r = compiled(TAKEN[name], torch.randn(2, 8, 16, 16, generator=torch.Generator().manual_seed(1)))
    assert r.taken == r.operators and len(r.parts) == 1 and not r.left


@pytest.mark.parametrize("name", WHOLE)
def test_left_whole(name):
    r = compiled(WHOLE[name], torch.randn(2, 8, 16, 16, generator=torch.Generator().manual_seed(1)))
    assert list(r.left) == [f"aten.{name}.default"] and r.operators - r.taken == 1


def test_tensors_without_elements_are_not_concatenated():
    """A cache without keys: torch.cat([empty, keys])."""
    x = torch.randn(2, 3, 8, generator=torch.Generator().manual_seed(3))

    def function(x):
        old, cut = torch.tensor([], dtype=x.dtype), x[:, :0]
        return torch.cat([old, x], -2) * 2, torch.cat([cut, x, x], 1) + 1

    torch._dynamo.reset()
    with torch.no_grad():
        found, expected = torch.compile(function, backend=torch_backend.backend)(x), function(x)
    torch.testing.assert_close(found, expected)
    r = torch_backend.reports[-1]
    assert r.taken == r.operators and not r.left


def test_special_values_compare_as_torch_compares_them():
    x = torch.tensor([[float("nan"), float("inf"), -float("inf"), -0.0, 0.0, 1.0, -1.0, 2.0]])
    for function in (lambda x: torch.where(x > 0, 1.0, x), lambda x: torch.where(x != x, 0.0, x), lambda x: (x <= 1).float()):
        torch._dynamo.reset()
        with torch.no_grad():
            found, expected = torch.compile(function, backend=torch_backend.backend)(x), function(x)
        torch.testing.assert_close(found, expected, rtol=0, atol=0, equal_nan=True)


CHANNELS_LAST = {
    "batch_norm": lambda x, y: F.relu(F.batch_norm(x, x.new_ones(8) / 3, x.new_ones(8) * 2, x.new_ones(8), x.new_ones(8)) + y),
    "mean": lambda x, y: F.hardswish(x).mean((2, 3), keepdim=True) * y,
    "mean without dimensions": lambda x, y: (x * y).mean((2, 3)) + 1,
    "along channels": lambda x, y: torch.softmax(x, 1) * y.amax(1, keepdim=True),
    "mixed": lambda x, y: x + y.contiguous(),
    "flattened": lambda x, y: (x * y).flatten(1) + 1,
}


@pytest.mark.parametrize("name", CHANNELS_LAST)
def test_channels_last(name):
    generator = torch.Generator().manual_seed(2)
    x, y = (torch.randn(2, 8, 5, 6, generator=generator).to(memory_format=torch.channels_last) for _ in range(2))
    torch._dynamo.reset()
    with torch.no_grad():
        found, expected = torch.compile(CHANNELS_LAST[name], backend=torch_backend.backend)(x, y), CHANNELS_LAST[name](x, y)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
    assert found.stride() == expected.stride()
