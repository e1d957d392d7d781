"""Parts of models that work element by element or row by row, each in the ways in which people write it: PARTS, by the part's name a
function that draws its inputs, and its spellings, of which the others are compared with the first."""

import math

import torch
import torch.nn.functional as F

F32, BF16 = torch.float32, torch.bfloat16


def draw(*shape, dtype=BF16):
    """Returns a tensor of normal numbers, the same in each call."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape))).to(dtype)


def wide(*shape):
    return draw(*shape, dtype=F32)


def mean_square(x):
    return x.pow(2).mean(-1, keepdim=True)


def shifted_exp(x):
    return torch.exp(x - x.amax(-1, keepdim=True))


def centered(x):
    return x - x.mean(-1, keepdim=True)


def layer_norm_of_moments(x, w, b):
    var, mean = torch.var_mean(x, -1, correction=0, keepdim=True)
    return (x - mean) * torch.rsqrt(var + 1e-5) * w + b


def halves(x):
    return x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]


def llama_norm(x, w):
    h = x.to(torch.float32)
    h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)
    return w * h.to(x.dtype)


PARTS = {
    "silu gate": (
        lambda: (draw(64, 256), draw(64, 256)),
        {
            "F.silu": lambda x, y: F.silu(x) * y,
            "product": lambda x, y: x * torch.sigmoid(x) * y,
            "swapped": lambda x, y: y * (torch.sigmoid(x) * x),
            "quotient": lambda x, y: y * (x / (1 + torch.exp(-x))),
            "module": lambda x, y: torch.nn.SiLU()(x) * y,
            "in a batch of one": lambda x, y: (F.silu(x[None]) * y[None])[0],
            "one and reciprocal": lambda x, y: x * (1 / (1 + torch.exp(-x))) * y,
            "flat": lambda x, y: (F.silu(x.flatten()) * y.flatten()).view(64, 256),
        },
    ),
    "gelu": (
        lambda: (wide(64, 256),),
        {
            "F.gelu": lambda x: F.gelu(x),
            "written out": lambda x: 0.5 * x * (1 + torch.erf(x / math.sqrt(2))),
            "halved after": lambda x: x * (1 + torch.erf(x / 1.4142135623730951)) * 0.5,
            "half of the bracket": lambda x: x * 0.5 * (torch.erf(x * 0.7071067811865476) + 1),
            "distribution": lambda x: x * torch.special.ndtr(x),
            "module": lambda x: torch.nn.GELU()(x),
            "quotient": lambda x: x * (1.0 + torch.erf(x / 2**0.5)) / 2,
        },
    ),
    "gelu_tanh": (
        lambda: (wide(64, 256),),
        {
            "F.gelu": lambda x: F.gelu(x, approximate="tanh"),
            "written out": lambda x: 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * torch.pow(x, 3)))),
            "cube": lambda x: 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
            "swapped": lambda x: (torch.tanh((x**3 * 0.044715 + x) * math.sqrt(2 / math.pi)) + 1) * (x * 0.5),
            "halved": lambda x: (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) * x / 2,
            "module": lambda x: torch.nn.GELU(approximate="tanh")(x),
            "factored": lambda x: 0.5 * x * (1 + torch.tanh(x * 0.7978845608 * (1 + 0.044715 * x * x))),
        },
    ),
    "quick gelu": (
        lambda: (draw(64, 256),),
        {
            "product": lambda x: x * torch.sigmoid(1.702 * x),
            "method": lambda x: x * (x * 1.702).sigmoid(),
            "swapped": lambda x: torch.sigmoid(x * 1.702) * x,
            "F.sigmoid": lambda x: x * F.sigmoid(1.702 * x),
            "torch.mul": lambda x: torch.mul(torch.sigmoid(torch.mul(x, 1.702)), x),
            "split into rows": lambda x: ((y := x.view(8, 8, 256)) * torch.sigmoid(1.702 * y)).reshape(64, 256),
        },
    ),
    "relu after bias": (
        lambda: (draw(64, 256), draw(256)),
        {
            "F.relu": lambda x, b: F.relu(x + b),
            "clamp": lambda x, b: torch.clamp(x + b, min=0),
            "clamp_min": lambda x, b: (b + x).clamp_min(0.0),
            "maximum": lambda x, b: torch.maximum(x + b, torch.zeros(())),
            "zeros_like": lambda x, b: torch.maximum(y := x + b, torch.zeros_like(y)),
            "where": lambda x, b: torch.where((y := x + b) > 0, y, 0.0),
            "hardtanh": lambda x, b: F.hardtanh(x + b, 0.0, float("inf")),
            "module": lambda x, b: torch.nn.ReLU()(x + b[None]),
            "in place": lambda x, b: (x + b).relu_(),
            "masked": lambda x, b: (y := x + b).masked_fill(y < 0, 0.0),
        },
    ),
    "squared relu": (
        lambda: (draw(64, 256),),
        {
            "square": lambda x: torch.square(F.relu(x)),
            "power": lambda x: F.relu(x) ** 2,
            "pow": lambda x: torch.relu(x).pow(2.0),
            "product": lambda x: (y := x.relu()) * y,
            "clamp": lambda x: x.clamp(min=0).square(),
            "torch.mul": lambda x: torch.mul(F.relu(x), F.relu(x)),
        },
    ),
    "relu6": (
        lambda: (wide(64, 256),),
        {
            "F.relu6": lambda x: F.relu6(x),
            "clamp": lambda x: x.clamp(0, 6),
            "hardtanh": lambda x: F.hardtanh(x, 0.0, 6.0),
            "relu and minimum": lambda x: torch.minimum(F.relu(x), torch.tensor(6.0)),
            "clamp_max": lambda x: x.clamp_min(0).clamp_max(6),
            "relu and clamp": lambda x: torch.relu(x).clamp(max=6.0),
            "module": lambda x: torch.nn.ReLU6(inplace=False)(x),
        },
    ),
    "hardswish": (
        lambda: (wide(64, 256),),
        {
            "F.hardswish": lambda x: F.hardswish(x),
            "relu6": lambda x: x * F.relu6(x + 3) / 6,
            "clamp": lambda x: x * (x + 3).clamp(0, 6) / 6,
            "hardtanh": lambda x: x * F.hardtanh(x + 3, 0.0, 6.0) / 6.0,
            "swapped": lambda x: torch.clamp(3 + x, min=0, max=6) * x / 6,
            "module": lambda x: torch.nn.Hardswish()(x),
        },
    ),
    "leaky relu": (
        lambda: (wide(64, 256),),
        {
            "F.leaky_relu": lambda x: F.leaky_relu(x, 0.125),
            "where": lambda x: torch.where(x > 0, x, x * 0.125),
            "where negative": lambda x: torch.where(x <= 0, 0.125 * x, x),
            "maximum": lambda x: torch.maximum(x, 0.125 * x),
            "module": lambda x: torch.nn.LeakyReLU(0.125)(x),
            "in place": lambda x: F.leaky_relu_(x.clone(), 0.125),
        },
    ),
    "soft cap": (
        lambda: (wide(64, 256),),
        {
            "operators": lambda x: 50.0 * torch.tanh(x / 50.0),
            "methods": lambda x: x.div(50.0).tanh().mul(50.0),
            "functions": lambda x: torch.mul(torch.tanh(torch.div(x, 50.0)), 50.0),
            "F.tanh": lambda x: F.tanh(x / 50) * 50,
            "a batch of one": lambda x: (torch.tanh(x[None] / 50.0) * 50.0).squeeze(0),
            "true divide": lambda x: torch.tanh(torch.true_divide(x, 50.0)) * 50.0,
            "in place": lambda x: (x / 50.0).tanh_().mul_(50.0),
        },
    ),
    "sigmoid gate": (
        lambda: (wide(64, 256), wide(64, 256)),
        {
            "product": lambda x, y: x * torch.sigmoid(y),
            "method": lambda x, y: y.sigmoid() * x,
            "expit": lambda x, y: x * torch.special.expit(y),
            "written out": lambda x, y: x * (1 / (1 + torch.exp(-y))),
            "quotient": lambda x, y: x / (1 + torch.exp(-y)),
            "reciprocal": lambda x, y: x * torch.reciprocal(1 + (-y).exp()),
            "module": lambda x, y: torch.nn.Sigmoid()(y).mul(x),
            "glu": lambda x, y: F.glu(torch.cat((x, y), -1), -1),
        },
    ),
    "gated linear unit": (
        lambda: (draw(64, 512),),
        {
            "F.glu": lambda x: F.glu(x, -1),
            "chunk": lambda x: (c := x.chunk(2, -1))[0] * torch.sigmoid(c[1]),
            "split": lambda x: (c := x.split(256, dim=-1))[0] * c[1].sigmoid(),
            "slices": lambda x: x[:, :256] * torch.sigmoid(x[:, 256:]),
            "narrow": lambda x: torch.sigmoid(x.narrow(1, 256, 256)) * x.narrow(1, 0, 256),
            "unflatten": lambda x: (c := x.unflatten(-1, (2, 256)))[:, 0] * torch.sigmoid(c[:, 1]),
            "tensor_split": lambda x: (c := torch.tensor_split(x, 2, -1))[0] * torch.sigmoid(c[1]),
            "unbind": lambda x: (c := x.view(64, 2, 256).unbind(1))[0] * torch.sigmoid(c[1]),
        },
    ),
    "swiglu of halves": (
        lambda: (draw(64, 512),),
        {
            "chunk": lambda x: F.silu((c := x.chunk(2, -1))[0]) * c[1],
            "split": lambda x: F.silu((c := torch.split(x, 256, -1))[0]) * c[1],
            "slices": lambda x: x[..., 256:] * F.silu(x[..., :256]),
            "halves": lambda x: F.silu(halves(x)[0]) * halves(x)[1],
            "written out": lambda x: (c := x.chunk(2, 1))[0] * torch.sigmoid(c[0]) * c[1],
            "view": lambda x: F.silu((c := x.view(64, 2, 256))[:, 0]) * c[:, 1],
            "narrow": lambda x: F.silu(x.narrow(-1, 0, 256)) * x.narrow(-1, 256, 256),
        },
    ),
    "softmax": (
        lambda: (wide(64, 256),),
        {
            "torch.softmax": lambda x: torch.softmax(x * 0.25, -1),
            "divided": lambda x: F.softmax(x / 4, dim=1),
            "exp / sum": lambda x: (e := torch.exp(x * 0.25 - (x * 0.25).amax(-1, keepdim=True))) / e.sum(-1, keepdim=True),
            "max": lambda x: (e := torch.exp((s := x * 0.25) - s.max(-1, keepdim=True).values)) / e.sum(-1, keepdim=True),
            "log_softmax": lambda x: torch.log_softmax(x * 0.25, -1).exp(),
            "logsumexp": lambda x: torch.exp((s := x * 0.25) - torch.logsumexp(s, -1, keepdim=True)),
            "unsqueezed": lambda x: torch.exp((s := x * 0.25) - torch.logsumexp(s, -1).unsqueeze(-1)),
            "not kept": lambda x: (e := torch.exp((s := x / 4) - s.amax(-1)[:, None])) / e.sum(-1)[:, None],
            "transposed": lambda x: torch.softmax(x.T * 0.25, 0).T,
        },
    ),
    "log_softmax": (
        lambda: (wide(64, 256),),
        {
            "F.log_softmax": lambda x: F.log_softmax(x, -1),
            "logsumexp": lambda x: x - torch.logsumexp(x, -1, keepdim=True),
            "unsqueezed": lambda x: x - x.logsumexp(-1).unsqueeze(1),
            "written out": lambda x: (s := x - x.amax(-1, keepdim=True)) - s.exp().sum(-1, keepdim=True).log(),
            "max": lambda x: (s := x - x.max(-1, keepdim=True)[0]) - torch.log(torch.exp(s).sum(-1, keepdim=True)),
            "module": lambda x: torch.nn.LogSoftmax(dim=1)(x),
            "in a batch of one": lambda x: torch.log_softmax(x[None], -1)[0],
        },
    ),
    "logsumexp": (
        lambda: (wide(64, 256),),
        {
            "torch.logsumexp": lambda x: torch.logsumexp(x, -1) + 1,
            "kept": lambda x: torch.logsumexp(x, -1, keepdim=True).squeeze(-1) + 1,
            "written out": lambda x: (m := x.amax(-1, keepdim=True)).squeeze(-1) + (x - m).exp().sum(-1).log() + 1,
            "shifted": lambda x: (torch.log(shifted_exp(x).sum(-1)) + x.amax(-1)) + 1,
            "max": lambda x: (m := x.max(-1).values) + (x - m[:, None]).exp().sum(-1).log() + 1,
            "special": lambda x: 1 + torch.special.logsumexp(x, dim=1),
            "transposed": lambda x: x.T.logsumexp(0) + 1,
        },
    ),
    "soft cross entropy": (
        lambda: (wide(64, 256), torch.softmax(wide(64, 256) * 2, -1)),
        {
            "sum": lambda x, p: -(p * F.log_softmax(x, -1)).sum(-1),
            "negated inside": lambda x, p: (-p * F.log_softmax(x, -1)).sum(-1),
            "negated logarithm": lambda x, p: (p * -F.log_softmax(x, -1)).sum(-1),
            "F.cross_entropy": lambda x, p: F.cross_entropy(x, p, reduction="none"),
            "torch.sum": lambda x, p: torch.sum(-F.log_softmax(x, dim=1) * p, dim=1),
            "logsumexp": lambda x, p: -(p * (x - torch.logsumexp(x, -1, keepdim=True))).sum(1),
            "kept": lambda x, p: -(p * x.log_softmax(-1)).sum(-1, keepdim=True).squeeze(-1),
        },
    ),
    "entropy": (
        lambda: (wide(64, 256),),
        {
            "sum": lambda x: -(x.softmax(-1) * x.log_softmax(-1)).sum(-1),
            "negated": lambda x: (x.softmax(-1) * -x.log_softmax(-1)).sum(-1),
            "exp": lambda x: -((p := x.log_softmax(-1)).exp() * p).sum(-1),
            "logsumexp": lambda x: -((p := x - x.logsumexp(-1, keepdim=True)) * p.exp()).sum(-1),
            "F.softmax": lambda x: -torch.sum(F.log_softmax(x, dim=-1) * F.softmax(x, dim=-1), dim=-1),
            "kept": lambda x: -(F.softmax(x, 1) * F.log_softmax(x, 1)).sum(1, keepdim=True)[:, 0],
        },
    ),
    "rms norm": (
        lambda: (wide(64, 256), wide(256)),
        {
            "pow": lambda x, w: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w,
            "product": lambda x, w: w * (x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6)),
            "square": lambda x, w: w * (x * torch.rsqrt(x.square().mean(dim=1, keepdim=True) + 1e-6)),
            "sum": lambda x, w: x * torch.rsqrt(x.pow(2).sum(-1, keepdim=True) / 256 + 1e-6) * w,
            "unsqueezed": lambda x, w: x * torch.rsqrt(x.pow(2).mean(-1) + 1e-6).unsqueeze(-1) * w,
            "F.rms_norm": lambda x, w: F.rms_norm(x, (256,), w, 1e-6),
            "expanded": lambda x, w: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6).expand(64, 256) * w,
            "power": lambda x, w: w * (x * (mean_square(x) + 1e-6) ** -0.5),
            "added first": lambda x, w: w * x.mul(torch.rsqrt(1e-6 + mean_square(x))),
        },
    ),
    "rms norm by a quotient": (
        lambda: (wide(64, 256), wide(256)),
        {
            "sqrt": lambda x, w: x / torch.sqrt(mean_square(x) + 1e-6) * w,
            "method": lambda x, w: w * x.div((mean_square(x) + 1e-6).sqrt()),
            "power": lambda x, w: w * (x / (mean_square(x) + 1e-6) ** 0.5),
            "pow": lambda x, w: x / (mean_square(x) + 1e-6).pow(0.5) * w,
            "sum": lambda x, w: x / torch.sqrt((x * x).sum(-1, keepdim=True) / 256 + 1e-6) * w,
            "not kept": lambda x, w: x / torch.sqrt(x.square().mean(-1) + 1e-6)[:, None] * w[None],
            "expand_as": lambda x, w: x / torch.sqrt(mean_square(x) + 1e-6).expand_as(x) * w,
        },
    ),
    "rms norm of bf16": (
        lambda: (draw(64, 256), draw(256)),
        {
            "llama": llama_norm,
            "square": lambda x, w: (h := x.float()).mul(torch.rsqrt(h.square().mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * w,
            "type_as": lambda x, w: (x.float() * torch.rsqrt(mean_square(x.float()) + 1e-6)).type_as(x) * w,
            "product": lambda x, w: w * (x.float() * ((h := x.float()) * h).mean(-1, keepdim=True).add(1e-6).rsqrt()).bfloat16(),
            "functional": lambda x, w: F.rms_norm(x.float(), (256,), eps=1e-6).to(x.dtype) * w,
            "vector of ones": lambda x, w: F.rms_norm(x, (256,), eps=1e-6) * w,
            "sum": lambda x, w: w * ((h := x.float()) * torch.rsqrt(h.pow(2).sum(-1, keepdim=True) / 256 + 1e-6)).to(torch.bfloat16),
        },
    ),
    "l2 norm": (
        lambda: (wide(64, 256),),
        {
            "F.normalize": lambda x: F.normalize(x, dim=-1, eps=1e-12),
            "norm": lambda x: x / x.norm(dim=-1, keepdim=True).clamp_min(1e-12),
            "linalg": lambda x: x / torch.linalg.vector_norm(x, dim=-1, keepdim=True).clamp(min=1e-12),
            "torch.norm": lambda x: x / torch.norm(x, p=2, dim=1, keepdim=True).clamp_min(1e-12).expand_as(x),
            "sqrt": lambda x: x / x.pow(2).sum(-1, keepdim=True).sqrt().clamp(min=1e-12),
            "product": lambda x: x / torch.sqrt((x * x).sum(-1, keepdim=True)).clamp_min(1e-12),
            "not kept": lambda x: x / x.square().sum(1).sqrt().clamp(min=1e-12)[:, None],
        },
    ),
    "layer norm": (
        lambda: (wide(64, 256), wide(256), wide(256) * 0.5),
        {
            "F.layer_norm": lambda x, w, b: F.layer_norm(x, (256,), w, b, 1e-5),
            "written out": lambda x, w, b: (c := centered(x)) * torch.rsqrt(c.pow(2).mean(-1, keepdim=True) + 1e-5) * w + b,
            "var": lambda x, w, b: centered(x) * torch.rsqrt(x.var(-1, unbiased=False, keepdim=True) + 1e-5) * w + b,
            "var_mean": layer_norm_of_moments,
            "bias first": lambda x, w, b: b + w * (centered(x) * torch.rsqrt(torch.var(x, -1, correction=0, keepdim=True) + 1e-5)),
            "affine after": lambda x, w, b: F.layer_norm(x, (256,), eps=1e-5) * w + b,
            "addcmul": lambda x, w, b: torch.addcmul(b, F.layer_norm(x, (256,), eps=1e-5), w),
            "native": lambda x, w, b: torch.native_layer_norm(x, [256], w, b, 1e-5)[0],
        },
    ),
    "layer norm by a quotient": (
        lambda: (wide(64, 256), wide(256), wide(256) * 0.5),
        {
            "var": lambda x, w, b: w * (centered(x) / torch.sqrt(x.var(-1, keepdim=True, unbiased=False) + 1e-5)) + b,
            "pow": lambda x, w, b: w * ((c := centered(x)) / torch.sqrt(c.pow(2).mean(-1, keepdim=True) + 1e-5)) + b,
            "power": lambda x, w, b: w * (centered(x) / (x.var(-1, keepdim=True, correction=0) + 1e-5) ** 0.5) + b,
            "sum": lambda x, w, b: b + (c := centered(x)) / ((c * c).sum(-1, keepdim=True) / 256 + 1e-5).sqrt() * w,
            "not kept": lambda x, w, b: w * ((x - x.mean(-1)[:, None]) / torch.sqrt(x.var(-1, correction=0) + 1e-5)[:, None]) + b,
            "var_mean": lambda x, w, b: w * ((x - (m := torch.var_mean(x, -1, correction=0, keepdim=True))[1]) / torch.sqrt(m[0] + 1e-5)) + b,
        },
    ),
    "variance": (
        lambda: (wide(64, 256),),
        {
            "torch.var": lambda x: torch.var(x, -1, correction=0, keepdim=True) + 1,
            "written out": lambda x: (x - x.mean(-1, keepdim=True)).pow(2).mean(-1, keepdim=True) + 1,
            "square": lambda x: torch.square(x - x.mean(-1, keepdim=True)).mean(-1, keepdim=True) + 1,
            "product": lambda x: ((c := x - x.mean(-1, keepdim=True)) * c).mean(-1, keepdim=True) + 1,
            "sum": lambda x: (x - x.sum(-1, keepdim=True) / 256).pow(2).sum(-1, keepdim=True) / 256 + 1,
            "not kept": lambda x: (x - x.mean(-1).unsqueeze(1)).pow(2).mean(-1).unsqueeze(1) + 1,
            "var_mean": lambda x: torch.var_mean(x, -1, unbiased=False, keepdim=True)[0] + 1,
        },
    ),
    "deviation": (
        lambda: (wide(64, 256),),
        {
            "torch.std": lambda x: torch.std(x, -1, correction=0) + 1,
            "sqrt of var": lambda x: torch.sqrt(torch.var(x, -1, correction=0)) + 1,
            "power": lambda x: x.var(-1, unbiased=False) ** 0.5 + 1,
            "written out": lambda x: centered(x).pow(2).mean(-1).sqrt() + 1,
            "std_mean": lambda x: torch.std_mean(x, -1, correction=0)[0] + 1,
            "kept": lambda x: x.std(-1, correction=0, keepdim=True).squeeze(-1) + 1,
            "sum": lambda x: ((c := centered(x)) * c).sum(-1).div(256).sqrt() + 1,
        },
    ),
    "mean of rows": (
        lambda: (wide(8, 16, 256),),
        {
            "mean": lambda x: x.mean(1) * 2,
            "sum": lambda x: x.sum(1) / 16 * 2,
            "torch.mean": lambda x: torch.mean(x, dim=1, keepdim=True).squeeze(1) * 2,
            "product": lambda x: x.sum(dim=1) * (1 / 16) * 2,
            "permuted": lambda x: x.transpose(1, 2).mean(-1) * 2,
            "pooled": lambda x: F.adaptive_avg_pool1d(x.transpose(1, 2), 1).squeeze(-1) * 2,
            "flattened": lambda x: x.view(8, 4, 4, 256).mean((1, 2)) * 2,
        },
    ),
    "group norm": (
        lambda: (wide(4, 32, 64), wide(32), wide(32) * 0.5),
        {
            "F.group_norm": lambda x, w, b: F.group_norm(x, 8, w, b, 1e-5),
            "module's": lambda x, w, b: torch.native_group_norm(x, w, b, 4, 32, 64, 8, 1e-5)[0],
            "written out": lambda x, w, b: (
                (c := (g := x.view(4, 8, 256)) - g.mean(-1, keepdim=True)) * torch.rsqrt(c.pow(2).mean(-1, keepdim=True) + 1e-5)
            ).view(4, 32, 64) * w[:, None] + b[:, None],
            "var": lambda x, w, b: (
                ((g := x.reshape(4, 8, -1)) - g.mean(-1, keepdim=True)) * torch.rsqrt(g.var(-1, unbiased=False, keepdim=True) + 1e-5)
            ).reshape(x.shape) * w.view(1, 32, 1) + b.view(1, 32, 1),
            "layer norm": lambda x, w, b: F.layer_norm(x.view(4, 8, 256), (256,)).view(4, 32, 64) * w[None, :, None] + b[None, :, None],
            "flattened": lambda x, w, b: F.layer_norm(x.unflatten(1, (8, 4)).flatten(2), (256,)).view_as(x) * w[:, None] + b[:, None],
        },
    ),
    "batch norm": (
        lambda: (wide(4, 32, 64), wide(32), wide(32).abs() + 0.5, wide(32) * 2, wide(32) * 0.5),
        {
            "F.batch_norm": lambda x, m, v, w, b: F.batch_norm(x, m, v, w, b, eps=1e-5),
            "written out": lambda x, m, v, w, b: (x - m[:, None]) * (torch.rsqrt(v + 1e-5) * w)[:, None] + b[:, None],
            "views": lambda x, m, v, w, b: (x - m.view(1, -1, 1)) * (w.view(1, -1, 1) * (v.view(1, -1, 1) + 1e-5).rsqrt()) + b.view(1, -1, 1),
            "addcmul": lambda x, m, v, w, b: torch.addcmul(b[:, None], x - m[:, None], w[:, None] * torch.rsqrt(v + 1e-5)[:, None]),
            "kwargs": lambda x, m, v, w, b: F.batch_norm(input=x, running_mean=m, running_var=v, weight=w, bias=b, training=False),
            "power": lambda x, m, v, w, b: b[:, None] + (x - m[:, None]) * (w * (v + 1e-5) ** -0.5)[:, None],
        },
    ),
    "residual and norm": (
        lambda: (draw(64, 256), draw(64, 256), draw(256)),
        {
            "sum": lambda x, r, w: (h := x + r, F.rms_norm(h, (256,), w, 1e-6)),
            "swapped": lambda x, r, w: (h := r + x, F.rms_norm(h, (256,), weight=w, eps=1e-6)),
            "torch.add": lambda x, r, w: (h := torch.add(r, x), torch.rms_norm(h, [256], w, 1e-6)),
            "alpha": lambda x, r, w: (h := torch.add(x, r, alpha=1), F.rms_norm(h, (256,), w, 1e-6)),
            "flat": lambda x, r, w: (h := x + r, F.rms_norm(h.view(8, 8, 256), (256,), w, 1e-6).view(64, 256)),
            "batch": lambda x, r, w: (h := (x[None] + r[None])[0], F.rms_norm(h[None], (256,), w, 1e-6)[0]),
            "in place": lambda x, r, w: (h := x.clone().add_(r), F.rms_norm(h, (256,), w, 1e-6)),
        },
    ),
    "scaled residual": (
        lambda: (wide(64, 256), wide(64, 256)),
        {
            "product": lambda x, y: x + 0.5 * torch.tanh(y),
            "quotient": lambda x, y: x + torch.tanh(y) / 2,
            "alpha": lambda x, y: torch.add(x, torch.tanh(y), alpha=0.5),
            "swapped": lambda x, y: torch.tanh(y) * 0.5 + x,
            "subtracted": lambda x, y: x - torch.tanh(y) * -0.5,
            "sub alpha": lambda x, y: torch.sub(x, y.tanh(), alpha=-0.5),
            "negative": lambda x, y: x - (-(0.5 * y.tanh())),
        },
    ),
    "layer scale": (
        lambda: (draw(2, 32, 256), draw(2, 32, 256), draw(256)),
        {
            "product": lambda x, y, g: x + g * y,
            "swapped": lambda x, y, g: y * g + x,
            "addcmul": lambda x, y, g: torch.addcmul(x, y, g),
            "three dimensions": lambda x, y, g: x + y * g[None, None, :],
            "expanded": lambda x, y, g: x + y * g.expand_as(y),
            "view": lambda x, y, g: x + g.view(1, 1, 256).mul(y),
            "two dimensions": lambda x, y, g: (x.view(64, 256) + g * y.view(64, 256)).view_as(x),
        },
    ),
    "modulation": (
        lambda: (wide(4, 16, 256), wide(4, 256), wide(4, 256) * 0.5),
        {
            "unsqueeze": lambda x, s, t: x * (1 + s.unsqueeze(1)) + t.unsqueeze(1),
            "index": lambda x, s, t: x * (s[:, None] + 1) + t[:, None],
            "one first": lambda x, s, t: t[:, None, :] + (1 + s)[:, None, :] * x,
            "addcmul": lambda x, s, t: torch.addcmul(t[:, None], x, 1 + s[:, None]),
            "view": lambda x, s, t: x * (1 + s.view(4, 1, 256)) + t.view(4, 1, 256),
            "expanded": lambda x, s, t: x * (1 + s[:, None].expand(-1, 16, -1)) + t[:, None].expand_as(x),
        },
    ),
    "squared distance": (
        lambda: (wide(64, 256), wide(64, 256)),
        {
            "power": lambda x, y: ((x - y) ** 2).mean(-1),
            "square": lambda x, y: torch.square(x - y).mean(1),
            "product": lambda x, y: ((d := x - y) * d).sum(-1) / 256,
            "F.mse_loss": lambda x, y: F.mse_loss(x, y, reduction="none").mean(-1),
            "negative": lambda x, y: (x + (-y)).pow(2).mean(-1),
            "kept": lambda x, y: (x - y).square().mean(-1, keepdim=True).squeeze(-1),
            "alpha": lambda x, y: torch.add(x, y, alpha=-1).pow(2).mean(-1),
        },
    ),
    "absolute error": (
        lambda: (wide(64, 256), wide(64, 256)),
        {
            "abs": lambda x, y: torch.abs(x - y).mean(-1),
            "method": lambda x, y: (x - y).abs().sum(-1) / 256,
            "F.l1_loss": lambda x, y: F.l1_loss(x, y, reduction="none").mean(-1),
            "swapped": lambda x, y: (y - x).abs().mean(-1),
            "maximum": lambda x, y: torch.maximum(x - y, y - x).mean(-1),
            "negated": lambda x, y: torch.maximum(d := x - y, -d).mean(-1),
            "where": lambda x, y: torch.where((d := x - y) > 0, d, -d).mean(-1),
        },
    ),
    "standardized": (
        lambda: (wide(64, 256),),
        {
            "std": lambda x: centered(x) / (x.std(-1, keepdim=True) + 1e-6),
            "sqrt of var": lambda x: centered(x) / (x.var(-1, keepdim=True).sqrt() + 1e-6),
            "not kept": lambda x: (x - x.mean(-1)[:, None]) / (x.std(-1)[:, None] + 1e-6),
            "std_mean": lambda x: (x - (m := torch.std_mean(x, -1, keepdim=True))[1]) / (m[0] + 1e-6),
            "unbiased": lambda x: (x - torch.mean(x, 1, True)).div(1e-6 + torch.std(x, 1, unbiased=True, keepdim=True)),
            "power": lambda x: centered(x) / (torch.var(x, -1, correction=1, keepdim=True) ** 0.5 + 1e-6),
        },
    ),
    "sum of squares": (
        lambda: (wide(64, 256),),
        {
            "pow": lambda x: x.pow(2).sum(-1) * 0.5,
            "product": lambda x: (x * x).sum(1) / 2,
            "square": lambda x: torch.sum(torch.square(x), dim=-1).mul(0.5),
            "kept": lambda x: x.square().sum(-1, keepdim=True).squeeze(-1) * 0.5,
            "einsum": lambda x: torch.einsum("ij,ij->i", x, x) * 0.5,
            "abs": lambda x: x.abs().pow(2).sum(-1) * 0.5,
            "permuted": lambda x: x.T.square().sum(0) * 0.5,
        },
    ),
}
