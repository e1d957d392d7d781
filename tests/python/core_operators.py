"""One call of each of ATen's core operators, and whether the backend takes it: what docs/reference/core-operators.md lists.

    python tests/python/core_operators.py            # prints what is taken
    python tests/python/core_operators.py --fix      # writes the table into the page
    python tests/python/core_operators.py gather     # the operators of this name alone, with what is left of each

A call is taken if every operator that is left of it after decompositions and rewrites becomes part of a program, but for the
checks of indices, which are torch's.
"""

import pathlib
import re
import sys

import torch

aten = torch.ops.aten
PAGE = pathlib.Path(__file__).parents[2] / "docs/reference/core-operators.md"
TABLE = re.compile(r"(?<=<!-- operators -->\n).*?(?=<!-- end -->)", re.S)


def _f(*shape):
    return torch.linspace(-1.5, 2.0, max(1, torch.Size(shape).numel())).reshape(shape)


def _positive(*shape):
    return _f(*shape).abs() + 0.25


def _unit(*shape):
    return _f(*shape) / 2.5


def _n(*shape):
    return (torch.arange(torch.Size(shape).numel()) * 7 % 5).reshape(shape)


def _b(*shape):
    return _n(*shape) > 1


X, Y, N, M, B, C = _f(4, 6), _f(4, 6).flip(0), _n(4, 6), _n(4, 6).flip(0), _b(4, 6), _b(4, 6).flip(0)
IMAGE, VOLUME = _f(1, 2, 6, 6), _f(1, 2, 4, 4, 4)
_UNARY = ("abs ceil cos cosh erf exp expm1 floor isinf isnan log10 log1p log2 neg reciprocal relu round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc"
          " acos asin atan asinh acosh atanh log gelu alias clone").split()  # fmt: skip
_OF_POSITIVE = {"log", "log10", "log2", "log1p", "sqrt", "rsqrt", "reciprocal"}
_OF_UNIT = {"acos", "asin", "atanh"}
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")

