// Deferred values: what a block has of a value during the loop, either the value itself or something that
// becomes it when the loop ends.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "fuse/steps.hpp"

namespace zellige::fuse {

/// A value known only after the loop by which a value inside is to be multiplied or divided.
struct Factor {
  int value = -1;  // of the steps
  bool divide = false;
  bool operator==(const Factor&) const = default;
};

struct Deferred {
  enum class Kind : std::uint8_t {
    exact,
    maximum,  // over the loop, of the inner value `of` after the steps `monotone`
    offset,   // the value - coefficient * (last maximum - running maximum)
    scaled    // the value / exp(coefficient * (last maximum - running maximum))
  } kind = Kind::exact;
  int tile = -1;        // of the block; -1: a maximum whose final value is not needed yet
  bool varies = false;  // changes with the iteration
  bool after = false;   // known only after the loop
  // Changes with the block's loop, where that runs along an axis other than the split one.
  bool inner = false;
  std::vector<Factor> factors{};
  int running = -1;  // index of the running maximum
  double coefficient = 0;
  // Of a maximum:
  int of = -1, dim = -1;
  std::vector<Step> monotone{};

  /// Returns whether this maximum has a lower bound.
  bool bounded_below() const {
    return std::ranges::any_of(monotone, [](const Step& s) {
      return s.kind == graph::OpKind::clamp || s.kind == graph::OpKind::maximum;
    });
  }
  bool waits() const { return after && !varies; }
  bool itself() const { return kind == Kind::exact && factors.empty(); }
  /// Returns whether both have the same deferred terms, so that a sum of the deferred values is the deferred
  /// sum.
  bool like(const Deferred& o) const {
    return kind == o.kind && running == o.running && coefficient == o.coefficient && factors == o.factors;
  }
};

/// Returns whether f(max x) = max f(x). Requires one operand, and at most a scalar or a second operand that
/// is loop-invariant.
bool is_monotone(const Step&);

/// Applies the unary step f to a deferred value: on success `h` represents f(x). Returns false if f does not
/// commute with what is deferred.
bool through(const Step&, Deferred& h);

/// The same for f(x, y) with both inside the loop; the result is left in `x`.
bool through(const Step&, Deferred& x, const Deferred& y);

}  // namespace zellige::fuse
