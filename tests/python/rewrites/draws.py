"""Random tensors, shapes and numbers for the graphs on which rewrites are tested, by seed."""

import math
import random

import torch

DTYPES = (torch.float32, torch.float16, torch.bfloat16)
SPECIAL = (math.nan, math.inf, -math.inf, -0.0, 0.0)


class Draw:
    """Draws by a seed. `dtype`: the floating-point dtype of this draw; successive indices cycle through all of them."""

    def __init__(self, name, index):
        self.index, self.dtype = index, DTYPES[index % len(DTYPES)]
        self._random = random.Random(f"{name} {index}")
        self._torch = torch.Generator().manual_seed(self._random.getrandbits(40))
        self._last = None

    def choice(self, of):
        return self._random.choice(list(of))

    def number(self, low, high) -> int:
        """Returns an integer from `low` to `high`, both included."""
        return self._random.randint(low, high)

    def chance(self, of=0.5) -> bool:
        return self._random.random() < of

    def extent(self, low=1, high=7) -> int:
        """Returns an extent. Half of the extents equal the one before, so that shapes have equal extents in several
        dimensions."""
        if self._last is None or not low <= self._last <= high or self.chance():
            self._last = self.number(low, high)
        return self._last

    def shape(self, ndim, low=1, high=7) -> tuple:
        return tuple(self.extent(low, high) for _ in range(ndim))

    def tensor(self, *shape, dtype=None, special=None, scale=1.0):
        """Returns random numbers of a normal distribution. In half of the tensors some elements are NaN, infinities and
        zeros of both signs; `special` decides it."""
        made = torch.randn(shape, generator=self._torch) * scale
        if self.chance() if special is None else special:
            flat = made.view(-1)
            for _ in range(max(1, flat.numel() // 8) if flat.numel() else 0):
                flat[self.number(0, flat.numel() - 1)] = self.choice(SPECIAL)
        return made.to(dtype or self.dtype)

    def integers(self, *shape, low, high, dtype=torch.int64):
        """Returns integers from `low` to `high` - 1."""
        return torch.randint(low, high, shape, generator=self._torch, dtype=dtype)

    def condition(self, *shape):
        return torch.rand(shape, generator=self._torch) < 0.5
