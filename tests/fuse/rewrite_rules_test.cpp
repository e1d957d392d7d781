// Each row of the table of rewrites of graphs on 40 random graphs: where its condition holds, the row applies and what it
// makes is proved equal; where the condition is broken, it does not apply, and what it would make is different.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <numbers>
#include <random>
#include <sstream>

#include "graph/builder.hpp"
#include "graph/validate.hpp"
#include "rewrite/rules.hpp"
#include "search/equal.hpp"

namespace zellige::fuse {
namespace {

using graph::Builder;
using graph::DType;
using graph::KernelGraph;
using graph::Shape;
using graph::Tensor;

/// A graph under construction, of random extents: m = a c rows, n = e f columns.
struct Draw {
  explicit Draw(unsigned seed) : b("g") {
    std::mt19937 random(seed);
    for (std::int64_t* extent : {&a, &c, &e, &f}) *extent = 2 + static_cast<std::int64_t>(random() % 4);
    m = a * c, n = e * f;
  }
  Tensor in(const char* name, Shape shape, DType dtype = DType::f32) {
    return b.input(name, std::move(shape), dtype);
  }
  Tensor x() { return in("x", {m, n}); }
  Tensor z() { return in("z", {m, n}); }

  Builder b;
  std::int64_t a = 0, c = 0, e = 0, f = 0, m = 0, n = 0;
};

/// A graph and the operators of what the row's stage makes of it.
struct Form {
  std::function<Tensor(Draw&)> body;
  std::string expected;
};
/// A row, with its condition held and broken. On the inputs of `broken`, what the row makes of `held` is different;
/// else `alike` says why no such graph shows that the condition is needed.
struct Case {
  std::string rule;
  Form held, broken;
  std::string alike{};
};

// Why breaking a condition changes no value.
const std::string cost = "the condition is about cost",
                  shapes = "the operands or the result would have other shapes",
                  rounding = "the condition is about rounding or range, which equality leaves out";

Tensor norm_of(Tensor t) { return sqrt(sum(square(t), 1, true)); }
Tensor turned(Tensor t) { return permute(t, {1, 0}); }
Tensor half(Tensor t, bool second) {
  const std::int64_t n = t.shape().back() / 2;
  return slice(t, 1, second ? n : 0, second ? 2 * n : n);
}
Tensor rotated(Draw& d, bool crossed) {
  const Tensor t = d.in("x", {d.m, 2 * d.f}), cos = d.in("cos", {d.m, d.f}), sin = d.in("sin", {d.m, d.f}),
               a = half(t, false), c = half(t, true);
  const Tensor left = a * cos - c * sin;
  return concat(left, c * cos + a * (crossed ? cos : sin), 1);
}
/// gelu_tanh as it is written with a tanh, with the factor `cubic` of x^3.
Tensor gelu(Tensor t, double cubic) {
  return (tanh((t + t * t * t * cubic) * std::sqrt(2 / std::numbers::pi)) + 1.0) * (t * 0.5);
}
/// Heads of a matmul's columns, in (m, h, 1, d), that are rotated. `heads_last`: the columns of a head lie apart.
Tensor rotated_heads(Draw& d, bool heads_last) {
  const std::int64_t h = d.e, k = 2 * d.f;
  const Tensor t = matmul(d.in("x", {d.m, d.n}), d.in("w", {d.n, h * k}));
  const Tensor seen = heads_last ? permute(reshape(t, {d.m, 1, k, h}), {0, 3, 1, 2})
                                 : permute(reshape(t, {d.m, 1, h, k}), {0, 2, 1, 3});
  return rotary(seen, d.in("cos", {k / 2}), d.in("sin", {k / 2}));
}
/// The same in (m, m, d), with angles by rows or by heads.
Tensor rotated_pairs(Draw& d, bool by_heads) {
  const std::int64_t k = 2 * d.f;
  const Shape as = by_heads ? Shape{1, d.m, d.f} : Shape{d.m, 1, d.f};
  const Tensor t = reshape(matmul(d.in("x", {d.m, d.n}), d.in("w", {d.n, d.m * k})), {d.m, d.m, k});
  return rotary(t, reshape(d.in("cos", {d.m, d.f}), as), reshape(d.in("sin", {d.m, d.f}), as));
}
/// Rows of a custom operator, the sum over whose iterations is stored, whole or without the rows of the last block.
Tensor custom(Draw& d, bool part) {
  const Tensor x = d.in("x", {4 * d.a, 8 * d.n});
  const graph::Slice rows = part ? graph::Slice{0, 0, 4 * d.a - 4} : graph::Slice{};
  return d.b
      .custom({.grid = {d.a}, .block = {32}, .loop = d.e},
              [&](graph::BlockBuilder& t) {
                t.store(accum_red_sum(square(t.load(x, {.x = 0, .loop = 1}))), {.x = 0}, "y", {}, rows);
              })
      .at(0);
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"dead code",
       {[](Draw& d) {
          const Tensor t = d.x();
          exp(t);
          return relu(t);
        },
        "relu"},
       {[](Draw& d) {
          const Tensor t = d.x(), p = relu(t);
          return p + exp(t);
        },
        "relu exp add"}},
      {"memory order",
       {[](Draw& d) {
          return relu(d.b.input("x", {d.a, d.c, d.e, d.f}, DType::f32, {d.c * d.e * d.f, 1, d.f * d.c, d.c}));
        },
        "permute relu permute"},
       {[](Draw& d) {
          return relu(d.in("x", {d.a, d.c, d.e, d.f}));
        },
        "relu"},
       "an order in memory is no value"},
      {"computed twice",
       {[](Draw& d) {
          const Tensor x = d.x(), z = d.z(), t = relu(x);
          return t + square(relu(x)) * z;
        },
        "relu square mul add"},
       {[](Draw& d) {
          const Tensor x = d.x(), z = d.z(), t = relu(x);
          return t + square(relu(z)) * z;
        },
        "relu relu square mul add"}},
      {"identity",
       {[](Draw& d) {
          return relu(reshape(d.x() * 1.0, {d.m, d.n}));
        },
        "relu"},
       {[](Draw& d) { return relu(d.x() * 2.0); }, "mul_scalar relu"}},
      {"permuted reduction",
       {[](Draw& d) {
          const Tensor z = d.in("z", {d.a, d.m, d.a});
          return sum(exp(permute(z, {0, 2, 1})), 2) + d.in("w", {d.a, d.a});
        },
        "exp sum add"},
       {[](Draw& d) {
          const Tensor z = d.in("z", {d.a, d.m, d.a});
          return sum(exp(permute(z, {2, 1, 0})), 1) + d.in("w", {d.a, d.a});
        },
        "permute exp sum add"}},
      {"split reduction",
       {[](Draw& d) {
          return mean(reshape(d.in("x", {d.m, d.e * d.m}), {d.m, d.e, d.m}), {1, 2}) + d.in("w", {d.m});
        },
        "mean add"},
       {[](Draw& d) {
          return mean(reshape(d.in("x", {d.m, d.e * d.m}), {d.m, d.e, d.m}), {0, 1}) + d.in("w", {d.m});
        },
        "reshape mean add"}},
      {"kept dimensions",
       {[](Draw& d) {
          return rsqrt(reshape(mean(square(d.x()), 1), {d.m, 1})) * d.z();
        },
        "square mean rsqrt mul"},
       {[](Draw& d) {
          return reshape(mean(d.x(), 1), {d.a, d.c}) * d.in("z", {d.a, d.c});
        },
        "mean reshape mul"},
       cost},
      {"part of a concatenation",
       {[](Draw& d) {
          const Tensor x = d.x();
          return relu(slice(concat(x, d.in("z", {d.m, d.a}), 1), 1, 0, d.n));
        },
        "relu"},
       {[](Draw& d) {
          const Tensor x = d.x();
          return relu(slice(concat(x, d.in("z", {d.m, d.a}), 1), 1, 1, d.n + 1));
        },
        "concat slice relu"}},
      {"repeated concatenation",
       {[](Draw& d) {
          const Tensor t = d.in("t", {d.m, 1, d.n}), u = d.in("u", {d.m, 1, d.n});
          return concat(t, t, 1) + u;
        },
        "expand add"},
       {[](Draw& d) {
          const Tensor t = d.in("t", {d.m, 1, d.n}), u = d.in("u", {d.m, 1, d.n});
          return concat(t, u, 1) + u;
        },
        "concat add"}},
      {"broadcast",
       {[](Draw& d) {
          const Tensor t = d.x();
          return t / expand(norm_of(t), {d.m, d.n});
        },
        "square sum sqrt div"},
       {[](Draw& d) {
          const Tensor r = norm_of(d.x());
          return expand(r, {d.m, d.n}) + d.in("s", {1, 1});
        },
        "square sum sqrt expand add"},
       shapes},
      {"moved ones",
       {[](Draw& d) {
          return relu(reshape(permute(reshape(d.x(), {d.m, d.n, 1}), {2, 0, 1}), {d.m, d.n}) + d.z());
        },
        "add relu"},
       {[](Draw& d) {
          return relu(reshape(permute(reshape(d.x(), {d.a, d.c, d.n}), {1, 0, 2}), {d.m, d.n}) + d.z());
        },
        "reshape permute reshape add relu"}},
      {"batch of one",
       {[](Draw& d) {
          return relu(matmul(d.in("z", {1, d.m, d.n}), reshape(d.in("w", {d.n, d.a}), {1, d.n, d.a})));
        },
        "matmul relu"},
       {[](Draw& d) {
          return relu(
              matmul(d.in("z", {d.e, d.m, d.n}), reshape(d.in("w", {d.e * d.n, d.a}), {d.e, d.n, d.a})));
        },
        "reshape matmul relu"},
       shapes},
      {"broadcast batches",
       {[](Draw& d) {
          return matmul(d.in("q", {d.a, d.m, d.n}), expand(d.in("k", {1, d.n, d.e}), {d.a, d.n, d.e}));
        },
        "matmul"},
       {[](Draw& d) {
          return matmul(d.in("q", {1, d.m, d.n}), expand(d.in("k", {1, d.n, d.e}), {d.a, d.n, d.e}));
        },
        "expand matmul"},
       shapes},
      {"there and back",
       {[](Draw& d) {
          return reshape(softmax(reshape(relu(d.x()), {d.a, d.c, d.n}), 2), {d.m, d.n});
        },
        "relu softmax"},
       {[](Draw& d) {
          return reshape(softmax(reshape(relu(d.x()), {d.m, d.e, d.f}), 2), {d.m, d.n});
        },
        "reshape relu softmax reshape"}},
      {"transposed product",
       {[](Draw& d) {
          return turned(matmul(d.in("w", {d.n, d.n}), turned(d.in("x", {d.n, d.n}))));
        },
        "permute matmul"},
       {[](Draw& d) {
          return turned(matmul(d.in("w", {d.n, d.n}), d.in("x", {d.n, d.n})));
        },
        "matmul permute"}},
      {"two views",
       {[](Draw& d) {
          return relu(permute(permute(d.in("z", {d.a, d.a + 1, d.e}), {2, 0, 1}), {2, 0, 1}));
        },
        "permute relu"},
       {[](Draw& d) {
          return relu(reshape(permute(d.in("z", {d.a, d.a + 1, d.e}), {2, 0, 1}), {d.a + 1, d.e, d.a}));
        },
        "permute reshape relu"}},
      {"merged batches",
       {[](Draw& d) {
          const Tensor q = reshape(d.in("q", {d.a, d.c, d.e, d.n}), {d.m, d.e, d.n}),
                       k = reshape(d.in("k", {d.a, d.c, d.n, d.f}), {d.m, d.n, d.f});
          return relu(reshape(matmul(q, k), {d.a, d.c, d.e, d.f}));
        },
        "matmul relu"},
       {[](Draw& d) {
          const Tensor q = reshape(d.in("q", {d.a, d.c, d.e, d.n}), {d.m, d.e, d.n}),
                       k = reshape(d.in("k", {d.m, 1, d.n, d.f}), {d.m, d.n, d.f});
          return relu(reshape(matmul(q, k), {d.a, d.c, d.e, d.f}));
        },
        "reshape reshape matmul reshape relu"},
       shapes},
      {"two masks",
       {[](Draw& d) {
          return mask(mask(d.in("s", {d.m, d.m}), {.tril = 0}, -1), {.triu = -1}, -1);
        },
        "mask"},
       {[](Draw& d) {
          return mask(mask(d.in("s", {d.m, d.m}), {.tril = 0}, -1), {.triu = -1}, -2);
        },
        "mask mask"}},
      {"square",
       {[](Draw& d) {
          const Tensor t = d.x(), s = t * t;
          return s + pow(t + 1.0, 2);
        },
        "square add square add"},
       {[](Draw& d) {
          const Tensor t = d.x(), s = t * exp(t);
          return s + pow(t + 1.0, 3);
        },
        "exp mul add pow add"}},
      {"negative",
       {[](Draw& d) { return d.x() * -1.0; }, "neg"},
       {[](Draw& d) { return d.x() * -2.0; }, "mul_scalar"}},
      {"negative factor",
       {[](Draw& d) {
          const Tensor z = d.z(), t = -d.x();
          return z + t * d.in("w", {d.m, d.n});
        },
        "mul sub"},
       {[](Draw& d) {
          const Tensor z = d.z(), t = abs(d.x());
          return z + t * d.in("w", {d.m, d.n});
        },
        "abs mul add"}},
      {"difference",
       {[](Draw& d) {
          const Tensor t = -d.x();
          return t + d.z();
        },
        "sub"},
       {[](Draw& d) {
          const Tensor t = relu(-d.x());
          return t + d.z();
        },
        "neg relu add"}},
      {"sigmoid",
       {[](Draw& d) {
          const Tensor t = pow(exp(-d.x()) + 1.0, -1.0);
          return t * d.z();
        },
        "sigmoid mul"},
       {[](Draw& d) {
          const Tensor t = pow(exp(-d.x()) + 2.0, -1.0);
          return t * d.z();
        },
        "neg exp add pow mul"}},
      {"relu",
       {[](Draw& d) {
          const Tensor t = d.x(), p = maximum(t, 0.0);
          return p + where(eq(lt(t, 0.0), 0.0), t, 0.0);
        },
        "relu add"},
       {[](Draw& d) {
          const Tensor t = d.x(), p = maximum(t, 1.0);
          return p + where(lt(t, 0.0), t, 0.0);
        },
        "maximum lt where add"}},
      {"gelu of tanh",
       {[](Draw& d) { return gelu(d.x(), 0.044715) * 2.0; }, "gelu_tanh mul_scalar"},
       {[](Draw& d) { return gelu(d.x(), 0.0447) * 2.0; },
        "mul_scalar square mul mul_scalar add mul_scalar tanh add mul mul_scalar"}},
      {"silu",
       {[](Draw& d) {
          const Tensor t = d.x(), z = d.z(), s = sigmoid(t) * t;
          return s + z / (exp(-z) + 1.0);
        },
        "silu silu add"},
       {[](Draw& d) {
          const Tensor t = d.x(), z = d.z(), s = sigmoid(t) * z;
          return s + z / (exp(-t) + 1.0);
        },
        "sigmoid mul neg exp add div add"}},
      {"exact quotient",
       {[](Draw& d) { return d.x() / 8.0; }, "mul_scalar"},
       {[](Draw& d) { return d.x() / 3.0; }, "div"},
       rounding},
      {"two factors",
       {[](Draw& d) { return d.x() * 0.3 * 4.0; }, "mul_scalar"},
       {[](Draw& d) { return d.x() * 0.3 * 0.7; }, "mul_scalar mul_scalar"},
       rounding},
      {"softmax",
       {[](Draw& d) {
          const Tensor t = d.x(), e = exp(t - amax(t, 1, true));
          return e / sum(e, 1, true);
        },
        "softmax"},
       {[](Draw& d) {
          const Tensor t = d.x(), e = exp(t - amax(t, 1, true));
          return e / sum(e, 0, true);
        },
        "amax sub exp sum div"}},
      {"softmax of a logarithm",
       {[](Draw& d) {
          const Tensor t = d.x(), z = d.z(), e = exp(t - logsumexp(t, 1, true));
          return e + exp(log_softmax(z, 0));
        },
        "softmax softmax add"},
       {[](Draw& d) {
          const Tensor t = d.x(), z = d.z(), e = exp(t - logsumexp(z, 1, true));
          return e + log_softmax(z, 0);
        },
        "logsumexp sub exp log_softmax add"}},
      {"softmax beside its logarithm",
       {[](Draw& d) {
          const Tensor t = d.x(), p = softmax(t, 1);
          return p * log_softmax(t, 1);
        },
        "log_softmax exp mul"},
       {[](Draw& d) {
          const Tensor t = d.x(), p = softmax(t, 1);
          return p * log_softmax(t, 0);
        },
        "softmax log_softmax mul"}},
      {"rotary of halves",
       {[](Draw& d) { return rotated(d, false); }, "rotary"},
       {[](Draw& d) { return rotated(d, true); }, "slice slice mul mul sub mul add concat"}},
      {"rotary of rotated",
       {[](Draw& d) {
          const std::int64_t n = 2 * d.f;
          const Tensor t = d.in("x", {d.m, n}), cos = d.in("cos", {d.m, n}), sin = d.in("sin", {n}),
                       s = t * cos;
          return s + concat(-half(t, true), half(t, false), 1) * sin;
        },
        "rotary"},
       {[](Draw& d) {
          const std::int64_t n = 2 * d.f;
          const Tensor t = d.in("x", {d.m, n}), cos = d.in("cos", {d.m, n}), sin = d.in("sin", {n}),
                       s = t * cos;
          return s + concat(half(t, true), half(t, false), 1) * sin;
        },
        "mul slice slice concat mul add"}},
      {"repeated angles",
       {[](Draw& d) {
          const Tensor x = d.in("x", {d.m, 2 * d.f}), cos = d.in("cos", {d.m, d.f}),
                       sin = d.in("sin", {d.m, d.f}), c = concat(cos, cos, 1);
          return rotary(x, c, concat(sin, sin, 1));
        },
        "rotary"},
       {[](Draw& d) {
          const Tensor x = d.in("x", {d.m, 2 * d.f}), cos = d.in("cos", {d.m, d.f}),
                       sin = d.in("sin", {d.m, d.f}), c = concat(cos, sin, 1);
          return rotary(x, c, concat(sin, sin, 1));
        },
        "concat concat rotary"}},
      {"scale after cast",
       {[](Draw& d) {
          return cast(d.in("s", {d.m, d.n}, DType::bf16) * 0.3, DType::f32);
        },
        "cast mul_scalar"},
       {[](Draw& d) {
          return cast(d.in("s", {d.m, d.n}, DType::f16) * 0.3, DType::f32);
        },
        "mul_scalar cast"},
       rounding},
      {"scale after product",
       {[](Draw& d) {
          const Tensor k = d.in("k", {d.e, d.n}, DType::bf16) * 0.3;
          return matmul(d.in("q", {d.m, d.n}, DType::bf16), turned(k));
        },
        "permute matmul mul_scalar"},
       {[](Draw& d) {
          const Tensor k = d.in("k", {d.e, d.n}, DType::f16) * 0.3;
          return matmul(d.in("q", {d.m, d.n}, DType::f16), turned(k));
        },
        "permute mul_scalar matmul"},
       rounding},
      {"batches apart",
       {[](Draw& d) {
          const Tensor k = expand(d.in("k", {d.a, 1, d.n, d.f}), {d.a, d.c, d.n, d.f});
          return matmul(d.in("q", {d.m, d.e, d.n}), reshape(k, {d.m, d.n, d.f}));
        },
        "reshape matmul reshape"},
       {[](Draw& d) {
          const Tensor k = expand(d.in("k", {d.a, d.n, 1, d.f}), {d.a, d.n, d.c, d.f});
          return matmul(d.in("q", {d.a, d.e, d.n * d.c}), reshape(k, {d.a, d.n * d.c, d.f}));
        },
        "expand reshape matmul"},
       shapes},
      {"whole weight",
       {[](Draw& d) {
          const Tensor t = d.x(), w = d.in("w", {d.a + d.c, d.n});
          return sum(matmul(t, turned(slice(w, 0, 0, d.a))), 1) +
                 sum(matmul(t, turned(slice(w, 0, d.a, d.a + d.c))), 1);
        },
        "permute matmul slice sum slice sum add"},
       {[](Draw& d) {
          const Tensor t = d.x(), w = d.in("w", {d.a + d.c, d.n});
          return sum(matmul(t, turned(slice(w, 0, 0, d.a))), 1) +
                 sum(matmul(t, turned(slice(w, 0, d.a, d.a + d.c - 1))), 1);
        },
        "slice permute matmul sum slice permute matmul sum add"},
       cost},
      {"bias in parts",
       {[](Draw& d) {
          const Tensor y = matmul(d.x(), d.in("w", {d.n, 2 * d.c})), b = d.in("b", {2 * d.c}),
                       u = slice(b, 0, 0, d.c), v = slice(b, 0, d.c, 2 * d.c);
          const Tensor s = slice(y, 1, 0, d.c) + u;
          return s * (slice(y, 1, d.c, 2 * d.c) + v);
        },
        "matmul add slice slice mul"},
       {[](Draw& d) {
          const Tensor y = matmul(d.x(), d.in("w", {d.n, 2 * d.c})), b = d.in("b", {2 * d.c}),
                       u = slice(b, 0, 0, d.c), v = slice(b, 0, d.c, 2 * d.c);
          const Tensor s = slice(y, 1, 0, d.c) + v;
          return s * (slice(y, 1, d.c, 2 * d.c) + u);
        },
        "matmul slice slice slice add slice add mul"}},
      {"slice before view",
       {[](Draw& d) {
          const Tensor t = d.in("x", {d.m, d.e * d.e}) + 1.0;
          return relu(reshape(slice(reshape(t, {d.m, d.e, d.e}), 1, 1, d.e), {d.m, d.e * (d.e - 1)}));
        },
        "add slice relu"},
       {[](Draw& d) {
          const Tensor t = d.in("x", {d.m, d.e * d.e}) + 1.0;
          return relu(reshape(slice(reshape(t, {d.m, d.e, d.e}), 2, 1, d.e), {d.m, d.e * (d.e - 1)}));
        },
        "reshape add slice reshape relu"}},
      {"slice after view",
       {[](Draw& d) {
          return relu(reshape(slice(matmul(d.x(), d.in("w", {d.n, (d.e + 1) * d.f})), 1, d.f, d.f + d.n),
                              {d.m, d.e, d.f}));
        },
        "matmul reshape slice relu"},
       {[](Draw& d) {
          return relu(
              reshape(slice(matmul(d.x(), d.in("w", {d.n, (d.e + 1) * d.f})), 1, d.f - 1, d.f - 1 + d.n),
                      {d.m, d.e, d.f}));
        },
        "matmul slice reshape relu"}},
      {"leading ones",
       {[](Draw& d) {
          const Tensor t = softmax(reshape(d.x(), {1, d.m, d.n}), 2);
          return t + d.in("z", {1, d.m, d.n});
        },
        "softmax reshape add"},
       {[](Draw& d) {
          const Tensor t = softmax(reshape(d.x(), {1, d.m, d.n}), 0);
          return t + d.in("z", {1, d.m, d.n});
        },
        "reshape softmax add"}},
      {"bias before view",
       {[](Draw& d) {
          const Tensor t = reshape(exp(d.in("x", {d.m, d.e * d.e})), {d.m, d.e, d.e}),
                       b = reshape(d.in("b", {d.e * d.e}), {d.e, d.e});
          return relu(t + b);
        },
        "exp add reshape relu"},
       {[](Draw& d) {
          const Tensor t = reshape(exp(d.in("x", {d.m, d.e * d.e})), {d.m, d.e, d.e}),
                       b = reshape(d.in("b", {d.e * d.e}), {d.e, d.e});
          return relu(t + permute(b, {1, 0}));
        },
        "reshape exp reshape permute add relu"}},
      {"reshape after",
       {[](Draw& d) {
          const Tensor t = reshape(relu(d.in("z", {d.m, d.e, d.f}) + 1.0), {d.m, d.n});
          return t * d.in("w", {d.n});
        },
        "add relu reshape mul reshape"},
       {[](Draw& d) {
          const Tensor t = reshape(relu(d.in("z", {d.m, d.e, d.f}) + 1.0), {d.m, d.n});
          return t * d.x();
        },
        "add relu reshape mul"},
       cost},
      {"view of an input",
       {[](Draw& d) {
          const Tensor v = d.in("v", {d.m}), w = d.in("w", {d.m}), t = reshape(relu(d.x()), {d.m, d.e, d.f});
          return t * reshape(exp(v) * w, {d.m, 1, 1});
        },
        "reshape relu reshape exp reshape mul mul"},
       {[](Draw& d) {
          const Tensor t = relu(d.x() + d.in("z", {d.n}));
          return square(reshape(t, {d.m, d.e, d.f}));
        },
        "add relu reshape square"},
       cost},
      {"copied view",
       {[](Draw& d) { return slice(d.x(), 0, 0, 1); }, "slice mul_scalar"},
       {[](Draw& d) {
          return permute(relu(d.x()), {1, 0});
        },
        "relu permute"},
       cost},
      {"heads first",
       {[](Draw& d) { return rotated_heads(d, false); }, "matmul reshape rotary reshape"},
       {[](Draw& d) { return rotated_heads(d, true); }, "matmul reshape permute rotary"}},
      {"softmax with sinks",
       {[](Draw& d) {
          const Tensor s = d.x();
          return slice(softmax(concat(s, d.in("z", {d.m, d.a}), 1), 1), 1, 0, d.n);
        },
        "amax maximum sub exp sum sub exp sum add div"},
       {[](Draw& d) {
          const Tensor s = d.x();
          return slice(softmax(concat(s, d.in("z", {d.m, d.a}), 1), 1), 1, 1, d.n + 1);
        },
        "concat softmax slice"}},
      {"pairs apart",
       {[](Draw& d) { return rotated_pairs(d, false); },
        "reshape permute matmul reshape reshape permute reshape reshape rotary_interleaved permute reshape"},
       {[](Draw& d) { return rotated_pairs(d, true); }, "matmul reshape reshape reshape rotary"}},
      {"custom operators apart",
       {[](Draw& d) { return custom(d, false); }, "square reduction"},
       {[](Draw& d) { return custom(d, true); }, "custom"},
       shapes},
  };
  return all;
}

