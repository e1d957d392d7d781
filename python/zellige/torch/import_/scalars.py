"""Converts Python numbers as torch's kernels do.

    rounded(0.1, torch.float16)       0.0999755859375: a comparison and a fill use the number in the tensor's dtype
    overflows(-1e9, torch.float16)    True: clamp and masked_fill raise an error for such a number
"""

import math

import torch
from torch.utils._python_dispatch import _disable_current_modes


def rounded(number, *dtypes) -> float:
    """Returns a number as a tensor has it that is converted to each of `dtypes` in their order. A number beyond the
    largest one of a dtype becomes infinite."""
    with _disable_current_modes():  # so that the tensor is no part of a graph that is traced
        made = torch.tensor(number, dtype=torch.float64 if isinstance(number, float) else None)
        for dtype in dtypes:
            made = made.to(dtype)
        return float(made)


def overflows(number, dtype) -> bool:
    """Returns true if torch refuses to convert a number to a dtype, because it is finite and beyond the dtype's range."""
    if not isinstance(number, (int, float)) or not math.isfinite(number) or dtype == torch.bool or dtype.is_complex:
        return False
    limits = torch.finfo(dtype) if dtype.is_floating_point else torch.iinfo(dtype)
    return not limits.min <= number <= limits.max
