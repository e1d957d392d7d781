"""Compiles functions and graphs to programs."""

import inspect
import os
from dataclasses import dataclass

from . import _native, exchange, sizes
from ._native import Error
from .call_site import foreign, tracing, translated
from .program import Program
from .tracing import Array, Trace
from .trees import leaves_of, like

_KINDS = {str: "a string or None", int: "an integer", bool: "True or False"}


def compile(function, *examples, target=None, on="auto", tune=0, constant=(), tiling=None, fuse=True, workers=0):
    """Compiles a function in ordinary array code, or a graph, to a Program.

        program = zellige.compile(layer, x, w, constant="w")
        y = program(x, w)

    function: a function of arrays, called once with arrays that have no values; or a graph, without examples: its JSON string,
        a dict in that form, or the path of a file that holds it (docs/reference/graph-json.md).
    examples: for each parameter an array like those of later calls, or a TensorSpec; tuples, lists and dicts of them are
        allowed. Only shapes, dtypes and strides are used. With a TensorSpec that has Dims, or a graph with sizes, the result is a
        SizedProgram, for all values of the sizes.
    target: such as sm_90a; None: the GPU's, else sm_80.
    on: "auto" runs where the arguments are; "gpu" compiles for the GPU at once; "emulator" runs the kernels on the CPU and
        checks every memory access; "reference" evaluates the graph in float64, without kernels.
    tune: on a GPU, measures this many tilings and uses the fastest.
    constant: names of parameters that no earlier work on the stream writes, such as weights.
    tiling: "given" (the tiles of the graph's custom operators), "chosen" (by the cost model, which may also decompose custom
        operators), or a manifest's contents; None: the target's default.
    fuse: True fuses operators where that is expected to be faster; False makes a kernel for each operator that needs one.
    workers: threads of the emulator; 0: one per core.

    Raises Error for errors in the function, the graph, the options or the machine.
    """
    if on not in _native.ON:
        raise Error(f"on: expected one of {', '.join(_native.ON)}, found {on}")
    for what, given, kinds in (("target", target, str), ("tiling", tiling, str), ("tune", tune, int), ("workers", workers, int), ("fuse", fuse, bool)):
        if not isinstance(given, kinds) and not (given is None and kinds is str):
            raise Error(f"{what}: expected {_KINDS[kinds]}, found {given!r}")
    if not isinstance(constant, (str, tuple, list, set, frozenset)) or not all(isinstance(c, str) for c in constant):
        raise Error(f"constant: expected names of parameters, found {constant!r}")
    options = {"on": on, "target": target, "tune": tune, "tiling": tiling, "fuse": fuse, "workers": workers}
    constant = [constant] if isinstance(constant, str) else list(constant)
    if not callable(function):
        if examples:
            raise Error(f"compile: a graph states its inputs; expected no examples, found {len(examples)}")
        graph = _graph(function)
        form = graph.form()
        name = form.get("name", "graph")
        if "sizes" in form:
            return sizes.SizedProgram(form, lambda at: Program(_native.Program(_native.Graph(at, name), constants=constant, **options), name))
        return Program(_native.Program(graph, constants=constant, **options), name)
    dims = _dims_of(examples)
    return _traced_for_sizes(function, examples, constant, options, dims) if dims else _traced(function, examples, constant, options)


def _graph(form) -> _native.Graph:
    """Returns a graph from its JSON string, a dict in that form, or the path of a file."""
    if isinstance(form, dict):
        return _native.Graph(form)
    form = os.fspath(form)
    if form.lstrip()[:1] in ("{", "["):
        return _native.Graph(form)
    try:
        with open(form, encoding="utf-8") as file:
            return _native.Graph(file.read(), os.path.splitext(os.path.basename(form))[0])
    except OSError as why:
        raise Error(f"{form}: cannot be read: {why.strerror}") from None


def array_class(examples) -> tuple:
    """Returns (the class of the traced arrays of a function with these examples, the device of its constants): torch's if one of
    the examples is, else NumPy's."""
    torchs = [x for x in examples if exchange.is_torch(x) or getattr(x, "is_torchs", False)]
    if torchs:
        import torch

        from .torch.tensors.functions import TorchArray

        return TorchArray, next((x.device for x in torchs if exchange.is_torch(x)), torch.device("cpu"))
    from .numpy_api import NumpyArray, SpecArray

    return SpecArray if all(isinstance(x, exchange.TensorSpec) for x in examples) else NumpyArray, None


@dataclass
class _Traced:
    """A traced function: its graph in JSON form, and what a Program needs of its arguments and results."""

    name: str
    form: dict
    owners: dict  # the user's call that made a tensor, by its name
    results: tuple
    order: list
    captured: dict
    signature: tuple

    def program(self, form, options) -> Program:
        """Returns the Program of the graph `form`, which is the traced one, or the one for some sizes."""
        try:
            native = _native.Program(_native.Graph(form, self.name), constants=[], **options)
        except Error as why:
            raise translated(why, form, self.owners) from None
        return Program(native, self.name, self.results, self.order, self.captured, self.signature)