/// The stages of which rules are rows, in the order in which they run.
constexpr Stage stages[] = {Stage::custom, Stage::given, Stage::normal,
                            Stage::copied, Stage::heads, Stage::priced};

struct Row {
  Stage stage{};
  const Rule* rule = nullptr;
};
std::vector<Row> rows() {
  std::vector<Row> all;
  for (const Stage stage : stages)
    for (const Rule& rule : rules(stage)) all.push_back({stage, &rule});
  return all;
}

KernelGraph built(const Form& form, unsigned seed) {
  Draw d(seed);
  d.b.output(form.body(d), "y");
  return d.b.build();
}

/// What a stage makes of a graph, and how often the row applied.
struct Rewritten {
  KernelGraph graph;
  int times = 0;
};
/// As rewritten(), and proves each application of the row.
Rewritten by_hand(const KernelGraph& g, const Row& row) {
  Rewritten r{g};
  const std::span<const Rule> all = rules(row.stage);
  for (std::size_t at = 0; at < all.size();) {
    const std::optional<KernelGraph> made = all[at].apply(r.graph);
    if (made && &all[at] == row.rule) {
      EXPECT_NO_THROW(graph::validate(*made)) << row.rule->name;
      EXPECT_EQ(search::equal(r.graph, *made).answer, search::Answer::equal) << row.rule->name;
      ++r.times;
    }
    at = made ? 0 : at + 1;
    if (made) r.graph = *made;
  }
  return r;
}

