#include "plan/prove.hpp"

#include "graph/error.hpp"
#include "plan/dependence.hpp"
#include "verify/proofs.hpp"
#include "verify/symmetric.hpp"

namespace zellige::plan {
namespace {

/// Returns the numbers of iterations for which a kernel is proved, of those that blocks may run. A size may leave any in its range.
std::vector<std::int64_t> trip_counts(const kernel::Kernel& kernel, const tile::TilePrograms& program) {
  const std::int64_t loop = kernel.program.loop;
  if (!kernel::has_open_loop(kernel)) return {1, loop};
  std::vector<std::int64_t> all;
  const tile::SymbolicNumber iterations = kernel.program.iterations(program.sizes);
  const std::int64_t low = kernel.loop_bounds || iterations.is_constant() ? 1 : iterations.low();
  for (std::int64_t n = low; n < std::min(loop, low + verify::distinct_trip_counts(kernel)); ++n) all.push_back(n);
  all.push_back(loop);
  return all;
}

}  // namespace

std::vector<kernel::Agent> with_trip_count(std::vector<kernel::Agent> agents, std::int64_t loop,
                                           std::int64_t trip_count) {
  for (kernel::Agent& agent : agents)
    kernel::walk(agent.steps, [&](kernel::Step& step, const kernel::StepPosition&) {
      kernel::Loop* of = kernel::as<kernel::Loop>(step);
      if (!of) return;
      if (of->kind == kernel::Loop::tiles) of->each = trip_count;
      if (of->kind != kernel::Loop::iterations || (!of->bounded && of->from < loop)) return;
      const std::int64_t last =   // iterations after the loop (software pipelining) move with its end
          of->trip_count - loop;  // what follows the loop follows the fewer iterations, too
      if (of->from == loop) of->from = of->bounded ? 1 : trip_count;
      of->trip_count = of->whole ? 1 : trip_count + last;
    });
  return agents;
}

void check_limits(const tile::TileProgram& p, const target::Target& target) {
  if (p.threads() > target.threads_per_block)
    does_not_fit("{}: {} threads a block; {} allows {}", p.name, p.threads(), target.name, target.threads_per_block);
  const std::int64_t limit[3] = {target.grid_x, target.grid_y, target.grid_z};
  for (int axis = 0; axis < 3; ++axis)
    if (p.grid[axis] > limit[axis])
      does_not_fit("{}: the grid's {} is {}; {} allows {}", p.name, "xyz"[axis], p.grid[axis], target.name,
                   limit[axis]);
}

void prove(kernel::Kernel& kernel, const tile::TilePrograms& program, const target::Target& target, bool registers) {
  verify::verify(kernel, target);
  if (kernel::has_loop_bounds(kernel)) {
    const std::vector<kernel::Agent> agents = kernel.agents;
    const std::int64_t loop = kernel.program.loop;
    for (const std::int64_t trip_count : trip_counts(kernel, program)) {
      kernel.agents = with_trip_count(agents, loop, trip_count);
      verify::verify(kernel, target);
    }
    kernel.agents = agents;
  }
  verify_dependence(kernel);
  verify::verify_iterations(kernel);
  verify::verify_layouts(kernel);
  verify::verify_buffers(kernel);
  verify::verify_bounds(kernel);
  verify::verify_coverage(kernel, program);
  verify::verify_instructions(kernel, program, target);
  verify::verify_step_facts(kernel, program);
  verify::verify_symmetric(kernel, program);
  if (registers) verify::verify_registers(kernel);
}

}  // namespace zellige::plan
