// Each rule of normalize(), with its condition held and broken: the operators of the result, which is proved equal to
// what was given.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "graph/builder.hpp"
#include "graph/validate.hpp"
#include "rewrite/normalize.hpp"
#include "search/equal.hpp"

namespace zellige::fuse {
namespace {

using graph::Builder;
using graph::DType;
using graph::KernelGraph;
using graph::Shape;
using graph::Tensor;

/// A graph and the operators of its normal form.
struct Form {
  std::function<Tensor(Builder&)> body;
  std::string expected;
};
struct Case {
  std::string rule;
  Form held, broken;
};

Tensor in(Builder& b, const char* name, Shape shape, DType dtype = DType::f32) {
  return b.input(name, std::move(shape), dtype);
}
Tensor x(Builder& b) { return in(b, "x", {4, 6}); }
Tensor norm_of(Tensor t) { return sqrt(sum(square(t), 1, true)); }
Tensor turned(Tensor t) { return permute(t, {1, 0}); }
Tensor half(Tensor t, bool second) { return slice(t, 1, second ? 3 : 0, second ? 6 : 3); }
Tensor rotated(Builder& b, Tensor t, bool crossed) {
  const Tensor cos = in(b, "cos", {4, 3}), sin = in(b, "sin", {4, 3}), a = half(t, false), c = half(t, true);
  return concat(a * cos - c * sin, c * cos + a * (crossed ? cos : sin), 1);
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"identity",
       {[](Builder& b) {
          return relu(reshape(x(b) * 1.0, {4, 6}));
        },
        "relu"},
       {[](Builder& b) {
          return relu(expand(in(b, "v", {1, 6}), {4, 6}));
        },
        "expand relu"}},
      {"kept dimensions",
       {[](Builder& b) {
          return rsqrt(reshape(mean(square(x(b)), 1), {4, 1})) * in(b, "z", {4, 6});
        },
        "square mean rsqrt mul"},
       {[](Builder& b) {
          return reshape(mean(x(b), 1), {2, 2}) * in(b, "z", {2, 2});
        },
        "mean reshape mul"}},
      {"permuted reduction",
       {[](Builder& b) {
          return sum(exp(permute(in(b, "z", {2, 4, 6}), {0, 2, 1})), 2) + in(b, "w", {2, 6});
        },
        "exp sum add"},
       {[](Builder& b) {
          return sum(permute(in(b, "z", {2, 4, 6}), {2, 1, 0}), 1) + in(b, "w", {6, 2});
        },
        "permute sum add"}},
      {"split reduction",
       {[](Builder& b) {
          return mean(reshape(x(b), {4, 2, 3}), {1, 2}) + in(b, "w", {4});
        },
        "mean add"},
       {[](Builder& b) {
          return mean(reshape(x(b), {4, 2, 3}), {0, 1}) + in(b, "w", {3});
        },
        "reshape mean add"}},
      {"part of a concatenation",
       {[](Builder& b) {
          return relu(slice(concat(x(b), in(b, "z", {4, 2}), 1), 1, 0, 6));
        },
        "relu"},
       {[](Builder& b) {
          return relu(slice(concat(x(b), in(b, "z", {4, 2}), 1), 1, 1, 7));
        },
        "concat slice relu"}},
      {"repeated concatenation",
       {[](Builder& b) {
          const Tensor t = in(b, "z", {4, 1, 3});
          return reshape(concat(t, t, 1), {4, 6});
        },
        "expand reshape"},
       {[](Builder& b) {
          const Tensor t = in(b, "z", {4, 2, 3});
          return reshape(concat(t, t, 1), {4, 12});
        },
        "concat reshape"}},
      {"moved ones",
       {[](Builder& b) {
          return relu(reshape(permute(reshape(x(b), {4, 6, 1}), {2, 0, 1}), {4, 6}) + in(b, "z", {4, 6}));
        },
        "add relu"},
       {[](Builder& b) {
          return relu(permute(reshape(x(b), {2, 2, 6}), {2, 0, 1}) + in(b, "z", {6, 2, 2}));
        },
        "reshape permute add relu"}},
      {"batch of one",
       {[](Builder& b) {
          return relu(matmul(in(b, "z", {1, 4, 6}), reshape(in(b, "w", {6, 5}), {1, 6, 5})));
        },
        "matmul relu"},
       {[](Builder& b) {
          return relu(matmul(in(b, "z", {2, 4, 6}), reshape(in(b, "w", {12, 5}), {2, 6, 5})));
        },
        "reshape matmul relu"}},
      {"merged batches",
       {[](Builder& b) {
          const Tensor q = reshape(in(b, "q", {2, 3, 4, 6}), {6, 4, 6}),
                       k = reshape(in(b, "k", {2, 3, 6, 5}), {6, 6, 5});
          return relu(reshape(matmul(q, k), {2, 3, 4, 5}));
        },
        "matmul relu"},
       {[](Builder& b) {
          const Tensor q = reshape(in(b, "q", {2, 3, 4, 6}), {6, 4, 6}),
                       k = reshape(in(b, "k", {3, 2, 6, 5}), {6, 6, 5});
          return relu(reshape(matmul(q, k), {2, 3, 4, 5}));
        },
        "reshape reshape matmul reshape relu"}},
      {"sigmoid",
       {[](Builder& b) {
          return pow(exp(-x(b)) + 1.0, -1.0) * in(b, "z", {4, 6});
        },
        "sigmoid mul"},
       {[](Builder& b) {
          return pow(exp(-x(b)) + 2.0, -1.0) * in(b, "z", {4, 6});
        },
        "neg exp add pow mul"}},
      {"relu",
       {[](Builder& b) {
          const Tensor t = x(b);
          return maximum(t, 0.0) + where(eq(lt(t, 0.0), 0.0), t, 0.0);
        },
        "relu add"},
       {[](Builder& b) {
          const Tensor t = where(lt(x(b), 0.0), in(b, "z", {4, 6}), 0.0);
          return t + maximum(in(b, "w", {4, 6}), 1.0);
        },
        "lt where maximum add"}},
      {"gelu of tanh",
       {[](Builder& b) {
          const Tensor t = x(b);
          const double c = std::sqrt(2 / std::numbers::pi);
          return (tanh((t + t * t * t * 0.044715) * c) + 1.0) * (t * 0.5) -
                 (tanh(t * c * (t * t * 0.044715 + 1.0)) + 1.0) * t * 0.5;
        },
        "gelu_tanh sub"},
       {[](Builder& b) {
          const Tensor t = x(b);
          return (tanh((t + t * t * t * 0.0447) * std::sqrt(2 / std::numbers::pi)) + 1.0) * (t * 0.5);
        },
        "mul_scalar square mul mul_scalar add mul_scalar tanh add mul"}},
      {"negative factor",
       {[](Builder& b) {
          return in(b, "z", {4, 6}) + -x(b) * in(b, "w", {4, 6});
        },
        "mul sub"},
       {[](Builder& b) {
          const Tensor t = -x(b);
          return in(b, "z", {4, 6}) + t * exp(t);
        },
        "neg exp mul add"}},
      {"softmax beside its logarithm",
       {[](Builder& b) {
          const Tensor t = x(b);
          return softmax(t, 1) * log_softmax(t, 1);
        },
        "log_softmax exp mul"},
       {[](Builder& b) {
          const Tensor t = x(b), p = softmax(t, 1);
          return p * log_softmax(t, 0);
        },
        "softmax log_softmax mul"}},
      {"bias in parts",
       {[](Builder& b) {
          const Tensor y = matmul(x(b), in(b, "w", {6, 8})), c = in(b, "b", {8});
          return (slice(y, 1, 0, 4) + slice(c, 0, 0, 4)) * (slice(y, 1, 4, 8) + slice(c, 0, 4, 8));
        },
        "matmul add slice slice mul"},
       {[](Builder& b) {
          const Tensor y = matmul(x(b), in(b, "w", {6, 8})), c = in(b, "b", {8});
          const Tensor first = slice(y, 1, 0, 4), second = slice(y, 1, 4, 8), u = slice(c, 0, 4, 8),
                       v = slice(c, 0, 0, 4);
          return (first + u) * (second + v);
        },
        "matmul slice slice slice slice add add mul"}},
      {"slice before view",
       {[](Builder& b) {
          return relu(reshape(slice(reshape(x(b) + 1.0, {4, 3, 2}), 1, 1, 3), {4, 4}));
        },
        "add slice relu"},
       {[](Builder& b) {
          return relu(reshape(slice(reshape(x(b), {4, 3, 2}), 2, 1, 2), {4, 3}));
        },
        "reshape slice reshape relu"}},
      {"broadcast",
       {[](Builder& b) {
          const Tensor t = x(b);
          return t / expand(norm_of(t), {4, 6});
        },
        "square sum sqrt div"},
       {[](Builder& b) {
          const Tensor n = norm_of(x(b));
          return expand(n, {4, 6}) + expand(n, {4, 6});
        },
        "square sum sqrt expand add"}},
      {"broadcast batches",
       {[](Builder& b) {
          return matmul(in(b, "q", {2, 3, 4}), expand(in(b, "k", {1, 4, 3}), {2, 4, 3}));
        },
        "matmul"},
       {[](Builder& b) {
          return matmul(in(b, "q", {1, 3, 4}), expand(in(b, "k", {1, 4, 3}), {2, 4, 3}));
        },
        "expand matmul"}},
      {"there and back",
       {[](Builder& b) {
          return reshape(softmax(reshape(relu(x(b)), {2, 2, 6}), 2), {4, 6});
        },
        "relu softmax"},
       {[](Builder& b) {
          return reshape(softmax(reshape(relu(x(b)), {4, 2, 3}), 2), {4, 6});
        },
        "reshape relu softmax reshape"}},
      {"transposed product",
       {[](Builder& b) {
          return turned(matmul(in(b, "w", {5, 6}), turned(x(b))));
        },
        "permute matmul"},
       {[](Builder& b) {
          return turned(matmul(in(b, "w", {5, 4}), x(b)));
        },
        "matmul permute"}},
      {"two views",
       {[](Builder& b) {
          return relu(permute(permute(in(b, "z", {2, 3, 4}), {2, 0, 1}), {2, 0, 1}));
        },
        "permute relu"},
       {[](Builder& b) {
          return relu(reshape(permute(in(b, "z", {2, 3, 4}), {2, 0, 1}), {4, 6}));
        },
        "permute reshape relu"}},
      {"two masks",
       {[](Builder& b) {
          return mask(mask(in(b, "s", {6, 6}), {.tril = 0}, -1), {.triu = -2}, -1);
        },
        "mask"},
       {[](Builder& b) {
          return mask(mask(in(b, "s", {6, 6}), {.tril = 0}, -1), {.triu = -2}, -2);
        },
        "mask mask"}},
      {"square",
       {[](Builder& b) {
          const Tensor t = x(b);
          return t * t + pow(t + 1.0, 2);
        },
        "add square square add"},
       {[](Builder& b) { return pow(x(b), 3); }, "pow"}},
      {"negative",
       {[](Builder& b) { return x(b) * -1.0; }, "neg"},
       {[](Builder& b) { return x(b) * -2.0; }, "mul_scalar"}},
      {"difference",
       {[](Builder& b) {
          return -x(b) + in(b, "z", {4, 6});
        },
        "sub"},
       {[](Builder& b) {
          return relu(-x(b)) + in(b, "z", {4, 6});
        },
        "neg relu add"}},
      {"silu",
       {[](Builder& b) {
          const Tensor t = x(b), z = in(b, "z", {4, 6});
          return sigmoid(t) * t + z / (exp(-z) + 1.0);
        },
        "silu silu add"},
       {[](Builder& b) {
          return sigmoid(x(b)) * in(b, "z", {4, 6});
        },
        "sigmoid mul"}},
      {"exact quotient",
       {[](Builder& b) { return x(b) / 8.0; }, "mul_scalar"},
       {[](Builder& b) { return x(b) / 3.0; }, "div"}},
      {"two factors",
       {[](Builder& b) { return x(b) * 0.3 * 4.0; }, "mul_scalar"},
       {[](Builder& b) { return x(b) * 0.3 * 0.7; }, "mul_scalar mul_scalar"}},
      {"softmax",
       {[](Builder& b) {
          const Tensor t = x(b), e = exp(t - amax(t, 1, true));
          return e / sum(e, 1, true);
        },
        "softmax"},
       {[](Builder& b) {
          const Tensor t = x(b), e = exp(t - amax(t, 1, true));
          return e / sum(e, 0, true);
        },
        "amax sub exp sum div"}},
      {"softmax of a logarithm",
       {[](Builder& b) {
          const Tensor t = x(b);
          return exp(t - logsumexp(t, 1, true)) + exp(log_softmax(t, 0));
        },
        "softmax softmax add"},
       {[](Builder& b) {
          return exp(x(b) - logsumexp(in(b, "z", {4, 6}), 1, true));
        },
        "logsumexp sub exp"}},
      {"rotary of halves",
       {[](Builder& b) { return rotated(b, x(b), false); }, "rotary"},
       {[](Builder& b) { return rotated(b, x(b), true); }, "slice slice mul mul add mul sub concat"}},
      {"rotary of rotated",
       {[](Builder& b) {
          const Tensor t = x(b), cos = in(b, "cos", {4, 3}), sin = in(b, "sin", {6});
          return t * concat(cos, cos, 1) + concat(-half(t, true), half(t, false), 1) * sin;
        },
        "concat rotary"},
       {[](Builder& b) {
          const Tensor t = x(b), cos = in(b, "cos", {4, 6}), sin = in(b, "sin", {6});
          return t * cos + concat(half(t, true), half(t, false), 1) * sin;
        },
        "slice slice concat mul mul add"}},
      {"repeated angles",
       {[](Builder& b) {
          const Tensor cos = in(b, "cos", {4, 3}), sin = in(b, "sin", {4, 3});
          return rotary(x(b), concat(cos, cos, 1), concat(sin, sin, 1));
        },
        "rotary"},
       {[](Builder& b) {
          const Tensor cos = in(b, "cos", {4, 3}), sin = in(b, "sin", {4, 3});
          return rotary(x(b), concat(cos, sin, 1), concat(sin, sin, 1));
        },
        "concat concat rotary"}},
      {"scale after cast",
       {[](Builder& b) {
          return cast(in(b, "s", {4, 6}, DType::bf16) * 0.3, DType::f32);
        },
        "cast mul_scalar"},
       {[](Builder& b) {
          return cast(in(b, "s", {4, 6}, DType::f16) * 0.3, DType::f32);
        },
        "mul_scalar cast"}},
      {"scale after product",
       {[](Builder& b) {
          return matmul(in(b, "q", {4, 6}, DType::bf16), turned(in(b, "k", {5, 6}, DType::bf16) * 0.3));
        },
        "permute matmul mul_scalar"},
       {[](Builder& b) {
          return matmul(in(b, "q", {4, 6}, DType::f16), turned(in(b, "k", {5, 6}, DType::f16) * 0.3));
        },
        "permute mul_scalar matmul"}},
      {"batches apart",
       {[](Builder& b) {
          const Tensor k = expand(in(b, "k", {2, 1, 5, 3}), {2, 2, 5, 3});
          return matmul(in(b, "q", {4, 3, 5}), reshape(k, {4, 5, 3}));
        },
        "reshape matmul reshape"},
       {[](Builder& b) {
          const Tensor k = expand(in(b, "k", {2, 5, 1, 3}), {2, 5, 2, 3});
          return matmul(in(b, "q", {2, 3, 10}), reshape(k, {2, 10, 3}));
        },
        "expand reshape matmul"}},
      {"whole weight",
       {[](Builder& b) {
          const Tensor t = x(b), w = in(b, "w", {8, 6});
          return matmul(t, turned(slice(w, 0, 0, 4))) * matmul(t, turned(slice(w, 0, 4, 8)));
        },
        "permute matmul slice slice mul"},
       {[](Builder& b) {
          const Tensor t = x(b), w = in(b, "w", {9, 6});
          return matmul(t, turned(slice(w, 0, 0, 4))) * matmul(t, turned(slice(w, 0, 5, 9)));
        },
        "slice permute matmul slice permute matmul mul"}},
      {"slice after view",
       {[](Builder& b) {
          return relu(reshape(slice(matmul(x(b), in(b, "w", {6, 9})), 1, 3, 9), {4, 2, 3}));
        },
        "matmul reshape slice relu"},
       {[](Builder& b) {
          return relu(reshape(slice(matmul(x(b), in(b, "w", {6, 9})), 1, 2, 8), {4, 2, 3}));
        },
        "matmul slice reshape relu"}},
      {"leading ones",
       {[](Builder& b) {
          return rms_norm(reshape(x(b), {1, 4, 6}), 0) + in(b, "z", {1, 4, 6});
        },
        "rms_norm reshape add"},
       {[](Builder& b) {
          return rms_norm(reshape(x(b), {2, 2, 6}), 0) + in(b, "z", {2, 2, 6});
        },
        "reshape rms_norm add"}},
      {"bias before view",
       {[](Builder& b) {
          return relu(reshape(exp(x(b)), {4, 2, 3}) + reshape(in(b, "b", {6}), {2, 3}));
        },
        "exp add reshape relu"},
       {[](Builder& b) {
          return relu(reshape(exp(x(b)), {2, 4, 3}) + reshape(in(b, "b", {12}), {4, 3}));
        },
        "reshape reshape exp add relu"}},
      {"reshape after",
       {[](Builder& b) {
          return reshape(relu(in(b, "z", {4, 2, 3}) + 1.0), {4, 6}) * in(b, "w", {6});
        },
        "add relu reshape mul reshape"},
       {[](Builder& b) {
          return reshape(relu(in(b, "z", {4, 2, 3}) + 1.0), {4, 6}) * x(b);
        },
        "add relu reshape mul"}},
      {"view of an input",
       {[](Builder& b) {
          const Tensor v = in(b, "v", {4}), w = in(b, "w", {4}), t = reshape(relu(x(b)), {4, 2, 3});
          return t * reshape(exp(v) * w, {4, 1, 1});
        },
        "reshape relu reshape exp reshape mul mul"},
       {[](Builder& b) {
          return square(reshape(relu(x(b) + in(b, "z", {6})), {4, 2, 3}));
        },
        "add relu reshape square"}},
  };
  return all;
}

void expect_form(const Case& c, const Form& form, const char* condition) {
  Builder b("g");
  b.output(form.body(b), "y");
  const KernelGraph g = b.build(), made = normalize(g);
  std::string found;
  for (const graph::KernelOp& op : made.ops)
    found += (found.empty() ? "" : " ") + std::string(graph::name(op.kind));
  EXPECT_EQ(found, form.expected) << c.rule << ", condition " << condition;
  graph::validate(made);
  EXPECT_EQ(search::equal(g, made).answer, search::Answer::equal) << c.rule << ", condition " << condition;
}

TEST(FuseNormalize, EachRuleWithItsConditionHeldAndBroken) {
  for (const Case& c : cases()) {
    expect_form(c, c.held, "held");
    expect_form(c, c.broken, "broken");
  }
}

TEST(FuseNormalize, EachRuleHasACase) {
  for (const Rule& rule : rules())
    EXPECT_TRUE(std::ranges::any_of(cases(), [&](const Case& c) { return c.rule == rule.name; }))
        << rule.name;
  EXPECT_EQ(cases().size(), rules().size());
}

}  // namespace
}  // namespace zellige::fuse
