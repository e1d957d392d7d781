#include "plan/symmetric.hpp"

#include <algorithm>

#include "graph/error.hpp"
#include "graph/infer.hpp"
#include "verify/symmetric.hpp"

namespace zellige::plan {
namespace {

/// Adds an input to the program of a plan. Returns its tensor.
int add_input(Plan& plan, std::string name, graph::DType dtype, graph::Shape shape, graph::Shape strides = {}) {
  while (std::ranges::find(plan.program.tensors, name, &graph::KernelTensor::name) != plan.program.tensors.end())
    name += "_";
  if (strides.empty()) strides = graph::row_major(shape);
  graph::KernelTensor t{
      .dtype = dtype, .shape = std::move(shape), .strides = std::move(strides), .name = std::move(name)};
  plan.device.offset.push_back(-1), plan.device.bytes.push_back(graph::bytes_of(graph::size(t.shape), dtype));
  plan.program.tensors.push_back(std::move(t));
  plan.program.inputs.push_back(static_cast<int>(plan.program.tensors.size()) - 1);
  return plan.program.inputs.back();
}

/// Has tensor `to` of the program have those extents of `from` that sizes decide.
void keep_extents(tile::TilePrograms& p, int from, int to) {
  for (tile::Size& size : p.sizes) {
    const std::vector<std::pair<int, int>> all = size.of;
    for (const auto& [tensor, dim] : all)
      if (tensor == from) size.of.emplace_back(to, dim);
  }
}

/// Returns the one kernel that loads, or stores, one of the tensors. Throws Error unless there is one.
kernel::Kernel& accessing(Plan& plan, tile::NodeKind kind, const std::vector<int>& tensors) {
  const bool loads = kind == tile::NodeKind::load;
  kernel::Kernel* found = nullptr;
  for (kernel::Kernel& k : plan.kernels)
    for (const tile::Node& n : k.program.nodes) {
      if (n.kind != kind || std::ranges::find(tensors, n.tensor) == tensors.end() || found == &k) continue;
      if (found)
        fail("{}: kernels {} and {} {} what ranks publish; ranks exchange tiles in one", plan.program.name,
             found->name(), k.name(), loads ? "read" : "store");
      found = &k;
    }
  if (!found)
    fail("{}: no kernel {} what ranks publish, but through a view", plan.program.name, loads ? "reads" : "stores");
  return *found;
}

/// Returns the output of this name. Throws Error if it is a view, or another kernel reads it.
int output_named(const Plan& plan, const std::string& name) {
  const tile::TilePrograms& p = plan.program;
  const auto found = std::ranges::find_if(
      p.outputs, [&](int t) { return p.tensors[p.memory_of(t)].name == name || p.tensors[t].name == name; });
  if (found == p.outputs.end()) fail("{}: {} is no output", p.name, name);
  const int t = p.memory_of(*found);
  for (const kernel::Kernel& k : plan.kernels)
    for (const tile::Node& n : k.program.nodes)
      if (n.kind == tile::NodeKind::load && p.memory_of(n.tensor) == t)
        fail("{}: kernel {} reads {}, of which others have a part", p.name, k.name(), name);
  return t;
}

/// Adds the inputs that both kinds of exchange need.
void add_flags(Plan& plan, kernel::SymmetricExchange& m, std::int64_t blocks, const Exchanged& e,
               const graph::KernelTensor& window) {
  const std::int64_t ranks = e.ranks, times = e.two_shots || e.at_end ? 2 : 1;
  const auto by_rank = [&](const char* what, std::vector<int>& all, graph::DType dtype, const graph::Shape& shape,
                           const graph::Shape& strides) {
    for (std::int64_t r = 0; r < ranks; ++r)
      all.push_back(add_input(plan, fmt::format("{}_{}", what, r), dtype, shape, strides));
  };
  if (m.windows.empty()) by_rank("window", m.windows, window.dtype, window.shape, window.strides);
  if (e.two_shots) by_rank("sums", m.sums, window.dtype, window.shape, window.strides);
  by_rank("flags", m.flags, graph::DType::int32, {times * ranks, blocks}, {blocks, 1});
  m.state = add_input(plan, "state", graph::DType::int32, {1 + blocks});
}

/// Adds an exchange at the start. Returns its kernel.
kernel::Kernel& exchange_at_start(Plan& plan, const Exchanged& e) {
  kernel::SymmetricExchange m{.maximum = e.two_shots && e.maximum};
  const auto& inputs = plan.program.inputs;
  std::vector<int> read(inputs.begin(), inputs.begin() + (e.two_shots ? 1 : e.ranks));
  kernel::Kernel& k = accessing(plan, tile::NodeKind::load, read);
  const graph::KernelTensor window = plan.program.tensors[read[0]];
  if (e.two_shots)
    m.sum = read[0];
  else
    m.windows = std::move(read);
  m.published = add_input(plan, e.tensor, window.dtype, window.shape);
  keep_extents(plan.program, e.two_shots ? m.sum : m.windows[0], m.published);
  m.window = add_input(plan, "window", window.dtype,
                       e.two_shots ? window.shape : graph::Shape{2, verify::half_window(window)});
  add_flags(plan, m, k.program.grid.count(), e, window);
  k.symmetric = std::move(m);
  return k;
}

/// Adds a gather. Returns its kernel.
kernel::Kernel& gather_at_start(Plan& plan, const Exchanged& e) {
  kernel::SymmetricExchange m{.gathers = true};
  m.window = plan.program.inputs.at(0);
  kernel::Kernel& k = accessing(plan, tile::NodeKind::load, {m.window});
  const graph::KernelTensor all = plan.program.tensors[m.window];
  const std::int64_t ranks = e.ranks, blocks = k.program.grid.count();
  graph::Shape mine = all.shape;
  mine[0] /= ranks;
  m.published = add_input(plan, e.tensor, all.dtype, mine);
  for (std::int64_t r = 0; r < ranks; ++r)
    m.windows.push_back(add_input(plan, fmt::format("window_{}", r), all.dtype, {2, verify::half_of_gathered(all)}));
  for (std::int64_t r = 0; r < ranks; ++r)
    m.flags.push_back(add_input(plan, fmt::format("flags_{}", r), graph::DType::int32, {ranks, blocks / ranks}));
  m.state = add_input(plan, "state", graph::DType::int32, {1 + blocks});
  k.symmetric = std::move(m);
  return k;
}

/// Adds an exchange at the end. Returns its kernel.
kernel::Kernel& exchange_at_end(Plan& plan, const Exchanged& e) {
  kernel::SymmetricExchange m{.scatters = e.scatters, .maximum = e.maximum};
  m.window = output_named(plan, e.tensor);
  kernel::Kernel& k = accessing(plan, tile::NodeKind::store, {m.window});
  const graph::KernelTensor window = plan.program.tensors[m.window];
  const std::int64_t elements = graph::size(window.shape);
  if (e.scatters && elements % e.ranks != 0)
    fail("{}: {} has {} elements, and {} ranks", plan.program.name, e.tensor, elements, e.ranks);
  m.result = e.scatters ? add_input(plan, "result", window.dtype, {1, elements / e.ranks})
                        : add_input(plan, "result", window.dtype, window.shape, window.strides);
  if (!e.scatters) keep_extents(plan.program, m.window, m.result);
  if (e.two_shots) m.sum = add_input(plan, "sum", window.dtype, window.shape, window.strides);
  add_flags(plan, m, k.program.grid.count(), e, window);
  k.symmetric = std::move(m);
  return k;
}

}  // namespace

Plan with_symmetric(Plan plan, const Exchanged& exchanged) {
  kernel::Kernel& k = exchanged.gathers  ? gather_at_start(plan, exchanged)
                      : exchanged.at_end ? exchange_at_end(plan, exchanged)
                                         : exchange_at_start(plan, exchanged);
  // The kernel publishes what the one before it on the stream has made, or where others read in the launch before, so it waits for the
  // end of that.
  k.programmatic = false;
  for (kernel::Agent& agent : k.agents)
    std::erase_if(agent.steps, [](const kernel::Step& s) { return kernel::as<kernel::GriddepWait>(s) != nullptr; });
  if (const std::string why = verify::refusal_of_symmetric(k, plan.program); !why.empty())
    fail("{}: ranks cannot exchange tiles in kernel {}: {}", plan.program.name, k.name(), why);
  return plan;
}

}  // namespace zellige::plan
