#include "plan/plan.hpp"

#include <optional>
#include <set>
#include <utility>

#include "cost/better.hpp"
#include "graph/error.hpp"
#include "kernel/launches.hpp"
#include "lower/lower.hpp"
#include "lower/sizes.hpp"
#include "plan/dependence.hpp"
#include "plan/estimate.hpp"
#include "plan/prove.hpp"
#include "plan/registers.hpp"
#include "rules/table.hpp"
#include "selection/layouts.hpp"
#include "selection/select.hpp"
#include "tile/at_sizes.hpp"
#include "verify/proofs.hpp"

namespace zellige::plan {

tile::TilePrograms planned(const Plan& plan) {
  tile::TilePrograms program = plan.program;
  program.kernels.clear();
  for (const kernel::Kernel& k : plan.kernels) program.kernels.push_back(k.program);
  return program;
}

namespace {

/// Returns the sketch of a lowered program.
Plan sketched(tile::TilePrograms program, const target::Target& target) {
  Plan plan;
  plan.target = std::string(target.name);
  plan.program = std::move(program);
  Selected s = selected(std::move(plan), target);
  plan = std::move(s.plan);
  plan.sketched = true;
  for (selection::Selection& each : s.kernels)
    plan.kernels.push_back(choose(std::move(each), plan.program, target, ways_of_blocks, Swizzles::none));
  return plan;
}

/// Returns the sketch of the graph of one operator: of the two in which it reads copies of its operands with aligned lines, or
/// reads them where they are, the better one.
std::pair<Plan, bool> in_place_or_not(const graph::KernelGraph& graph, tile::TilePrograms copying,
                                      const target::Target& target) {
  std::optional<Plan> copied, in_place;
  const std::optional<Error> why_not = refused([&] { copied = sketched(std::move(copying), target); });
  const auto way = [&](const Plan& plan) {
    return cost::WayCost{.us = estimate_cost(plan, target).us, .launches = plan.kernels.size()};
  };
  std::set<int> all;
  for (std::size_t i = 0; i < graph.ops.size(); ++i) all.insert(static_cast<int>(i));
  refused([&] { in_place = sketched(lower::lower_operators(graph, target, all).program, target); });
  if (!copied && !in_place) throw Error(*why_not);
  if (!copied || (in_place && cost::better(way(*in_place), way(*copied), target.costs.search)))
    return {*std::move(in_place), true};
  return {*std::move(copied), false};
}

/// Returns whether the operator of a graph of one operator is better off reading its operands where they are.
bool reads_in_place(const graph::KernelGraph& graph, const target::Target& target) {
  bool result = false;
  lower::LoweredOperators of = lower::lower_operators(graph, target, {});
  if (of.copying.empty()) return false;
  refused([&] { result = in_place_or_not(graph, std::move(of.program), target).second; });
  return result;
}

}  // namespace

Plan lowered(const graph::KernelGraph& graph, const target::Target& target, const tile::SizeList& sizes) {
  Plan plan;
  plan.target = std::string(target.name);
  lower::LoweredOperators of = lower::lower_operators(graph, target, {});
  // The expected times of operands that are read in two ways are of constant extents.
  if (sizes.empty() && !of.copying.empty()) {
    std::set<int> in_place;
    for (const int op : of.copying)
      if (reads_in_place(part_of(graph, {op}), target)) in_place.insert(op);
    if (!in_place.empty()) of = lower::lower_operators(graph, target, in_place);
  }
  plan.program = std::move(of.program);
  if (!sizes.empty()) lower::give_sizes(plan.program, sizes);
  return plan;
}

Selected selected(Plan plan, const target::Target& target) {
  Selected s{std::move(plan), {}};
  for (tile::TileProgram& kernel : s.plan.program.kernels) {
    check_limits(kernel, target);
    rules::rewrite(tile::program_rules, rules::Level::tile, kernel, target);
    s.kernels.push_back(selection::select(kernel, target));
  }
  selection::resolve_layouts(s.plan.program, s.kernels, target);
  if (!s.plan.program.sizes.empty()) lower::give_strides(s.plan.program);
  return s;
}

Plan scheduled(Selected s, const target::Target& target, const std::vector<BlockAssignment>& blocks) {
  Plan plan = std::move(s.plan);
  for (selection::Selection& each : s.kernels) {
    plan.kernels.push_back(choose(std::move(each), plan.program, target, blocks));
    let_next_start(plan.kernels.back(), plan.program, target);
    bound_registers(plan.kernels.back(), target);
  }
  plan.device = place_tensors(plan.program, plan.kernels);
  return plan;
}

namespace {

/// Proves of tensors in device memory at the ends of all sizes, and next to the lower ends, what verify_tensors() proves of constants.
/// Strides for all values are proved with the kernels.
void prove_ends(const Plan& plan) {
  std::vector<tile::ValuesBySize> ends{{}};
  for (const tile::Size& s : plan.program.sizes) {
    if (s.computed) continue;
    std::set<std::int64_t> of{s.low, std::min(s.low + s.multiple, s.high), s.high};
    constexpr std::size_t maximum = 32;
    if (ends.size() > maximum) of = {s.low, s.high};
    std::vector<tile::ValuesBySize> longer;
    for (const tile::ValuesBySize& values : ends)
      for (const std::int64_t value : of) longer.push_back(values), longer.back().push_back(value);
    ends = std::move(longer);
  }
  tile::TilePrograms program = planned(plan);
  verify::verify_parts(program);
  for (const tile::ValuesBySize& values : ends) verify::verify_tensors(tile::at_sizes(program, values));
}

}  // namespace

Plan proved(Plan plan, const target::Target& target, bool registers_too) {
  verify::verify_memory(plan.program);
  for (kernel::Kernel& kernel : plan.kernels) prove(kernel, plan.program, target, registers_too);
  kernel::verify_launches(plan.kernels, plan.program);
  verify::verify_tensors(plan.program);
  if (!plan.program.sizes.empty()) prove_ends(plan);
  return plan;
}

Plan sketch(const graph::KernelGraph& graph, const target::Target& target) {
  if (graph.ops.size() > 1) return sketched(lowered(graph, target).program, target);
  lower::LoweredOperators of = lower::lower_operators(graph, target, {});
  if (of.copying.empty()) return sketched(std::move(of.program), target);
  return in_place_or_not(graph, std::move(of.program), target).first;
}

Plan make_plan(const graph::KernelGraph& graph, const target::Target& target, const PlanOptions& options) {
  Plan plan = lowered(graph, target, options.sizes);
  return proved(scheduled(selected(std::move(plan), target), target, options.blocks), target, options.registers_proved);
}

}  // namespace zellige::plan
