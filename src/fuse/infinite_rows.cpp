#include "fuse/infinite_rows.hpp"

#include <algorithm>

#include "graph/dtype.hpp"
#include "graph/error.hpp"

namespace zellige::fuse {
namespace {

/// What a value is in a row of minus infinities alone, if it is not the NaN that the operators compute.
struct Lost {
  enum class Is : std::uint8_t {
    nothing,   // what the operators compute
    infinite,  // x - maximum: minus infinity
    zero,      // exp(x - maximum), and what is linear in it
    log        // the logarithm of a zero: minus infinity
  } is = Is::nothing;
  int running = -1;  // which maximum
  int maximum = -1;  // its value in Steps
  // Before a sum: where a later kernel computes such values again, from the exact maximum, they are NaN there.
  bool early = true;

  bool operator==(const Lost& o) const { return is == o.is && running == o.running; }
};
using Is = Lost::Is;

class Rows {
 public:
  Rows(const Steps& steps, bool again) : steps_(steps), again_(again), lost_(steps.values.size()) {}

  void check(const std::function<std::optional<int>(int)>& running) {
    for (const Step& s : steps_.steps) {
      const bool subtracts = s.kind == OpKind::sub && s.inputs.size() == 2;
      if (const auto r = subtracts ? running(s.inputs[1]) : std::nullopt)
        lost_[s.output] = {Is::infinite, *r, s.inputs[1]};
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

  /// Returns how the result of a step differs, in a row of minus infinities, from what the operators compute. Throws
  /// Error if the result would be a number that no later step turns into NaN.
  Lost result(const Step& s) const {
    if (again_ && s.inputs.size() == 2) {  // NaN, computed again, with what a sum lost
      const Lost x = lost_[s.inputs[0]], y = lost_[s.inputs[1]];
      const bool arithmetic =
          s.kind == OpKind::add || s.kind == OpKind::sub || s.kind == OpKind::mul || s.kind == OpKind::div;
      const bool both = x.is != Is::nothing && y.is != Is::nothing && x.running == y.running;
      if (arithmetic && both && x.early != y.early) return {};
    }
    return s.inputs.size() == 1 ? unary(s) : s.inputs.size() == 2 ? binary(s) : refused(s);
  }

  /// Returns how the result of a step with one tensor operand differs, in a row of minus infinities, from what the
  /// operators compute. Throws Error if the result would be a number that no later step turns into NaN.
  Lost unary(const Step& s) const {
    const Lost x = lost_[s.inputs[0]];
    switch (s.kind) {
      case OpKind::permute:
      case OpKind::reshape:
      case OpKind::expand:
      case OpKind::slice:
        return x;
      case OpKind::cast:
        if (graph::is_integer(s.attributes.dtype) || s.attributes.saturate) refused(s);
        return x;
      case OpKind::mul_scalar:
      case OpKind::div:
      case OpKind::neg:
        if (x.is == Is::log) refused(s);
        return x;
      case OpKind::add:
      case OpKind::sub:
        if (x.is != Is::infinite) refused(s);
        return x;
      case OpKind::mask:
        if (x.is != Is::zero || s.attributes.value != 0) refused(s);
        return x;
      case OpKind::exp:
        if (x.is != Is::infinite) refused(s);
        return {Is::zero, x.running, x.maximum, x.early};
      case OpKind::log:
        if (x.is != Is::zero) refused(s);
        return {Is::log, x.running, x.maximum, x.early};
      case OpKind::reduction:
      case OpKind::sum:
      case OpKind::mean: {
        const auto rank = steps_.values[s.inputs[0]].shape.size();
        if (x.is != Is::zero || !one_per_row(x, rank - 1 - static_cast<std::size_t>(s.attributes.dim)))
          refused(s);
        return {x.is, x.running, x.maximum, false};
      }
      default:
        refused(s);
    }
  }

  /// Returns how the result of a step with two tensor operands differs, in a row of minus infinities, from what the
  /// operators compute. Throws Error if the result would be a number that no later step turns into NaN.
  Lost binary(const Step& s) const {
    const Lost x = lost_[s.inputs[0]], y = lost_[s.inputs[1]];
    const bool same = x.running == y.running;
    switch (s.kind) {
      case OpKind::matmul:
        if (y.is == Is::nothing && x.is == Is::zero && one_per_row(x, 0))
          return {x.is, x.running, x.maximum, false};
        if (x.is == Is::nothing && y.is == Is::zero && one_per_row(y, 1))
          return {y.is, y.running, y.maximum, false};
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

  /// Returns whether the maximum that was subtracted in `x` has extent 1 along the dimension `back` positions before
  /// the last. A sum of `x` along this dimension is then within one row.
  bool one_per_row(const Lost& x, std::size_t back) const {
    const Shape& s = steps_.values[x.maximum].shape;
    return back >= s.size() || s[s.size() - 1 - back] == 1;
  }

  const Steps& steps_;
  const bool again_;
  std::vector<Lost> lost_;
};

}  // namespace

void require_nan_rows(const Steps& steps, bool again,
                      const std::function<std::optional<int>(int value)>& running) {
  Rows(steps, again).check(running);
}

}  // namespace zellige::fuse