CALLS = {
    **{getattr(aten, n).default: ((_positive(4, 6) + (n == "acosh")) if n in _OF_POSITIVE | {"acosh"} else _unit(4, 6) if n in _OF_UNIT else X,) for n in _UNARY},
    **{getattr(aten, n).Tensor: (N, M) for n in _COMPARISONS},
    **{getattr(aten, n).Scalar: (N, 2) for n in _COMPARISONS},
    **{getattr(aten, f"logical_{n}").default: (B, C) for n in ("and", "or", "xor")},
    **{getattr(aten, f"bitwise_{n}").Tensor: (B, C) for n in ("and", "or", "xor")},
    **{getattr(aten, f"bitwise_{n}").Scalar: (N, 3) for n in ("and", "or", "xor")},
    aten.logical_not.default: (B,),
    aten.bitwise_not.default: (B,),
    aten._adaptive_avg_pool2d.default: (IMAGE, [3, 3]),
    aten.adaptive_avg_pool1d.default: (IMAGE[0], [3]),
    aten.avg_pool1d.default: (IMAGE[0], [2], [2]),
    aten._adaptive_avg_pool3d.default: (VOLUME, [2, 2, 2]),
    aten._cdist_forward.default: (X, Y, 2.0, None),
    aten._embedding_bag.default: (X, _n(5) % 4, torch.tensor([0, 2])),
    aten._fft_c2r.default: (torch.complex(X, Y), [1], 2, 10),
    aten._fft_r2c.default: (X, [1], 0, True),
    aten._log_softmax.default: (X, 1, False),
    aten._native_batch_norm_legit.default: (IMAGE, None, None, torch.zeros(2), torch.ones(2), False, 0.1, 1e-5),
    aten._native_batch_norm_legit.no_stats: (IMAGE, None, None, True, 0.1, 1e-5),
    aten._native_batch_norm_legit_no_training.default: (IMAGE, _f(2), _f(2), torch.zeros(2), torch.ones(2), 0.1, 1e-5),
    aten._pdist_forward.default: (X,),
    aten._softmax.default: (X, 1, False),
    aten._to_copy.default: (N, {"dtype": torch.float32}),
    aten.add.Tensor: (X, Y),
    aten.add.Scalar: (X, 2),
    aten.addmm.default: (_f(8), _f(4, 6), _f(6, 8)),
    aten.amax.default: (X, [1]),
    aten.amin.default: (X, [1]),
    aten.any.default: (B,),
    aten.any.dim: (B, 1),
    aten.any.dims: (B, [1]),
    aten.arange.start_step: (0, 6, 1),
    aten.argmax.default: (X, 1),
    aten.argmin.default: (X, 1),
    aten.as_strided.default: (X, [3, 2], [6, 1], 2),
    aten.atan2.default: (X, Y),
    aten.atan2.out: (X, Y, {"out": torch.empty(4, 6)}),
    aten.avg_pool2d.default: (IMAGE, [2, 2], [2, 2]),
    aten.avg_pool3d.default: (VOLUME, [2, 2, 2], [2, 2, 2]),
    aten.bmm.default: (_f(2, 4, 6), _f(2, 6, 8)),
    aten.cat.default: ([X, Y], 1),
    aten.clamp.default: (X, -1, 1),
    aten.clamp.Tensor: (X, Y - 1, Y + 1),
    aten.col2im.default: (_f(1, 8, 9), [4, 4], [2, 2], [1, 1], [0, 0], [1, 1]),
    aten.constant_pad_nd.default: (X, [1, 2], 3.0),
    aten.convolution.default: (IMAGE, _f(3, 2, 3, 3), None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1),
    aten.copy.default: (X, Y),
    aten.cumsum.default: (X, 1),
    aten.diagonal.default: (X,),
    aten.div.Tensor: (X, _positive(4, 6)),
    aten.div.Scalar: (X, 3.0),
    aten.div.Tensor_mode: (X, _positive(4, 6), {"rounding_mode": "trunc"}),
    aten.div.Scalar_mode: (N, 3, {"rounding_mode": "floor"}),
    aten.elu.default: (X,),
    aten.embedding.default: (X, _n(5) % 4),
    aten.empty.memory_format: ([4, 6],),
    aten.empty_strided.default: ([4, 6], [6, 1]),
    aten.expand.default: (_f(4, 1), [4, 6]),
    aten.fill.Scalar: (X, 2.0),
    aten.flip.default: (X, [1]),
    aten.fmod.Tensor: (X, _positive(4, 6)),
    aten.fmod.Scalar: (N, 3),
    aten.full.default: ([4, 6], 2.0),
    aten.full_like.default: (X, 2.0),
    aten.gather.default: (X, 1, N),
    aten.grid_sampler_2d.default: (IMAGE, _unit(1, 3, 3, 2), 0, 0, False),
    aten.hardtanh.default: (X,),
    aten.index.Tensor: (X, [_n(5) % 4]),
    aten.index_put.default: (X, [torch.tensor([1])], _f(1, 6)),
    aten.index_select.default: (X, 1, _n(5)),
    aten.leaky_relu.default: (X,),
    aten.masked_scatter.default: (X, B, Y),
    aten.max.dim: (X, 1),
    aten.max_pool2d_with_indices.default: (IMAGE, [2, 2]),
    aten.max_pool3d_with_indices.default: (VOLUME, [2, 2, 2]),
    aten.maximum.default: (X, Y),
    aten.mean.default: (X,),
    aten.mean.dim: (X, [1]),
    aten.min.dim: (X, 1),
    aten.minimum.default: (X, Y),
    aten.mm.default: (_f(4, 6), _f(6, 8)),
    aten.mul.Tensor: (X, Y),
    aten.mul.Scalar: (X, 3.0),
    aten.native_dropout.default: (X, 0.5, True),
    aten.native_group_norm.default: (IMAGE, _f(2), _f(2), 1, 2, 36, 2, 1e-5),
    aten.native_layer_norm.default: (X, [6], _f(6), _f(6), 1e-5),
    aten.nonzero.default: (N,),
    aten.permute.default: (X, [1, 0]),
    aten.pow.Tensor_Tensor: (_positive(4, 6), Y),
    aten.pow.Tensor_Scalar: (_positive(4, 6), 1.5),
    aten.pow.Scalar: (2.0, X),
    aten.prod.default: (X,),
    aten.prod.dim_int: (X, 1),
    aten.rand.default: ([4, 6],),
    aten.randn.default: ([4, 6],),
    aten.randperm.default: (6,),
    aten.reflection_pad1d.default: (X, [1, 2]),
    aten.reflection_pad2d.default: (IMAGE, [1, 2, 1, 2]),
    aten.reflection_pad3d.default: (VOLUME, [1, 2, 1, 2, 1, 1]),
    aten.remainder.Tensor: (X, _positive(4, 6)),
    aten.remainder.Scalar: (N, 3),
    aten.repeat.default: (X, [2, 3]),
    aten.replication_pad2d.default: (IMAGE, [1, 2, 1, 2]),
    aten.replication_pad3d.default: (VOLUME, [1, 2, 1, 2, 1, 1]),
    aten.scalar_tensor.default: (2.0,),
    aten.scatter.value: (X, 1, _n(4, 6), 1.0),
    aten.scatter.src: (X, 1, torch.arange(6).expand(4, 6), Y),
    aten.scatter_add.default: (X, 1, _n(4, 6), Y),
    aten.scatter_reduce.two: (X, 1, _n(4, 6), Y, "amax"),
    aten.select.int: (X, 1, 2),
    aten.select_scatter.default: (X, _f(4), 1, 2),
    aten.slice.Tensor: (X, 1, 1, 4),
    aten.slice_scatter.default: (X, _f(4, 3), 1, 1, 4),
    aten.sort.default: (X,),
    aten.split_with_sizes.default: (X, [2, 4], 1),
    aten.squeeze.dim: (_f(4, 1, 6), 1),
    aten.squeeze.dims: (_f(4, 1, 6), [1]),
    aten.sub.Tensor: (X, Y),
    aten.sub.Scalar: (X, 2.0),
    aten.sum.dim_IntList: (X, [1]),
    aten.topk.default: (X, 2),
    aten.unsqueeze.default: (X, 1),
    aten.upsample_bilinear2d.vec: (IMAGE, [12, 12], False, None),
    aten.upsample_nearest2d.vec: (IMAGE, [12, 12], None),
    aten.var.dim: (X, [1]),
    aten.var.correction: (X, [1], {"correction": 1}),
    aten.view.default: (X, [6, 4]),
    aten.where.self: (B, X, Y),
}  # fmt: skip

