#!/usr/bin/env python3
"""Compares every cast on a GPU bit for bit with PyTorch and the emulator: all numbers of 16 and 8 bits, a million of f32 and
int32.

  casts_in_torch.py [--on gpu|emulator]      with PYTHONPATH=python ZELLIGE_LIBRARY=build/libzellige.so

Rounding to tf32 (`"tf32": true` of a matmul) is tested by a matmul with the identity, compared with bits computed here. Exits
1 if any differ, 77 without PyTorch.
"""

import argparse
import os
import sys

try:
    import torch
except ImportError:
    print("skipped: PyTorch is not here")
    sys.exit(77)

import zellige

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "meaning"))
from elementwise import torch_cast  # noqa: E402

TORCH = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2,
         "int8": torch.int8, "int32": torch.int32}
BITS = {1: torch.int8, 2: torch.int16, 4: torch.int32}


def numbers(dtype):
    """All numbers; for 32 bits all upper halves with 16 lower ones, including those next to and between narrower numbers."""
    size = TORCH[dtype].itemsize
    if size < 4:
        return torch.arange(-(2 ** (8 * size - 1)), 2 ** (8 * size - 1), dtype=BITS[size]).view(TORCH[dtype])
    high = torch.arange(-(2**15), 2**15, dtype=torch.int64) << 16
    low = torch.tensor([0, 1, 0xFFFF, 0x8000, 0x7FFF, 0x8001, 0x1000, 0x0FFF, 0x1001, 0x2000, 0x3000, 0x5555, 0xAAAA, 0xE000, 0xEFFF, 0xF000])
    both = (high[:, None] | low[None, :]).flatten().to(torch.int32)
    # Two adjacent bf16 with bits fefe look like an unwritten register to the emulator.
    return both[torch.randperm(len(both), generator=torch.Generator().manual_seed(1))].view(TORCH[dtype])


def bits(x):
    """As integers, one value for all NaNs."""
    raw = x.cpu().contiguous().view(BITS[x.dtype.itemsize])
    if not x.dtype.is_floating_point:
        return raw
    return torch.where(torch.isnan(x.cpu().float()), torch.full_like(raw, -1 if x.dtype.itemsize < 4 else 0x7FC00001), raw)


def report(name, x, found, expected):
    wrong = (bits(found) != bits(expected)).nonzero().flatten()
    print(f"{name:22s} {x.numel():8d} numbers: {'all equal' if not len(wrong) else f'{len(wrong)} differ'}"
          + "".join(f"; {x[i].item()!r} gives {found[i].item()!r}, expected {expected[i].item()!r}" for i in wrong[:3].tolist()), flush=True)
    return not len(wrong)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--on", default="gpu", choices=("gpu", "emulator"))
    on = p.parse_args().on
    device = "cuda" if on == "gpu" else "cpu"
    good = True
    for source in TORCH:
        x = numbers(source)
        pairs = [(to, saturate) for to in TORCH for saturate in (False, True)]
        operators = [{"op": "cast", "inputs": ["x"], "outputs": [f"y{i}"], "dtype": to, "saturate": saturate} for i, (to, saturate) in enumerate(pairs)]
        form = {"zellige_graph": 1, "name": f"casts_of_{source}", "inputs": [{"name": "x", "dtype": source, "shape": [x.numel()]}], "operators": operators,
                "outputs": [f"y{i}" for i in range(len(pairs))]}
        for (to, saturate), found in zip(pairs, zellige.compile(form, on=on, fuse=False)(x.to(device))):
            good = report(f"{source} to {to}{' saturated' if saturate else ''}", x, found.cpu(), torch_cast(to, saturate)(x)) and good

    x = numbers("f32")
    x = torch.where(x.abs() < 2.0**127, x, torch.zeros_like(x)).reshape(-1, 16)  # a product with the unit matrix adds 0 times the others
    form = {"zellige_graph": 1, "name": "tf32", "inputs": [{"name": "x", "dtype": "f32", "shape": list(x.shape)}, {"name": "one", "dtype": "f32", "shape": [16, 16]}],
            "operators": [{"op": "matmul", "inputs": ["x", "one"], "outputs": ["y"], "tf32": True}], "outputs": ["y"]}
    found = zellige.compile(form, on=on)(x.to(device), torch.eye(16, device=device)).cpu().flatten()
    raw = x.flatten().view(torch.int32)
    expected = ((raw + 0x1000) & ~0x1FFF).view(torch.float32)
    there = expected.abs() >= 2.0**-126  # tensor cores may flush denormals
    good = report("f32 to tf32", x.flatten()[there], found[there], expected[there]) and good
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
