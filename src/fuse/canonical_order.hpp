// Puts the operators of a candidate kernel in a canonical order. Candidates that differ only in the order of
// independent parts become equal, so that one plan and one cost estimate serve all of them. For example, the
// three two-expert kernels of a mixture of three equal experts are planned once.
#pragma once
#include "graph/graph.hpp"

namespace zellige::fuse {

/// Returns the graph of one custom operator with its block operators in canonical order: independent parts
/// are sorted by what they compute, not by their original position. Parts are independent if they have no
/// more than loads in common. Within a part the order is kept, because plans depend on it, and parts that
/// compute the same keep their relative order. Returns the graph unchanged if it has several operators, no
/// custom one, or writes in place.
graph::KernelGraph in_one_order(graph::KernelGraph);

}  // namespace zellige::fuse
