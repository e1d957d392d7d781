// The table of rewrites of a group's steps. A rule changes no number that the group stores.
//
//   Steps s = rewritten(steps_of(graph, ops), When::grouped, {graph, target});
//
// rules.cpp has the table, with the conditions in words.
#pragma once
#include <optional>
#include <span>
#include <string_view>

#include "candidate/axes.hpp"
#include "target/target.hpp"

namespace zellige::fuse {

/// When rules are applied.
enum class When : std::uint8_t {
  grouped,  // once, before the group has tiles
  tiled     // to the steps of a kernel, whose tiles do not divide some axes
};

/// What a rule reads besides the steps.
struct Grouped {
  const KernelGraph& graph;
  const target::Target& target;
  std::vector<int> partial = {};  // When::tiled: the axes whose last tile is partial, as indices of axes_of(steps).axes
};

/// Returns the rewritten steps, or nullopt if the rule does not apply. It does not apply to what it has made.
using OfSteps = std::optional<Steps>(const Steps&, const Grouped&);

/// A row of the table.
struct StepsRule {
  When when;
  std::string_view name, condition;  // shown in the documentation
  OfSteps* apply;
};

std::span<const StepsRule> steps_rules();
/// Applies the rules of that time in order, each once.
Steps rewritten(Steps, When, const Grouped&);

/// Merges dimensions, as PyTorch's TensorIterator does (coalesce.cpp). The merged dimension takes the place of the last
/// one, and the others get extent 1.
OfSteps coalesce;
/// Masks what lies beyond the end of axes that are reduced over (mask_partial_tiles.cpp). An axis has the same index in
/// axes_of() of the result. Throws Error if a tensor that needs a mask has only one dimension, because a mask needs two.
OfSteps mask_partial_tiles;

}  // namespace zellige::fuse
