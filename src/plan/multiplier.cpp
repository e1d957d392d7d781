#include "plan/multiplier.hpp"

#include "kernel/tensor_columns.hpp"
#include "selection/select.hpp"
#include "target/products.hpp"

namespace zellige::plan {
namespace {

/// Returns the loop over output tiles: products fill a set of columns, from which threads then store the tile.
schedule::LoopGraph tile_graph(std::int64_t products, std::int64_t epilogue, int sets) {
  schedule::LoopGraph g;
  g.items = {{.name = "products",
              .role = LoopParts::multiplier,
              .by = kernel::Completion::mbarrier_bytes,
              .unit = 0,
              .cycles = products},
             {.name = "epilogue", .role = LoopParts::consumer, .cycles = epilogue}};
  g.dependences = {{0, 1}, {1, 0, sets}};
  return g;
}

/// The agent that multiplies.
class MultiplierAgent : PhaseSteps {
 public:
  using PhaseSteps::PhaseSteps;
  kernel::Agent build() {
    open(output_tiles(plan_));
    start_states(true);
    acquire(channels_.sets);
    open({.trip_count = plan_.iterations_per_block()});
    for (const schedule::PlacedItem& placed :
         schedule::body_of(parts_.graph, parts_.times, LoopParts::multiplier, parts_.counter)) {
      const int ring = channels_.rings[parts_.parts[placed.item].ring];
      acquire(ring);
      for (const int product : parts_.parts[placed.item].tasks)
        run(product).is = kernel::Mma{.channel = channels_.sets};
      release(ring);
    }
    close();
    release(channels_.sets);
    close();
    return std::move(agent_);
  }
};

}  // namespace

int sets_of_columns(const kernel::Kernel& k, const selection::Tasks& tasks, const selection::PhasedTasks& phases,
                    const target::Target& target) {
  constexpr int max_sets = 2, warps = 2;         // of other roles
  constexpr std::int64_t others = 40, unit = 8;  // registers of a thread besides accumulators
  if (k.blocks == 0 || !several_tiles(k) || k.split_k || kernel::has_loop_bounds(k)) return 0;
  std::map<int, kernel::MatmulChoice> products;
  std::int64_t cycles = 0, accumulators = 0;
  for (const selection::Phase& phase : phases.inside)
    for (const int t : phase) {
      const selection::WorkItem& task = tasks[t];
      if (task.kind != kernel::WorkKind::mma || !task.matmul.row || !target::in_tensor_memory(*task.matmul.row) ||
          !k.program.nodes[task.node].carried)
        return 0;
      products.emplace(task.node, task.matmul);
      cycles += cycles_of(task.matmul) * k.iterations_per_block();
      accumulators += selection::accumulator_registers(task.matmul, task.matmul.warps);
    }
  const auto by_tma = [&](int t) { return tasks[t].copy.by_tensor_map(); };
  if (products.empty() || std::ranges::any_of(phases.copied_once, by_tma)) return 0;
  const std::int64_t threads = (k.threads + 31) / 32 * 32 + 32 * warps,
                     registers = target.registers_per_multiprocessor / threads / unit * unit;
  if (threads > target.threads_per_block || accumulators + others > registers) return 0;
  const std::int64_t fit = target::tensor_memory_columns / kernel::tensor_columns(products).count;
  int best = 1;
  std::int64_t shortest = schedule::modulo_schedule(tile_graph(cycles, accumulators, best)).interval;
  for (int sets = 2; sets <= std::min<std::int64_t>(max_sets, fit); ++sets)
    if (const std::int64_t interval = schedule::modulo_schedule(tile_graph(cycles, accumulators, sets)).interval;
        interval < shortest)
      best = sets, shortest = interval;
  return best == 1 ? 0 : best;
}

kernel::Agent multiplier(const AgentInputs& from) { return MultiplierAgent(from, "multiplier", 1, 0, false).build(); }

}  // namespace zellige::plan
