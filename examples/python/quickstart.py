"""A fused layer on the emulator: every access of its kernels is checked, without a GPU.

    pip install .
    python examples/python/quickstart.py
"""

import numpy as np
import zellige


def layer(x, norm, w, v):
    h = zellige.rms_norm(x, norm, eps=1e-5)
    return x + (zellige.silu(h @ w) * (h @ w)) @ v


rng = np.random.default_rng(0)
x, norm = rng.standard_normal((16, 64)).astype(np.float16), np.ones(64, np.float16)
w, v = ((rng.standard_normal(s) / 8).astype(np.float16) for s in ((64, 128), (128, 64)))

program = zellige.compile(layer, x, norm, w, v, constant=("norm", "w", "v"), on="emulator")
y = program(x, norm, w, v)
error = np.abs(y.astype(np.float32) - layer(x, norm, w, v).astype(np.float32)).max()

kernels, lines = len(program.manifest["kernels"]), len(program.source.splitlines())
print(program)
print(f"{kernels} kernel(s), {lines} lines of CUDA, for {program.target}; expected to take {program.price:.1f} us")
print(f"differs from NumPy by at most {error:.2g}, of values up to {np.abs(y).max():.3g}")
