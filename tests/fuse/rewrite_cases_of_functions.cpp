// See rewrite_cases.hpp.
#include <cmath>
#include <numbers>

#include "rewrite_cases.hpp"

namespace zellige::fuse::test {
namespace {

TensorHandle half(TensorHandle t, bool second) {
  const std::int64_t n = t.shape().back() / 2;
  return slice(t, 1, second ? n : 0, second ? 2 * n : n);
}
TensorHandle rotated(Draw& d, bool crossed) {
  const TensorHandle t = d.in("x", {d.m, 2 * d.f}), cos = d.in("cos", {d.m, d.f}), sin = d.in("sin", {d.m, d.f}),
                     a = half(t, false), c = half(t, true);
  const TensorHandle left = a * cos - c * sin;
  return concat(left, c * cos + a * (crossed ? cos : sin), 1);
}
/// One of each two neighbours of the last dimension of a matrix: (m, n, 1), or without the last dimension.
TensorHandle neighbour(Draw& d, TensorHandle t, int which, bool kept) {
  const TensorHandle one = slice(reshape(t, {d.m, t.shape().back() / 2, 2}), 2, which, which + 1);
  return kept ? one : reshape(one, {d.m, t.shape().back() / 2});
}
TensorHandle rotated_neighbours(Draw& d, bool crossed) {
  const TensorHandle t = d.in("x", {d.m, 2 * d.f}), cos = d.in("cos", {d.m, d.f}), sin = d.in("sin", {d.m, d.f}),
                     a = neighbour(d, t, 0, false), c = neighbour(d, t, 1, false);
  const TensorHandle left = reshape(a * cos - c * sin, {d.m, d.f, 1}),
                     right = reshape(c * cos + a * (crossed ? cos : sin), {d.m, d.f, 1});
  return reshape(concat(left, right, 2), {d.m, 2 * d.f});
}
TensorHandle neighbours_by_rotated(Draw& d, bool negative) {
  const std::int64_t n = 2 * d.f;
  const TensorHandle t = d.in("x", {d.m, n}), cos = d.in("cos", {d.m, n}), sin = d.in("sin", {n}),
                     b = neighbour(d, t, 1, true);
  return t * cos + reshape(concat(negative ? -b : b, neighbour(d, t, 0, true), 2), {d.m, n}) * sin;
}
/// gelu_tanh as it is written with a tanh, with the factor `cubic` of x^3.
TensorHandle gelu(TensorHandle t, double cubic) {
  return (tanh((t + t * t * t * cubic) * std::sqrt(2 / std::numbers::pi)) + 1.0) * (t * 0.5);
}
/// Heads of a matmul's columns, in (m, h, 1, d), that are rotated. `heads_last`: the columns of a head are separated.
TensorHandle rotated_heads(Draw& d, bool heads_last) {
  const std::int64_t h = d.e, k = 2 * d.f;
  const TensorHandle t = matmul(d.in("x", {d.m, d.n}), d.in("w", {d.n, h * k}));
  const TensorHandle seen = heads_last ? permute(reshape(t, {d.m, 1, k, h}), {0, 3, 1, 2})
                                       : permute(reshape(t, {d.m, 1, h, k}), {0, 2, 1, 3});
  return rotary(seen, d.in("cos", {k / 2}), d.in("sin", {k / 2}));
}
/// The same in (m, m, d), with angles by rows or by heads.
TensorHandle rotated_pairs(Draw& d, bool by_heads) {
  const std::int64_t k = 2 * d.f;
  const graph::Shape as = by_heads ? graph::Shape{1, d.m, d.f} : graph::Shape{d.m, 1, d.f};
  const TensorHandle t = reshape(matmul(d.in("x", {d.m, d.n}), d.in("w", {d.n, d.m * k})), {d.m, d.m, k});
  return rotary(t, reshape(d.in("cos", {d.m, d.f}), as), reshape(d.in("sin", {d.m, d.f}), as));
}
/// Rows of a custom operator: the sums of squares, or, over the iterations, of the squares of their sums.
TensorHandle custom(Draw& d, bool of_sums) {
  const TensorHandle x = d.in("x", {4 * d.a, 8 * d.n});
  return d.b
      .custom({.grid = {d.a}, .block = {32}, .loop = d.e},
              [&](graph::BlockBuilder& t) {
                const graph::TileHandle part = t.load(x, {.x = 0, .loop = 1});
                t.store(of_sums ? accum(square(reduction(part, 1))) : accum_red_sum(square(part)), {.x = 0}, "y");
              })
      .at(0);
}

/// Rows of a custom operator whose iterations multiply what the earlier ones made.
TensorHandle custom_rescaled(Draw& d) {
  const TensorHandle x = d.in("x", {4 * d.a, 8 * d.n});
  return d.b
      .custom({.grid = {d.a}, .block = {32}, .loop = d.e},
              [&](graph::BlockBuilder& t) {
                const graph::TileHandle rows = reduction(t.load(x, {.x = 0, .loop = 1}), 1);
                t.store(accum_rescale(square(rows), rows), {.x = 0}, "y");
              })
      .at(0);
}

}  // namespace

std::vector<Case> cases_of_functions() {
  return {
      {"square",
       {[](Draw& d) {
          const TensorHandle t = d.x(), s = t * t;
          return s + pow(t + 1.0, 2);
        },
        "square add square add"},
       {[](Draw& d) {
          const TensorHandle t = d.x(), s = t * exp(t);
          return s + pow(t + 1.0, 3);
        },
        "exp mul add pow add"}},
      {"negative", {[](Draw& d) { return d.x() * -1.0; }, "neg"}, {[](Draw& d) { return d.x() * -2.0; }, "mul_scalar"}},
      {"negative factor",
       {[](Draw& d) {
          const TensorHandle z = d.z(), t = -d.x();
          return z + t * d.in("w", {d.m, d.n});
        },
        "mul sub"},
       {[](Draw& d) {
          const TensorHandle z = d.z(), t = abs(d.x());
          return z + t * d.in("w", {d.m, d.n});
        },
        "abs mul add"}},
      {"difference",
       {[](Draw& d) {
          const TensorHandle t = -d.x();
          return t + d.z();
        },
        "sub"},
       {[](Draw& d) {
          const TensorHandle t = relu(-d.x());
          return t + d.z();
        },
        "neg relu add"}},
      {"sigmoid",
       {[](Draw& d) {
          const TensorHandle t = pow(exp(-d.x()) + 1.0, -1.0);
          return t * d.z();
        },
        "sigmoid mul"},
       {[](Draw& d) {
          const TensorHandle t = pow(exp(-d.x()) + 2.0, -1.0);
          return t * d.z();
        },
        "neg exp add pow mul"}},
      {"relu",
       {[](Draw& d) {
          const TensorHandle t = d.x(), p = maximum(t, 0.0);
          return p + where(eq(lt(t, 0.0), 0.0), t, 0.0);
        },
        "relu add"},
       {[](Draw& d) {
          const TensorHandle t = d.x(), p = maximum(t, 1.0);
          return p + where(lt(t, 0.0), t, 0.0);
        },
        "maximum lt where add"}},
      {"gelu of tanh",
       {[](Draw& d) { return gelu(d.x(), 0.044715) * 2.0; }, "gelu_tanh mul_scalar"},
       {[](Draw& d) { return gelu(d.x(), 0.0447) * 2.0; },
        "mul_scalar square mul mul_scalar add mul_scalar tanh add mul mul_scalar"}},
      {"silu",
       {[](Draw& d) {
          const TensorHandle t = d.x(), z = d.z(), s = sigmoid(t) * t;
          return s + z / (exp(-z) + 1.0);
        },
        "silu silu add"},
       {[](Draw& d) {
          const TensorHandle t = d.x(), z = d.z(), s = sigmoid(t) * z;
          return s + z / (exp(-t) + 1.0);
        },
        "sigmoid mul neg exp add div add"}},
      {"exact quotient",
       {[](Draw& d) { return d.x() / 8.0; }, "mul_scalar"},
       {[](Draw& d) { return d.x() / 3.0; }, "div"},
       rounding},
      {"two factors",
       {[](Draw& d) { return d.x() * 1.3 * 4.0; }, "mul_scalar"},
       {[](Draw& d) { return d.x() * 0.3 * 0.7; }, "mul_scalar mul_scalar"},
       rounding},
      {"softmax",
       {[](Draw& d) {
          const TensorHandle t = d.x(), e = exp(t - amax(t, 1, true));
          return e / sum(e, 1, true);
        },
        "softmax"},
       {[](Draw& d) {
          const TensorHandle t = d.x(), e = exp(t - amax(t, 1, true));
          return e / sum(e, 0, true);
        },
        "amax sub exp sum div"}},
      {"softmax of a logarithm",
       {[](Draw& d) {
          const TensorHandle t = d.x(), z = d.z(), e = exp(log_softmax(t, 1));
          return e + exp(log_softmax(z, 0));
        },
        "softmax softmax add"},
       {[](Draw& d) {
          const TensorHandle t = d.x(), z = d.z(), l = log_softmax(t, 1), e = exp(l);
          return e + l * z;
        },
        "log_softmax exp mul add"}},
      {"softmax of logsumexp",
       {[](Draw& d) {
          const TensorHandle t = d.x(), e = exp(t - logsumexp(t, 1, true));
          return e * d.z();
        },
        "amax clamp sub exp sum div mul"},
       {[](Draw& d) {
          const TensorHandle t = d.x(), z = d.z(), e = exp(t - logsumexp(z, 1, true));
          return e * z;
        },
        "logsumexp sub exp mul"}},
      {"softmax beside its logarithm",
       {[](Draw& d) {
          const TensorHandle t = d.x(), p = softmax(t, 1);
          return p * log_softmax(t, 1);
        },
        "log_softmax exp mul"},
       {[](Draw& d) {
          const TensorHandle t = d.x(), p = softmax(t, 1);
          return p * log_softmax(t, 0);
        },
        "softmax log_softmax mul"}},
      {"rotary of halves",
       {[](Draw& d) { return rotated(d, false); }, "rotary"},
       {[](Draw& d) { return rotated(d, true); }, "slice slice mul mul sub mul add concat"}},
      {"rotary of rotated",
       {[](Draw& d) {
          const std::int64_t n = 2 * d.f;
          const TensorHandle t = d.in("x", {d.m, n}), cos = d.in("cos", {d.m, n}), sin = d.in("sin", {n}), s = t * cos;
          return s + concat(-half(t, true), half(t, false), 1) * sin;
        },
        "rotary"},
       {[](Draw& d) {
          const std::int64_t n = 2 * d.f;
          const TensorHandle t = d.in("x", {d.m, n}), cos = d.in("cos", {d.m, n}), sin = d.in("sin", {n}), s = t * cos;
          return s + concat(half(t, true), half(t, false), 1) * sin;
        },
        "mul slice slice concat mul add"}},
      {"rotary of neighbours",
       {[](Draw& d) { return rotated_neighbours(d, false); }, "rotary_interleaved reshape"},
       {[](Draw& d) { return rotated_neighbours(d, true); },
        "reshape slice reshape slice reshape mul mul sub reshape mul add reshape concat reshape"}},
      {"rotary of rotated neighbours",
       {[](Draw& d) { return neighbours_by_rotated(d, true); }, "rotary_interleaved"},
       {[](Draw& d) { return neighbours_by_rotated(d, false); }, "reshape slice slice concat reshape mul mul add"}},
      {"repeated angles",
       {[](Draw& d) {
          const TensorHandle x = d.in("x", {d.m, 2 * d.f}), cos = d.in("cos", {d.m, d.f}),
                             sin = d.in("sin", {d.m, d.f}), c = concat(cos, cos, 1);
          return rotary(x, c, concat(sin, sin, 1));
        },
        "rotary"},
       {[](Draw& d) {
          const TensorHandle x = d.in("x", {d.m, 2 * d.f}), cos = d.in("cos", {d.m, d.f}),
                             sin = d.in("sin", {d.m, d.f}), c = concat(cos, sin, 1);
          return rotary(x, c, concat(sin, sin, 1));
        },
        "concat concat rotary"}},
      {"scale after cast",
       {[](Draw& d) {
          return cast(d.in("s", {d.m, d.n}, graph::DType::bf16) * 0.3, graph::DType::f32);
        },
        "cast mul_scalar"},
       {[](Draw& d) {
          return cast(d.in("s", {d.m, d.n}, graph::DType::f16) * 0.3, graph::DType::f32);
        },
        "mul_scalar cast"},
       rounding},
      {"scale after product",
       {[](Draw& d) {
          const TensorHandle k = d.in("k", {d.e, d.n}, graph::DType::bf16) * 0.3;
          return matmul(d.in("q", {d.m, d.n}, graph::DType::bf16), transposed(k));
        },
        "permute matmul mul_scalar"},
       {[](Draw& d) {
          const TensorHandle k = d.in("k", {d.e, d.n}, graph::DType::f16) * 0.3;
          return matmul(d.in("q", {d.m, d.n}, graph::DType::f16), transposed(k));
        },
        "permute mul_scalar matmul"},
       rounding},
      {"batches apart",
       {[](Draw& d) {
          const TensorHandle k = expand(d.in("k", {d.a, 1, d.n, d.f}), {d.a, d.c, d.n, d.f});
          return matmul(d.in("q", {d.m, d.e, d.n}), reshape(k, {d.m, d.n, d.f}));
        },
        "reshape matmul reshape"},
       {[](Draw& d) {
          const TensorHandle k =
              expand(reshape(d.in("k", {d.a, 1, d.n, d.f}), {d.a, d.n, 1, d.f}), {d.a, d.n, d.c, d.f});
          return matmul(d.in("q", {d.m, d.e, d.n}), reshape(k, {d.m, d.n, d.f}));
        },
        "reshape expand reshape matmul"}},
      {"whole weight",
       {[](Draw& d) {
          const TensorHandle t = d.x(), w = d.in("w", {d.a + d.c, d.n});
          return sum(matmul(t, transposed(slice(w, 0, 0, d.a))), 1) +
                 sum(matmul(t, transposed(slice(w, 0, d.a, d.a + d.c))), 1);
        },
        "permute matmul slice sum slice sum add"},
       {[](Draw& d) {
          const TensorHandle t = d.x(), w = d.in("w", {d.a + d.c, d.n});
          return sum(matmul(t, transposed(slice(w, 0, 0, d.a))), 1) +
                 sum(matmul(t, transposed(slice(w, 0, d.a, d.a + d.c - 1))), 1);
        },
        "slice permute matmul sum slice permute matmul sum add"}},
      {"bias in parts",
       {[](Draw& d) {
          const TensorHandle y = matmul(d.x(), d.in("w", {d.n, 2 * d.c})), b = d.in("b", {2 * d.c}),
                             u = slice(b, 0, 0, d.c), v = slice(b, 0, d.c, 2 * d.c);
          const TensorHandle s = slice(y, 1, 0, d.c) + u;
          return s * (slice(y, 1, d.c, 2 * d.c) + v);
        },
        "matmul add slice slice mul"},
       {[](Draw& d) {
          const TensorHandle y = matmul(d.x(), d.in("w", {d.n, 2 * d.c})), b = d.in("b", {2 * d.c}),
                             u = slice(b, 0, 0, d.c), v = slice(b, 0, d.c, 2 * d.c);
          const TensorHandle s = slice(y, 1, 0, d.c) + v;
          return s * (slice(y, 1, d.c, 2 * d.c) + u);
        },
        "matmul slice slice slice add slice add mul"}},
      {"slice before view",
       {[](Draw& d) {
          const TensorHandle t = d.in("x", {d.m, d.e * d.e}) + 1.0;
          return relu(reshape(slice(reshape(t, {d.m, d.e, d.e}), 1, 1, d.e), {d.m, d.e * (d.e - 1)}));
        },
        "add slice relu"},
       {[](Draw& d) {
          const TensorHandle t = d.in("x", {d.m, d.e * d.e}) + 1.0;
          return relu(reshape(slice(reshape(t, {d.m, d.e, d.e}), 2, 1, d.e), {d.m, d.e * (d.e - 1)}));
        },
        "reshape add slice reshape relu"}},
      {"slice after view",
       {[](Draw& d) {
          return relu(
              reshape(slice(matmul(d.x(), d.in("w", {d.n, (d.e + 1) * d.f})), 1, d.f, d.f + d.n), {d.m, d.e, d.f}));
        },
        "matmul reshape slice relu"},
       {[](Draw& d) {
          return relu(reshape(slice(matmul(d.x(), d.in("w", {d.n, (d.e + 1) * d.f})), 1, d.f - 1, d.f - 1 + d.n),
                              {d.m, d.e, d.f}));
        },
        "matmul slice reshape relu"}},
      {"leading ones",
       {[](Draw& d) {
          const TensorHandle t = softmax(reshape(d.x(), {1, d.m, d.n}), 2);
          return t + d.in("z", {1, d.m, d.n});
        },
        "softmax reshape add"},
       {[](Draw& d) {
          const TensorHandle t = softmax(reshape(d.x(), {1, d.m, d.n}), 0);
          return t + d.in("z", {1, d.m, d.n});
        },
        "reshape softmax add"}},
      {"bias before view",
       {[](Draw& d) {
          const TensorHandle t = reshape(exp(d.in("x", {d.m, d.e * d.e})), {d.m, d.e, d.e}),
                             b = reshape(d.in("b", {d.e * d.e}), {d.e, d.e});
          return relu(t + b);
        },
        "exp add reshape relu"},
       {[](Draw& d) {
          const TensorHandle t = reshape(exp(d.in("x", {d.m, d.e * d.e})), {d.m, d.e, d.e}),
                             b = reshape(d.in("b", {d.e * d.e}), {d.e, d.e});
          return relu(t + permute(b, {1, 0}));
        },
        "reshape exp reshape permute add relu"}},
      {"reshape after",
       {[](Draw& d) {
          const TensorHandle t = reshape(relu(d.in("z", {d.m, d.e, d.f}) + 1.0), {d.m, d.n});
          return t * d.in("w", {d.n});
        },
        "add relu reshape mul reshape"},
       {[](Draw& d) {
          const TensorHandle t = reshape(relu(d.in("z", {d.m, d.e, d.f}) + 1.0), {d.m, d.n});
          return t * d.x();
        },
        "add relu reshape mul"},
       cost},
      {"view of an input",
       {[](Draw& d) {
          const TensorHandle v = d.in("v", {d.m}), w = d.in("w", {d.m}), t = reshape(relu(d.x()), {d.m, d.e, d.f});
          return t * reshape(exp(v) * w, {d.m, 1, 1});
        },
        "reshape relu reshape exp reshape mul mul"},
       {[](Draw& d) {
          const TensorHandle t = relu(d.x() + d.in("z", {d.n}));
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
          const TensorHandle s = d.x();
          return slice(softmax(concat(s, d.in("z", {d.m, d.a}), 1), 1), 1, 0, d.n);
        },
        "amax maximum sub exp sum relu sub add sub exp sum add div"},
       {[](Draw& d) {
          const TensorHandle s = d.x();
          return slice(softmax(concat(s, d.in("z", {d.m, d.a}), 1), 1), 1, 1, d.n + 1);
        },
        "concat softmax slice"}},
      {"pairs apart",
       {[](Draw& d) { return rotated_pairs(d, false); },
        "reshape permute matmul reshape reshape permute reshape reshape rotary_interleaved permute reshape"},
       {[](Draw& d) { return rotated_pairs(d, true); }, "matmul reshape reshape reshape rotary"}},
      {"custom operators apart",
       {[](Draw& d) { return custom(d, false); }, "square reduction"},
       {[](Draw& d) { return custom(d, true); }, "custom"}},
      {"tiles in a batch",
       {[](Draw& d) { return custom(d, true); }, "reshape permute reduction square reduction reshape mul_scalar"},
       {[](Draw& d) { return custom_rescaled(d); }, "custom"}},
  };
}

}  // namespace zellige::fuse::test
