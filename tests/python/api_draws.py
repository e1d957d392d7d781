"""Draws calls of the functions, methods, operators and indices of NumPy's and torch's APIs: a drawn function with drawn arguments,
by position or by name, right ones and wrong ones.

    for case in draws(seed=1, count=100, numpy=True): ...

A case is a function of arrays and its arrays. `judged` says how the compiled function compares with the function itself.
"""

import warnings
from dataclasses import dataclass

import numpy as np
import zellige

SHAPES = [(4, 8), (2, 3, 4), (3, 3), (6,), (2, 1, 4), (1, 5), (2, 2, 2, 2)]


@dataclass
class Case:
    text: str  # a lambda of a, b
    arrays: list
    numpy: bool

    def function(self):
        scope = {"np": np, "zellige": zellige, "nan": np.nan, "inf": np.inf}
        if not self.numpy:
            import torch

            scope |= {"torch": torch, "F": torch.nn.functional}
        return eval(self.text, scope)


class Drawer:
    def __init__(self, seed, numpy):
        self.rng, self.numpy = np.random.default_rng(seed), numpy

    def one(self, *values):
        return values[self.rng.integers(len(values))]

    def often(self, right, *wrong):
        """Mostly the first."""
        return right if self.rng.random() < 0.75 else self.one(*wrong)

    def dim(self, rank):
        return str(self.often(int(self.rng.integers(-rank, rank)), rank, -rank - 1, True, 0.0, None, "np.int64(0)", "np.int8(-1)"))

    def dims(self, rank):
        some = self.rng.permutation(rank)[: self.rng.integers(1, rank + 1)]
        return self.often("(" + "".join(f"{d}, " for d in some) + ")", "(0, 0)", f"(0, {rank})", "[0]", "()", "None", "(-1,)")

    def number(self):
        return self.often(self.one("2", "0.5", "-1.5", "0.1", "3", "True"), "nan", "inf", "-inf", "1e30", "0", "np.float32(0.1)", "np.int32(3)", "np.float64(0.7)", "1j", "'a'", "None", "300", "2**40")

    def flag(self):
        return self.often(self.one("True", "False"), "1", "0", "None", "np.bool_(True)", "'no'")

    def shape(self, shape):
        size = int(np.prod(shape))
        return self.often(self.one("-1", f"({size},)", f"(2, -1)", "(-1, 2)", str(tuple(shape[::-1])), f"({size}, 1)"), "(-1, -1)", "(7, 3)", "(0, 1)", "()", "2.0", "(2.0, -1)", "None")

    def dtype(self):
        own = ["np.float32", "np.float16", "'float32'", "np.int32"] if self.numpy else ["torch.float32", "torch.float16", "torch.bfloat16", "torch.int32"]
        return self.often(self.one(*own), "'f8'" if self.numpy else "torch.float64", "'int64'" if self.numpy else "'float32'", "bool", "None", "3")

    def key(self, shape):
        def one(n):
            i = int(self.rng.integers(-n, n))
            return self.one(str(i), ":", f"{abs(i)}:", f":{abs(i)}", "::2", "::-1", f"{n - 1}::-2", "1::2", "...", "None", f"[0, {n - 1}]", "[-1, 0]", str(n), f"-{n + 1}", "True", "1.0", f"np.int64({i})", f"-{n}:", f":{n + 3}")

        return ", ".join(one(n) for n in shape[: self.rng.integers(1, len(shape) + 1)])

    def argument(self, name, shape):
        """A value for a parameter, by its name."""
        rank = len(shape)
        if name in ("axis", "dim"):
            return self.one(self.dim(rank), self.dims(rank), "None")
        if name in ("axis1", "axis2", "dim0", "dim1", "axis0", "start_dim", "end_dim", "index", "start", "diagonal", "k", "length"):
            return self.dim(rank)
        if name in ("source", "destination"):
            return self.one(self.dim(rank), self.dims(rank))
        if name in ("axes", "dims"):
            return self.often(str(tuple(int(d) for d in self.rng.permutation(rank))), "None", "(0, 0)", "(0,)", str(tuple(range(rank))[::-1]))
        if name in ("shape", "size", "sizes"):
            return self.shape(shape)
        if name in ("dtype",):
            return self.dtype()
        if name in ("keepdims", "keepdim", "unbiased", "subok", "copy", "inplace"):
            return self.flag()
        if name in ("ddof", "correction"):
            return self.often(self.one("0", "1", "0.5"), "100", "None", "-1")
        if name in ("order",):
            return self.often("'C'", "'F'", "'K'", "'A'")
        if name in ("indices_or_sections", "split_size", "split_size_or_sections", "chunks"):
            return self.often(self.one("2", "1", "[1, 2]", "[2]", f"[{shape[0] - 1}, 1]"), "3", "0", "-1", "[0]", "2.0")
        if name in ("out",):
            return self.often("None", "b")
        if name in ("where",):
            return self.often("True", "a > 0", "False")
        if name in ("initial",):
            return self.often("0", "1.0", "None")
        if name in ("casting",):
            return self.often("'same_kind'", "'unsafe'", "'no'")
        if name in ("arrays", "tensors"):
            return self.often("[a, b]", "(a, a)", "[a]", "a", "[a, 1]", "[]")
        if name in ("approximate",):
            return self.often(self.one("'none'", "'tanh'"), "'other'")
        if name in ("alpha", "beta", "min", "max", "a_min", "a_max", "exponent", "value"):
            return self.one(self.number(), self.number(), "b", "None")
        if name in ("condition", "mask"):
            return self.often("a > 0", "a", "b", "True")
        return self.one("b", "b", "a", self.number())

    def call(self, name, parameters, shape, method):
        """The source of a call with drawn arguments: by position, by name, some omitted."""
        given, named = [], False
        for p in parameters[1 if method else 0 :]:
            required = p.default is p.empty
            if p.kind in (p.VAR_KEYWORD,) or (not required and self.rng.random() < 0.55):
                named = True
                continue
            if p.kind is p.VAR_POSITIONAL:
                given.append(", ".join(self.dim(len(shape)) for _ in shape) if "size" not in p.name and "shape" not in p.name else self.shape(shape))
                continue
            first = not given and not method and p.name in ("input", "x", "x1", "a", "m", "ary", "array", "self", "tensor")
            value = "a" if first else self.argument(p.name, shape)
            by_name = named or p.kind is p.KEYWORD_ONLY or (p.kind is p.POSITIONAL_OR_KEYWORD and self.rng.random() < 0.3)
            named = named or by_name
            if by_name and p.kind is p.POSITIONAL_ONLY:
                break
            given.append(f"{p.name}={value}" if by_name else value)
        return f"{'a.' if method else ''}{name}({', '.join(given)})"


