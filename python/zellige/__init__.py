"""Compiles functions of arrays to verified CUDA kernels, and computes with CuTe's layouts.

    import numpy as np, zellige

    def layer(x, w):
        return zellige.silu(x @ w)

    program = zellige.compile(layer, x, w)      # x, w: arrays of NumPy or torch, or zellige.TensorSpec
    y = program(x, w)                           # NumPy: on the emulator; torch on a GPU: on its current stream
    print(program.source, program.explain())

The operators (zellige.softmax, ...) also accept NumPy and torch arrays, so that the same function runs on them.
Layouts are in zellige.layout (Layout, composition, logical_divide, ...), and are available here unless an operator
has the same name. Errors of the caller or the machine raise zellige.Error, internal errors zellige.Fault.
"""

import importlib

# Modules are loaded when one of their names is first used, so that importing zellige is fast. This table has
# each name's module.
_PLACES = {
    "compile": "compilation",
    "load": "program",
    "Program": "program",
    "SizeInfo": "program",
    "TensorInfo": "program",
    "TensorSpec": "exchange",
    "Dim": "sizes",
    "SizedProgram": "sizes",
    "Error": "_native",
    "Fault": "_native",
    "gpu": "_native",
    "convolution": "convolutions",
}


_MODULES = (
    "_native compilation convolutions dtypes einsum exchange kernels layout numpy_api numpy_operators operators program quant ranks sizes torch tracing torch_backend".split()
)


def __getattr__(name: str):
    """Loads the module that defines `name`. Raises AttributeError if there is none."""
    if name in _MODULES:
        return importlib.import_module(f"zellige.{name}")
    if name == "__version__":
        return importlib.import_module("zellige._native").library().zellige_version().decode()
    if name.startswith("__"):
        raise AttributeError(name)
    if name in _PLACES:
        return getattr(importlib.import_module(f"zellige.{_PLACES[name]}"), name)
    operators = importlib.import_module("zellige.operators")
    if name in operators.OPERATORS:
        return getattr(operators, name)
    layout = importlib.import_module("zellige.layout")
    if not hasattr(layout, name):
        raise AttributeError(f"module 'zellige' has no attribute {name!r}")
    return getattr(layout, name)


def __dir__():
    operators, layout = (importlib.import_module(f"zellige.{m}") for m in ("operators", "layout"))
    return sorted({*_PLACES, *operators.OPERATORS, *dir(layout), "kernels", "layout", "operators", "dtypes", "ranks"})
