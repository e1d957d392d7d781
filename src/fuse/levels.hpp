// Applies the levels of rules to a graph that is fused.
#pragma once
#include "candidate/expected_time.hpp"
#include "rewrite/watch.hpp"
#include "rules/table.hpp"

namespace zellige::fuse {

/// Applies the rules of a level to a graph, until none applies or `watch` ends it. Returns whether one has applied. An
/// application that is taken back (rewrite/measure.hpp) is recorded in `known`, like a rejected plan: a fault of ours.
bool apply(rules::Level, graph::KernelGraph&, const rewrite::Watch&, candidate::CostCache& known);

}  // namespace zellige::fuse
