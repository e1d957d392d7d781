// The plans on which properties are tested: 60 random graphs (ZELLIGE_RANDOM_PLANS sets the
// number), and the graphs of the goldens.
#pragma once
#include "graphs.hpp"

namespace zellige::plan {

struct Planned {
  std::string name;
  graph::KernelGraph graph;
  Plan plan;
};

const std::vector<Planned>& plans();

/// Calls visit(name, kernel, whole plan) for every kernel of plans().
template <class F>
void for_each_kernel(F visit) {
  for (const Planned& p : plans())
    for (const kernel::Kernel& k : p.plan.kernels) visit(p.name + " " + k.program.name, k, p.plan);
}

/// The offset of a buffer's element, in bytes of shared memory.
std::int64_t place(const kernel::SmemTensor&, int stage, int partial, const graph::Shape& at);

}  // namespace zellige::plan
