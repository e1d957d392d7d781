// Moves real inputs onto and beyond the boundaries of what two graphs decide: where numbers that they compare are equal,
// where a maximum goes from one operand to another, where the argument of a root or logarithm is 0.
#pragma once
#include "number/traced.hpp"
#include "reference/array.hpp"
#include "reference/inputs.hpp"
#include "search/match.hpp"

namespace zellige::search {

/// Moves `inputs` so that a random subset of the graphs' comparisons is decided by equal numbers, and others by numbers
/// that are close, jointly where that is possible. Returns the sharpest edge at which the graphs decide, or nullopt if
/// they decide nothing at these inputs.
std::optional<number::Edge> to_boundary(const KernelGraph& a, const KernelGraph& b, const Pairing&,
                                        const std::vector<graph::Numbers>&, std::uint64_t seed,
                                        std::vector<reference::Array>& inputs);

}  // namespace zellige::search
