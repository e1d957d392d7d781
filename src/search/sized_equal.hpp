// Whether two graphs with sizes that are known at launch (graph/sized_graph.hpp) compute the same.
//
// They do for all values of the sizes if both have the same operators on the same operands, with attributes that are equal for all
// values. They also do if they are equal for one value of each size, and both compute what is along its dimension independently for each
// element (independent.hpp). Else they are compared as graphs of constants, at some values of the sizes for which that does not hold: the
// ends of the ranges, one multiple within, the typical ones, and random ones. What is equal there is not proved for the others.
#pragma once
#include "graph/sized_graph.hpp"
#include "search/equal.hpp"

namespace zellige::search {

/// Returns the answer for two valid graphs, of which at least one has sizes. Its `why` says for which values it holds. Throws Error
/// if they have different sizes, or cannot be compared.
Equality equal_sized(const graph::KernelGraph& a, const graph::KernelGraph& b, const EqualOptions&);

/// Returns the values of the sizes at which graphs are compared, at most 24: all least and all greatest ones first.
std::vector<graph::SizeValues> looked_at(const std::vector<graph::NamedSize>&, std::uint64_t seed);

}  // namespace zellige::search
