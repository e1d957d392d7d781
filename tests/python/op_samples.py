"""Runs samples of torch's own operator tests (op_db) through the backend and checks them against float64.

    python tests/python/op_samples.py --share 0.1 --seed 1 --dtypes float16 float32 --device cpu      # prints what fails, and counts
    python tests/python/op_samples.py --each 600 --seed 61 --dtypes int64 bool uint8 --reference      # 600 samples of each dtype

A result is right if its distance from the float64 result is within the contract of docs/reference/verdicts.md and eager's own
distance. A failure is also run in torch after the same decompositions: if it fails there as well it is torch's.
"""

import argparse
import collections
import contextlib
import functools
import random
import sys
import types
import unittest
import unittest.mock
import warnings
from dataclasses import dataclass

import torch
from torch.utils._pytree import tree_flatten, tree_map

try:
    import expecttest  # noqa: F401
except ImportError:  # op_db's module derives a class of tests from it, of which nothing is used here
    sys.modules["expecttest"] = types.SimpleNamespace(TestCase=unittest.TestCase)

DTYPES = ("float16", "bfloat16", "float32")

# Operators whose results are random or undefined: their dtypes and shapes alone are compared.
RANDOM = "draws random numbers"
UNDEFINED = "returns memory that it does not write"
UNCOMPARED = {
    "bernoulli": RANDOM, "cauchy": RANDOM, "exponential": RANDOM, "geometric": RANDOM, "log_normal": RANDOM, "multinomial": RANDOM,
    "normal": RANDOM, "normal.number_mean": RANDOM, "uniform": RANDOM, "rand_like": RANDOM, "randint": RANDOM, "randint_like": RANDOM,
    "randn": RANDOM, "randn_like": RANDOM, "nn.functional.alpha_dropout": RANDOM, "nn.functional.dropout": RANDOM,
    "nn.functional.dropout2d": RANDOM, "nn.functional.dropout3d": RANDOM, "nn.functional.feature_alpha_dropout.with_train": RANDOM,
    "nn.functional.fractional_max_pool2d": RANDOM,
    "nn.functional.fractional_max_pool3d": RANDOM, "nn.functional.rrelu": RANDOM, "nn.functional.multi_head_attention_forward": RANDOM,
    "nn.functional.scaled_dot_product_attention": RANDOM, "torch.ops.aten._efficient_attention_forward": RANDOM,
    "torch.ops.aten._flash_attention_forward": RANDOM, "svd_lowrank": RANDOM,
    "empty": UNDEFINED, "empty_like": UNDEFINED, "empty_permuted": UNDEFINED, "empty_strided": UNDEFINED, "new_empty": UNDEFINED,
    "new_empty_strided": UNDEFINED, "resize_": UNDEFINED, "resize_as_": UNDEFINED,
}  # fmt: skip

# For a dtype: the contract's fraction of the norm, its fraction of an element, one step of the mantissa, the minimum tolerance of
# an element, and the fraction of the tensor's rms below which an element counts as that.
_CONTRACT = {
    torch.float16: (2.5e-4, 3 * 2**-10, 2**-10, 3 * 2**-24, 1e-3),
    torch.bfloat16: (2e-3, 3 * 2**-7, 2**-7, 0, 1e-3),
    torch.float32: (3e-6, 3e-5, 2**-23, 0, 1e-2),
    torch.float64: (2e-14, 2e-13, 2**-52, 0, 1e-2),
}
SPELLINGS = ("function", "in place", "not contiguous", "symbolic sizes")
_CUT = {"an extent of 0": 0, "an extent of 1": 1}  # of all tensors with the last extent of the sample's first one


@dataclass(frozen=True)
class Case:
    operator: str
    dtype: str
    index: int
    spelling: str = "function"
    device: str = "cpu"

    def __str__(self):
        return f"{self.operator} {self.dtype} {self.index} {self.spelling}"


@functools.cache
def operators():
    from torch.testing._internal.common_methods_invocations import op_db

    return {o.name + (f".{o.variant_test_name}" if o.variant_test_name else ""): o for o in op_db}


def _samples(operator, dtype, device):
    torch.manual_seed(0)
    random.seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(operator.sample_inputs(device, dtype))


def samples(name, dtype, device="cpu") -> int:
    """The number of samples of an operator."""
    return len(_samples(operators()[name], getattr(torch, dtype), device))


def _supported(operator, dtype, device):
    return getattr(torch, dtype) in (operator.dtypesIfCUDA if device == "cuda" else operator.dtypes)