_DATA, _RANDOM = "its size depends on data", "it draws random numbers"
REASONS = {
    **dict.fromkeys((aten.rand.default, aten.randn.default, aten.randperm.default, aten.native_dropout.default), _RANDOM),
    **dict.fromkeys((aten._fft_c2r.default, aten._fft_r2c.default), "programs have no complex numbers and no Fourier transform"),
    **dict.fromkeys((aten.fmod.Tensor, aten.remainder.Tensor), "the remainder of floating-point numbers needs the exact quotient, and PyTorch raises an error where an integer divisor is 0; "
                    "integers by a constant are taken"),
    aten.nonzero.default: _DATA,
    aten._embedding_bag.default: "its bags end where an operand says; `embedding` and `sum` are taken",
    aten._native_batch_norm_legit.default: "it changes running statistics, which belongs to training",
    aten.grid_sampler_2d.default: "its indices are computed per element, in both dimensions, from numbers that may be out of the image",
}  # fmt: skip
# Operators of training, of sizes, and of random numbers: why they are torch's, or nobody's.
NOT_TRIED = {
    aten._local_scalar_dense.default: "makes a number of the host",
    aten.resize_.default: "gives a tensor other memory, which AOT's graphs do not have",
    aten.sym_is_contiguous.default: "is a number, which guards fix",
    **{getattr(aten, n).default: "belongs to training" for n in dir(aten) if n.endswith("_backward")},
    **{getattr(getattr(aten, n), o): "is a number, which guards fix" for n in ("sym_numel", "sym_size", "sym_storage_offset", "sym_stride") for o in ("default", "int")
       if hasattr(getattr(aten, n), o)},
}  # fmt: skip


def core() -> list:
    """ATen's core operators, in the order of their names."""
    names = {n.removeprefix("aten::").partition(".")[0] for n in torch._C._dispatch_get_all_op_names() if n.startswith("aten::")}
    packets = [getattr(aten, n, None) for n in sorted(names)]
    found = [getattr(p, o) for p in packets if isinstance(p, torch._ops.OpOverloadPacket) for o in p.overloads()]
    return [o for o in found if torch.Tag.core in o.tags]


