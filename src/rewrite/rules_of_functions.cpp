// Rules of elementwise functions and softmax: rules.hpp says what each does.
#include <cmath>

#include "graph/compose.hpp"
#include "rewrite/rules.hpp"

namespace zellige::fuse {
namespace {

using graph::KernelOp;
using graph::OpKind;

/// Returns whether s is a power of two: a product with it is exact.
bool is_exact(double s) {
  int exponent = 0;
  return std::isfinite(s) && std::abs(std::frexp(s, &exponent)) == 0.5 && std::abs(exponent) < 100;
}

/// Replaces the operator by another one on x.
bool becomes(const KernelOp& op, OpKind kind, int x, const graph::Attributes& a, Rewrite& out) {
  out.add(kind, {x}, a, "", op.outputs[0]);
  return true;
}

}  // namespace

bool silu(const Known& g, const KernelOp& op, Rewrite& out) {
  if (op.inputs.size() != 2) return false;
  if (op.kind == OpKind::mul)
    for (const std::size_t i : {0, 1}) {
      const int x = op.inputs[1 - i];
      const KernelOp* s = g.made_by(op.inputs[i], OpKind::sigmoid);
      if (s && s->inputs[0] == x) return becomes(op, OpKind::silu, x, {}, out);
    }
  if (op.kind != OpKind::div) return false;
  const KernelOp* sum = g.made_by(op.inputs[1], OpKind::add);
  if (!sum || sum->inputs.size() != 1 || sum->attributes.scalar != 1) return false;
  const KernelOp* power = g.made_by(sum->inputs[0], OpKind::exp);
  const KernelOp* minus = power ? g.made_by(power->inputs[0], OpKind::neg) : nullptr;
  return minus && minus->inputs[0] == op.inputs[0] && becomes(op, OpKind::silu, op.inputs[0], {}, out);
}

bool square(const Known& g, const KernelOp& op, Rewrite& out) {
  const bool product = op.kind == OpKind::mul && op.inputs.size() == 2 && op.inputs[0] == op.inputs[1];
  const bool power = op.kind == OpKind::pow && op.inputs.size() == 1 && op.attributes.scalar == 2;
  return (product || power) && !graph::is_integer(g.graph.tensors[op.inputs[0]].dtype) &&
         becomes(op, OpKind::square, op.inputs[0], {}, out);
}

bool negative(const Known&, const KernelOp& op, Rewrite& out) {
  return op.kind == OpKind::mul_scalar && op.attributes.scalar == -1 &&
         becomes(op, OpKind::neg, op.inputs[0], {}, out);
}

bool difference(const Known& g, const KernelOp& op, Rewrite& out) {
  if (op.kind != OpKind::add || op.inputs.size() != 2) return false;
  for (const std::size_t i : {1, 0})
    if (const KernelOp* minus = g.made_by(op.inputs[i], OpKind::neg)) {
      out.add(OpKind::sub, {op.inputs[1 - i], minus->inputs[0]}, {}, "", op.outputs[0]);
      return true;
    }
  return false;
}

bool exact_quotient(const Known& g, const KernelOp& op, Rewrite& out) {
  return op.kind == OpKind::div && op.inputs.size() == 1 && is_exact(op.attributes.scalar) &&
         !graph::is_integer(g.graph.tensors[op.inputs[0]].dtype) &&
         becomes(op, OpKind::mul_scalar, op.inputs[0], {.scalar = 1 / op.attributes.scalar}, out);
}

bool two_factors(const Known& g, const KernelOp& op, Rewrite& out) {
  if (op.kind != OpKind::mul_scalar) return false;
  const KernelOp* first = g.made_by(op.inputs[0], OpKind::mul_scalar);
  if (!first || g.readers[op.inputs[0]] != 1 || graph::is_integer(g.graph.tensors[op.inputs[0]].dtype))
    return false;
  const double s = op.attributes.scalar, t = first->attributes.scalar;
  constexpr double least = 1e-30, greatest = 1e30;  // far from what float32 cannot hold
  if (!is_exact(s) && !is_exact(t)) return false;
  if (!(std::abs(s * t) >= least && std::abs(s * t) <= greatest)) return false;
  return becomes(op, OpKind::mul_scalar, first->inputs[0], {.scalar = s * t}, out);
}

bool softmax_of_logarithm(const Known& g, const KernelOp& op, Rewrite& out) {
  if (op.kind != OpKind::exp || g.readers[op.inputs[0]] != 1) return false;
  if (const KernelOp* log = g.made_by(op.inputs[0], OpKind::log_softmax))
    return becomes(op, OpKind::softmax, log->inputs[0], log->attributes, out);
  const KernelOp* below = g.made_by(op.inputs[0], OpKind::sub);
  if (!below || below->inputs.size() != 2) return false;
  const KernelOp* sum = g.made_by(below->inputs[1], OpKind::logsumexp);
  if (!sum || sum->inputs[0] != below->inputs[0] || !sum->attributes.keepdim ||
      g.readers[sum->outputs[0]] != 1)
    return false;
  const std::vector<int> dims = graph::composed_dims(sum->kind, sum->attributes, g.shape(sum->inputs[0]));
  return dims.size() == 1 && becomes(op, OpKind::softmax, sum->inputs[0], {.dim = dims[0]}, out);
}

}  // namespace zellige::fuse
