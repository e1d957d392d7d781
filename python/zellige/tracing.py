"""Traces functions: arrays without values record the operations of a function as a graph.

The library infers shapes and dtypes operator by operator, so that an error is raised at the line of the function that
causes it.
"""

import numbers
import re

from . import _native, call_site, dtypes
from ._native import Error


def moves(op: str) -> bool:
    """Returns true for an operator whose results are elements of its first operand or, if it joins them, of all operands: they
    are truth values where these are."""
    return _native.operators()[op]["family"] in ("view", "join") or op == "gather"


def is_view(op: str) -> bool:
    """Returns true for an operator whose results, in NumPy and torch, may share its operand's memory."""
    law = _native.operators()[op]
    return law["family"] in ("view", "join") and law["operands"] == 1


class Refused(Error):
    """Raised where the library refuses an operator. `reason`: the message without the operator's name."""

    reason = ""


class Trace:
    """Records the operators of one function."""

    def __init__(self, name: str, array_type=None, device=None, ranks: int = 1):
        """`array_type`: the class of its arrays, which has the methods of NumPy's arrays or torch's tensors. `device`: of a
        function for torch, the device of its constants. `ranks`: the number of processes that run the graph (ranks.py)."""
        self.of_ranks = {} if ranks == 1 else {"ranks": ranks}
        self.name, self.array_type, self.device = name, array_type or Array, device
        self.inputs, self.operators = [], []  # in the form of docs/reference/graph-json.md
        # (name of the input, array, traced array) of arrays that the function uses without having them as
        # parameters
        self.captured = []
        self.arrays = {}  # by name
        self.owners = {}  # the user's call that made a tensor, by its name
        self._taken = set()

    def fresh(self, name: str) -> str:
        """Returns `name`, or a similar name that no tensor of the trace has yet. The name is then taken."""
        name = re.sub(r"[^!#-\[\]-~]", "_", name)[:180] or "t"
        candidate, number = name, 1
        while candidate in self._taken:
            candidate, number = f"{name}_{number}", number + 1
        self._taken.add(candidate)
        return candidate

    def input(self, name, dtype, shape, strides, constant=False) -> "Array":
        """Adds an input to the graph and returns its array. Raises Error if the library does not accept it."""
        name = self.fresh(name)
        form = {"name": name, "dtype": dtype, "shape": list(shape)}
        if strides is not None:
            form["strides"] = list(strides)
        if constant:
            form["constant"] = True
        # The library validates it at once, with an operator that accepts any input.
        cast = {"op": "cast", "inputs": [name], "outputs": [f"{name}_"], "dtype": "f32"}
        _native.Graph({"zellige_graph": 1, "name": self.name, "inputs": [form], "operators": [cast], "outputs": [f"{name}_"]})
        self.inputs.append(form)
        return self.array_type(self, name, dtype, shape)

    def capture(self, array) -> "Array":
        """Returns a traced array that represents `array`, which the function uses although it is not a parameter: it
        becomes a constant input of the graph."""
        from . import exchange

        for name, known, traced in self.captured:
            if known is array:
                return traced
        spec = exchange.spec_of(array)
        traced = self.input(f"captured_{len(self.captured)}", spec.dtype, spec.shape, spec.strides, constant=True)
        self.captured.append((traced._name, array, traced))
        return traced

    def constant(self, values, dtype: str) -> "Array":
        """Returns a traced array with values that are known: a constant input. `values`: a number, which becomes an array of
        one element, or a NumPy array."""
        import numpy

        with numpy.errstate(over="ignore"):
            made = numpy.atleast_1d(numpy.asarray(values)).astype(dtypes.numpy_dtype(dtype))
        for _, known, traced in self.captured:
            if traced._dtype == dtype and traced.shape == made.shape and getattr(known, "tobytes", lambda: b"")() == made.tobytes():
                return traced
        if self.device is not None:
            import torch

            made = torch.as_tensor(made.astype("f4" if made.dtype.kind not in "iu" else made.dtype)).to(self.device, dtypes.torch_dtype(dtype))
        return self.capture(made)

    def producer(self, array):
        """Returns the operator, in JSON form, that computes an array; None if the array is an input. `array`: an Array
        or its name."""
        name = getattr(array, "_name", array)
        return next((o for o in reversed(self.operators) if name in map(_name, o["outputs"])), None)

    def append(self, op: str, operands, attributes, results: int = 1):
        """Records an operator and returns its results as arrays. Raises Error if the library does not accept the
        operands."""
        distinct = {a._name: a for a in operands}
        for a in operands:
            if a._trace is not self:
                raise Error(f"{op}: expected arrays of one trace, found one of {a._trace.name} in {self.name}")
        names = [self.fresh(f"t{len(self.operators)}" if results == 1 else f"t{len(self.operators)}_{i}") for i in range(results)]
        form = {"op": op, "inputs": [a._name for a in operands], "outputs": list(names)} | attributes
        inputs = [{"name": a._name, "dtype": a._dtype, "shape": list(a.shape)} for a in distinct.values()]
        try:
            graph = _native.Graph({"zellige_graph": 1, "name": "g", **self.of_ranks, "inputs": inputs, "operators": [form], "outputs": names})
        except Error as why:
            text = re.sub(r"^graph g, operator 0 \((\w+)\): ", r"\1: ", str(why))
            made = (Refused if type(why) is Error else type(why))(text)
            made.reason = text.removeprefix(f"{op}: ")
            raise made from None
        self.operators.append(form)
        if call_site.is_tracing():
            self.owners |= dict.fromkeys(names, call_site.here())
        made = [self.array_type(self, o["name"], o["dtype"], o["shape"]) for o in graph.outputs()]
        if moves(op) and all(a._truth for a in (operands[:1] if op == "gather" else operands)):
            made = [truth(a) for a in made]
        return made

    def form(self, outputs, names, strides=None) -> tuple:
        """Returns (the graph in JSON form, the names of the inputs that it reads). The outputs get the given
        names, and are row-major unless strides are given."""
        renamed = dict(zip((o._name for o in outputs), names))
        needed, kept = {o._name for o in outputs}, []
        strides = {o._name: list(s) for o, s in zip(outputs, strides or [_row_major(o.shape) for o in outputs])}
        for op in reversed(self.operators):
            made = [_name(o) for o in op["outputs"]]
            memories = [o["memory"] for o in op["outputs"] if isinstance(o, dict)]
            if needed.isdisjoint(made):
                continue
            needed.update(op["inputs"], memories)
            results = [
                o if isinstance(o, dict) and o["name"] not in renamed
                else {"name": renamed[o["name"]], "memory": o["memory"]} if isinstance(o, dict)
                else {"name": renamed[o], "strides": strides[o]} if o in renamed
                else o
                for o in op["outputs"]
            ]
            kept.append(op | {"outputs": results, "inputs": [renamed.get(i, i) for i in op["inputs"]]})
        inputs = [i for i in self.inputs if i["name"] in needed]
        form = {"zellige_graph": 1, "name": self.name, **self.of_ranks, "inputs": inputs, "operators": kept[::-1], "outputs": list(names)}
        return form, [i["name"] for i in inputs]


