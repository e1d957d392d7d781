#include "plan/plan.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "cost/better.hpp"
#include "graph/error.hpp"
#include "kernel/kernel.hpp"
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
#include "target/instructions.hpp"
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

/// A sketch, and the set of operands that its operator reads copies of.
struct CopyingSketch {
  Plan plan;
  std::uint32_t copied = 0;
  cost::WayCost cost{};
};

/// Returns whether copies of more operands may make a kernel faster: warpgroups do not multiply those that it has in place, and would where
/// all lines are aligned, and it takes twice as long as both launches would at least.
bool may_gain(const CopyingSketch& best, const target::Target& target) {
  const target::Costs& costs = target.costs;
  const double launches = costs.launch + costs.next + 2 * costs.load / (1000 * costs.clock);
  const auto multiplies = [](const kernel::Work& w) { return w.matmul.asynchronous(); };
  const kernel::Kernel& last = best.plan.kernels.back();
  return target::has_warpgroup_mma(target) && best.cost.us > 2 * launches && last.program.loop > 1 &&
         !kernel::find_work(last, multiplies);
}

/// Returns the best sketch of the graph of one operator, of those in which it reads copies of some of its operands with aligned
/// lines, and the others where they are: of those that are likely to pay, of none, or of all and each alone. `likely`: the program
/// that lower_operators() makes.
CopyingSketch best_copies(const graph::KernelGraph& graph, lower::LoweredOperators likely,
                          const target::Target& target) {
  const int op = likely.copies.begin()->first;
  const lower::OperandCopies copies = likely.copies.begin()->second;
  std::optional<CopyingSketch> best;
  std::optional<Error> why_not;
  std::set<std::uint32_t> tried;
  const auto attempt = [&](std::uint32_t way) {
    if (!tried.insert(way).second) return;
    const std::optional<Error> refusal = refused([&] {
      CopyingSketch made{sketched(way == copies.made ? std::move(likely.program)
                                                     : lower::lower_operators(graph, target, {{op, way}}).program,
                                  target),
                         way};
      made.cost = {.us = estimate_cost(made.plan, target).us, .launches = made.plan.kernels.size()};
      if (!best || cost::better(made.cost, best->cost, target.costs.search)) best = std::move(made);
    });
    if (refusal && !why_not) why_not = refusal;
  };
  attempt(copies.made), attempt(0);
  if (best && may_gain(*best, target)) {
    attempt(copies.possible);
    if (const std::uint32_t low = copies.possible & (~copies.possible + 1); std::popcount(copies.possible) == 2)
      attempt(low), attempt(copies.possible ^ low);
  }
  if (!best) throw Error(*why_not);
  return *std::move(best);
}

/// Returns the set of operands that operator `op` had better read copies of. `likely`: the program that lower_operators() makes of
/// the graph.
std::uint32_t copied_operands(const graph::KernelGraph& graph, int op, const lower::LoweredOperators& likely,
                              const target::Target& target) {
  const lower::OperandCopies whole = likely.copies.at(op);
  graph::KernelGraph part = part_of(graph, {op});
  const std::vector<int>& inputs = graph.ops[op].inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i)  // of views that no kernel makes
    part.tensors[part.ops[0].inputs[i]].strides = likely.program.tensors[inputs[i]].strides;
  std::uint32_t result = whole.made;
  refused([&] {
    lower::LoweredOperators of = lower::lower_operators(part, target, {});
    if (of.copies.empty()) return;
    const lower::OperandCopies alone = of.copies.begin()->second;
    const std::uint32_t best = best_copies(part, std::move(of), target).copied;
    // Where a view begins at no aligned address, the operator alone does not know of it.
    if (alone.possible == whole.possible || best == 0) result = best;
    if (alone.possible != whole.possible && best == alone.possible) result = whole.possible;
  });
  return result;
}

}  // namespace

Plan lowered(const graph::KernelGraph& graph, const target::Target& target, const tile::SizeList& sizes) {
  Plan plan;
  plan.target = std::string(target.name);
  lower::LoweredOperators of = lower::lower_operators(graph, target, {});
  // Expected times are of constant extents: of a size the largest ones, which the graph has.
  if (!of.copies.empty()) {
    std::map<int, std::uint32_t> copied;
    for (const auto& [op, copies] : of.copies)
      if (copies.made != 0 || target::has_warpgroup_mma(target))
        if (const std::uint32_t better = copied_operands(graph, op, of, target); better != copies.made)
          copied.emplace(op, better);
    if (!copied.empty()) of = lower::lower_operators(graph, target, copied);
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
  if (of.copies.empty()) return sketched(std::move(of.program), target);
  return best_copies(graph, std::move(of), target).plan;
}

Plan make_plan(const graph::KernelGraph& graph, const target::Target& target, const PlanOptions& options) {
  Plan plan = lowered(graph, target, options.sizes);
  return proved(scheduled(selected(std::move(plan), target), target, options.blocks), target, options.registers_proved);
}

}  // namespace zellige::plan