def _function(target, arguments):
    """The call as a function of its tensors, and the tensors."""
    arguments, options = (arguments[:-1], arguments[-1]) if arguments and isinstance(arguments[-1], dict) else (arguments, {})
    leaves, spec = torch.utils._pytree.tree_flatten((arguments, options))
    places = [i for i, x in enumerate(leaves) if isinstance(x, torch.Tensor)]

    def function(*tensors):
        given = list(leaves)
        for i, x in zip(places, tensors):
            given[i] = x
        args, kwargs = torch.utils._pytree.tree_unflatten(given, spec)
        return target(*args, **kwargs)

    return function, [leaves[i] for i in places]


def _left_of(target, arguments) -> dict:
    """What is left to torch of a call, with the reasons, and whether anything is taken."""
    from torch._functorch.aot_autograd import aot_module_simplified
    from zellige.torch import compilation, report
    from zellige.torch.import_.aot import KeptWhole
    from zellige.torch.import_.decompositions import decompositions
    from zellige.torch.partition import convex
    from zellige.torch.partition.supported import Supported, device_of, is_nothing

    function, tensors = _function(target, arguments)
    made, outcome = [], report.Report()

    def compiled(module, _):
        if not made:
            compilation.rewritten(module)
            supported = Supported(outcome, device_of(module.graph))
            nodes = [n for n in module.graph.nodes if n.op == "call_function" and not is_nothing(n)]
            made.extend((n, supported(n)) for n in nodes)
            made.extend((n, True) for n in module.graph.nodes if n.op == "get_attr" and not nodes)
        return module.forward

    def traced(module, inputs):
        with KeptWhole(), torch.no_grad():
            return aot_module_simplified(module, inputs, fw_compiler=compiled, decompositions=decompositions())

    torch._dynamo.reset()
    with torch.no_grad():
        torch.compile(function, backend=traced)(*tensors)
    return outcome.left, made


def _is_check(n) -> bool:
    """Whether a node is a check of indices: a selection of the numbers of all rows."""
    return n.target in (aten.index_select.default, aten.index.Tensor) and n.args[0].op == "get_attr" and n.meta["val"].dtype == torch.int32


def outcome(target) -> tuple:
    """(whether the backend takes the call, why not)"""
    if target in NOT_TRIED:
        return None, NOT_TRIED[target]
    if target not in CALLS:
        return False, "no call of it is listed"
    try:
        left, made = _left_of(target, CALLS[target])
    except Exception as why:
        return False, f"{type(why).__name__}: {str(why).splitlines()[0][:120]}"
    torchs = [n for n, known in made if not known]
    taken = [n for n, known in made if known]
    if not torchs:
        return True, ""
    if taken and all(map(_is_check, torchs)):
        return True, "torch checks its indices"
    return False, "; ".join(f"{name}: {why}" for name, why in left.items()) or "its operand is left"


def table() -> str:
    """The table of the page: the operators that are taken, and a row for each other one."""
    known, left, others = [], [], []
    for target in core():
        taken, why = outcome(target)
        name = f"`{str(target).removeprefix('aten.').removesuffix('.default')}`"
        if taken is None:
            others.append(f"| {name} | {why} |")
        elif taken:
            known.append(name + ("¹" if why else ""))
        else:
            left.append(f"| {name} | {REASONS[target]} |")
    share = 100 * len(known) // (len(known) + len(left))
    head = f"{len(known)} of {len(known) + len(left)} are taken ({share}%): {', '.join(known)}.\n\n¹ PyTorch's kernel checks its indices.\n"
    return "\n".join([head, "| left to PyTorch | because |", "|---|---|", *left, "", "| not counted | because |", "|---|---|", *others, ""])


def main(names):
    if names == ["--fix"]:
        PAGE.write_text(TABLE.sub(lambda _: table(), PAGE.read_text()))
        return
    counts = [0, 0]
    for target in core():
        if names and not any(n in str(target) for n in names):
            continue
        taken, why = outcome(target)
        if taken is not None:
            counts[0] += taken
            counts[1] += 1
        print(f"{'taken' if taken else '-' if taken is None else 'LEFT '} {str(target).removeprefix('aten.')}  {why[:200] if not taken or names else why}", flush=True)
    print(f"{counts[0]} of {counts[1]}")


if __name__ == "__main__":
    main(sys.argv[1:])