def few(count, seed, device="cpu"):
    """One sample of each of `count` operators. Half of them are drawn from those called like one that becomes a program."""
    from zellige.torch.import_.operators import OPERATORS

    draw, known_to_torch, cases = random.Random(seed), operators(), []
    known = {t.overloadpacket.__name__ for t in OPERATORS if isinstance(t, torch._ops.OpOverload)}
    pairs = [(n, d) for n, o in sorted(known_to_torch.items()) for d in DTYPES if _supported(o, d, device)]
    likely = [(n, d) for n, d in pairs if {known_to_torch[n].aten_name, n.rpartition(".")[2]} & known]
    while len(cases) < count:
        name, dtype = draw.choice(likely if len(cases) % 2 else pairs)
        found = len(_samples(known_to_torch[name], getattr(torch, dtype), device))
        if found:
            cases.append(Case(name, dtype, draw.randrange(found), draw.choice(SPELLINGS), device))
    return cases


def each(count, seed, dtypes=DTYPES, device="cpu", only=()):
    """`count` samples of each dtype, of an operator at random each, in a spelling that may cut an extent to 0 or 1."""
    for dtype in dtypes:
        draw = random.Random(f"{seed} {dtype}")
        names = [n for n, o in sorted(operators().items()) if _supported(o, dtype, device) and (not only or n in only)]
        for _ in range(count):
            name = draw.choice(names)
            index, spelling = draw.randrange(1 << 30), draw.choice((*SPELLINGS, *_CUT))
            found = len(_samples(operators()[name], getattr(torch, dtype), device))
            if found:
                yield Case(name, dtype, index % found, spelling, device)


def share(part, seed, dtypes=DTYPES, device="cpu", only=()):
    """This share of each operator's samples, each in one spelling."""
    draw = random.Random(seed)
    for name, operator in sorted(operators().items()):
        for dtype in dtypes:
            if _supported(operator, dtype, device) and (not only or name in only):
                for index in range(len(_samples(operator, getattr(torch, dtype), device))):
                    spelling = draw.choice(SPELLINGS) if part < 1 else "function"
                    if draw.random() < part:
                        yield Case(name, dtype, index, spelling, device)


# ---- Judging ----


def _wide(x):
    if isinstance(x, torch.Tensor):
        return x.double() if x.is_floating_point() else x.to(torch.complex128) if x.is_complex() else x.clone()
    if isinstance(x, torch.dtype):
        return torch.float64 if x.is_floating_point else torch.complex128 if x.is_complex else x
    return x


def _rms(x):
    return x.square().mean(-1, keepdim=True).sqrt() if x.ndim else x.abs()


def differs(found, eager, wide):
    """The error of a tensor, in words; None if it is right. `wide`: the float64 result, None if there is none."""
    if found.dtype != eager.dtype or found.shape != eager.shape:
        return f"expected {eager.dtype} {tuple(eager.shape)}, found {found.dtype} {tuple(found.shape)}"
    if found.layout != torch.strided or found.is_quantized or found.numel() == 0:
        return None
    if found.is_complex():
        parts = [[t.real, t.imag] if isinstance(t, torch.Tensor) and t.is_complex() else [None, None] for t in (found, eager, wide)]
        return differs(*(p[0] for p in parts)) or differs(*(p[1] for p in parts))
    comparable = wide is not None and wide.shape == eager.shape
    if found.dtype not in _CONTRACT:
        wrong = found != eager
        if found.is_floating_point():
            wrong &= ~(found.isnan() & eager.isnan())
        if comparable:
            wrong &= found != wide.to(found.dtype)
        return f"{int(wrong.sum())} of {found.numel()} differ" if wrong.any() else None
    of_norm, of_element, step, lowest, low = _CONTRACT[found.dtype]
    reference = wide.double() if comparable else eager.double()
    rounded = reference.to(found.dtype)
    found, eager = found.double(), eager.double()
    special = ~(reference.isfinite() & rounded.isfinite() & eager.isfinite() & found.isfinite())
    agrees = lambda y: (found == y) | (found.isnan() & y.isnan())  # noqa: E731
    wrong = special & ~agrees(eager) & ~agrees(rounded.double())
    if wrong.any():
        at = int(wrong.flatten().nonzero()[0])
        values = [t.flatten()[at].item() for t in (reference, eager, found)]
        return f"{int(wrong.sum())} of {found.numel()} are not finite where others are: float64 {values[0]}, eager {values[1]}, found {values[2]}"
    reference, eager, found = (t.masked_fill(special, 0) for t in (reference, eager, found))
    size = torch.maximum(torch.maximum(reference.abs(), _rms(reference)), low * reference.square().mean().sqrt())
    difference, theirs = (found - reference).abs(), (eager - reference).abs()
    allowed = (of_element * size).clamp(min=lowest) + theirs + 3 * _rms(theirs)
    if (difference > allowed).any():
        at = int((difference - allowed).argmax())
        values = [t.flatten()[at].item() for t in (reference, eager, found, allowed)]
        return "element {}: float64 {:.9g}, eager {:.9g}, found {:.9g}, allowed difference {:.3g}".format(at, *values)
    step /= found.numel() ** 0.5
    of_norm = (of_norm**2 + 3 * of_norm * step + step**2) ** 0.5
    if difference.norm() > of_norm * reference.norm() + theirs.norm() + lowest * found.numel() ** 0.5:
        return f"norm: float64 {reference.norm():.6g}, eager differs by {theirs.norm():.3g}, found {difference.norm():.3g}"
    return None