def _traced(function, examples, constant, options) -> Program:
    """Traces `function` with the examples, and returns its Program. `constant`: names of constant parameters;
    `options`: keyword arguments of _native.Program."""
    traced = _trace(function, examples, constant)
    return traced.program(traced.form, options)


def _dims_of(examples) -> list:
    """Returns the sizes of the TensorSpecs among the examples, each once. Raises Error if two of one name differ."""
    total = 0
    for _, example in leaves_of(list(examples), "x"):
        for extent in [*example.shape, *(example.strides or ())] if isinstance(example, exchange.TensorSpec) else []:
            if isinstance(extent, sizes.DimExpression):
                total = total + extent
    return total.dims if total else []


def _traced_for_sizes(function, examples, constant, options, dims) -> sizes.SizedProgram:
    """Traces `function` at several values of the sizes of its examples, and returns its program for all."""

    def at(values):
        def one(example):
            if not isinstance(example, exchange.TensorSpec):
                return example
            number = lambda e: e.at(values) if isinstance(e, sizes.DimExpression) else e
            strides = example.strides and tuple(map(number, example.strides))
            return exchange.TensorSpec(tuple(map(number, example.shape)), example.dtype, strides, example.is_torchs)

        try:
            return _trace(function, like(list(examples), (one(e) for _, e in leaves_of(list(examples), "x"))), constant)
        except Error as why:
            raise type(why)(f"{why}, at {', '.join(f'{n} = {v}' for n, v in values.items())}") from None

    fit = sizes.Fit(dims)
    traces = [at(values) for values in fit.points]
    first = traces[0]
    for other in traces:
        for i, array in first.captured.items():
            if i not in other.captured or getattr(array, "tobytes", lambda: 0)() != getattr(other.captured[i], "tobytes", lambda: 0)():
                raise Error(f"compile {first.name}: expected {first.form['inputs'][i]['name']} to be the same for all sizes, found an array that depends on them")
    form = sizes.joined([t.form for t in traces], fit, first.name)
    for ends in ({d.name: d.minimum for d in dims}, {d.name: d.greatest for d in dims}):
        if sizes.at(form, ends) != at(ends).form:
            shown = ", ".join(f"{n} = {v}" for n, v in ends.items())
            raise Error(f"compile {first.name}: expected the same operators for all sizes, found others at {shown}; other ranges may exclude it")
    try:
        form = _native.Graph(form, first.name).form()
    except Error as why:
        raise translated(why, form, first.owners) from None
    return sizes.SizedProgram(form, lambda constants: first.program(constants, options), first.order, first.signature)


def _trace(function, examples, constant) -> _Traced:
    """Traces `function` with the examples. `constant`: names of constant parameters."""
    name = getattr(function, "__name__", type(function).__name__).strip("<>")
    try:
        signature = inspect.signature(function)
    except ValueError:  # C functions such as NumPy's have no signature
        signature = inspect.signature(lambda *arrays: None)
    try:
        bound = signature.bind(*examples)
    except TypeError as why:
        raise Error(f"compile {name}: {why}") from None
    for c in constant:
        if c not in bound.arguments:
            raise Error(f"compile {name}: has no parameter {c} to be constant; its parameters are {', '.join(bound.arguments)}")

    trace = Trace(name, *array_class([example for parameter, value in bound.arguments.items() for _, example in leaves_of(value, parameter)]))
    leaves, arrays = [], []
    for parameter, value in bound.arguments.items():
        for leaf, example in leaves_of(value, parameter):
            try:
                spec = exchange.spec_of(example)
            except Error as why:
                raise Error(f"compile {name}, argument {leaf}: {why}") from None
            leaves.append(leaf)
            arrays.append(trace.input(leaf, spec.dtype, spec.shape, spec.strides, parameter in constant))
    given = iter(arrays)
    for parameter, value in bound.arguments.items():
        bound.arguments[parameter] = like(value, given)

    with tracing(), foreign():
        result = function(*bound.args, **bound.kwargs)
    outputs, names, which = [], [], []
    for leaf, y in leaves_of(result, "Y"):
        if not isinstance(y, Array):
            raise Error(f"compile {name}: expected {name} to return arrays, found {type(y).__name__}")
        passed = next((i for i, a in enumerate(arrays) if a._name == y._name), None)
        known = next((i for i, o in enumerate(outputs) if o._name == y._name), None)
        if passed is None and known is None:
            known = len(outputs)
            outputs.append(y)
            names.append(trace.fresh(leaf.replace("Y.", "") if isinstance(result, dict) else leaf.replace(".", "")))
        which.append(~passed if passed is not None else known)
    if not outputs:
        raise Error(f"compile {name}: expected {name} to compute something, found that it returns its arguments")

    form, read = trace.form(outputs, names)
    owners = trace.owners | {named: trace.owners.get(y._name, "") for y, named in zip(outputs, names)}
    by_name = {a._name: i for i, a in enumerate(arrays)}
    captured = {read.index(n): array for n, array, _ in trace.captured if n in read}
    order = [by_name.get(n) for n in read]
    return _Traced(name, form, owners, (result, which), order, captured, (signature, leaves))
