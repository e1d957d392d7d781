// Two graphs at sizes as small as their structure allows.
//
//   SmallPair s = shrink(A, B, pairing);     // both valid; shapes of paired inputs and outputs agree
//
// An extent of 1 stays 1, any other stays above 1: every grid axis, every loop and every tile keeps its part.
// What must divide still divides, what was the same in both graphs is the same, and of what was different in
// two ways to cut one extent the greater stays the greater, if sizes stay small. The parts of a concat or
// split keep their proportions where the whole is cut in another way, too.
#pragma once
#include "graph/graph.hpp"
#include "search/match.hpp"

namespace zellige::search {

struct SmallPair {
  graph::KernelGraph a, b;
  bool shrunk = false;  // smaller than given
  bool kept = false;    // sizes that a scalar names stayed as given
};

SmallPair shrink(const graph::KernelGraph& a, const graph::KernelGraph& b, const Pairing&);

/// Multiplications and additions that evaluating a graph takes, roughly.
double work(const graph::KernelGraph&);

}  // namespace zellige::search
