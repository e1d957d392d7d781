"""Each module of torch.nn in three random shapes: how many of its operators the backend takes, and whether the results are eager's.

    python tests/python/nn_modules.py                     # evaluates programs in float64, and prints what is left
    python tests/python/nn_modules.py --fix               # writes docs/reference/nn-modules.md
    python tests/python/nn_modules.py LSTM GRU --kernels  # these alone, on the emulator
"""

import argparse
import collections
import contextlib
import copy
import pathlib
import random
import re
import warnings
from dataclasses import dataclass, field

import op_samples
import torch
from torch import nn

PAGE = pathlib.Path(__file__).parents[2] / "docs/reference/nn-modules.md"
TABLE = re.compile(r"(?<=<!-- modules -->\n).*?(?=<!-- end -->)", re.S)
SEED, SHAPES = 61, 3


class Draw:
    """Random extents and tensors, by a seed in words."""

    def __init__(self, *words):
        self._random = random.Random(" ".join(map(str, words)))
        torch.manual_seed(self._random.randrange(1 << 30))

    def n(self, low=2, high=6):
        return self._random.randint(low, high)

    def of(self, *choices):
        return self._random.choice(choices)

    def x(self, *shape):
        return torch.randn(*shape)

    def image(self, dims, channels=None, low=5, high=9):
        return torch.randn(self.n(1, 3), channels or self.n(), *(self.n(low, high) for _ in range(dims)))


def _rows(d):
    return torch.randn(*(d.n() for _ in range(d.n(1, 3))), d.n())


def _elementwise(make):
    return lambda d: (make(d), [_rows(d)])


def _of_images(make, dims, **given):
    return lambda d: (make(d, dims), [d.image(dims, **given)])


def _loss(make, target=torch.randn_like, shape=_rows, first=lambda x: x):
    def drawn(d):
        x = shape(d)
        return make(d), [first(x), target(x)]

    return drawn


def _convolution(kind, dims, transposed):
    def drawn(d):
        groups = d.n(1, 2)
        inner, outer = groups * d.n(1, 3), groups * d.n(1, 3)
        options = {"stride": d.n(1, 2), "padding": d.n(0, 1), "dilation": 1 if transposed else d.n(1, 2), "groups": groups, "bias": d.of(True, False)}
        return kind(inner, outer, d.n(1, 3), **options), [d.image(dims, inner)]

    return drawn


def _normed(kind, dims, **given):
    def drawn(d):
        x = d.image(dims)
        module = kind(x.shape[1], **given)
        for p in module.parameters():
            nn.init.normal_(p)
        return module, [x]

    return drawn


def _recurrent(kind, **given):
    def drawn(d):
        n = d.n()
        return kind(n, d.n(), num_layers=d.n(1, 2), bidirectional=d.of(True, False), batch_first=d.of(True, False)), [d.x(d.n(), d.n(), n)]

    return drawn


def _cell(kind):
    def drawn(d):
        n = d.n()
        return kind(n, d.n()), [d.x(d.n(), n)]

    return drawn


def _transformer(make, inputs):
    def drawn(d):
        heads = d.n(1, 3)
        width = 4 * heads
        batch = d.n(1, 3)
        return make(d, width, heads), [d.x(batch, d.n(), width) for _ in range(inputs)]

    return drawn


def _multi_head(d):
    heads = d.n(1, 3)
    x = d.x(d.n(1, 3), d.n(), 4 * heads)
    return nn.MultiheadAttention(4 * heads, heads, batch_first=True), [x, x, x]


def _embedding(d):
    rows = d.n(5, 9)
    return nn.Embedding(rows, d.n()), [torch.randint(0, rows, (d.n(), d.n()))]


def _bags(d):
    rows = d.n(5, 9)
    return nn.EmbeddingBag(rows, d.n(), mode=d.of("sum", "mean", "max")), [torch.randint(0, rows, (d.n(), d.n()))]


def _classes(make):
    def drawn(d):
        n = d.n(3, 8)
        x = d.x(d.n(), n)
        return make(d, n), [x, torch.randint(0, n, x.shape[:1])]

    return drawn