OPERATORS = "+ - * / ** @ == != < <= > >= & | ^ % // << >>".split()


def draws(seed, count, numpy):
    d = Drawer(seed, numpy)
    for _ in range(count):
        shape = d.one(*SHAPES)
        dtype = d.one(np.float32, np.float32, np.float16, np.int32, np.int8)
        other = dtype if d.rng.random() < 0.7 else d.one(np.float32, np.float16, np.int32)
        expression = _expression(d, shape)
        kind = d.one("as is", "as is", "as is", "compared", "twice")
        if kind == "compared":
            module = "np" if numpy else "torch"
            expression = d.one(f"({expression}) + (a > 0)", f"(a > b) + ({expression} > 0)", f"~(a > 0) * ({expression})", f"{module}.where(a > b, {expression}, b)")
        # a conversion of what integers lack, and torch's gelu of infinities, are of no definite value
        finite = "int" in expression or "gelu" in expression
        yield Case(f"lambda a, b: {expression}", [_array(d, shape, dtype, finite), _array(d, d.one(shape, shape, shape[-1:], d.one(*SHAPES)), other, finite)], numpy)


def _array(d, shape, dtype, finite):
    if np.dtype(dtype).kind == "i":
        return d.rng.integers(-9, 10, shape).astype(dtype)
    x = d.rng.standard_normal(shape).astype(dtype)
    if d.rng.random() < 0.3 and not finite:
        x.flat[:2] = d.rng.choice([0.0, -0.0, np.inf, -np.inf, np.nan, 0.1, 2.0], 2)
    return x


