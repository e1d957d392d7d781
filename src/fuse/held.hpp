// What a block holds of a value while the loop runs: the value itself, or something that is it once the loop has ended.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "fuse/steps.hpp"

namespace zellige::fuse {

/// Something known after the loop that a value inside is to be multiplied with or divided by.
struct Factor {
  int value = -1;  // of the steps
  bool divide = false;
  bool operator==(const Factor&) const = default;
};

struct Held {
  enum class Kind : std::uint8_t {
    plain,
    maximum,  // over the loop, of value `of` inside, once `monotone` is applied to it
    offset,   // the value, less coefficient * (last maximum - running maximum)
    scaled    // the value, over exp(coefficient * (last maximum - running maximum))
  } kind = Kind::plain;
  int tile = -1;        // of the block; -1: a maximum whose end nobody has asked for
  bool varies = false;  // from iteration to iteration
  bool after = false;   // known after the loop alone
  bool inner = false;   // changes with the block's loop, where that runs along another axis than the parts
  std::vector<Factor> factors{};
  int running = -1;  // which running maximum
  double coefficient = 0;
  // A maximum's.
  int of = -1, dim = -1;
  std::vector<Step> monotone{};

  /// Of a maximum: is it never less than some number?
  bool bounded_below() const {
    return std::ranges::any_of(monotone, [](const Step& s) {
      return s.kind == graph::OpKind::clamp || s.kind == graph::OpKind::maximum;
    });
  }
  bool waits() const { return after && !varies; }
  bool itself() const { return kind == Kind::plain && factors.empty(); }
  /// Are sums of both what the sum of both is held as?
  bool like(const Held& o) const {
    return kind == o.kind && running == o.running && coefficient == o.coefficient && factors == o.factors;
  }
};

/// Is f(max x) = max f(x)? Of steps with one operand and maybe a scalar, or another that the loop does not change.
bool is_monotone(const Step&);

/// What is held of f(x) if `h` is held of x and f is applied to it; f has one operand. False where that is not f(x).
bool through(const Step&, Held& h);

/// The same of f(x, y), both of them inside the loop; what is held of f is left in x.
bool through(const Step&, Held& x, const Held& y);

}  // namespace zellige::fuse