def _shuffled(d):
    r = d.n(2, 3)
    return nn.PixelShuffle(r), [d.image(2, r * r * d.n(1, 3))]


def _unshuffled(d):
    r = d.n(2, 3)
    return nn.PixelUnshuffle(r), [d.x(d.n(), d.n(), r * d.n(), r * d.n())]


def _unpooled(kind, pool, dims):
    def drawn(d):
        x, places = pool(2, return_indices=True)(d.x(d.n(1, 3), d.n(), *(2 * d.n(2, 4) for _ in range(dims))))
        return kind(2), [x, places]

    return drawn


def _ctc(d):
    steps, batch, classes, length = 12, d.n(), d.n(3, 6), d.n(1, 4)
    given = [torch.full((batch,), steps), torch.full((batch,), length)]
    return nn.CTCLoss(), [d.x(steps, batch, classes).log_softmax(-1), torch.randint(1, classes, (batch, length)), *given]


def _three(make):
    def drawn(d):
        shape = d.n(), d.n()
        return make(d), [d.x(*shape) for _ in range(3)]

    return drawn


def _two(make):
    def drawn(d):
        shape = d.n(), d.n()
        return make(d), [d.x(*shape), d.x(*shape)]

    return drawn


def _signs(x):
    return torch.where(torch.randn(x.shape[:1]) > 0, 1.0, -1.0)


def _group(d):
    groups = d.n(1, 3)
    channels = groups * d.n(1, 3)
    return nn.GroupNorm(groups, channels), [d.image(d.n(1, 2), channels)]


def _fold(d):
    rows, columns = d.n(4, 7), d.n(4, 7)
    return nn.Fold((rows, columns), 2), [d.x(d.n(1, 3), 4 * d.n(1, 3), (rows - 1) * (columns - 1))]


def _bilinear(d):
    a, b, batch = d.n(), d.n(), d.n()
    return nn.Bilinear(a, b, d.n()), [d.x(batch, a), d.x(batch, b)]


def _flattened(d):
    return nn.Flatten(), [d.image(2)]


def _unflattened(d):
    a, b = d.n(), d.n()
    return nn.Unflatten(1, (a, b)), [d.x(d.n(), a * b)]


