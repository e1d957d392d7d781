#include "plan/at_sizes.hpp"

#include "plan/prove.hpp"
#include "tile/at_sizes.hpp"

namespace zellige::plan {
namespace {

/// Gives a kernel's loop `trip_count` iterations, which a size has left of `loop`.
void set_trip_count(kernel::Kernel& k, std::int64_t loop, std::int64_t trip_count) {
  k.agents = with_trip_count(std::move(k.agents), loop, trip_count);
  for (kernel::Agent& agent : k.agents)
    kernel::walk(agent.steps, [&](kernel::Step& step, const kernel::StepPosition&) {
      kernel::Loop* of = kernel::as<kernel::Loop>(step);
      if (!of || !of->bounded) return;
      if (of->kind == kernel::Loop::prologue) of->trip_count = std::min(of->trip_count, trip_count);
      const bool by_length = k.loop_bounds && k.loop_bounds->reads();
      of->bounded = of->kind == kernel::Loop::iterations ? k.loop_bounds.has_value() : by_length;
    });
}

}  // namespace

Plan at_sizes(Plan plan, std::span<const std::int64_t> values) {
  const tile::ValuesBySize all = tile::all_values(plan.program.sizes, {values.begin(), values.end()});
  for (kernel::Kernel& k : plan.kernels) {
    const bool sized = k.program.has_sized_loop();
    const std::int64_t loop = k.program.loop;
    tile::set_sizes(k.program, plan.program, all);
    if (sized) set_trip_count(k, loop, k.program.loop);
  }
  tile::set_sizes(plan.program, all);
  plan.device = place_tensors(plan.program, plan.kernels);
  return plan;
}

}  // namespace zellige::plan
