// One order for groups that compute the same: of three experts any two are one group seen three times, and one plan prices all three.
#pragma once
#include "graph/graph.hpp"

namespace zellige::fuse {

/// A graph of one custom operator with its operands, results, tiles and operators in an order which what they compute decides, not the
/// order that they came in: graphs that differ in that alone become the same one, but for names. Where two operators cannot be told
/// apart by what they read and what reads them, they keep their order; other graphs are left as they are.
graph::KernelGraph in_one_order(graph::KernelGraph);

}  // namespace zellige::fuse
