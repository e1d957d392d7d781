// Moves inputs onto the boundaries of what two graphs decide: where numbers that they compare are equal, where a maximum goes from
// one operand to another, where the argument of a root or logarithm is 0. Each is an equation; inputs are moved so that a random subset
// of them holds, jointly.
#pragma once
#include <functional>

#include "number/field.hpp"
#include "number/traced.hpp"
#include "reference/inputs.hpp"
#include "search/match.hpp"

namespace zellige::search {

using FieldInputs = std::vector<reference::ArrayOf<number::FieldNumber>>;

/// The outputs of both graphs at the inputs that were drawn, and at those that were moved.
struct TiePoint {
  FieldInputs drawn_a, drawn_b, a, b;
};

/// Draws inputs of a finite field by draw_inputs(attempt) and moves them, so that each pair of numbers that a graph compares is equal
/// with a chance of one third, whatever the other pairs are. Pairs that cannot be equal at once with those already selected are omitted.
/// Returns the outputs, or nullopt if in several attempts no inputs were found for the selected ties.
std::optional<TiePoint> tie_point(number::Field&, const GraphPair&, std::uint64_t seed,
                                  const std::function<FieldInputs(std::uint64_t attempt)>& draw_inputs);

/// Moves real `inputs` so that a random subset of the graphs' comparisons is decided by equal numbers, and others by numbers that are
/// close, jointly where that is possible. Returns the sharpest edge at which the graphs decide, or nullopt if they decide nothing at
/// these inputs.
std::optional<number::Edge> to_boundary(const GraphPair&, const std::vector<graph::Numbers>&, std::uint64_t seed,
                                        std::vector<reference::Array>& inputs);

}  // namespace zellige::search