std::string kinds(const KernelGraph& g) {
  std::string all;
  for (const graph::KernelOp& op : g.ops) all += (all.empty() ? "" : " ") + std::string(graph::name(op.kind));
  return all;
}

TEST(RewriteRules, EachRowWithItsConditionHeldAndBroken) {
  for (const Row& row : rows()) {
    const auto c = std::ranges::find(cases(), row.rule->name, &Case::rule);
    ASSERT_NE(c, cases().end()) << row.rule->name;
    int different = 0;
    for (unsigned seed = 0; seed < 40; ++seed) {
      const KernelGraph held = built(c->held, seed), broken = built(c->broken, seed);
      const Rewritten made = by_hand(held, row), kept = by_hand(broken, row);
      EXPECT_GT(made.times, 0) << row.rule->name << ", seed " << seed;
      EXPECT_EQ(kept.times, 0) << row.rule->name << ", seed " << seed;
      EXPECT_EQ(kinds(made.graph), c->held.expected) << row.rule->name << ", seed " << seed;
      EXPECT_EQ(kinds(kept.graph), c->broken.expected) << row.rule->name << ", seed " << seed;
      if (c->alike.empty() && different == 0)
        different += search::equal(broken, made.graph).answer == search::Answer::different;
      if (HasFailure()) break;
    }
    EXPECT_EQ(different > 0, c->alike.empty()) << row.rule->name;
  }
  EXPECT_EQ(cases().size(), rows().size());
}

TEST(RewriteRules, AreListedInTheDocs) {
  std::stringstream page;
  page << std::ifstream(ZELLIGE_SOURCE_DIR "/docs/explanation/fusion.md").rdbuf();
  const std::string text = page.str();
  for (const Row& row : rows()) {
    const std::string shown = fmt::format("| {} | {} |", row.rule->name, row.rule->condition);
    EXPECT_NE(text.find(shown), std::string::npos) << shown;
  }
}

}  // namespace
}  // namespace zellige::fuse
