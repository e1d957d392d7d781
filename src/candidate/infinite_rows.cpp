#include "candidate/infinite_rows.hpp"

#include <algorithm>
#include <utility>

#include "graph/error.hpp"

namespace zellige::fuse {
namespace {

/// What a fused kernel computes for a value in a row that consists of minus infinities, if this is not the NaN that the
/// unfused operators compute.
struct Lost {
  enum class Is : std::uint8_t {
    nothing,   // what the operators compute
    infinite,  // x - maximum: minus infinity
    zero,      // exp(x - maximum), and what is linear in it
    log        // the logarithm of a zero: minus infinity
  } is = Is::nothing;
  std::pair<int, int> of{-1, -1};  // which maximum: the value and dimension that it is taken of
  int maximum = -1;                // a value of Steps that is this maximum
  // Before a sum: where a later kernel computes such values again, from the exact maximum, they are NaN there.
  bool early = true;

  bool operator==(const Lost& o) const { return is == o.is && of == o.of; }
};
using Is = Lost::Is;

class Rows {
 public:
  Rows(const Steps& steps, const std::vector<Deferred>& deferred, bool again)
      : steps_(steps), deferred_(deferred), again_(again), lost_(steps.values.size()) {}

  void check() {
    for (const Step& s : steps_.steps) {
      if (subtracts_running_maximum(s))
        lost_[s.output] = {
            Is::infinite, {deferred_[s.inputs[1]].of, deferred_[s.inputs[1]].dim}, s.inputs[1]};
      else if (std::ranges::any_of(s.inputs, [&](int v) { return lost_[v].is != Is::nothing; }))
        lost_[s.output] = result(s);
    }
    for (int v : steps_.outputs)
      if (lost_[v].is != Is::nothing && !(again_ && lost_[v].early))
        fail("an output of the group would be a number where a row of -inf alone gives NaN");
  }

 private:
  [[noreturn]] static Lost refused(const Step& s) {
    fail("{} would read a number where a row of -inf alone gives NaN", graph::name(s.kind));
  }

  /// Returns whether the step subtracts a maximum that a running maximum replaces inside the loop, and that is not
  /// clamped to a finite number.
  bool subtracts_running_maximum(const Step& s) const {
    if (s.kind != OpKind::sub || s.inputs.size() != 2) return false;
    const Deferred& h = deferred_[s.inputs[1]];
    return h.kind == Deferred::Kind::maximum && !h.bounded_below();
  }

  /// Returns how a sum of values that differ as in `x` differs from what the operators compute: as its operand, but
  /// after a sum.
  static Lost summed(Lost x) {
    x.early = false;
    return x;
  }

  /// Returns how the fused kernel's result of step `s`, in a row of minus infinities, differs from the NaN that the
  /// unfused operators compute. Throws Error if the result would be a number that later steps are not known to turn
  /// into NaN.
  Lost result(const Step& s) const {
    if (again_ && s.inputs.size() == 2) {  // NaN, computed again, with what a sum lost
      const Lost x = lost_[s.inputs[0]], y = lost_[s.inputs[1]];
      const bool arithmetic =
          s.kind == OpKind::add || s.kind == OpKind::sub || s.kind == OpKind::mul || s.kind == OpKind::div;
      const bool both = x.is != Is::nothing && y.is != Is::nothing && x.of == y.of;
      if (arithmetic && both && x.early != y.early) return {};
    }
    return s.inputs.size() == 1 ? unary(s) : s.inputs.size() == 2 ? binary(s) : refused(s);
  }

  /// Returns how the fused kernel's result of step `s`, which has one tensor operand, differs from NaN in a row of
  /// minus infinities, or throws Error, like result().
  Lost unary(const Step& s) const {
    const Lost x = lost_[s.inputs[0]];
    const bool linear = is_linear(s), mask = s.kind == OpKind::mask;
    switch (x.is) {
      case Is::infinite:
        if (s.kind == OpKind::exp) return {Is::zero, x.of, x.maximum, x.early};
        if ((linear && !mask) || s.kind == OpKind::add || s.kind == OpKind::sub) return x;
        break;
      case Is::zero: {
        if (linear) return x;
        if (s.kind == OpKind::log) return {Is::log, x.of, x.maximum, x.early};
        const std::size_t rank = steps_.values[s.inputs[0]].shape.size();
        if (s.kind == OpKind::reduction &&
            one_per_row(x, rank - 1 - static_cast<std::size_t>(s.attributes.dim)))
          return summed(x);
        break;
      }
      case Is::log:
        if (linear && s.kind == OpKind::cast) return x;
        break;
      case Is::nothing:
        break;
    }
    refused(s);
  }

  /// Returns how the result of step `s`, which has two tensor operands, differs from NaN in a row of minus
  /// infinities, or throws Error, like result().
  Lost binary(const Step& s) const {
    const Lost x = lost_[s.inputs[0]], y = lost_[s.inputs[1]];
    const bool same = x.of == y.of;
    switch (s.kind) {
      case OpKind::matmul:
        if (y.is == Is::nothing && x.is == Is::zero && one_per_row(x, 0)) return summed(x);
        if (x.is == Is::nothing && y.is == Is::zero && one_per_row(y, 1)) return summed(y);
        refused(s);
      case OpKind::mul:
        if (y.is == Is::nothing && x.is == Is::zero) return x;
        if (x.is == Is::nothing && y.is == Is::zero) return y;
        refused(s);
      case OpKind::div:
        if (x.is == Is::zero && y.is == Is::zero && same) return {};  // 0 / 0
        if (x.is == Is::zero && y.is == Is::nothing) return x;
        refused(s);
      case OpKind::add:
        if (x == y && x.is == Is::zero) return x;
        if (x.is == Is::infinite && y.is == Is::nothing) return x;
        if (y.is == Is::infinite && x.is == Is::nothing) return y;
        refused(s);
      case OpKind::sub:
        if (x.is == Is::infinite && y.is == Is::log && same) return {};  // infinity - infinity
        if (x == y && x.is == Is::zero) return x;
        if (x.is == Is::infinite && y.is == Is::nothing) return x;
        refused(s);
      default:
        refused(s);
    }
  }

  /// Returns whether a sum of value `x` along one dimension, `back` positions before the last, stays within one row.
  /// This is so if the row maximum that was subtracted to compute `x` has extent 1 along this dimension.
  bool one_per_row(const Lost& x, std::size_t back) const {
    return from_last(steps_.values[x.maximum].shape, back) == 1;
  }

  const Steps& steps_;
  const std::vector<Deferred>& deferred_;
  const bool again_;
  std::vector<Lost> lost_;
};

}  // namespace

void require_nan_rows(const Steps& steps, const std::vector<Deferred>& deferred, bool again) {
  Rows(steps, deferred, again).check();
}

}  // namespace zellige::fuse
