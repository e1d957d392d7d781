"""The APIs of NumPy and torch: signatures are theirs, no argument is ignored, and drawn calls are right or refused in words."""

import ast
import inspect
import pathlib
import re

import api_draws
import numpy as np
import pytest
import zellige
from zellige import TensorSpec, numpy_api
from zellige.signatures import _NAMES, NoValue


def parameters(signature):
    return [(p.name, p.kind, repr(p.default) if p.default is not p.empty else None) for p in signature.parameters.values()]


NUMPYS = [(owner, name) for owner, table in (("numpy", {**numpy_api.FUNCTIONS, **numpy_api.UFUNCS}), ("ndarray", numpy_api.METHODS)) for name in table]


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.4.0", reason="NumPy states signatures of ufuncs and methods since 2.4")
@pytest.mark.parametrize("owner, name", NUMPYS, ids=[f"{o}.{n}" for o, n in NUMPYS])
def test_a_signature_is_numpys_own(owner, name):
    table = numpy_api.METHODS if owner == "ndarray" else {**numpy_api.FUNCTIONS, **numpy_api.UFUNCS}
    live = parameters(inspect.signature(getattr(np if owner == "numpy" else np.ndarray, name)))
    (form,) = table[name]
    own = parameters(form.signature)
    if live[-1][1] is inspect.Parameter.VAR_KEYWORD and owner == "ndarray":  # the method passes the others to a function of Python
        assert own[: len(live) - 1] == live[:-1]
        inner = inspect.signature(getattr(np._core._methods, {"max": "_amax", "min": "_amin"}.get(name, f"_{name}"))).parameters
        assert {n for n, _, _ in own[len(live) - 1 :]} <= {*inner, "kwargs"}
    else:
        assert own == live


def stubs(path, names, indent=""):
    """The parameters of the functions `names` of a stub file of torch's, without the kinds of arguments. `indent`: that of the
    methods of a class."""
    import torch

    text = (pathlib.Path(torch.__file__).parent / "_C" / path).read_text()
    found = {}
    for name, given in re.findall(rf"^{indent}def (\w+)\((.*?)\) ->", text, re.M | re.S):
        if name in names:
            a = ast.parse(f"def f({given}): 0").body[0].args
            for one in (*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, [a.vararg])):
                one.annotation = None
            found.setdefault(name, []).append(ast.unparse(a))
    return found


def test_torchs_signatures_are_torchs_own():
    pytest.importorskip("torch")
    import torch
    from zellige.torch.tensors import functions

    def own(form):
        unannotated = [p.replace(annotation=p.empty) for p in form.signature.parameters.values()]
        return ast.unparse(ast.parse(f"def f{inspect.Signature(unannotated)}: 0".replace("-> None", "")).body[0].args)

    wrong = []
    of_python = {("split", "tensor, split_size_or_sections, dim=0"), ("contiguous", "self, memory_format=None")}
    for table, path, indent in ((functions.FUNCTIONS, "_VariableFunctions.pyi", ""), (functions.METHODS, "__init__.pyi", "    ")):
        live = stubs(path, table, indent)
        for name, forms in table.items():
            for form in forms:
                texts = {own(form), own(form) + ", out=None", own(form) + ", *, out=None"}
                if not texts & set(live.get(name, [])) and (name, own(form)) not in of_python:
                    wrong.append((name, own(form), live.get(name)))
    for name, (form,) in functions.NN.items():
        function = getattr(torch.nn.functional, name)
        if inspect.isfunction(function):
            wrong += [(name, form.signature)] if parameters(inspect.signature(function)) != parameters(form.signature) else []
        else:
            documented = re.search(rf"{name}\((.*?)\)", function.__doc__)[1].replace("*, ", "").replace(" = ", "=")
            assert documented == ", ".join(f"{p.name}{'' if p.default is p.empty else f'={p.default!r}'}" for p in form.signature.parameters.values())
    assert inspect.getfullargspec(torch.split).args == ["tensor", "split_size_or_sections", "dim"]
    assert wrong == []


