// Rules of elementwise functions and softmax.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "graph/compose.hpp"
#include "rewrite/rewrite.hpp"
#include "rules/table.hpp"

namespace zellige::rewrite {
namespace {

/// Returns whether s is a power of two: a product with it is exact.
bool is_exact(double s) {
  int exponent = 0;
  return std::isfinite(s) && std::abs(std::frexp(s, &exponent)) == 0.5 && std::abs(exponent) < 100;
}

/// A product: of a number and tensors, ascending.
struct Product {
  double scalar = 1;
  std::vector<int> factors;
  bool operator==(const Product&) const = default;
};
/// Multiplies the product by a tensor, decomposed into its factors except for the tensors `whole`, and for those that
/// others see rounded. `t` may be the result itself.
void multiply(const Known& g, int t, const std::vector<int>& whole, Product& p, bool result = false) {
  const KernelOp* op = std::ranges::count(whole, t) || !(result || g.is_unrounded(t)) ? nullptr : g.producer[t];
  const double scalar = op ? op->attributes.scalar : 0;
  if (op && op->kind == OpKind::mul) {
    for (const int factor : op->inputs) multiply(g, factor, whole, p);
  } else if (op && op->kind == OpKind::square) {
    for (int i = 0; i < 2; ++i) multiply(g, op->inputs[0], whole, p);
  } else if (op && op->inputs.size() == 1 && (op->kind == OpKind::mul_scalar || op->kind == OpKind::div)) {
    p.scalar *= op->kind == OpKind::div ? 1 / scalar : scalar;
    multiply(g, op->inputs[0], whole, p);
  } else {
    p.factors.insert(std::ranges::lower_bound(p.factors, t), t);
  }
}
Product product(const Known& g, int t, const std::vector<int>& whole = {}, bool result = false) {
  Product p;
  multiply(g, t, whole, p, result);
  return p;
}

/// Returns whether two numbers are the same, written with seven digits or more, or fifteen for f64.
bool near(double a, double b, graph::DType dtype) {
  return std::abs(a / b - 1) < (dtype == graph::DType::f64 ? 1e-14 : 1e-6);
}

/// Returns the operand of the sum with 1 that makes the tensor, or -1. Nobody sees the sum rounded, as of all steps here.
int below_one(const Known& g, int t) {
  const KernelOp* sum = g.unrounded(t, OpKind::add, 1);
  return sum && sum->attributes.scalar == 1 ? sum->inputs[0] : -1;
}

/// Returns x if the tensor is 1 + exp(-x), else -1.
int below_sigmoid(const Known& g, int t) {
  const int power = below_one(g, t);
  const KernelOp* exp = power < 0 ? nullptr : g.unrounded(power, OpKind::exp);
  const KernelOp* minus = exp ? g.made_by(exp->inputs[0], OpKind::neg) : nullptr;
  return minus ? minus->inputs[0] : -1;
}

/// Returns x if z is c (x + k x^3) as in gelu_tanh, or c x (1 + k x^2), else -1.
int cubic_of(const Known& g, int z) {
  constexpr double k = 0.044715, c = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  const graph::DType dtype = g.dtype(z);
  const Product p = product(g, z);
  if (!near(p.scalar, c, dtype)) return -1;
  if (p.factors.size() == 1) {
    const KernelOp* sum = g.unrounded(p.factors[0], OpKind::add, 2);
    if (!sum) return -1;
    for (const std::size_t i : {0, 1}) {
      const int x = sum->inputs[i];
      const Product cube = product(g, sum->inputs[1 - i], {x});
      if (cube.factors == std::vector{x, x, x} && near(cube.scalar, k, dtype)) return x;
    }
  }
  if (p.factors.size() == 2)
    for (const std::size_t i : {0, 1}) {
      const int x = p.factors[i], square = below_one(g, p.factors[1 - i]);
      if (square < 0) continue;
      const Product by = product(g, square, {x});
      if (by.factors == std::vector{x, x} && near(by.scalar, k, dtype)) return x;
    }
  return -1;
}

}  // namespace

/// 1 / (1 + exp(-x)) -> sigmoid(x).
bool sigmoid(const Known& g, const KernelOp& op, Rewrite& out) {
  if (op.kind != OpKind::pow || op.inputs.size() != 1 || op.attributes.scalar != -1) return false;
  const int x = below_sigmoid(g, op.inputs[0]);
  return x >= 0 && out.replace(op, OpKind::sigmoid, {x});
}

/// max(x, 0) and where(x < 0, 0, x) -> relu(x).
bool relu(const Known& g, const KernelOp& op, Rewrite& out) {
  if (op.attributes.scalar != 0 || graph::is_integer(g.dtype(op.outputs[0]))) return false;
  if (op.kind == OpKind::maximum && op.inputs.size() == 1) return out.replace(op, OpKind::relu, {op.inputs[0]});
  if (op.kind != OpKind::where || op.inputs.size() != 2) return false;
  // where(not x < 0, x, 0), which keeps NaN as relu does; where(x > 0, x, 0) does not
  const KernelOp* kept = g.made_by(op.inputs[0], OpKind::eq);
  const KernelOp* below = kept && kept->inputs.size() == 1 ? g.producer[kept->inputs[0]] : nullptr;
  return below && (below->kind == OpKind::lt || below->kind == OpKind::le) && below->inputs.size() == 1 &&
         kept->attributes.scalar == 0 && below->attributes.scalar == 0 && below->inputs[0] == op.inputs[1] &&
         out.replace(op, OpKind::relu, {op.inputs[1]});
}

/// x (1 + tanh(c (x + k x^3))) / 2 -> gelu_tanh(x).
bool gelu_of_tanh(const Known& g, const KernelOp& op, Rewrite& out) {
  if (op.kind != OpKind::mul && op.kind != OpKind::mul_scalar && op.kind != OpKind::div) return false;
  for (const int t : product(g, op.outputs[0], {}, true).factors) {
    const int steep = below_one(g, t);
    const KernelOp* tanh = steep < 0 ? nullptr : g.unrounded(steep, OpKind::tanh);
    if (!tanh || g.readers[steep] != 1 || g.readers[t] != 1) continue;
    const int x = cubic_of(g, tanh->inputs[0]);
    if (x < 0 || product(g, op.outputs[0], {x, t}, true) != Product{0.5, {std::min(x, t), std::max(x, t)}}) continue;
    return out.replace(op, OpKind::gelu_tanh, {x});
  }
  return false;
}

/// (-x) y -> -(x y).
bool negative_factor(const Known& g, const KernelOp& op, Rewrite& out) {
  if (op.kind != OpKind::mul || op.inputs.size() != 2) return false;
  for (const std::size_t i : {0, 1}) {
    const KernelOp* minus = g.inner(op.inputs[i], OpKind::neg);
    if (!minus) continue;
    std::vector<int> in = op.inputs;
    in[i] = minus->inputs[0];
    const int made = out.step(op, OpKind::mul, in, {}, "_positive");
    return out.replace(op, OpKind::neg, {made});
  }
  return false;
}

/// x sigmoid(x) and x / (1 + exp(-x)) -> silu(x).
bool silu(const Known& g, const KernelOp& op, Rewrite& out) {
  if (op.inputs.size() != 2) return false;
  if (op.kind == OpKind::mul)
    for (const std::size_t i : {0, 1}) {
      const int x = op.inputs[1 - i];
      const KernelOp* s = g.unrounded(op.inputs[i], OpKind::sigmoid);
      if (s && s->inputs[0] == x) return out.replace(op, OpKind::silu, {x});
    }
  return op.kind == OpKind::div && below_sigmoid(g, op.inputs[1]) == op.inputs[0] &&
         out.replace(op, OpKind::silu, {op.inputs[0]});
}

/// x x and x^2 -> square(x).
bool square(const Known& g, const KernelOp& op, Rewrite& out) {
  const bool product = op.kind == OpKind::mul && op.inputs.size() == 2 && op.inputs[0] == op.inputs[1];
  const bool power = op.kind == OpKind::pow && op.inputs.size() == 1 && op.attributes.scalar == 2;
  return (product || power) && !graph::is_integer(g.dtype(op.inputs[0])) &&
         out.replace(op, OpKind::square, {op.inputs[0]});
}

/// x (-1) -> -x.
bool negative(const Known&, const KernelOp& op, Rewrite& out) {
  return op.kind == OpKind::mul_scalar && op.attributes.scalar == -1 && out.replace(op, OpKind::neg, {op.inputs[0]});
}

/// x + (-y) -> x - y.
bool difference(const Known& g, const KernelOp& op, Rewrite& out) {
  if (op.kind != OpKind::add || op.inputs.size() != 2) return false;
  for (const std::size_t i : {1, 0})
    if (const KernelOp* minus = g.made_by(op.inputs[i], OpKind::neg))
      return out.replace(op, OpKind::sub, {op.inputs[1 - i], minus->inputs[0]});
  return false;
}

/// x / s -> x (1 / s), exactly.
bool exact_quotient(const Known& g, const KernelOp& op, Rewrite& out) {
  return op.kind == OpKind::div && op.inputs.size() == 1 && is_exact(op.attributes.scalar) &&
         !graph::is_integer(g.dtype(op.inputs[0])) &&
         out.replace(op, OpKind::mul_scalar, {op.inputs[0]}, {.scalar = 1 / op.attributes.scalar});
}

/// (x s) t -> x (s t), exactly. If one factor shrinks and the other one grows, (x s) may overflow or vanish where x (s t)
/// does not.
bool two_factors(const Known& g, const KernelOp& op, Rewrite& out) {
  if (op.kind != OpKind::mul_scalar) return false;
  const KernelOp* first = g.inner(op.inputs[0], OpKind::mul_scalar);
  if (!first || graph::is_integer(g.dtype(op.inputs[0]))) return false;
  const double s = op.attributes.scalar, t = first->attributes.scalar;
  constexpr double lowest = 1e-30, greatest = 1e30;  // far from what float32 cannot hold
  if (!is_exact(s) && !is_exact(t)) return false;
  if (std::min(std::abs(s), std::abs(t)) < 1 && std::max(std::abs(s), std::abs(t)) > 1) return false;
  if (!(std::abs(s * t) >= lowest && std::abs(s * t) <= greatest)) return false;
  return out.replace(op, OpKind::mul_scalar, {first->inputs[0]}, {.scalar = s * t});
}

}  // namespace zellige::rewrite
