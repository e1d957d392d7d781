"""Arrays of CuPy and JAX: results are arrays of the same framework. CuPy needs a GPU; without one, a substitute has its names
and is on the host."""

import sys
import types

import numpy as np
import pytest
import zellige


def layer(x, w):
    return zellige.silu(x @ w)


def expected(x, w):
    y = np.asarray(x, np.float64) @ np.asarray(w, np.float64)
    return y / (1 + np.exp(-y))


@pytest.fixture
def arrays(rng):
    return [(rng.standard_normal(s) / 4).astype(np.float32) for s in ((8, 16), (16, 32))]


class Array:
    """Like CuPy's: neither an array of NumPy nor one that NumPy accepts."""

    def __init__(self, data):
        self.data, self.shape, self.dtype, self.strides, self.itemsize = data, data.shape, data.dtype, data.strides, data.itemsize

    def __dlpack__(self, **options):
        return self.data.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.data.__dlpack_device__()


def test_cupy_allocates_its_own(arrays, monkeypatch):
    cupy = types.ModuleType("cupy")
    cupy.empty = lambda count, dtype: Array(np.empty(count, dtype))
    cupy.lib = types.SimpleNamespace(stride_tricks=types.SimpleNamespace(as_strided=lambda a, *form: Array(np.lib.stride_tricks.as_strided(a.data, *form))))
    monkeypatch.setattr(Array, "__module__", "cupy")
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    given = [Array(a) for a in arrays]
    y = zellige.compile(layer, *given, on="emulator")(*given)
    assert isinstance(y, Array) and y.shape == (8, 32)
    assert np.abs(y.data - expected(*arrays)).max() <= 1e-5


def test_jax_allocates_its_own(arrays):
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    given = [jax.device_put(a, jax.devices("cpu")[0]) for a in arrays]
    program = zellige.compile(layer, *given, on="emulator")
    y, again = program(*given), program(given[0] * 2, given[1])
    assert isinstance(y, jax.Array) and y.shape == (8, 32) and y.dtype == np.float32
    assert np.abs(np.asarray(y) - expected(*arrays)).max() <= 1e-5
    assert np.abs(np.asarray(again) - expected(2 * arrays[0], arrays[1])).max() <= 1e-5


def test_others_give_the_memory(arrays, refusal):
    given = [Array(a) for a in arrays]
    program = zellige.compile(layer, *given, on="emulator")
    framework = Array.__module__.partition(".")[0]
    assert refusal(lambda: program(*given)) == f"output Y: arrays of {framework} are not allocated here; pass out="
    out = Array(np.empty((8, 32), np.float32))
    assert program(*given, out=out) is out
    assert np.abs(out.data - expected(*arrays)).max() <= 1e-5


def test_on_a_gpu_jax_tells_no_stream(refusal):
    kind = type("ArrayImpl", (), {"__module__": "jaxlib._jax"})
    sentence = "arrays of JAX on a GPU: JAX does not report its stream; wait for them by block_until_ready, and pass stream= and out="
    assert refusal(lambda: zellige.exchange.current_stream(kind(), 0)) == sentence


def test_cupy_on_a_gpu(arrays):
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    if zellige.gpu()[1]:
        pytest.skip(zellige.gpu()[1])
    given = [cupy.asarray(a) for a in arrays]
    program = zellige.compile(layer, *given, on="gpu")
    with cupy.cuda.Stream(non_blocking=True) as stream:
        y = program(given[0] * 2, given[1])
        stream.synchronize()
    assert isinstance(y, cupy.ndarray)
    assert np.abs(cupy.asnumpy(y) - expected(2 * arrays[0], arrays[1])).max() <= 1e-5
