// Rules that make one operator of the steps it is composed of (graph/compose.hpp).
// The steps are those of the operator, in its order, so that its result is the same also in float32.
#include "graph/compose.hpp"
#include "rewrite/rewrite.hpp"
#include "rules/table.hpp"

namespace zellige::rewrite {
namespace {

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
  if (part->attributes.dim != static_cast<int>(whole.size()) - 1 || n % 2 != 0 || end - start != n / 2) return {};
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
  one.insert(one.begin() + at, 1);
  two.insert(two.begin() + at, 2);
  whole.back() *= 2;
  const bool same = g.shape(wide->inputs[0]) == one && g.shape(merged->inputs[0]) == two && g.shape(tensor) == whole;
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

/// Returns of which tensor (..., n, 2) this one, (..., n, 1), has one of each two neighbours, or none.
Half neighbour(const Known& g, int tensor) {
  const KernelOp* part = g.made_by(tensor, OpKind::slice);
  if (!part) return {};
  const Shape& pairs = g.shape(part->inputs[0]);
  const bool one = part->attributes.dim == static_cast<int>(pairs.size()) - 1 && g.shape(tensor).back() == 1;
  return one && pairs.back() == 2 ? Half{part->inputs[0], part->attributes.start == 1} : Half{};
}

/// Returns the operand of the view that adds a last dimension of 1, if that made the tensor and nobody else reads it, or -1.
int before_one(const Known& g, int tensor) {
  const KernelOp* view = g.inner(tensor, OpKind::reshape);
  if (!view) return -1;
  Shape one = g.shape(view->inputs[0]);
  one.push_back(1);
  return g.shape(tensor) == one ? view->inputs[0] : -1;
}

/// Returns of which tensor (..., n, 2) this one, (..., n), has one of each two neighbours, or none.
Half seen_neighbour(const Known& g, int tensor) {
  const KernelOp* view = g.made_by(tensor, OpKind::reshape);
  if (!view) return {};
  Shape one = g.shape(tensor);
  one.push_back(1);
  return g.shape(view->inputs[0]) == one ? neighbour(g, view->inputs[0]) : Half{};
}

/// Returns the tensor of whose pairs `first` has the first numbers and `second` the second ones, or -1.
int whole_of(Half first, Half second) {
  return first.whole == second.whole && !first.second && second.second ? first.whole : -1;
}

/// Returns the shape (..., 2 n) of a tensor (..., n, 2).
Shape flat(Shape pairs) {
  pairs.pop_back();
  pairs.back() *= 2;
  return pairs;
}

/// Returns the tensor of which this one is a reshape, or else this one.
int seen(const Known& g, int tensor) {
  const KernelOp* view = g.made_by(tensor, OpKind::reshape);
  return view ? view->inputs[0] : tensor;
}

/// Returns the other factor of a product of two, which nobody else reads, with the factor `by`, or -1.
int other_factor(const Known& g, int product, int by) {
  const KernelOp* op = g.inner(product, OpKind::mul, 2);
  if (!op) return -1;
  return op->inputs[0] == by ? op->inputs[1] : op->inputs[1] == by ? op->inputs[0] : -1;
}

/// The cosines and sines of a rotation, and the tensor whose pairs it turns; none if that is -1.
struct Rotation {
  int whole = -1, cos = -1, sin = -1;
};
/// Returns the rotation whose results are `first`, a cos - b sin, and `second`, b cos + a sin. `half_of`: of which tensor's
/// pairs a tensor has a number.
Rotation rotation(const Known& g, int first, int second, Half (*half_of)(const Known&, int)) {
  const KernelOp* left = first < 0 ? nullptr : g.inner(first, OpKind::sub, 2);
  const KernelOp* right = second < 0 ? nullptr : g.inner(second, OpKind::add, 2);
  if (!left || !right) return {};
  const KernelOp* with_cos = g.inner(left->inputs[0], OpKind::mul, 2);
  const KernelOp* with_sin = g.inner(left->inputs[1], OpKind::mul, 2);
  if (!with_cos || !with_sin) return {};
  for (const std::size_t i : {0, 1})
    for (const std::size_t k : {0, 1}) {
      const int a = with_cos->inputs[i], cos = with_cos->inputs[1 - i];
      const int b = with_sin->inputs[k], sin = with_sin->inputs[1 - k];
      const int whole = whole_of(half_of(g, a), half_of(g, b));
      for (const std::size_t r : {0, 1})
        if (whole >= 0 && other_factor(g, right->inputs[r], b) == cos &&
            other_factor(g, right->inputs[1 - r], a) == sin)
          return {whole, cos, sin};
    }
  return {};
}

/// Returns whether the operator concatenates two tensors along the last dimension.
bool joins_two(const Known& g, const KernelOp& op) {
  return op.kind == OpKind::concat && op.inputs.size() == 2 &&
         op.attributes.dim == static_cast<int>(g.shape(op.outputs[0]).size()) - 1;
}

/// Returns the tensor of whose pairs (a, b) the concatenation `joined` is (-b, a), or -1.
int rotated_whole(const Known& g, const KernelOp* joined, Half (*half_of)(const Known&, int)) {
  const KernelOp* minus = joined && joins_two(g, *joined) ? g.inner(joined->inputs[0], OpKind::neg) : nullptr;
  return minus ? whole_of(half_of(g, joined->inputs[1]), half_of(g, minus->inputs[0])) : -1;
}

bool becomes_rotary(const Known& g, const KernelOp& op, int x, int cos, int sin, Rewrite& out,
                    OpKind kind = OpKind::rotary) {
  return g.shape(x) == g.shape(op.outputs[0]) && are_angles(g.shape(cos), g.shape(x)) &&
         are_angles(g.shape(sin), g.shape(x)) && g.shape(cos).back() == g.shape(sin).back() &&
         out.replace(op, kind, {x, cos, sin});
}

}  // namespace

/// exp(x - max(x)) / sum -> softmax(x).
bool softmax(const Known& g, const KernelOp& op, Rewrite& out) {
  if (op.kind != OpKind::div || op.inputs.size() != 2) return false;
  const KernelOp* e = g.made_by(op.inputs[0], OpKind::exp);
  const KernelOp* total = g.inner(op.inputs[1], OpKind::sum);
  const KernelOp* below = e ? g.inner(e->inputs[0], OpKind::sub, 2) : nullptr;
  const KernelOp* row_maximum = below ? g.inner(below->inputs[1], OpKind::amax) : nullptr;
  if (!row_maximum || !total || g.readers[op.inputs[0]] != 2 || total->inputs[0] != op.inputs[0] ||
      row_maximum->inputs[0] != below->inputs[0])
    return false;
  const Shape& x = g.shape(below->inputs[0]);
  const std::vector<int> dims = graph::composed_dims(row_maximum->kind, row_maximum->attributes, x);
  if (dims.size() != 1 || !row_maximum->attributes.keepdim || !total->attributes.keepdim ||
      graph::composed_dims(total->kind, total->attributes, x) != dims)
    return false;
  return out.replace(op, OpKind::softmax, {below->inputs[0]}, {.dim = dims[0]});
}

/// (a cos - b sin, b cos + a sin), a and b being the halves of x -> rotary(x, cos, sin).
bool rotary_of_halves(const Known& g, const KernelOp& op, Rewrite& out) {
  if (!joins_two(g, op)) return false;
  const Rotation r = rotation(g, op.inputs[0], op.inputs[1], half);
  return r.whole >= 0 && becomes_rotary(g, op, r.whole, r.cos, r.sin, out);
}

/// The same, a and b being the neighbours of x (..., n, 2) -> a view of rotary_interleaved(x (..., 2 n), cos, sin).
bool rotary_of_neighbours(const Known& g, const KernelOp& op, Rewrite& out) {
  if (!joins_two(g, op)) return false;
  const Rotation r = rotation(g, before_one(g, op.inputs[0]), before_one(g, op.inputs[1]), seen_neighbour);
  if (r.whole < 0 || g.shape(r.whole) != g.shape(op.outputs[0])) return false;
  const Shape shape = flat(g.shape(r.whole));
  for (const int angles : {r.cos, r.sin})
    if (!are_angles(g.shape(angles), shape) || 2 * g.shape(angles).back() != shape.back()) return false;
  int x = seen(g, r.whole);
  if (g.shape(x) != shape) x = out.step(op, OpKind::reshape, {r.whole}, {.sizes = shape}, "_flat");
  const int made = out.step(op, OpKind::rotary_interleaved, {x, r.cos, r.sin}, {}, "_rotated");
  return out.replace(op, OpKind::reshape, {made}, {.sizes = g.shape(op.outputs[0])});
}

/// x cos + (-b, a) sin -> rotary(x, cos, sin), or rotary_interleaved if a and b are the neighbours of x.
template <OpKind kind>
bool rotary_by_rotated(const Known& g, const KernelOp& op, Rewrite& out) {
  constexpr bool halves = kind == OpKind::rotary;
  if (op.kind != OpKind::add || op.inputs.size() != 2) return false;
  for (const std::size_t i : {0, 1}) {
    const KernelOp* straight = g.inner(op.inputs[i], OpKind::mul, 2);
    const KernelOp* rotated = g.inner(op.inputs[1 - i], OpKind::mul, 2);
    for (const std::size_t k : {0, 1}) {
      if (!rotated || !straight) continue;
      const KernelOp* view = halves ? nullptr : g.inner(rotated->inputs[k], OpKind::reshape);
      if (!halves && !view) continue;
      const KernelOp* joined = g.inner(halves ? rotated->inputs[k] : view->inputs[0], OpKind::concat, 2);
      const int whole = rotated_whole(g, joined, halves ? half : neighbour), sin = rotated->inputs[1 - k];
      for (const std::size_t r : {0, 1}) {
        const int x = straight->inputs[r], cos = straight->inputs[1 - r];
        const bool same =
            halves ? x == whole : whole >= 0 && g.shape(x) == flat(g.shape(whole)) && seen(g, x) == seen(g, whole);
        if (same && g.shape(cos).back() == g.shape(x).back() && g.shape(sin).back() == g.shape(x).back())
          return becomes_rotary(g, op, x, cos, sin, out, kind);
      }
    }
  }
  return false;
}
bool rotary_of_rotated(const Known& g, const KernelOp& op, Rewrite& out) {
  return rotary_by_rotated<OpKind::rotary>(g, op, out);
}
bool rotary_of_rotated_neighbours(const Known& g, const KernelOp& op, Rewrite& out) {
  return rotary_by_rotated<OpKind::rotary_interleaved>(g, op, out);
}

/// rotary(x, (c, c), (s, s)) -> rotary(x, c, s), and the same of an interleaved one.
bool repeated_angles(const Known& g, const KernelOp& op, Rewrite& out) {
  if (!is_rotary(op.kind)) return false;
  const auto once = [&](int t) { return op.kind == OpKind::rotary ? once_of(g, t) : expanded_once(g, t, true); };
  const int x = op.inputs[0], cos = once(op.inputs[1]), sin = once(op.inputs[2]);
  return cos != op.inputs[1] && sin != op.inputs[2] && 2 * g.shape(cos).back() == g.shape(x).back() &&
         becomes_rotary(g, op, x, cos, sin, out, op.kind);
}

}  // namespace zellige::rewrite