_F, _S = _elementwise, (1, 2, 3)
_PADS = {"Circular": {}, "Reflection": {}, "Replication": {}, "Zero": {}, "Constant": {"value": 1.5}}
_FIXED = "CELU ELU GELU Hardsigmoid Hardswish Hardtanh Hardshrink Identity LeakyReLU LogSigmoid Mish RReLU ReLU ReLU6 SELU SiLU Sigmoid Softplus Softshrink Softsign Tanh Tanhshrink Dropout AlphaDropout"  # fmt: skip
MODULES = {
    **{n: _F(lambda d, n=n: getattr(nn, n)()) for n in _FIXED.split()},
    **{n: _F(lambda d, n=n: getattr(nn, n)(-1)) for n in ("Softmax", "LogSoftmax", "Softmin")},
    **{f"AdaptiveAvgPool{k}d": _of_images(lambda d, k: getattr(nn, f"AdaptiveAvgPool{k}d")(d.n(1, 4)), k) for k in _S},
    **{f"AdaptiveMaxPool{k}d": _of_images(lambda d, k: getattr(nn, f"AdaptiveMaxPool{k}d")(d.n(1, 4)), k) for k in _S},
    **{f"AvgPool{k}d": _of_images(lambda d, k: getattr(nn, f"AvgPool{k}d")(2, d.n(1, 2), d.n(0, 1)), k) for k in _S},
    **{f"MaxPool{k}d": _of_images(lambda d, k: getattr(nn, f"MaxPool{k}d")(2, d.n(1, 2), d.n(0, 1)), k) for k in _S},
    **{f"LPPool{k}d": _of_images(lambda d, k: getattr(nn, f"LPPool{k}d")(2, 2), k) for k in _S},
    **{f"FractionalMaxPool{k}d": _of_images(lambda d, k: getattr(nn, f"FractionalMaxPool{k}d")(2, 3), k) for k in (2, 3)},
    **{f"MaxUnpool{k}d": _unpooled(getattr(nn, f"MaxUnpool{k}d"), getattr(nn, f"MaxPool{k}d"), k) for k in _S},
    **{f"Conv{k}d": _convolution(getattr(nn, f"Conv{k}d"), k, False) for k in _S},
    **{f"ConvTranspose{k}d": _convolution(getattr(nn, f"ConvTranspose{k}d"), k, True) for k in _S},
    **{f"BatchNorm{k}d": _normed(getattr(nn, f"BatchNorm{k}d"), k) for k in _S},
    **{f"InstanceNorm{k}d": _normed(getattr(nn, f"InstanceNorm{k}d"), k, affine=True) for k in _S},
    **{f"{n}Pad{k}d": _of_images(lambda d, k, n=n, g=g: getattr(nn, f"{n}Pad{k}d")(d.n(1, 2), **g), k) for n, g in _PADS.items() for k in _S},
    **{f"Dropout{k}d": _of_images(lambda d, k: getattr(nn, f"Dropout{k}d")(), k) for k in _S},
    "FeatureAlphaDropout": _of_images(lambda d, k: nn.FeatureAlphaDropout(), 2),
    "SyncBatchNorm": _normed(nn.SyncBatchNorm, 2),
    "GroupNorm": _group,
    "LayerNorm": lambda d: (lambda n: (nn.LayerNorm(n), [d.x(d.n(), d.n(), n)]))(d.n()),
    "RMSNorm": lambda d: (lambda n: (nn.RMSNorm(n), [d.x(d.n(), d.n(), n)]))(d.n()),
    "LocalResponseNorm": _of_images(lambda d, k: nn.LocalResponseNorm(d.n(2, 3)), 2),
    "CrossMapLRN2d": _of_images(lambda d, k: nn.CrossMapLRN2d(d.n(2, 3)), 2),
    "Linear": lambda d: (lambda n: (nn.Linear(n, d.n()), [d.x(d.n(), d.n(), n)]))(d.n()),
    "Bilinear": _bilinear,
    "PReLU": lambda d: (lambda x: (nn.PReLU(x.shape[1]), [x]))(d.image(1)),
    "Threshold": _F(lambda d: nn.Threshold(0.1, 2.0)),
    "GLU": lambda d: (nn.GLU(), [d.x(d.n(), 2 * d.n())]),
    "Softmax2d": _of_images(lambda d, k: nn.Softmax2d(), 2),
    "Embedding": _embedding,
    "EmbeddingBag": _bags,
    "Flatten": _flattened,
    "Unflatten": _unflattened,
    "Fold": _fold,
    "Unfold": _of_images(lambda d, k: nn.Unfold(2, padding=d.n(0, 1), stride=d.n(1, 2)), 2),
    "PixelShuffle": _shuffled,
    "PixelUnshuffle": _unshuffled,
    "ChannelShuffle": lambda d: (lambda g: (nn.ChannelShuffle(g), [d.image(2, g * d.n(1, 3))]))(d.n(2, 3)),
    "Upsample": _of_images(lambda d, k: nn.Upsample(scale_factor=2, mode=d.of("nearest", "bilinear", "bicubic")), 2),
    "UpsamplingNearest2d": _of_images(lambda d, k: nn.UpsamplingNearest2d(scale_factor=2), 2),
    "UpsamplingBilinear2d": _of_images(lambda d, k: nn.UpsamplingBilinear2d(scale_factor=2), 2),
    "LSTM": _recurrent(nn.LSTM),
    "GRU": _recurrent(nn.GRU),
    "RNN": _recurrent(nn.RNN),
    "LSTMCell": _cell(nn.LSTMCell),
    "GRUCell": _cell(nn.GRUCell),
    "RNNCell": _cell(nn.RNNCell),
    "MultiheadAttention": _multi_head,
    "TransformerEncoderLayer": _transformer(lambda d, w, h: nn.TransformerEncoderLayer(w, h, 2 * w, batch_first=True, norm_first=d.of(True, False)), 1),
    "TransformerEncoder": _transformer(lambda d, w, h: nn.TransformerEncoder(nn.TransformerEncoderLayer(w, h, 2 * w, batch_first=True), 2), 1),
    "TransformerDecoderLayer": _transformer(lambda d, w, h: nn.TransformerDecoderLayer(w, h, 2 * w, batch_first=True), 2),
    "TransformerDecoder": _transformer(lambda d, w, h: nn.TransformerDecoder(nn.TransformerDecoderLayer(w, h, 2 * w, batch_first=True), 2), 2),
    "Transformer": lambda d: (nn.Transformer(8, 2, 1, 1, 16, batch_first=True), [*[d.x(2, d.n(), 8) for _ in range(2)]]),
    "AdaptiveLogSoftmaxWithLoss": lambda d: (lambda n: (nn.AdaptiveLogSoftmaxWithLoss(n, 12, [4, 8]), [d.x(5, n), torch.randint(0, 12, (5,))]))(d.n(4, 6)),
    "CosineSimilarity": _two(lambda d: nn.CosineSimilarity()),
    "PairwiseDistance": _two(lambda d: nn.PairwiseDistance()),
    "BCELoss": _loss(lambda d: nn.BCELoss(), torch.rand_like, first=torch.sigmoid),
    "BCEWithLogitsLoss": _loss(lambda d: nn.BCEWithLogitsLoss(), torch.rand_like),
    "CTCLoss": _ctc,
    "CosineEmbeddingLoss": lambda d: (lambda n, m: (nn.CosineEmbeddingLoss(), [d.x(n, m), d.x(n, m), _signs(d.x(n))]))(d.n(), d.n()),
    "CrossEntropyLoss": _classes(lambda d, n: nn.CrossEntropyLoss(label_smoothing=d.of(0.0, 0.1))),
    "GaussianNLLLoss": lambda d: (lambda x: (nn.GaussianNLLLoss(), [x, torch.randn_like(x), torch.rand_like(x)]))(_rows(d)),
    "HingeEmbeddingLoss": _loss(lambda d: nn.HingeEmbeddingLoss(), lambda x: torch.randn_like(x).sign()),
    "HuberLoss": _loss(lambda d: nn.HuberLoss()),
    "KLDivLoss": _loss(lambda d: nn.KLDivLoss(reduction="batchmean"), torch.rand_like),
    "L1Loss": _loss(lambda d: nn.L1Loss()),
    "MSELoss": _loss(lambda d: nn.MSELoss()),
    "MarginRankingLoss": lambda d: (lambda n: (nn.MarginRankingLoss(), [d.x(n), d.x(n), _signs(d.x(n))]))(d.n()),
    "MultiLabelMarginLoss": _loss(lambda d: nn.MultiLabelMarginLoss(), lambda x: torch.full(x.shape, -1), lambda d: d.x(d.n(), d.n())),
    "MultiLabelSoftMarginLoss": _loss(lambda d: nn.MultiLabelSoftMarginLoss(), lambda x: (torch.randn_like(x) > 0).float(), lambda d: d.x(d.n(), d.n())),
    "MultiMarginLoss": _classes(lambda d, n: nn.MultiMarginLoss()),
    "NLLLoss": _classes(lambda d, n: nn.NLLLoss()),
    "NLLLoss2d": lambda d: (lambda n: (nn.NLLLoss(), [d.x(2, n, 4, 5), torch.randint(0, n, (2, 4, 5))]))(d.n()),
    "PoissonNLLLoss": _loss(lambda d: nn.PoissonNLLLoss(), torch.rand_like),
    "SmoothL1Loss": _loss(lambda d: nn.SmoothL1Loss()),
    "SoftMarginLoss": _loss(lambda d: nn.SoftMarginLoss(), lambda x: torch.randn_like(x).sign()),
    "TripletMarginLoss": _three(lambda d: nn.TripletMarginLoss()),
    "TripletMarginWithDistanceLoss": _three(lambda d: nn.TripletMarginWithDistanceLoss()),
}  # fmt: skip
CHECKS = {"aten.index_select.default", "aten.index.Tensor"}  # of indices: each selects the numbers of all rows
# no operators of their own, or another module after its first call
NOT_DRAWN = ("Module", "Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict", "Container", "DataParallel", "RNNBase", "RNNCellBase")


