// Shrinks two graphs to sizes as small as their structure allows, so that comparing them takes milliseconds.
//
//   SmallPair s = shrink({A, B, match(A, B)});     // both valid; shapes of paired inputs and outputs agree
//
// An extent of 1 stays 1 and any other stays above 1, so that the small graphs have several blocks, iterations and
// tiles where the given graphs have. Divisibility is preserved, and sizes that were equal in both graphs stay equal. If
// the graphs divide an extent differently, the larger size stays larger unless the sizes would become too large. The
// parts of a concat or split keep their proportions if the whole is also divided in another way.
//
// Equality at small sizes says little about the given sizes if different extents became equal: a mean over 2048
// and a mean over 8192 then look equal. shrink_distinct() returns larger graphs, in which such extents differ.
#pragma once
#include "graph/graph.hpp"
#include "search/match.hpp"

namespace zellige::search {

/// The two graphs at small sizes.
struct SmallPair {
  KernelGraph a, b;
  bool shrunk = false;  // some size is smaller than given
  bool kept = false;    // sizes that a scalar represents, as 1/4096 represents 4096, were kept
};

/// Returns both graphs at small sizes. Throws Error if an operator, such as a slice, has sizes that cannot shrink.
SmallPair shrink(const GraphPair&);

/// Returns one or several pairs of both graphs at small sizes. Considers sizes whose values may influence results,
/// such as the count of summands of a mean. Two such sizes that are equal in the given graphs are equal in every
/// returned pair; two that differ also differ in at least one of the pairs. Returns an empty list if that would take
/// too much work. Throws Error as shrink() does.
std::vector<SmallPair> shrink_distinct(const GraphPair&);

/// Returns approximately how many multiplications and additions the evaluation of a graph takes.
double work(const KernelGraph&);
double work(const SmallPair&);

}  // namespace zellige::search