@dataclass
class Outcome:
    case: Case
    kind: str  # right, wrong, error, without eager's error, torch's error, torch's wrong, refused by eager
    says: str = ""
    parts: int = 0  # programs of ours
    wide: bool = True  # whether there is a float64 result
    faults: tuple = ()


def _all_taken(graph_module, inputs):
    from zellige import torch_backend

    return torch_backend.backend(graph_module, inputs, options={"take": "all"})


def _pipeline(graph_module, inputs):
    """torch's own pipeline with the backend's decompositions, and no programs."""
    from torch._decomp import core_aten_decompositions
    from torch._functorch.aot_autograd import aot_module_simplified

    return aot_module_simplified(graph_module, inputs, fw_compiler=lambda m, i: m, decompositions=core_aten_decompositions())


def _prepared(case):
    operator = operators()[case.operator]
    sample = _samples(operator, getattr(torch, case.dtype), case.device)[case.index]
    if case.spelling in _CUT:
        sample = sample.transform(_cut(sample, _CUT[case.spelling]))
    if case.spelling == "not contiguous" and not case.operator.startswith("as_strided"):  # these read what lies between elements
        sample = sample.noncontiguous()
    function = operator.op
    if case.spelling == "in place" and operator.inplace_variant is not None and not sample.broadcasts_input:
        function = operator.inplace_variant
    return function, (sample.input, sample.args, sample.kwargs)


def _cut(sample, to):
    """A function that cuts the tensors of a sample along their dimensions of one extent, that of the first tensor's last one."""
    tensors = [t for t in tree_flatten((sample.input, sample.args, sample.kwargs))[0] if isinstance(t, torch.Tensor) and t.ndim]
    extent = tensors[0].shape[-1] if tensors else 0
    cuts = lambda t: isinstance(t, torch.Tensor) and t.layout == torch.strided and extent in t.shape  # noqa: E731
    return lambda t: t[tuple(slice(to if n == extent else None) for n in t.shape)].clone() if cuts(t) else t


def _evaluated(f, given, seed=1):
    """Results, and arguments as well: they may have been changed."""
    torch.manual_seed(seed)
    return tree_flatten((f(*given), given))[0]


def draws(case) -> bool:
    """True if eager's results change with the seed, including the one that the sample sets."""
    function, inputs = _prepared(case)
    set_seed, made = torch.manual_seed, []
    for seed in (1, 2):
        with torch.no_grad(), warnings.catch_warnings(), unittest.mock.patch("torch.manual_seed", lambda s: set_seed(s + seed)):  # noqa: B023
            warnings.simplefilter("ignore")
            made.append(_evaluated(lambda x, args, kwargs: function(x, *args, **kwargs), _again(inputs)))
    return _judged(*made, None) is not None


def run(case):
    """One case's outcome."""
    from zellige import torch_backend

    function, inputs = _prepared(case)
    dynamic = True if case.spelling == "symbolic sizes" else None

    def whole(x, args, kwargs):
        return function(x, *args, **kwargs)

    def compiled(backend):
        torch._dynamo.reset()
        return torch.compile(whole, backend=backend, dynamic=dynamic)

    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            eager = _evaluated(whole, _again(inputs))
        except Exception as raised:
            return Outcome(case, _refusal(compiled, inputs), str(raised))
        why = UNCOMPARED.get(case.operator)
        if why == RANDOM and not _judged(_evaluated(whole, _again(inputs), 2), eager, None):
            why = None  # as dropout of nothing
        try:
            wide = _evaluated(whole, tree_map(_wide, inputs))
        except Exception:
            wide = None
        if wide is not None and len(wide) != len(eager):
            wide = None
        torch_backend.reports.clear()
        try:
            found = _evaluated(compiled(_all_taken), _again(inputs))
        except Exception as raised:
            says, kind = f"{type(raised).__name__}: {raised}", "error"
            with contextlib.suppress(Exception):
                _evaluated(compiled(_pipeline), _again(inputs))
                return Outcome(case, kind, says)
            return Outcome(case, "torch's error", says)
        parts = sum(len(r.parts) for r in torch_backend.reports)
        faults = tuple(f for r in torch_backend.reports for f in r.faults)
        says = _judged(found, eager, wide, why)
        kind = "wrong" if says else "right"
        if says:
            with contextlib.suppress(Exception):
                torchs = _evaluated(compiled(_pipeline), _again(inputs))
                if _judged(torchs, eager, wide, why) or not _judged(found, torchs, wide, why):
                    kind = "torch's wrong"
        return Outcome(case, kind, says or "", parts, wide is not None, faults)