def _expression(d, shape):
    from zellige import numpy_api
    from zellige.torch.tensors import functions

    roll = d.rng.random()
    if roll < 0.15:
        return f"a[{d.key(shape)}] * 1"
    if roll < 0.35:
        x, y = d.one(("a", "b"), ("a", d.number()), (d.number(), "a"), ("(a > 0)", "b"), ("(a > 0)", "(b > 0)"), ("(a > 0)", d.number()))
        return f"{x} {d.one(*OPERATORS)} {y}"
    if roll < 0.4:
        return d.one("-a", "~a", "abs(a)", "+a", "-(a > 0)", "~(a > 0)", "bool(a)", "len(a) * a", "[x for x in a][0]", "divmod(a, 2)[0]", "round(a)", "0 < a < 1", "a in [1]", "a.T", "a.mT", "float(a)")
    tables = [(numpy_api.FUNCTIONS, "np.", False), (numpy_api.UFUNCS, "np.", False), (numpy_api.METHODS, "", True)]
    if not d.numpy:
        tables = [(functions.FUNCTIONS, "torch.", False), (functions.NN, "F.", False), (functions.METHODS, "", True)]
    table, prefix, method = d.one(*tables)
    name = d.one(*sorted(table))
    form = d.one(*table[name])
    return d.call(prefix + name, list(form.signature.parameters.values()), shape, method)


def judged(case, on="reference", target=None):
    """Returns ("right" | "refused" | "both refuse" | "wrong" | "raw" | "lost", a sentence): "raw" is an exception that is no Error or
    a Fault, "lost" a result where the framework raises."""
    function, arrays = case.function(), case.arrays
    if not case.numpy:
        import torch

        arrays = [torch.from_numpy(a) for a in arrays]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            expected, why = function(*[a.copy() if case.numpy else a.clone() for a in arrays]), None
        except Exception as e:
            expected, why = None, e
        try:
            program = zellige.compile(function, *arrays, on=on, target=target)
            found = program(*arrays)
        except zellige.Fault as e:
            return "raw", f"Fault: {e}"
        except zellige.Error as e:
            text = str(e)
            clear = "<string>:1" in text or text.startswith(("compile lambda", "program lambda"))
            return ("refused" if why is None else "both refuse") if clear else "raw", text
        except Exception as e:  # what the framework itself refuses, before it asks the traced array
            return "both refuse" if type(e) is type(why) and str(e) == str(why) else "raw", f"{type(e).__name__}: {e}"
        if why is not None and "return arrays must be of ArrayType" in str(why):
            return "both refuse", "NumPy's any and all take their arguments in another order than they say"
        if why is not None:
            return "lost", f"{type(why).__name__}: {why}"
        verdict, what = _compared(found, expected, arrays)
        # numbers made of comparisons' results are of f32 here, of 64 bits there
        counted = what.startswith("dtype float32") and "> 0)" in case.text
        return ("right", "") if counted else (verdict, what)


def _compared(found, expected, arrays):
    if isinstance(expected, (tuple, list)):
        if not isinstance(found, (tuple, list)) or len(found) != len(expected):
            return "wrong", f"expected {len(expected)} results"
        return next((r for r in (_compared(f, e, arrays) for f, e in zip(found, expected)) if r[0] != "right"), ("right", ""))
    f, e = (np.asarray(v.float() if hasattr(v, "bfloat16") and "bfloat16" in str(v.dtype) else v) for v in (found, expected))
    if f.shape != e.shape:
        return "wrong", f"shape {f.shape}, expected {e.shape}"
    is_bool = e.dtype.kind == "b"
    if f.dtype != e.dtype and not is_bool and e.dtype.itemsize < 8 and "bfloat16" not in str(getattr(expected, "dtype", "")):
        return "wrong", f"dtype {f.dtype}, expected {e.dtype}"
    bound = 4e-3 if "16" in str(getattr(expected, "dtype", "")) or f.dtype == np.float16 else 2e-5
    f, e = f.astype(np.float64), e.astype(np.float64)
    # what is beyond the range of the result's dtype
    finite = [np.where(np.isfinite(x), x, 0) for x in (e, *(np.asarray(a, np.float64) for a in arrays))]
    scale = max(np.abs(x).max(initial=1e-3) for x in finite)
    if e.size and not np.allclose(f, e, rtol=bound, atol=bound * scale, equal_nan=True):
        at = np.unravel_index(int(np.argmax(~np.isclose(f, e, rtol=bound, atol=bound * scale, equal_nan=True))), e.shape)
        return "wrong", f"at {at}: {f[at]}, expected {e[at]}"
    return "right", ""