def names() -> list:
    """The modules of torch.nn, without containers and those that learn their shapes."""
    found = [n for n in dir(nn) if isinstance(getattr(nn, n), type) and issubclass(getattr(nn, n), nn.Module)]
    return [n for n in found if n not in NOT_DRAWN and not n.startswith("Lazy")]


@dataclass
class Outcome:
    says: str = ""  # what is wrong
    operators: int = 0
    taken: int = 0
    left: dict = field(default_factory=dict)  # by operator, why
    faults: list = field(default_factory=list)


def run(name, index, kernels=False, dtype=torch.float32) -> Outcome:
    """The outcome of one shape of a module, in inference."""
    from zellige import torch_backend

    module, inputs = MODULES[name](Draw(SEED, name, index))
    module = module.eval().to(dtype)
    inputs = [x.to(dtype) if x.is_floating_point() else x for x in inputs]
    with torch.no_grad(), warnings.catch_warnings(), (contextlib.nullcontext() if kernels else op_samples._without_kernels()):
        warnings.simplefilter("ignore")
        torch.manual_seed(SEED)
        eager = module(*inputs)
        try:
            wide = copy.deepcopy(module).double()(*(x.double() if x.is_floating_point() else x for x in inputs))
        except Exception:
            wide = eager
        torch._dynamo.reset()
        torch_backend.reports.clear()
        torch.manual_seed(SEED)
        try:
            found = torch.compile(module, backend="zellige", options={"take": "all"})(*inputs)
        except Exception as why:
            return Outcome(f"{type(why).__name__}: {' '.join(str(why).split())[:300]}")
    made = Outcome()
    flat = [torch.utils._pytree.tree_leaves(t) for t in (found, eager, wide)]
    made.says = next((says for f, e, w in zip(*flat) if (says := op_samples.differs(f, e, w))), "")
    for report in torch_backend.reports:
        checks = report.left.keys() <= CHECKS  # else they are few of those that are left
        made.operators += report.taken if checks else report.operators
        made.taken += report.taken
        made.left |= {} if checks else report.left
        made.faults += [*report.faults, *report.rejected]
    return made


