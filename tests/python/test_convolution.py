"""Convolutions: zellige.convolution is torch's, on torch's tensors, on the emulator and by torch.compile."""

import random

import numpy as np
import pytest
import zellige
from zellige import Error

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402
from zellige import torch_backend  # noqa: E402

SEED = 61
NAMES = {1: torch.nn.functional.conv1d, 2: torch.nn.functional.conv2d, 3: torch.nn.functional.conv3d}


def draw(rng):
    """Returns (x, weight, bias, options) of a random convolution."""
    dims = rng.choice((1, 2, 2, 3))
    channels, outputs, groups = rng.choice((1, 3, 8, 12)), rng.choice((1, 4, 8, 12)), 1
    if rng.random() < 0.3:
        groups = channels
        outputs = channels * rng.choice((1, 2))
    elif rng.random() < 0.3:
        groups = next(g for g in (4, 3, 2, 1) if channels % g == outputs % g == 0)
    kernel = [rng.choice((1, 2, 3, 5)) for _ in range(dims)]
    options = {
        "stride": [rng.choice((1, 2, 3)) for _ in kernel], "dilation": [rng.choice((1, 2)) for _ in kernel], "groups": groups,
    }  # fmt: skip
    options["padding"] = [rng.randrange(k * r // 2 + 1) for k, r in zip(kernel, options["dilation"])]
    extents = [(k - 1) * r + 1 + rng.randrange(6) for k, r in zip(kernel, options["dilation"])]
    torch.manual_seed(rng.randrange(1 << 30))
    bias = torch.randn(outputs) if rng.random() < 0.5 else None
    return torch.randn(rng.choice((1, 2)), channels, *extents), torch.randn(outputs, channels // groups, *kernel), bias, options


def test_torchs_on_tensors():
    rng = random.Random(SEED)
    for _ in range(60):
        x, w, bias, options = draw(rng)
        expected = NAMES[x.ndim - 2](x, w, bias, **options)
        for last in (True, False):
            torch.testing.assert_close(zellige.convolution(x, w, bias, channels_last=last, **options), expected, rtol=1e-4, atol=1e-4)
    x, w = torch.randn(2, 6, 5, 4), torch.randn(6, 7, 2, 3)
    expected = torch.nn.functional.conv_transpose2d(x, w, stride=(2, 3))
    torch.testing.assert_close(zellige.convolution(x, w, stride=(2, 3), transposed=True), expected, rtol=1e-4, atol=1e-4)


def test_on_the_emulator():
    rng = random.Random(SEED + 1)
    for _ in range(3):
        x, w, bias, options = draw(rng)
        arrays = [a.numpy() for a in (x, w, bias) if a is not None]
        program = zellige.compile(lambda x, w, b=None, options=options: zellige.convolution(x, w, b, **options), *arrays, on="emulator")
        found, expected = program(*arrays), NAMES[x.ndim - 2](x, w, bias, **options)
        np.testing.assert_allclose(found, expected.numpy(), rtol=1e-4, atol=1e-4)


def test_errors_name_both_numbers():
    x = torch.zeros(1, 4, 5, 5)
    for w, options, message in (
        (torch.zeros(2, 3, 3, 3), {}, "convolution: expected a weight of 4 channels for x (1, 4, 5, 5) in 1 groups, found 3 in (2, 3, 3, 3)"),
        (torch.zeros(2, 4, 7, 7), {}, "convolution: expected a kernel that reaches over at most 5 elements of dimension 2, with its padding, found 7"),
        (torch.zeros(2, 4, 3, 3), {"stride": (1, 1, 1)}, "convolution: expected stride to be one number or 2, found (1, 1, 1)"),
        (torch.zeros(2, 4, 3, 3), {"groups": 3}, "convolution: expected groups that divide 4 channels of x and 2 of the weight, found 3"),
    ):
        with pytest.raises(Error) as refused:
            zellige.convolution(x, w, **options)
        assert str(refused.value) == message


class Block(nn.Module):
    """A residual block, as ResNet's, with a depthwise convolution."""

    def __init__(self):
        super().__init__()
        self.first, self.norm = nn.Conv2d(3, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16)
        self.each, self.last = nn.Conv2d(16, 16, 3, padding=1, groups=16), nn.Conv2d(16, 16, 1)

    def forward(self, x):
        y = torch.relu(self.norm(self.first(x)))
        return torch.relu(self.last(self.each(y)) + y)


@pytest.mark.parametrize("layout", (torch.contiguous_format, torch.channels_last))
def test_a_block_by_torch_compile(layout):
    torch.manual_seed(SEED)
    torch._dynamo.reset()
    block, x = Block().eval().to(memory_format=layout), torch.randn(2, 3, 9, 7).to(memory_format=layout)
    with torch.no_grad():
        found, expected = torch.compile(block, backend="zellige")(x), block(x)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
    assert found.stride() == expected.stride()
    report = torch_backend.reports[-1]
    assert report.left == {} and report.taken == report.operators


def test_what_is_left_says_why():
    torch._dynamo.reset()
    last = torch.channels_last
    module, x = nn.ConvTranspose2d(4, 4, 3, stride=2).to(memory_format=last), torch.randn(1, 4, 5, 5).contiguous(memory_format=last)
    with torch.no_grad():
        torch.testing.assert_close(torch.compile(lambda x: torch.relu(module(x)), backend="zellige")(x), torch.relu(module(x)))
    (why,) = torch_backend.reports[-1].left.values()
    assert why.partition(" (/")[0] == (
        "convolution: expected a transposed one with a stride of its kernel (3, 3), without padding, dilation and groups, found stride (2, 2), "
        "padding (0, 0), dilation (1, 1) and groups 1"
    )
