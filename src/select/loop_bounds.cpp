#include "select/loop_bounds.hpp"

#include <algorithm>
#include <cmath>

#include "kernel/carry.hpp"

namespace zellige::plan {
namespace {

/// What every element of a value is in a fully masked iteration. `lowest` is minus infinity. `in_every_iteration` is
/// a number that the other iterations' values are not below, so that a maximum over the iterations does not need this
/// one. `as_it_was` is a loop state that equals the previous iteration's.
enum class Left : std::uint8_t { anything, lowest, in_every_iteration, zero, one, as_it_was };

/// Evaluates the loop's body abstractly for an iteration in which the node `mask` masks every element.
class Body {
 public:
  Body(const TileProgram& p, int mask) : p_(p), left_(p.nodes.size(), Left::anything) {
    for (std::size_t i = 0; i < p.nodes.size(); ++i)
      if (p.nodes[i].section == Section::inside)
        left_[i] = static_cast<int>(i) == mask ? Left::lowest : of(p.nodes[i]);
  }

  /// Returns whether a fully masked iteration leaves every loop state (accumulator or running maximum) that has a
  /// reader unchanged.
  bool unchanged() const {
    bool all = true;
    for (std::size_t i = 0; i < p_.nodes.size(); ++i) {
      const Node& n = p_.nodes[i];
      const bool state = n.carried || n.kind == NodeKind::accumulate || n.kind == NodeKind::running_max;
      if (state && n.section == Section::inside && !p_.consumers(static_cast<int>(i)).empty())
        all = all && left_[i] == Left::as_it_was;
    }
    return all;
  }

 private:
  Left in(const Node& n, std::size_t i) const { return left_[n.in[i]]; }

  /// Returns true if a maximum over all iterations stays the same when the masked iteration is skipped. `x` says what
  /// the elements of the maximum's operand are in that iteration, for example minus infinity.
  static bool no_new_maximum(Left x) { return x == Left::lowest || x == Left::in_every_iteration; }

  /// Returns what is known of a value after its conversion to the dtype; `x` is what is known before, for example that
  /// all elements are minus infinity. Minus infinity becomes a finite number or NaN in a dtype without infinity, and in
  /// a conversion that saturates.
  static Left stored(Left x, graph::DType dtype, bool saturate) {
    const bool infinite = dtype == graph::DType::f32 || dtype == graph::DType::f16 ||
                          dtype == graph::DType::bf16 || dtype == graph::DType::e5m2;
    if (graph::is_integer(dtype) || (x == Left::lowest && (!infinite || saturate))) return Left::anything;
    return x;
  }

  Left of(const Node& n) const {
    switch (n.kind) {
      case NodeKind::map:
        return map(n);
      case NodeKind::round:
        return stored(in(n, 0), n.dtype, false);
      case NodeKind::reduce: {
        const bool neutral =
            n.op == OpKind::reduction_max ? no_new_maximum(in(n, 0)) : in(n, 0) == Left::zero;
        return !neutral ? Left::anything : n.carried ? Left::as_it_was : in(n, 0);
      }
      case NodeKind::running_max:  // is never below its initial value, the lowest finite number
        return no_new_maximum(in(n, 0)) ? Left::as_it_was : Left::anything;
      case NodeKind::running_diff:
        return in(n, 0) == Left::as_it_was ? Left::zero : Left::anything;
      case NodeKind::matmul: {
        const bool kept = rescaled_by(n) < 0 || left_[rescaled_by(n)] == Left::one;
        return in(n, 0) != Left::zero || !kept ? Left::anything : n.carried ? Left::as_it_was : Left::zero;
      }
      case NodeKind::accumulate: {
        if (n.in.empty()) return Left::anything;
        const bool kept = n.op != OpKind::accum_rescale || in(n, 1) == Left::one;
        const bool neutral = n.op == OpKind::accum_max ? no_new_maximum(in(n, 0)) : in(n, 0) == Left::zero;
        return kept && neutral ? Left::as_it_was : Left::anything;
      }
      default:
        return Left::anything;
    }
  }

  Left map(const Node& n) const {
    const Left x = in(n, 0);
    switch (n.op) {
      case OpKind::cast:
        return stored(x, n.to_dtype, n.saturate);
      case OpKind::mul_scalar:
        return x == Left::zero || (no_new_maximum(x) && n.scalar > 0) ? x : Left::anything;
      case OpKind::sub:  // minus infinity minus a running maximum, which is finite
        return x == Left::lowest && n.in.size() > 1 && in(n, 1) == Left::as_it_was ? x : Left::anything;
      case OpKind::maximum:  // the other operand, which every iteration has
        return no_new_maximum(x) && (n.in.size() == 1 || p_.nodes[n.in[1]].section == Section::before)
                   ? Left::in_every_iteration
                   : Left::anything;
      case OpKind::exp:
        return x == Left::lowest ? Left::zero : x == Left::zero ? Left::one : Left::anything;
      default:
        return Left::anything;
    }
  }

  const TileProgram& p_;
  std::vector<Left> left_;
};

}  // namespace

std::int64_t MaskedLoopBounds::start(std::int64_t block) const {
  return from ? std::max<std::int64_t>(rows.start(block, 0) + *from, 0) / each : 0;
}

std::int64_t MaskedLoopBounds::of(std::int64_t block, std::int64_t loop) const {
  return std::min((rows.start(block, 0) + last) / each + 1, loop) - start(block);
}

std::int64_t MaskedLoopBounds::whole(std::int64_t block, std::int64_t loop) const {
  if (!all) return 0;
  const std::int64_t by_end = end ? *end / each : loop;
  return std::clamp<std::int64_t>(std::min((rows.start(block, 0) + *all) / each, by_end), 0, of(block, loop));
}

std::optional<MaskedLoopBounds> masked_loop_bounds(const Kernel& plan) {
  const TileProgram& p = plan.program;
  for (std::size_t i = 0; i < p.nodes.size(); ++i) {
    const Node& n = p.nodes[i];
    if (n.kind != NodeKind::map || n.op != OpKind::mask || n.section != Section::inside) continue;
    const View& v = n.view;
    const bool walks = v.iterates(n.key) && v.axis(n.key) < 0 && v.origin(n.key) == 0 && !v.iterates(n.dim) &&
                       v.axis(n.dim) >= 0;
    const bool alone = !n.kept.triu && n.in.size() == 1;
    if (!walks || !std::isinf(n.scalar) || n.scalar > 0) continue;
    const std::int64_t each = v.tile(n.key), every = p.loop * each;
    MaskedLoopBounds t{v.along(n.dim, p), every, each, {}, {}, n.kept.length, static_cast<int>(i)};
    if (n.kept.tril)  // the last key that the tile's last row keeps, relative to its first row
      t.last = n.shape[n.dim] - 1 + *n.kept.tril;
    else if (!alone || !n.kept.length)
      continue;
    if (alone) t.all = n.kept.tril ? *n.kept.tril + 1 : every;
    if (n.kept.triu) t.from = *n.kept.triu;
    if (t.last < 0) continue;
    // A block whose rows keep nothing would run no iteration.
    bool some = true;
    for (std::int64_t b = 0; b < p.grid[v.axis(n.dim)]; ++b) some = some && t.of(b, p.loop) > 0;
    if (some && (!n.kept.tril || Body(p, static_cast<int>(i)).unchanged())) return t;
  }
  return {};
}

}  // namespace zellige::plan