def survey(modules, kernels=False, show=print) -> dict:
    """By module, the joined outcomes of its shapes."""
    found = {}
    for name in modules:
        outcomes = [run(name, index, kernels) for index in range(SHAPES)]
        of = found[name] = Outcome()
        for o in outcomes:
            of.says = of.says or o.says
            of.operators, of.taken = of.operators + o.operators, of.taken + o.taken
            of.left |= o.left
            of.faults += o.faults
        if of.says or of.faults or of.left:
            show(f"{name}: {of.taken} of {of.operators}; {of.says} {of.faults} {of.left}", flush=True)
    return found


def table(found) -> str:
    """The table of the page."""
    operators, taken = sum(o.operators for o in found.values()), sum(o.taken for o in found.values())
    whole = [n for n, o in found.items() if o.taken == o.operators and o.taken and not o.left]
    none = [n for n, o in found.items() if not o.operators]
    by_reason = collections.defaultdict(list)
    for name, o in found.items():
        for operator, why in o.left.items() if name not in whole else ():
            by_reason[operator.removeprefix("aten.").removesuffix(".default"), re.sub(r" at .*|\(.*", "", why).strip()].append(name)
    rows = [f"| `{operator}` | {', '.join(modules)} | {why} |" for (operator, why), modules in sorted(by_reason.items())]
    head = f"{taken} of {operators} operators of {len(found)} modules are taken ({100 * taken / operators:.1f}%), all of {len(whole)} modules.\n"
    head += f"\nNo operators are traced of {', '.join(f'`{n}`' for n in none)}: they return their input or copy it, or dynamo leaves them to eager.\n" if none else ""
    return "\n".join([head, "| left to PyTorch | in | because |", "|---|---|---|", *rows, ""])


def main():
    asked = argparse.ArgumentParser()
    asked.add_argument("names", nargs="*")
    asked.add_argument("--kernels", action="store_true")
    asked.add_argument("--fix", action="store_true")
    asked = asked.parse_args()
    found = survey(asked.names or names(), asked.kernels)
    if asked.fix:
        PAGE.write_text(TABLE.sub(lambda _: table(found), PAGE.read_text()))
    print(table(found))


if __name__ == "__main__":
    main()
