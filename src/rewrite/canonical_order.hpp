// Puts the operators of a candidate kernel in a canonical order. Candidates that differ only in the order of
// independent operators become equal, so that one plan and one cost estimate serve all of them. For example,
// a mixture of three equal experts has three candidates of two experts each, which are planned once.
#pragma once
#include "rewrite/graph_words.hpp"

namespace zellige::rewrite {

/// Returns the graph of one custom operator with its block operators in canonical order. Independent parts,
/// which are sets of operators that have at most loads in common, are sorted by what they compute instead of
/// their original position. Parts that compute the same keep their relative order. Operators within a part
/// keep their order, because plans depend on it. Returns the graph unchanged if it has several operators, no
/// custom operator, an operator that writes in place, or an unused tile or tensor.
KernelGraph in_one_order(KernelGraph);

}  // namespace zellige::rewrite
