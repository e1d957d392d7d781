// Rewrites a softmax with attention sinks: a softmax over the concatenation of scores s and extra logits z,
// of which only the scores' part is used. The result needs no concatenation.
//
//   softmax(concat(s, z)) -> slice of s      becomes      e^(s − m) / (Σ e^(s − m) + Σ e^(z − m)),
//                                                         m = max(max s, the lowest finite number)
//
// The slice must be exactly one operand of the concatenation. m is computed from that operand alone. If another operand
// is far greater, the sum overflows to infinity and the quotient is 0, which is the softmax to within rounding. If one is
// infinite, the row is NaN.
#include <algorithm>
#include <cfloat>

#include "rewrite/rewrite.hpp"
#include "rules/table.hpp"

namespace zellige::rewrite {

bool softmax_with_sinks(const Known& g, const KernelOp& op, Rewrite& out) {
  if (op.kind != OpKind::slice) return false;
  const KernelOp* softmax = g.inner(op.inputs[0], OpKind::softmax);
  const KernelOp* concat = softmax ? g.inner(softmax->inputs[0], OpKind::concat) : nullptr;
  if (!concat || softmax->attributes.dim != concat->attributes.dim) return false;
  const int part = operand_of(g, *concat, op);
  const bool row_major = std::ranges::all_of(std::array{&op, softmax, concat}, [&](const KernelOp* o) {
    return g.graph.tensors[o->outputs[0]].strides.empty();
  });
  if (part < 0 || !row_major) return false;

  const auto step = [&](OpKind kind, std::vector<int> in, const Attributes& a, const std::string& suffix) {
    return out.step(*softmax, kind, std::move(in), a, suffix);
  };
  const bool wide = g.dtype(op.outputs[0]) == DType::f32;
  const Attributes along{.dim = concat->attributes.dim, .keepdim = true};
  const auto operand = [&](int i) {  // in float32, as the softmax computes
    const int t = concat->inputs[i];
    return wide ? t : out.add(OpKind::cast, {t}, {.dtype = DType::f32}, g.name(t) + "_f32");
  };
  const int x = operand(part);
  int m = step(OpKind::amax, {x}, along, "_max");
  m = step(OpKind::maximum, {m}, {.scalar = -FLT_MAX}, "_off");
  const auto terms = [&](int of, const std::string& suffix) {
    return step(OpKind::exp, {step(OpKind::sub, {of, m}, {}, "_below" + suffix)}, {}, "_exp" + suffix);
  };
  const int e = terms(x, "");
  int sum = step(OpKind::sum, {e}, along, "_sum");
  for (int i = 0; i < static_cast<int>(concat->inputs.size()); ++i) {
    if (i == part) continue;
    // An infinity as NaN, which it makes of the whole row: it may be far greater than m.
    const int given = operand(i), above = step(OpKind::relu, {given}, {}, fmt::format("_above_{}", i));
    const int nan = step(OpKind::sub, {above, above}, {}, fmt::format("_nan_{}", i));
    int other = terms(step(OpKind::add, {given, nan}, {}, fmt::format("_or_nan_{}", i)), fmt::format("_{}", i));
    if (g.shape(concat->inputs[i])[along.dim] > 1) other = step(OpKind::sum, {other}, along, fmt::format("_sum_{}", i));
    sum = step(OpKind::add, {sum, other}, {}, "_sums");
  }
  if (wide) return out.replace(op, OpKind::div, {e, sum});
  const int quotient = step(OpKind::div, {e, sum}, {}, "_f32");
  return out.replace(op, OpKind::cast, {quotient}, {.dtype = g.dtype(op.outputs[0])});
}

}  // namespace zellige::rewrite
