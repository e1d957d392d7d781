// Evaluates two graphs in a finite field at inputs at which some of the numbers that they compare are equal. Each
// comparison is an equation in the field; inputs are moved so that a random subset of them holds, jointly.
#pragma once
#include <functional>

#include "number/field_dot.hpp"
#include "search/match.hpp"

namespace zellige::search {

using FieldInputs = std::vector<number::NumberTensor<number::FieldNumber>>;

/// The outputs of both graphs at the inputs that were drawn, and at those that were moved.
struct TiePoint {
  FieldInputs drawn_a, drawn_b, a, b;
};

/// Draws inputs by draw_inputs(attempt) and moves them, so that each pair of numbers that a graph compares is equal with
/// a chance of one third, whatever the other pairs are. Pairs that cannot be equal at once with those already chosen are
/// omitted. Returns the outputs, or nullopt if in several attempts no inputs were found for the chosen ties.
std::optional<TiePoint> tie_point(number::Field&, const KernelGraph& a, const KernelGraph& b, const Pairing&,
                                  std::uint64_t seed,
                                  const std::function<FieldInputs(std::uint64_t attempt)>& draw_inputs);

}  // namespace zellige::search
