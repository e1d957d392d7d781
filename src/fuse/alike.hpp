// One order for groups that compute the same: of three experts any two are one group seen three times, and one plan prices all three.
#pragma once
#include "graph/graph.hpp"

namespace zellige::fuse {

/// A graph of one custom operator whose parts that do not read each other, but what is loaded, stand in an order which what they compute
/// decides, not the order that they came in: graphs that differ in that alone become the same one, but for names. A part keeps the order
/// of its operators, which plans depend on. Parts that cannot be told apart keep theirs; other graphs are left as they are.
graph::KernelGraph in_one_order(graph::KernelGraph);

}  // namespace zellige::fuse
