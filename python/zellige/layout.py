"""CuTe's layout algebra under CuTe's names, evaluated by the library at run time.

    >>> from zellige.layout import Layout, composition, logical_divide
    >>> logical_divide(Layout((8, 8), (8, 1)), (2, 2))
    ((2,4),(2,4)):((8,16),(1,2))
    >>> composition(Layout("(_4,_8):(_8,_1)"), Layout("_16:_2"))
    (_2,_8):(_16,_1)

Every operation that `zellige layout --list` lists is a function of this module: composition, complement, coalesce,
right_inverse, zipped_divide, blocked_product, local_tile, ... An operand is a layout or another value of the algebra,
a number, a tuple, None for CuTe's `_`, or a string in CuTe's notation. Numbers are run-time numbers, as in CuTe;
`Int(8)`, or "_8" in a string, is static, and some operations accept only static numbers. Invalid operands raise Error
with the library's message.
"""

import functools
import re

from . import _native
from ._native import Error

__all__ = ["Int", "Layout", "Value", "evaluate", "operations"]


class Int(int):
    """A static number, such as Int(8). It prints as in CuTe: _8."""

    def __repr__(self) -> str:
        return f"_{int(self)}"

    __str__ = __repr__


class Value:
    """A value of the algebra: a layout (class Layout), a swizzle, a tensor of coordinates, a basis element.
    Value(text) parses CuTe's notation, and raises Error if it is invalid."""

    __slots__ = ("_text",)

    def __init__(self, text: str):
        self._text = _native.text_of(_native.library().zellige_layout, text.encode()).rstrip("\n")

    def __repr__(self) -> str:
        return self._text

    def __eq__(self, other) -> bool:
        return str(self) == str(other) if isinstance(other, Value) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._text)

    def __call__(self, *coordinate):
        """Returns the value at a coordinate. With None in the coordinate returns a sub-layout or sub-tensor."""
        if not coordinate:
            raise Error(f"{self._text}: a call needs a coordinate")
        crd = _operand(coordinate[0] if len(coordinate) == 1 else coordinate)
        return evaluate(f"layout_call({self._text}, {crd})")


class Layout(Value):
    """A layout: Layout(shape, stride), Layout(shape) with the first mode the fastest, or Layout(string).

    layout(i, j) is the index at a coordinate, layout(None, j) the sub-layout at j, layout[k] mode k, len(layout) the rank. A
    notebook displays a layout as a picture, with each element in the colour of its shared memory bank. Raises Error for
    operands that do not form a layout.
    """

    __slots__ = ()

    def __init__(self, shape, stride=None):
        if isinstance(shape, str) and stride is None:
            super().__init__(shape)
            if not isinstance(_value(self._text), Layout):
                raise Error(f"Layout: expected a layout, found {self._text}")
        else:
            operands = [shape] if stride is None else [shape, stride]
            super().__init__(f"make_layout({', '.join(map(_operand, operands))})")

    def __getitem__(self, mode: int):
        """Returns mode `mode`, from 0; raises IndexError if there is none."""
        if not 0 <= mode < len(self):  # ends iteration
            raise IndexError(f"{self._text} has modes 0 to {len(self) - 1}, found {mode}")
        return evaluate(f"get({self._text}, {mode})")

    def __len__(self) -> int:
        return evaluate(f"rank({self._text})")

    @property
    def shape(self):
        return evaluate(f"shape({self._text})")

    @property
    def stride(self):
        return evaluate(f"stride({self._text})")

    def svg(self, element_bits: int = 32) -> str:
        """Returns a picture of the layout in SVG. Banks are computed for elements of `element_bits` bits."""
        return _native.text_of(_native.library().zellige_layout_svg, self._text.encode(), element_bits)

    def _repr_svg_(self) -> str:
        return self.svg()


def _operand(x) -> str:
    """Returns an operand in CuTe's notation. Raises Error if it is not of a supported type."""
    if isinstance(x, (Value, Int, str)):
        return str(x)
    if x is None:
        return "_"
    if isinstance(x, (tuple, list)):
        return f"({','.join(map(_operand, x))})"
    if isinstance(x, bool) or not hasattr(x, "__index__"):
        raise Error(f"expected a layout, a number, a tuple, None or a string as an operand, found {x!r}")
    return str(x.__index__())


_NUMBER = re.compile(r"(_?)(-?\d+)$")


def _value(text: str):
    """Converts the library's result to Python: a number, a tuple of numbers, a bool, a Layout, a Value, or a str
    for printed output of several lines."""
    number = _NUMBER.match(text)
    if number:
        return (Int if number[1] else int)(number[2])
    if text in ("true", "_true", "false", "_false"):
        return text.endswith("true")
    if re.fullmatch(r"[\d(),_-]*", text) and text.startswith("("):
        if not re.search(r"_(?![\d-])", text):  # CuTe's _ selects all of a mode, and is not a number
            return _tuple(text)
    made = Value.__new__(Layout if _is_layout(text) else Value)
    made._text = text
    return text if "\n" in text else made


def _is_layout(text: str) -> bool:
    return ":" in text and not text.startswith(("ArithTuple", "counting_iter"))


def _tuple(text: str):
    """Parses a nested tuple of numbers."""
    stack = [[]]
    for token in re.findall(r"\(|\)|_?-?\d+", text):
        if token == "(":
            stack.append([])
        elif token == ")":
            done = tuple(stack.pop())
            stack[-1].append(done)
        else:
            stack[-1].append(_value(token))
    return stack[0][0]


def evaluate(expression: str):
    """Returns the value of an expression of `zellige layout`, such as "logical_divide((8,8):(8,1), (2,2))". Raises
    Error if it is invalid."""
    return _value(_native.text_of(_native.library().zellige_layout, expression.encode()).rstrip("\n"))


@functools.cache
def operations() -> dict:
    """Returns the signatures of each operation by name: for example, operations()["logical_divide"] contains
    "logical_divide(layout, tiler)"."""
    found = {}
    for line in _native.text_of(_native.library().zellige_layout_operations).splitlines():
        found.setdefault(line[: line.index("(")], []).append(line)
    return found


def __getattr__(name: str):
    if name.startswith("_") or name not in operations():
        raise AttributeError(f"module 'zellige.layout' has no attribute '{name}'")

    def operation(*operands):
        return evaluate(f"{name}({', '.join(map(_operand, operands))})")

    operation.__name__ = operation.__qualname__ = name
    operation.__doc__ = "\n".join(operations()[name])
    globals()[name] = operation
    return operation


def __dir__():
    return sorted({*__all__, *operations()})
