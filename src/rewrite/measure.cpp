#include "rewrite/measure.hpp"

#include <algorithm>

#include "reference/structure.hpp"
#include "rewrite/rewrite.hpp"
#include "rules/table.hpp"

namespace zellige::rewrite {
namespace {

// A rule adds a dozen operators to those that it removes at most, and few rules add any.
constexpr std::size_t growth = 16, room = 64;

/// Returns the number of operators, those of block graphs included.
std::size_t operators(const KernelGraph& g) {
  std::size_t count = g.ops.size();
  for (const KernelOp& op : g.ops) count += op.block ? op.block->ops.size() : 0;
  return count;
}

/// Returns the graph with its tensors numbered in the order in which they are made, as a string without names.
std::string in_one_numbering(KernelGraph g) {
  std::vector<int> order = g.inputs;
  for (const KernelOp& op : g.ops) order.insert(order.end(), op.outputs.begin(), op.outputs.end());
  return reference::structure(with_tensors(std::move(g), order));
}

}  // namespace

Measure::Measure(const KernelGraph& first) : max_operators_(growth * operators(first) + room) {
  made_.insert(in_one_numbering(first));
}

bool Measure::falls_to(const KernelGraph& made) {
  return operators(made) <= max_operators_ && made_.insert(in_one_numbering(made)).second;
}

bool rewrite(Level level, KernelGraph& g, const Watch& watch, std::vector<std::string>& faults,
             std::vector<std::string>* names) {
  std::optional<rewrite::Measure> left;  // begins with the first application
  std::size_t applied = 0;
  const auto taken = [&](const auto& rule, const KernelGraph& before, const KernelGraph& made) {
    if (!left) left.emplace(before);
    if (left->falls_to(made)) {
      if (names && std::ranges::count(*names, rule.name) == 0) names->emplace_back(rule.name);
      return true;
    }
    const bool large = operators(made) > left->max_operators();
    faults.push_back(fmt::format("{}: the rule {} {}, after {} applications of rules of the level {}", g.name,
                                 rule.name, large ? "makes ever more operators" : "undoes what others did", applied,
                                 rules::level_names[static_cast<std::size_t>(level)]));
    return false;
  };
  const auto goes_on = [&] { return ++applied, !watch || watch({"rules applied", applied, applied}); };
  return rules::rewrite_if(rewrite::graph_rules, level, g, taken, goes_on);
}

}  // namespace zellige::rewrite