def test_each_required_parameter_is_honoured():
    pytest.importorskip("torch")
    from zellige.torch.tensors import functions

    for table in (numpy_api.FUNCTIONS, numpy_api.UFUNCS, numpy_api.METHODS, functions.FUNCTIONS, functions.METHODS, functions.NN):
        for name, forms in table.items():
            for form in forms:
                needed = [p.name for p in form.signature.parameters.values() if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
                assert form.meaning is None or {_NAMES.get(n, n) for n in needed} <= form.honoured, name


SEEDS = {"numpy": 5801, "torch": 5802}


@pytest.mark.parametrize("api", ["numpy", "torch"])
def test_drawn_calls_are_right_or_refused_in_words(api):
    if api == "torch":
        pytest.importorskip("torch")
    import os

    count = 5000 if "ZELLIGE_ALL" in os.environ else 500
    counts, wrong = {}, []
    for case in api_draws.draws(SEEDS[api], count, api == "numpy"):
        verdict, why = api_draws.judged(case)
        counts[verdict] = counts.get(verdict, 0) + 1
        if verdict not in ("right", "refused", "both refuse"):
            wrong.append((verdict, case.text, [(a.shape, a.dtype.name) for a in case.arrays], why))
    assert wrong == []
    assert counts["right"] > 0.25 * count


@pytest.mark.parametrize("api", ["numpy", "torch"])
def test_drawn_calls_are_right_on_the_emulator(api):
    if api == "torch":
        pytest.importorskip("torch")
    found = []
    import os

    for case in api_draws.draws(SEEDS[api] + 10, 100 if "ZELLIGE_ALL" in os.environ else 14, api == "numpy"):
        if api_draws.judged(case)[0] == "right":
            verdict, why = api_draws.judged(case, "emulator", "sm_80")
            found += [(verdict, case.text, why)] if verdict != "right" else []
    assert found == []


X = np.random.default_rng(0).standard_normal((6, 6)).astype("f4")
Y = np.stack([X] * 6)


def same(function, *arrays):
    """Whether the compiled function gives what the function gives."""
    found, expected = zellige.compile(function, *arrays, on="reference")(*arrays), function(*arrays)
    assert found.shape == expected.shape
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=2e-5, atol=2e-5)


def test_arguments_of_numpys_functions_count():
    """The first four are of a bug report, where they were ignored."""
    same(lambda x: x - np.mean(x, axis=1, keepdims=1), X)
    same(lambda x: np.std(x, 0, None, None, 1), X)
    same(lambda a, b: np.dot(a, b), Y, Y)
    same(lambda x: np.moveaxis(x, [0, 2], [1, 0]) * 1, Y[:2, :3])
    same(lambda x: np.clip(x, a_min=-0.5, a_max=0.5), X)
    same(lambda x: np.where(x > 0, x, np.nan), X)
    same(lambda x: (x > 0) + (x > 1) + (x < 2), X)
    same(lambda x: x[::-2, [0, -1]], X)
    same(lambda x: x + np.abs(x) * np.inf, X)
    same(lambda x: (x + 2) ** 2 / 1e-46, X)


def test_a_tensors_methods_are_torchs():
    torch = pytest.importorskip("torch")
    x = torch.from_numpy(Y[:2, :3])
    for function in (
        lambda x: x.transpose(0, 1) * 1,
        lambda x: x.var(-1),
        lambda x: x.std((0, 2), unbiased=False),
        lambda x: x.sum(1, True),
        lambda x: x.permute(2, 0, 1) * 1,
        lambda x: torch.softmax(x, dim=-1) + torch.nn.functional.layer_norm(x, (6,)),
        lambda x: x.masked_fill(x > 0, float("nan")),
        lambda x: torch.where(x > 0, x, -1.0).max(x),
        lambda x: torch.addmm(x[0, :, 0], x[0] * float("inf"), x[0].t(), beta=2, alpha=0),
    ):
        same(function, x)


def test_an_in_place_operator_changes_what_it_does_in_numpy(refusal):
    def changed(x):
        h = x @ x
        other = h
        h += 1
        return other * 2

    def views(x):
        h = x @ x
        first = h[0]
        h += 1
        return first

    def argument(x):
        x *= 2
        return x

    same(changed, X)
    spec = TensorSpec((6, 6), "f32")
    place = re.escape(__file__)
    assert re.fullmatch(
        rf"operator \+=: expected an array of its own memory, found an array of which views have been made, which would change, too; write x = x \+ y in place of x \+= y \({place}:\d+: h \+= 1\)",
        refusal(lambda: zellige.compile(views, spec)),
    )
    assert re.fullmatch(
        rf"operator \*=: expected an array of its own memory, found an argument or a constant, which would change, too; write x = x \+ y in place of x \+= y \({place}:\d+: x \*= 2\)",
        refusal(lambda: zellige.compile(argument, spec)),
    )


