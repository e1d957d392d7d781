#include "plan/plan.hpp"

#include "kernel/launches.hpp"
#include "lower/sizes.hpp"
#include "plan/dependence.hpp"
#include "plan/product_tile.hpp"
#include "plan/prove.hpp"
#include "plan/registers.hpp"
#include "rules/table.hpp"
#include "select/layouts.hpp"
#include "select/select.hpp"
#include "verify/verify_memory.hpp"
#include "verify/verify_tensors.hpp"

namespace zellige::plan {
namespace {

/// Returns the tile programs of the program, with the choice for each of their matmuls. Sets the strides of all tensors.
std::vector<Selection> selections(Program& program, const target::Target& target) {
  std::vector<Selection> selected;
  for (TileProgram& kernel : program.kernels) {
    check_limits(kernel, target);
    rewrite(program_rules, Level::tile, kernel, target);
    selected.push_back(select(kernel, target));
  }
  resolve_layouts(program, selected, target);
  return selected;
}

}  // namespace

Program planned(const Plan& plan) {
  Program program = plan.program;
  program.kernels.clear();
  for (const Kernel& k : plan.kernels) program.kernels.push_back(k.program);
  return program;
}

Plan sketch(const graph::KernelGraph& graph, const target::Target& target, const retile::Tiling& products) {
  Plan plan;
  plan.sketched = true;
  plan.target = std::string(target.name);
  plan.program = lowered(graph, target, products);
  for (Selection& each : selections(plan.program, target))
    plan.kernels.push_back(choose(std::move(each), plan.program, target, ways_of_blocks, Swizzles::none));
  return plan;
}

Plan make_plan(const graph::KernelGraph& graph, const target::Target& target, const PlanOptions& options) {
  Plan plan;
  plan.target = std::string(target.name);
  plan.program = lowered(graph, target, options.tiling);
  for (const Size& size : options.sizes) give_size(plan.program, size);
  verify_memory(plan.program);
  for (Selection& each : selections(plan.program, target)) {
    plan.kernels.push_back(choose(std::move(each), plan.program, target, options.blocks));
    Kernel& kernel = plan.kernels.back();
    let_next_start(kernel, plan.program, target);
    bound_registers(kernel, target);
    prove(kernel, plan.program, target, options.registers_proved);
  }
  verify_launches(plan.kernels, plan.program);
  verify_tensors(plan.program);
  plan.device = place_tensors(plan.program);
  return plan;
}

}  // namespace zellige::plan
