// Random errors of a right kernel's size, for runs of the reference with random rounding.
#pragma once
#include <optional>

#include "reference/rounding.hpp"

namespace zellige::reference {

/// Applies random errors to values, each no larger than a right kernel's may be. A sample is a run of the reference with
/// random rounding. Results depend only on the sample's number, the operator and the block, so that it can be repeated.
class Noise {
 public:
  Noise() = default;
  Noise(std::uint64_t sample, int op, std::int64_t block);

  /// Moves each x, a result of an operator, by a random amount between half of `own` and all of `own`, up or
  /// down. `own` bounds the operator's own error. In a quarter of the calls all elements move away from zero,
  /// or all toward zero, to imitate a bias of the function or of the order of summation.
  void move(std::span<double> x, std::span<const double> own);

  /// Moves each x as rounding to a dtype might: independently, by up to max_rounding(). Elements that are 0 remain 0.
  void round(graph::DType, std::span<double> x);

  /// Perturbs the results x of a comparison where the operands' errors allow 0 as well as 1 (`error` is 1). The change
  /// depends on the number of the sample:
  ///
  /// - Samples 1 and 2: opposite random results, so that each result is 0 in one sample and 1 in the other.
  ///   By chance alone, some of hundreds of results would be the same in all samples.
  /// - Samples 3 and 4: all results are 1, then all are 0, because a kernel that rounds less than the graph
  ///   may move all results in one direction.
  /// - Later samples: flips a random half of the results.
  void perturb(std::span<double> x, std::span<const double> error);

  /// Perturbs y = cast(x), a cast to an integer. If the error of an element of x allows two results, sets the element of
  /// y to one of them. In samples 1 to 4, each of the two results occurs twice; in later samples, a random half of these
  /// elements gets one of the two at random.
  void cut(const graph::Attributes&, std::span<const double> x, std::span<const double> error, std::span<double> y);

  /// Rounds each x to a dtype. If a rounding boundary is within the error of x, of three consecutive samples one rounds
  /// the element down, one up and one to nearest.
  void store(graph::DType, std::span<double> x, std::span<const double> error);

 private:
  /// Returns 64 random bits.
  std::uint64_t next();
  /// Returns whether the next element with two possible values gets the greater one in this sample. Over samples 1 to 4,
  /// the answer for an element is true twice and false twice. Returns nullopt in later samples.
  std::optional<bool> first_side();
  std::uint64_t state_ = 0;
  std::uint64_t sample_ = 0, element_ = 0;  // element_: a counter that is the same in all samples
};

}  // namespace zellige::reference
