// Shrinks two graphs to sizes as small as their structure allows.
//
//   SmallPair s = shrink(A, B, pairing);     // both valid; shapes of paired inputs and outputs agree
//
// An extent of 1 stays 1, any other stays above 1: every grid axis, every loop and every tile keeps its role.
// Divisibility is preserved, sizes that were equal in both graphs stay equal, and where the graphs divide one
// extent differently, the larger size stays larger, as long as sizes stay small. The parts of a concat or
// split keep their proportions if the whole is also divided in another way.
#pragma once
#include "graph/graph.hpp"
#include "search/match.hpp"

namespace zellige::search {

struct SmallPair {
  graph::KernelGraph a, b;
  bool shrunk = false;  // smaller than given
  bool kept = false;    // sizes that a scalar represents were kept
};

SmallPair shrink(const graph::KernelGraph& a, const graph::KernelGraph& b, const Pairing&);

/// Approximate number of multiplications and additions to evaluate a graph.
double work(const graph::KernelGraph&);

}  // namespace zellige::search