F32 = TensorSpec((4, 8), "f32")
BAD = [
    (lambda x: np.mean(x, dim=1), "numpy.mean: got an unexpected keyword argument 'dim'; its parameters are (a, axis=None, dtype=None, out=None, keepdims=<no value>, *, where=<no value>)", "np.mean(x, dim=1)"),
    (lambda x: x > np.float64(0.1), "operator >: expected a number that f32 has, as NumPy does not round np.float64(0.1), found 0.1, which would be 0.10000000149011612; write 0.1, which it rounds", "x > np.float64(0.1)"),
    (lambda x: np.sum(x, axis=2), "numpy.sum: expected axis from -2 to 1 for shape (4, 8), found 2", "np.sum(x, axis=2)"),
    (lambda x: np.sum(x, (0, 0)), "numpy.sum: expected each dimension once in axis, found (0, 0) for shape (4, 8)", "np.sum(x, (0, 0))"),
    (lambda x: np.sum(x, 0, initial=3), "numpy.sum: expected no initial while tracing, found initial=3", "np.sum(x, 0, initial=3)"),
    (lambda x: np.reshape(x, (8, 4), order="F"), "numpy.reshape: expected order='C' while tracing, found order='F'", 'np.reshape(x, (8, 4), order="F")'),
    (lambda x: np.expand_dims(x, 5), "numpy.expand_dims: expected axis from -3 to 2 for shape (4, 8), found 5", "np.expand_dims(x, 5)"),
    (lambda x: np.squeeze(x, 0), "numpy.squeeze: expected an extent of 1 along axis 0, found shape (4, 8)", "np.squeeze(x, 0)"),
    (lambda x: x.reshape(4, 9), "numpy.ndarray.reshape: expected a shape of 32 elements, as (4, 8) has, found (4, 9)", "x.reshape(4, 9)"),
    (lambda x: x + x[:, :3], "operator +: expected dimensions that are equal or 1, found (4, 8) and (4, 3) (dimension 1: 8 and 3)", "x + x[:, :3]"),
    (lambda x: x % 2, "operator %: not known while tracing; the graph has no quotients without fraction and no shifts", "x % 2"),
    (lambda x: x & 1, "operator &: expected results of comparisons, found f32; bits of integers are not known while tracing", "x & 1"),
    (lambda x: x * 1j, "operator *: expected arrays and real numbers, found 1j", "x * 1j"),
    (lambda x: x + [1, 2], "operator +: expected arrays and numbers, found a list of 2; make it an array before the function", "x + [1, 2]"),
    (lambda x: -(x > 0), "operator -: expected numbers, found results of comparisons, which NumPy does not subtract; use ^ or cast them", "-(x > 0)"),
    (lambda x: x[7], "indexing: expected -4 to 3 along dimension 0, found 7", "x[7]"),
    (lambda x: x[1.5], "indexing: expected integers, slices, None, ... or a list of integers, found 1.5", "x[1.5]"),
    (lambda x: x.cumsum(0), None, "x.cumsum"),
    (lambda x: x if 0 < x < 1 else x, "lambda: 0 < x < 1 is traced, so that its values are not known; shapes and dtypes are; bool() needs them", "0 < x < 1"),
    (lambda x: zellige.softmax(x, 2), "zellige.softmax: dim: expected -2 to 1 for shape (4, 8), found 2", "zellige.softmax(x, 2)"),
    (lambda x: zellige.rms_norm(x, x[:, 0]), "zellige.rms_norm: expected a weight of the last dimension of (4, 8), (8), found (4)", "zellige.rms_norm(x, x[:, 0])"),
    (lambda x: np.einsum("ij,ij->k", x, x), "numpy.einsum: expected the result's letters among the operands', found k in ij,ij->k", 'np.einsum("ij,ij->k", x, x)'),
]


