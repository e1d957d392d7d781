"""Finds the line of the user's code that called Zellige, and translates errors to it.

    with speaking("numpy.sum"):
        ...                                  # raises Error("expected ..., found ...")
    # zellige.Error: numpy.sum: expected ..., found ... (model.py:12: np.sum(x, axis=5))

This is the one place where messages get the user's function and line while a function is traced. Frames of Zellige, NumPy
and torch are passed over.
"""

import contextlib
import linecache
import re
import sys
import threading

from ._native import Error, Fault

_LIBRARIES = {"zellige", "numpy", "torch", "ml_dtypes", "functools", "contextlib"}
# what a mistake in a call raises in Python; all of it becomes Error or Fault
_RAW = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError, RecursionError, StopIteration)
_state = threading.local()


def is_tracing() -> bool:
    """Returns true while a function of the user is being traced."""
    return getattr(_state, "traces", 0) > 0


def user_frame():
    """Returns the innermost frame that is not of a library; None if there is none."""
    frame = sys._getframe(1)
    while frame is not None and _of_library(frame):
        frame = frame.f_back
    return frame


def _of_library(frame) -> bool:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] in _LIBRARIES


def here() -> str:
    """Returns the user's call as "model.py:12: np.sum(x, axis=5)"; without the code where the source is not known, and ""
    if no frame is the user's."""
    frame = user_frame()
    if frame is None:
        return ""
    return _place(frame.f_code, frame.f_lineno, frame.f_lasti)


def _place(code, line, instruction) -> str:
    expression = _source(code, instruction)
    return f"{code.co_filename}:{line}" + (f": {expression}" if expression else "")


def _source(code, instruction: int) -> str:
    """Returns the source of the expression that an instruction of a code object evaluates, on one line; "" if the source
    is not known."""
    first, last, begin, end = next((p for i, p in enumerate(code.co_positions()) if i == instruction // 2), (None,) * 4)
    if None in (first, last, begin, end):
        return ""
    lines = [linecache.getline(code.co_filename, n).rstrip("\n").encode() for n in range(first, last + 1)]
    if not any(lines):
        return ""
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][begin:]
    text = re.sub(r"\s+", " ", b" ".join(lines).decode(errors="replace")).strip()
    return text if len(text) <= 160 else text[:157] + "..."


@contextlib.contextmanager
def tracing():
    """While it lasts, errors name the user's call: a function of the user is being traced."""
    before, _state.traces = getattr(_state, "traces", 0), getattr(_state, "traces", 0) + 1
    try:
        yield
    finally:
        _state.traces = before


@contextlib.contextmanager
def foreign():
    """Translates what torch and NumPy say of a call before they ask the traced array: TypeErrors that name its class, or one of
    their functions."""
    try:
        yield
    except TypeError as why:
        sentence, place = _translated(str(why)), ""
        if sentence is None:
            raise
        trace = why.__traceback__
        while trace is not None:
            if not _of_library(trace.tb_frame):
                place = _place(trace.tb_frame.f_code, trace.tb_lineno, trace.tb_lasti)
            trace = trace.tb_next
        raise Error(f"{sentence} ({place})" if place else sentence) from None


def _translated(text: str):
    """Returns a message of torch or NumPy as a sentence of ours; None if it is none."""
    from .numpy_api import FUNCTIONS

    text = re.sub(r"!?NumpyArray!?", "numpy.ndarray", text)
    text = re.sub(r"!?(Torch|Spec)Array!?", "Tensor", text).replace("NoneType", "None")
    called, forms = re.match(r"(\w+)\(\).*got (\(.*\)), but expected", text), re.findall(r"^ \* (\(.*\))$", text, re.M)
    if called:
        return f"torch.{called[1]}: expected {' or '.join(forms)}, found {called[2]}"
    numpys = re.match(r"_?(\w+?)(?:_dispatcher)?\(\) ((?:got|missing|takes) .*)", text)
    if numpys and numpys[1] in FUNCTIONS:
        return f"numpy.{numpys[1]}: {numpys[2]}; its parameters are ({FUNCTIONS[numpys[1]][0].shown})"
    return text.splitlines()[0] if re.search(r"\b(Tensor|numpy\.ndarray)\b|^\w+\(\): argument", text) else None


class speaking:
    """Gives errors raised inside the name of the function that the user called and the user's line. Of nested ones only
    the outermost does. Exceptions of Python become Fault, because they are ours."""

    def __init__(self, title: str):
        self.title = title

    def __enter__(self):
        self.outermost = getattr(_state, "traces", 0) > 0 and not getattr(_state, "spoken", False)
        if self.outermost:
            _state.spoken = True
        return self.outermost

    def __exit__(self, kind, why, _):
        if not self.outermost:
            return
        _state.spoken = False
        if kind is None or not issubclass(kind, (Error, *_RAW)):
            return
        if isinstance(why, Error):
            made = Error if kind.__name__.startswith("_") else kind
            raise _at(made, f"{self.title}: {reason(why)}") from None
        raise _at(Fault, f"{self.title}: a fault of Zellige's own: {kind.__name__}: {why}") from why


def reason(why: Error) -> str:
    """Returns the message of an error without the operator's name at its begin, which may not be the user's."""
    text = getattr(why, "reason", None) or str(why)
    head, colon, rest = text.partition(": ")
    from .operators import OPERATORS

    return rest if colon and head in _INNER.union(OPERATORS) else text


_INNER = {"mul_scalar", "gelu_tanh", "einsum"}


def _at(kind, sentence: str):
    place = here()
    return kind(f"{sentence} ({place})" if place else sentence)


def refused(sentence: str) -> Error:
    """Returns an Error with a complete sentence and the user's line, for a failure outside of the traced functions."""
    return _at(Error, sentence)


def translated(why: Error, form: dict, owners: dict, words: str = "") -> Error:
    """Returns an error of the library about a graph with the user's calls in place of operators and tensors. `form`: the graph in
    JSON form. `owners`: the user's call by the name of a tensor. `words`: what the user calls the graph; "": its name."""
    name, operators = form["name"], form["operators"]

    def of_operator(found):
        index = int(found[2])
        made = operators[index] if index < len(operators) and operators[index]["op"] == found[3] else {"outputs": [""]}
        output = made["outputs"][0]
        return owners.get(output["name"] if isinstance(output, dict) else output) or words or f"{found[1]} {name}"

    # tensors first: paths among the user's calls may have a folder t5
    text = re.sub(r"(?<![\w.])t\d+(?:_\d+)*(?![\w.])", lambda found: owners.get(found[0], found[0]), str(why))
    text = re.sub(rf"\b(graph|program) {re.escape(name)}, operator (\d+) \((\w+)\)", of_operator, text)
    text = re.sub(rf"^(graph|program) {re.escape(name)}(?=[:,])", words, text) if words else text
    return why if text == str(why) else type(why)(text)
