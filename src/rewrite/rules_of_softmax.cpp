// Rules of softmax and its logarithm.
#include <algorithm>
#include <array>
#include <cfloat>
#include <set>

#include "graph/compose.hpp"
#include "graph/dtype.hpp"
#include "rewrite/rewrite.hpp"
#include "rules/table.hpp"

namespace zellige::rewrite {
namespace {

/// Returns the operator that makes the logarithm of the softmax `op`, if both are float32, else nullptr.
const KernelOp* logarithm_of_same(const KernelGraph& g, const KernelOp& op) {
  if (op.kind != OpKind::softmax || g.tensors[op.inputs[0]].dtype != DType::f32) return nullptr;
  const auto log = std::ranges::find_if(g.ops, [&](const KernelOp& o) {
    return o.kind == OpKind::log_softmax && o.inputs == op.inputs && o.attributes.dim == op.attributes.dim;
  });
  return log == g.ops.end() ? nullptr : &*log;
}

/// Returns true if every reader of the tensor `t` sums along its dimension `dim`: matmuls, after casts, scalars and reshapes that
/// keep the rows of the last dimension. A NaN in a row is then NaN in all that is made of the row.
bool is_contracted(const Known& g, int t, int dim) {
  const int last = static_cast<int>(g.shape(t).size()) - 1;
  if (std::ranges::count(g.graph.outputs, t)) return false;
  const auto contracts = [&](const KernelOp& o) {
    const Shape& made = g.shape(o.outputs[0]);
    if (o.kind == OpKind::matmul)
      return last > 0 && (o.inputs[0] != t || dim == last) && (o.inputs[1] != t || dim == last - 1) &&
             !std::ranges::count(o.inputs.begin() + 2, o.inputs.end(), t);
    if (o.kind == OpKind::reshape)
      return dim == last && made.back() == g.shape(t).back() &&
             is_contracted(g, o.outputs[0], static_cast<int>(made.size()) - 1);
    const bool floating = o.kind == OpKind::cast && graph::format(o.attributes.dtype).integer_bits == 0;
    return (floating || o.kind == OpKind::mul_scalar) && is_contracted(g, o.outputs[0], dim);
  };
  return std::ranges::all_of(g.graph.ops,
                             [&](const KernelOp& o) { return !std::ranges::count(o.inputs, t) || contracts(o); });
}

}  // namespace

/// exp(log_softmax(x)) -> softmax(x).
bool softmax_of_logarithm(const Known& g, const KernelOp& op, Rewrite& out) {
  const KernelOp* log = op.kind == OpKind::exp ? g.inner(op.inputs[0], OpKind::log_softmax) : nullptr;
  return log && out.replace(op, OpKind::softmax, {log->inputs[0]}, log->attributes);
}

/// exp(x - logsumexp(x)) -> softmax(x) if all readers sum along the row, as attention does. Where x is infinite, a softmax is
/// NaN in its whole row, and exp(x - logsumexp(x)) in one element, so that others see e^(x − m) / Σ e^(x − m), m being the
/// maximum as a finite number. Computes in float32, or float64 of f64.
bool softmax_of_logsumexp(const Known& g, const KernelOp& op, Rewrite& out) {
  const KernelOp* below = op.kind == OpKind::exp ? g.inner(op.inputs[0], OpKind::sub, 2) : nullptr;
  const KernelOp* log = below ? g.inner(below->inputs[1], OpKind::logsumexp) : nullptr;
  if (!log || log->inputs[0] != below->inputs[0] || !log->attributes.keepdim) return false;
  const std::vector<int> dims = graph::composed_dims(log->kind, log->attributes, g.shape(log->inputs[0]));
  if (dims.size() != 1) return false;
  if (is_contracted(g, op.outputs[0], dims[0]))
    return out.replace(op, OpKind::softmax, {log->inputs[0]}, {.dim = dims[0]});
  const Attributes along{.dim = dims[0], .keepdim = true};
  const auto step = [&](OpKind kind, std::vector<int> in, const Attributes& a, std::string_view suffix) {
    return out.step(op, kind, std::move(in), a, suffix);
  };
  const bool wide = !graph::is_narrow(g.dtype(op.outputs[0]));
  const double greatest = graph::format(graph::computed_in(g.dtype(op.outputs[0]))).greatest;
  const int x = wide ? log->inputs[0] : step(OpKind::cast, log->inputs, {.dtype = DType::f32}, "_f32");
  const int finite =
      step(OpKind::clamp, {step(OpKind::amax, {x}, along, "_max")}, {.lo = -greatest, .hi = greatest}, "_off");
  const int e = step(OpKind::exp, {step(OpKind::sub, {x, finite}, {}, "_below")}, {}, "_exp");
  const int sum = step(OpKind::sum, {e}, along, "_sum");
  if (wide) return out.replace(op, OpKind::div, {e, sum});
  return out.replace(op, OpKind::cast, {step(OpKind::div, {e, sum}, {}, "_quotient")},
                     {.dtype = g.dtype(op.outputs[0])});
}

/// Rewrites a softmax with attention sinks: a softmax over the concatenation of scores s and extra logits z,
/// of which only the scores' part is used. The result needs no concatenation.
///
///   softmax(concat(s, z)) -> slice of s      becomes      e^(s − m) / (Σ e^(s − m) + Σ e^(z − m)),
///                                                         m = max(max s, the lowest finite number)
///
/// The slice must be exactly one operand of the concatenation. m is computed from that operand alone. If another operand
/// is far greater, the sum overflows to infinity and the quotient is 0, which is the softmax to within rounding. If one is
/// infinite, the row is NaN.
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
  const bool wide = !graph::is_narrow(g.dtype(op.outputs[0]));
  const Attributes along{.dim = concat->attributes.dim, .keepdim = true};
  const auto operand = [&](int i) {  // in float32, as the softmax computes
    const int t = concat->inputs[i];
    return wide ? t : out.add(OpKind::cast, {t}, {.dtype = DType::f32}, g.name(t) + "_f32");
  };
  const int x = operand(part);
  int m = step(OpKind::amax, {x}, along, "_max");
  m = step(OpKind::maximum, {m}, {.scalar = graph::format(graph::computed_in(g.dtype(op.outputs[0]))).lowest}, "_off");
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

/// softmax(x) with log_softmax(x) -> exp(log_softmax(x)). The logarithm is made before the first of the two.
std::optional<KernelGraph> softmax_and_logarithm(const KernelGraph& g) {
  Rewrite out(g);
  bool changed = false;
  std::set<const KernelOp*> made;
  for (const KernelOp& op : g.ops) {
    if (made.contains(&op)) continue;
    const KernelOp* log = logarithm_of_same(g, op);
    if (log > &op && made.insert(log).second) out.keep(*log);
    if (log)
      changed = out.replace(op, OpKind::exp, log->outputs);
    else
      out.keep(op);
  }
  return changed ? std::optional(out.finished()) : std::nullopt;
}

}  // namespace zellige::rewrite