@pytest.mark.parametrize("function, message, code", BAD, ids=[code for _, _, code in BAD])
def test_a_mistake_names_the_users_call_and_line(function, message, code, refusal):
    found = refusal(lambda: zellige.compile(function, F32))
    line = inspect.getsourcelines(function)[1]
    assert found.endswith(f" ({__file__}:{line}: {code})")
    if message is not None:
        assert found.removesuffix(f" ({__file__}:{line}: {code})") == message


def test_a_value_that_is_not_given_shows_as_numpys():
    assert repr(NoValue) == repr(np._NoValue)


def test_a_number_is_refused_where_torch_refuses_it(refusal):
    torch = pytest.importorskip("torch")
    found = refusal(lambda: zellige.compile(lambda x: x.masked_fill(x > 0, 1e6), torch.from_numpy(X).half()))
    assert found.startswith("torch.Tensor.masked_fill: expected a number that f16 has, found 1000000.0 (")


def test_view_is_refused_where_torchs_is(refusal):
    torch = pytest.importorskip("torch")
    x = torch.from_numpy(Y[:2, :3])
    same(lambda x: x.transpose(0, 1).contiguous().view(6, -1) * 1, x)
    same(lambda x: x[:, :, :4].view(2, 3, 2, 2) * 1, x)
    found = refusal(lambda: zellige.compile(lambda x: x.transpose(0, 1).view(6, 6), x))
    assert found.startswith("torch.Tensor.view: expected a shape that is a view of (3, 2, 6) with strides (6, 36, 1), found (6, 6); use reshape (")


@pytest.mark.parametrize(
    "work, message",
    [
        (lambda: zellige.compile(lambda x: x + 1, F32, target=3), "target: expected a string or None, found 3"),
        (lambda: zellige.compile(lambda x: x + 1, F32, tune="a"), "tune: expected an integer, found 'a'"),
        (lambda: zellige.compile(lambda x: x + 1, F32, constant=5), "constant: expected names of parameters, found 5"),
        (lambda: TensorSpec(5, "f32"), "TensorSpec: expected integers in a tuple for shape, found 5"),
        (lambda: zellige.compile({"zellige_graph": 1, "inputs": float("nan")}), "graph: expected finite numbers in lists and dicts, found nan"),
        (lambda: zellige.compile({"zellige_graph": 1, "inputs": 1j}), "graph: expected numbers, strings, lists and dicts, found a value that"),
        (lambda: zellige.kernels._launch("softmax", "sm_90a", (), {"causal": 1}), "softmax: expected causal to be True or False, found 1"),
    ],
)
def test_an_option_of_another_kind_is_refused_in_words(work, message, refusal):
    assert refusal(work).startswith(message)


def test_arrays_whose_memory_is_not_all_are_refused(refusal):
    torch = pytest.importorskip("torch")
    t = torch.from_numpy(X)
    program = zellige.compile(lambda x: x + 1, t, on="reference")
    lazy = "expected a tensor whose memory has its elements, found a lazily negated or conjugated one; pass x.resolve_neg().resolve_conj()"
    masked = "expected a numpy.ndarray, found numpy.MaskedArray, whose mask a program does not have; pass x.filled(number)"
    cases = [
        (lambda: zellige.compile(lambda x: x + 1, np.ma.masked_greater(X, 0)), f"compile lambda, argument x: {masked}"),
        (lambda: program(np.ma.masked_greater(X, 0)), masked),
        (lambda: zellige.softmax(np.ma.masked_greater(X, 0)), masked),
        (lambda: program(np.matrix(X)), "expected a numpy.ndarray, found numpy.matrix, whose * is a product of matrices; pass numpy.asarray(x)"),
        (lambda: program(torch._neg_view(t)), lazy),
        (lambda: zellige.compile(lambda x: x + 1, torch._neg_view(t)), f"compile lambda, argument x: {lazy}"),
        (lambda: program(t.to_sparse()), "expected a tensor with strides, found one of torch.sparse_coo"),
        (lambda: program(t.to("meta")), "expected an array that DLPack can export, found one that it cannot: Unknown device type meta for Dlpack"),
    ]
    for work, message in cases:
        assert refusal(work) == message
