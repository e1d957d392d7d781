#include "plan/symmetric.hpp"

#include "graph/error.hpp"
#include "graph/infer.hpp"
#include "verify/symmetric.hpp"

namespace zellige::plan {
namespace {

/// Adds an input to the program of a plan. Returns its tensor.
int add_input(Plan& plan, const std::string& name, graph::DType dtype, graph::Shape shape) {
  graph::KernelTensor t{.dtype = dtype, .shape = std::move(shape), .name = name};
  t.strides = graph::row_major(t.shape);
  plan.device.offset.push_back(-1), plan.device.bytes.push_back(graph::bytes_of(graph::size(t.shape), dtype));
  plan.program.tensors.push_back(std::move(t));
  plan.program.inputs.push_back(static_cast<int>(plan.program.tensors.size()) - 1);
  return plan.program.inputs.back();
}

/// Returns the kernel that reads one of the tensors. Throws Error unless there is one.
kernel::Kernel& reader(Plan& plan, const std::vector<int>& tensors) {
  kernel::Kernel* found = nullptr;
  for (kernel::Kernel& k : plan.kernels)
    for (const tile::Node& n : k.program.nodes) {
      if (n.kind != tile::NodeKind::load || std::ranges::find(tensors, n.tensor) == tensors.end() || found == &k)
        continue;
      if (found)
        fail("{}: kernels {} and {} read what ranks publish; ranks exchange tiles in one", plan.program.name,
             found->name(), k.name());
      found = &k;
    }
  if (!found) fail("{}: no kernel reads what ranks publish", plan.program.name);
  return *found;
}

}  // namespace

Plan with_symmetric(Plan plan, const Exchanged& exchanged) {
  kernel::SymmetricExchange m;
  m.windows.assign(plan.program.inputs.begin(), plan.program.inputs.begin() + exchanged.ranks);
  kernel::Kernel& k = reader(plan, m.windows);
  const graph::KernelTensor window = plan.program.tensors[m.windows[0]];
  const std::int64_t blocks = k.program.grid.count(), ranks = exchanged.ranks;
  m.published = add_input(plan, exchanged.published, window.dtype, window.shape);
  m.window = add_input(plan, "window", window.dtype, {2, verify::half_window(window)});
  for (std::int64_t r = 0; r < ranks; ++r)
    m.flags.push_back(add_input(plan, fmt::format("flags_{}", r), graph::DType::int32, {ranks, blocks}));
  m.state = add_input(plan, "state", graph::DType::int32, {1 + blocks});
  k.symmetric = std::move(m);
  // The kernel publishes what the one before it on the stream has made, so it waits for the end of that.
  k.programmatic = false;
  for (kernel::Agent& agent : k.agents)
    std::erase_if(agent.steps, [](const kernel::Step& s) { return kernel::as<kernel::GriddepWait>(s) != nullptr; });
  if (const std::string why = verify::refusal_of_symmetric(k, plan.program); !why.empty())
    fail("{}: ranks cannot exchange tiles in kernel {}: {}", plan.program.name, k.name(), why);
  return plan;
}

}  // namespace zellige::plan
