// Compares two graphs at the tensor sizes that they declare: evaluates both in float64 at a few random inputs
// with the reference (reference/reference.hpp), but without rounding values to the dtypes of the graphs. A
// large distance between the results shows that the graphs differ. A small one proves nothing, because other
// inputs are not tried and float64 is not exact.
#pragma once
#include "search/equal.hpp"
#include "search/match.hpp"
#include "search/point.hpp"

namespace zellige::search {

/// The largest difference that was found.
struct GivenSizes {
  bool compared = false;                 // false: most elements were infinite or NaN at every scale of the inputs
  double distance = 0;                   // largest relative distance of two rows; infinite: one has a NaN or infinity
  std::string output;                    // name of the output
  graph::Shape element;                  // its coordinates in the output
  double in_a = 0, in_b = 0;             // its values
  std::vector<reference::Array> inputs;  // the inputs at which it differs
};

/// Compares the graphs at random inputs and returns the largest difference. Draws `points` inputs of each of
/// these scales (magnitudes and patterns of the values): `also`, if it is given; very small numbers; and the
/// first usual scale at which most outputs are finite. At very small inputs nothing overflows, so NaN in one
/// graph alone counts as a difference. Also draws `peaks` inputs in which each row has one element that is
/// the largest or the smallest (Scale::Kind::peaks).
GivenSizes given_sizes(const GraphPair&, std::uint64_t seed, std::optional<Scale> also = {}, int points = 1,
                       int peaks = 0);

/// Returns whether an element of the outputs is proved to differ at `inputs`: by more than the bound of the errors that
/// float64 makes in both graphs (rounded.hpp).
bool proved_in_float64(const GraphPair&, const std::vector<reference::Array>& inputs);
/// The same by balls (ball.hpp), which take a hundred times as long.
bool proved_in_balls(const GraphPair&, const std::vector<reference::Array>& inputs);

/// Returns whether float64 shows, with a bound of its errors, that no element of the outputs differs at `inputs` by more
/// than a fraction of 1e-11 of its value. False if the bound is larger for some element, or nothing is known of its class.
bool equal_in_float64(const GraphPair&, const std::vector<reference::Array>& inputs);

}  // namespace zellige::search