def _name(output) -> str:
    return output["name"] if isinstance(output, dict) else output


def _row_major(shape) -> list:
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return strides[::-1]


def is_scalar(x) -> bool:
    """Returns true for a number, and for an array without dimensions, which holds one."""
    return isinstance(x, numbers.Real) or (getattr(x, "shape", None) == () and hasattr(x, "item") and not isinstance(x, Array))


def truth(array) -> "Array":
    """Returns an array of the same numbers, 1 and 0, that counts as one of bool: the result of a comparison."""
    made = as_numbers(array)
    made._truth = True
    return made


def as_numbers(array) -> "Array":
    """Returns an array of the same numbers that does not count as one of bool."""
    return type(array)(array._trace, array._name, array._dtype, array.shape)


class Array:
    """An array without values: it has a shape and a dtype. The classes of numpy_api.py and tensors/functions.py add the operators and
    methods of NumPy's arrays and torch's tensors. Raises Error where a value is needed, for example in `if x:`."""

    # _truth: the numbers are 1 and 0, the results of a comparison, for which NumPy and torch have bool
    __slots__ = ("_trace", "_name", "_dtype", "shape", "_truth")
    __hash__ = object.__hash__

    def __init__(self, trace: Trace, name: str, dtype: str, shape: tuple):
        self._trace, self._name, self._dtype, self.shape, self._truth = trace, name, dtype, tuple(shape), False
        trace.arrays[name] = self

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __repr__(self) -> str:
        return f"<{self._name}: {self._dtype} {self.shape} of {self._trace.name}>"

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self):
        return (self[i] for i in range(self.shape[0]))

    def __setitem__(self, *_):
        raise call_site.refused("assignment to elements: a traced array does not change; zellige.scatter and zellige.slice_scatter give what it would become")

    __delitem__ = __setitem__
