// Represents a value that a thread block cannot complete inside its loop, because an operand is known only
// after the loop. A deferred value consists of a tile, which is computed in the loop, and of terms (factors
// or an offset), which are applied to the tile after the loop. For example, let m be the maximum over the
// loop and m' the running maximum. Then exp(x - m) consists of the tile exp(x - m') and of the factor exp(m'
// - m), by which the tile is multiplied.
#pragma once
#include <compare>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "candidate/steps.hpp"

namespace zellige::candidate {

/// A factor of a value inside the loop that is known only after the loop. `divide`: the value is to be divided by it.
struct DeferredFactor {
  int value = -1;  // of the steps
  bool divide = false;
  auto operator<=>(const DeferredFactor&) const = default;
};

/// What a block has of one value of the group: a tile, and the terms that are applied to it after the loop.
struct Deferred {
  enum class Kind : std::uint8_t {
    exact,    // the tile is the value, except for `factors`
    maximum,  // the value is the maximum over the loop of value `of` after the steps `monotone`
    offset,   // the tile is the value - coefficient * (last maximum - running maximum)
    scaled,   // the tile is the value / exp(coefficient * (last maximum - running maximum))
    // Of a split loop whose blocks have one tile each, where a value that is known after the loop is subtracted, such as
    // a mean: the tile is the operand minus the mean of its elements in the block's part of the loop ..
    centred,
    squared  // .. or the square of that
  } kind = Kind::exact;
  int tile = -1;        // of the block graph; -1: a maximum whose accumulator is not emitted yet
  bool varies = false;  // changes with the iteration
  bool after = false;   // known only after the loop
  // Changes with the block's own loop, if that runs along another axis than the one that blocks split.
  bool inner = false;
  std::vector<DeferredFactor> factors{};  // applied after the loop
  int running = -1;                       // offset, scaled: index of the running maximum
  double coefficient = 0;                 // offset, scaled
  // centred, squared: the value that is subtracted, and the value that is the sum of the operand over the loop.
  int centre = -1, about = -1;
  int of = -1, dim = -1;              // maximum: the value and dimension that it is taken of
  std::vector<GroupStep> monotone{};  // maximum: steps applied to `of` first

  /// Returns whether this maximum is bounded below by a finite number, because it is clamped.
  bool bounded_below() const;
  /// Returns whether the value is known only after the loop.
  bool waits() const { return after && !varies; }
  /// Returns whether the tile is the value itself: no factor or offset is applied to it after the loop.
  bool itself() const { return kind == Kind::exact && factors.empty(); }
  /// Returns whether this value's tile may be added to that of `o`: the same factors and offset are applied
  /// to both tiles after the loop.
  bool like(const Deferred& o) const {
    return kind == o.kind && running == o.running && coefficient == o.coefficient && factors == o.factors &&
           centre < 0 && o.centre < 0;
  }
};

/// A row of the table of laws by which steps pass what is applied to a tile after the loop.
struct DeferralLaw {
  std::string_view name, condition;  // shown in the documentation
  /// As through(), for what the law is about.
  bool (*apply)(const GroupStep&, Deferred& x, const Deferred* y);
};
std::span<const DeferralLaw> laws();

/// Applies step f, of one or two operands, to deferred value `x`, and to `y` unless it is nullptr: after the call `x`
/// represents f(x) or f(x, y), except for x.tile, which the caller updates. Of values that change in the loop both do;
/// the other operand of a step on a maximum does not. Returns false if no law says that f commutes with the factors,
/// offset or scale that are applied to the tiles after the loop, or with the maximum.
bool through(const GroupStep&, Deferred& x, const Deferred* y = nullptr);

/// Throws Error if, for a row of minus infinities, a fused kernel of these steps (operators) might return a number
/// although the operators return NaN. deferred[v] is value v as a block has it inside the loop. `again`: the rows are
/// split over blocks, and a later kernel computes the values before a sum again, from the exact maximum
/// (infinite_rows.cpp).
void require_nan_rows(const GroupSteps&, const std::vector<Deferred>& deferred, bool again);

}  // namespace zellige::candidate
