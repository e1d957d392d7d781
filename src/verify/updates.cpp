#include "verify/updates.hpp"

#include <set>

#include "graph/error.hpp"
#include "tile/sections.hpp"

namespace zellige::plan {
namespace {

/// Returns the node that a step updates; -1 if it updates none.
int updated(const Step& step, const TileProgram& p) {
  const Work& w = step.work;
  if (w.node < 0 || as<Start>(step)) return -1;
  const Node& n = p.nodes[w.node];
  const bool sums = w.kind == WorkKind::mma || w.kind == WorkKind::reduce;
  return (sums && n.carried) || w.kind == WorkKind::accumulate ? w.node : -1;
}

/// Adds to `counts`, by node, the number of iterations in which the steps update it. A slice of a matmul, or a persistent
/// block's tile, is a part of all.
void count(const std::vector<Step>& steps, const TileProgram& p, std::int64_t iterations,
           std::map<int, std::int64_t>& counts) {
  for (const Step& step : steps) {
    if (const int node = updated(step, p); node >= 0) counts[node] += iterations;
    if (const Loop* loop = as<Loop>(step))
      count(loop->body, p, loop->kind == Loop::iterations ? loop->trip_count - loop->from : iterations, counts);
  }
}

}  // namespace

void verify_updates(const Kernel& k) {
  const TileProgram& p = k.program;
  const std::vector<bool> needed = p.needed();
  std::set<int> seen;
  for (const Agent& agent : k.agents) {
    std::map<int, std::int64_t> counts;
    count(agent.steps, p, 1, counts);
    for (const auto& [node, n] : counts) {
      seen.insert(node);
      if (n != k.iterations_per_rank())
        reject("{}: %{} is carried over {} iterations, and {} updates it in {}", p.name, node, k.iterations_per_rank(),
               agent.name, n);
    }
  }
  for (int i = 0; i < static_cast<int>(p.nodes.size()); ++i) {
    const Node& n = p.nodes[i];
    const bool state = over_loop(n) || n.kind == NodeKind::running_max;
    if (state && needed[i] && !seen.contains(i))
      reject("{}: %{} is carried over {} iterations, and no step updates it", p.name, i, k.iterations_per_rank());
  }
}

}  // namespace zellige::plan
