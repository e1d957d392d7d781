#include "random_plans.hpp"

#include <cstdlib>

#include "../unfused.hpp"
#include "chains.hpp"
#include "generate.hpp"

namespace zellige::plan {

const std::vector<Planned>& plans() {
  static const std::vector<Planned> all = [] {
    std::vector<Planned> result;
    const auto add = [&](std::string name, graph::KernelGraph graph, const char* target) {
      graph::KernelGraph separated = fuse::separate(graph, target::find(target));
      Plan plan = make_plan(separated, target::find(target));
      result.push_back({std::move(name), std::move(separated), std::move(plan)});
    };
    for (const GoldenGraph& g : golden_graphs()) add(g.name, g.graph(), "sm_80");
    // Operands read raw and through a map, whose padding the two read differently.
    for (std::int64_t k : {3, 9, 12, 20, 29, 44})
      for (int threads : {32, 96, 128})
        for (int form = 0; form < 4; ++form) {
          graph::KernelGraph g = raw_and_mapped(16, k, 24, threads, form % 2, form / 2);
          std::string name = g.name;
          add(std::move(name), std::move(g), "sm_80");
        }
    const char* many = std::getenv("ZELLIGE_RANDOM_PLANS");
    const int count = many ? std::atoi(many) : 60;
    for (int seed = 1; seed <= count; ++seed)
      add(fmt::format("random_{}", seed), random_graphs::random_graph(seed), seed % 2 ? "sm_80" : "sm_90a");
    return result;
  }();
  return all;
}

std::int64_t place(const kernel::SmemTensor& b, int stage, int partial, const graph::Shape& at) {
  return b.address(at, partial) + stage * b.stage_step;
}

}  // namespace zellige::plan
