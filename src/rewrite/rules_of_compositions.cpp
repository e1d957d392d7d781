// Rules that make one operator of the steps it is composed of (graph/compose.hpp): rules.hpp says what each does.
// The steps are those of the operator, in its order, so that its result is the same also in float32.

#include "graph/compose.hpp"
#include "rewrite/rules.hpp"

namespace zellige::fuse {
namespace {

/// Returns the operator of this kind that makes the tensor, if it has `operands` operands and the tensor `readers`
/// readers, else nullptr.
const KernelOp* made(const Known& g, int tensor, OpKind kind, std::size_t operands = 1, int readers = 1) {
  const KernelOp* op = g.made_by(tensor, kind);
  return op && op->inputs.size() == operands && g.readers[tensor] == readers ? op : nullptr;
}

/// A half of a tensor's last dimension.
struct Half {
  int whole = -1;
  bool second = false;
};
/// Returns of which tensor this one is a half, or none.
Half half(const Known& g, int tensor) {
  if (const KernelOp* both = g.made_by(tensor, OpKind::split)) {
    const bool last = both->attributes.dim == static_cast<int>(g.shape(tensor).size()) - 1;
    const bool halves = both->outputs.size() == 2 && g.shape(both->outputs[0]) == g.shape(both->outputs[1]);
    return last && halves ? Half{both->inputs[0], tensor == both->outputs[1]} : Half{};
  }
  const KernelOp* part = g.made_by(tensor, OpKind::slice);
  if (!part) return {};
  const Shape& whole = g.shape(part->inputs[0]);
  const std::int64_t n = whole.back(), start = part->attributes.start, end = part->attributes.end;
  if (part->attributes.dim != static_cast<int>(whole.size()) - 1 || n % 2 != 0 || end - start != n / 2)
    return {};
  return start == 0 ? Half{part->inputs[0], false} : start == n / 2 ? Half{part->inputs[0], true} : Half{};
}

/// Returns the tensor of which this one has each row twice, or, if `each` is true, each element twice, by a view
/// of an expand, or else this one.
int expanded_once(const Known& g, int tensor, bool each) {
  const KernelOp* merged = g.made_by(tensor, OpKind::reshape);
  const KernelOp* wide = merged ? g.made_by(merged->inputs[0], OpKind::expand) : nullptr;
  const KernelOp* view = wide ? g.made_by(wide->inputs[0], OpKind::reshape) : nullptr;
  if (!view) return tensor;
  const Shape& once = g.shape(view->inputs[0]);
  Shape one = once, two = once, whole = once;
  const auto at = each ? one.size() : one.size() - 1;
  one.insert(one.begin() + static_cast<std::ptrdiff_t>(at), 1);
  two.insert(two.begin() + static_cast<std::ptrdiff_t>(at), 2);
  whole.back() *= 2;
  const bool same =
      g.shape(wide->inputs[0]) == one && g.shape(merged->inputs[0]) == two && g.shape(tensor) == whole;
  return same ? view->inputs[0] : tensor;
}

/// Returns the tensor of which this one is two copies along the last dimension, or else this one.
int once_of(const Known& g, int tensor) {
  const KernelOp* twice = g.made_by(tensor, OpKind::concat);
  const bool same = twice && twice->inputs.size() == 2 && twice->inputs[0] == twice->inputs[1] &&
                    twice->attributes.dim == static_cast<int>(g.shape(tensor).size()) - 1;
  return same ? twice->inputs[0] : expanded_once(g, tensor, false);
}

/// Returns whether angles of this shape suit a rotary embedding of x.
bool are_angles(const Shape& angles, const Shape& x) {
  if (angles.size() > x.size() || (angles.back() != x.back() && 2 * angles.back() != x.back())) return false;
  for (std::size_t d = 2; d <= angles.size(); ++d)
    if (angles[angles.size() - d] != 1 && angles[angles.size() - d] != x[x.size() - d]) return false;
  return true;
}

/// The halves that a product has as one factor, and its other factor.
struct Turned {
  int half = -1, angle = -1;
};
/// Returns the product's factors, the first being the given tensor, or none.
Turned turned(const Known& g, int product, int by) {
  const KernelOp* op = made(g, product, OpKind::mul, 2);
  if (!op) return {};
  if (op->inputs[0] == by) return {by, op->inputs[1]};
  return op->inputs[1] == by ? Turned{by, op->inputs[0]} : Turned{};
}

bool becomes_rotary(const Known& g, const KernelOp& op, int x, int cos, int sin, Rewrite& out,
                    OpKind kind = OpKind::rotary) {
  if (g.shape(x) != g.shape(op.outputs[0]) || !are_angles(g.shape(cos), g.shape(x)) ||
      !are_angles(g.shape(sin), g.shape(x)) || g.shape(cos).back() != g.shape(sin).back())
    return false;
  out.add(kind, {x, cos, sin}, {}, "", op.outputs[0]);
  return true;
}

}  // namespace

bool softmax(const Known& g, const KernelOp& op, Rewrite& out) {
  if (op.kind != OpKind::div || op.inputs.size() != 2) return false;
  const KernelOp* e = made(g, op.inputs[0], OpKind::exp, 1, 2);
  const KernelOp* total = made(g, op.inputs[1], OpKind::sum);
  const KernelOp* below = e ? made(g, e->inputs[0], OpKind::sub, 2) : nullptr;
  const KernelOp* most = below ? made(g, below->inputs[1], OpKind::amax) : nullptr;
  if (!most || !total || total->inputs[0] != op.inputs[0] || most->inputs[0] != below->inputs[0])
    return false;
  const Shape& x = g.shape(below->inputs[0]);
  const std::vector<int> dims = graph::composed_dims(most->kind, most->attributes, x);
  if (dims.size() != 1 || !most->attributes.keepdim || !total->attributes.keepdim ||
      graph::composed_dims(total->kind, total->attributes, x) != dims)
    return false;
  out.add(OpKind::softmax, {below->inputs[0]}, {.dim = dims[0]}, "", op.outputs[0]);
  return true;
}

bool rotary_of_halves(const Known& g, const KernelOp& op, Rewrite& out) {
  if (op.kind != OpKind::concat || op.inputs.size() != 2 ||
      op.attributes.dim != static_cast<int>(g.shape(op.outputs[0]).size()) - 1)
    return false;
  const KernelOp* left = made(g, op.inputs[0], OpKind::sub, 2);
  const KernelOp* right = made(g, op.inputs[1], OpKind::add, 2);
  if (!left || !right) return false;
  // left = a cos - b sin, right = b cos + a sin
  const KernelOp *with_cos = made(g, left->inputs[0], OpKind::mul, 2),
                 *with_sin = made(g, left->inputs[1], OpKind::mul, 2);
  if (!with_cos || !with_sin) return false;
  for (const std::size_t i : {0, 1})
    for (const std::size_t k : {0, 1}) {
      const int a = with_cos->inputs[i], cos = with_cos->inputs[1 - i];
      const int b = with_sin->inputs[k], sin = with_sin->inputs[1 - k];
      const Half first = half(g, a), second = half(g, b);
      if (first.whole < 0 || first.second || second.whole != first.whole || !second.second) continue;
      for (const std::size_t r : {0, 1})
        if (turned(g, right->inputs[r], b).angle == cos && turned(g, right->inputs[1 - r], a).angle == sin)
          return becomes_rotary(g, op, first.whole, cos, sin, out);
    }
  return false;
}

bool rotary_of_rotated(const Known& g, const KernelOp& op, Rewrite& out) {
  if (op.kind != OpKind::add || op.inputs.size() != 2) return false;
  for (const std::size_t i : {0, 1}) {
    const KernelOp* rotated = made(g, op.inputs[1 - i], OpKind::mul, 2);
    if (!rotated) continue;
    for (const std::size_t k : {0, 1}) {
      const KernelOp* joined = made(g, rotated->inputs[k], OpKind::concat, 2);
      const KernelOp* minus = joined ? made(g, joined->inputs[0], OpKind::neg) : nullptr;
      if (!minus || joined->attributes.dim != static_cast<int>(g.shape(op.outputs[0]).size()) - 1) continue;
      const Half second = half(g, minus->inputs[0]), first = half(g, joined->inputs[1]);
      if (first.whole < 0 || first.second || !second.second || second.whole != first.whole) continue;
      const Turned straight = turned(g, op.inputs[i], first.whole);
      const int sin = rotated->inputs[1 - k];
      if (straight.angle < 0 || g.shape(straight.angle).back() != g.shape(first.whole).back() ||
          g.shape(sin).back() != g.shape(first.whole).back())
        continue;
      return becomes_rotary(g, op, first.whole, straight.angle, sin, out);
    }
  }
  return false;
}

bool repeated_angles(const Known& g, const KernelOp& op, Rewrite& out) {
  if (!is_rotary(op.kind)) return false;
  const auto once = [&](int t) {
    return op.kind == OpKind::rotary ? once_of(g, t) : expanded_once(g, t, true);
  };
  const int x = op.inputs[0], cos = once(op.inputs[1]), sin = once(op.inputs[2]);
  return cos != op.inputs[1] && sin != op.inputs[2] && 2 * g.shape(cos).back() == g.shape(x).back() &&
         becomes_rotary(g, op, x, cos, sin, out, op.kind);
}

}  // namespace zellige::fuse