def _refusal(compiled, inputs) -> str:
    """The kind of a sample that eager refuses."""
    for backend, kind in ((_all_taken, "refused by eager"), (_pipeline, "without eager's error")):
        try:
            _evaluated(compiled(backend), _again(inputs))
        except Exception:
            return kind
    return "torch's error"  # torch's own pipeline does not raise it, either


def _again(inputs):
    """Copies that lie as they do."""
    return tree_map(lambda x: _laid_as(x) if isinstance(x, torch.Tensor) else x, inputs)


def _laid_as(x):
    if x.layout != torch.strided or x.is_contiguous() or x.numel() == 0:
        return x.clone()
    memory = x.new_empty(sum((n - 1) * s for n, s in zip(x.shape, x.stride())) + 1)
    return memory.as_strided(x.shape, x.stride()).copy_(x) if 0 not in x.stride() else x


def _judged(found, eager, wide, uncompared=None):
    """The error of results, in words, or None. `uncompared`: why their values may be arbitrary."""
    if len(found) != len(eager):
        return f"expected {len(eager)} results, found {len(found)}"
    for i, (y, e) in enumerate(zip(found, eager)):
        if not isinstance(e, torch.Tensor):
            says = None if type(y) is type(e) and (y == e or y != y or uncompared) else f"expected {e!r}, found {y!r}"
        elif uncompared:
            says = differs(y.new_zeros(y.shape), e.new_zeros(e.shape), None)
        else:
            says = differs(y, e, None if wide is None or not isinstance(wide[i], torch.Tensor) else wide[i])
        if says:
            return f"result {i}: {says}"
    return None


def main():
    asked = argparse.ArgumentParser()
    asked.add_argument("--share", type=float, default=0.1)
    asked.add_argument("--few", type=int, help="N samples, each of another operator")
    asked.add_argument("--each", type=int, help="N samples of each dtype")
    asked.add_argument("--seed", type=int, default=0)
    asked.add_argument("--dtypes", nargs="+", default=DTYPES)
    asked.add_argument("--device", default="cpu")
    asked.add_argument("--only", nargs="*", default=(), help="names of operators")
    asked.add_argument("--taken", action="store_true", help="passes over operators of which three samples had no program")
    asked.add_argument("--reference", action="store_true", help="programs as float64 has them, without kernels: what is traced alone")
    asked = asked.parse_args()
    kernels = contextlib.nullcontext if not asked.reference else _without_kernels
    counts, by_operator = collections.Counter(), collections.defaultdict(list)
    drawn = few(asked.few, asked.seed, asked.device) if asked.few else share(asked.share, asked.seed, asked.dtypes, asked.device, asked.only)
    drawn = each(asked.each, asked.seed, asked.dtypes, asked.device, asked.only) if asked.each else drawn
    for case in drawn:
        before = by_operator[case.operator]
        if asked.taken and len(before) > 2 and not any(before):
            counts["passed over"] += 1
            continue
        with kernels():
            outcome = run(case)
        if outcome.kind == "wrong" and asked.reference:  # float64 has 53 bits of an integer
            outcome = run(case)
        before.append(outcome.parts)
        counts[outcome.kind] += 1
        counts["without float64"] += not outcome.wide
        counts["with programs"] += outcome.parts > 0
        counts["faults"] += len(outcome.faults)
        if outcome.kind not in ("right", "refused by eager") or outcome.faults:
            print(f"{outcome.kind}: {case}: {' '.join(outcome.says.split())[:600]} {' '.join(outcome.faults)}", flush=True)
        if sum(map(len, by_operator.values())) % 100 == 0:
            print(case, dict(counts), flush=True)
    print(dict(counts))


def _without_kernels():
    """A context in which float64 evaluates parts."""
    from zellige import _native
    from zellige.torch.execute import part

    program = lambda *args, **options: _native.Program(*args, **options | {"on": "reference"})  # noqa: E731
    return unittest.mock.patch.object(part, "_native", types.SimpleNamespace(Graph=_native.Graph, Program=program))


if __name__ == "__main__":
    main()
