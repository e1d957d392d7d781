#include "run/interpreted.hpp"

#include <algorithm>

#include "graph/dtype.hpp"
#include "interpret/difference.hpp"
#include "reference/cut.hpp"
#include "reference/parallel.hpp"
#include "run/check.hpp"

namespace zellige::run {
namespace {

constexpr double scale = 16, small = 2e9;  // operations of a graph that is interpreted at larger inputs, too

/// Returns the random inputs at `scale` times their values, so that bounds such as those of a clamp are reached.
std::vector<reference::Array> larger(const graph::KernelGraph& g, const reference::RandomInputs& inputs) {
  std::vector<reference::Array> all = inputs.arrays;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const graph::DType dtype = g.tensors[g.inputs[i]].dtype;
    if (graph::is_integer(dtype) || (i < inputs.given.size() && inputs.given[i])) continue;
    for (double& v : all[i].values) v *= scale;
    graph::round_to(dtype, all[i].values.data(), static_cast<std::int64_t>(all[i].values.size()));
  }
  return all;
}

/// Returns the mistake at the store, or at the tensor if there is none.
ir::Mistake mistake(const ir::ReadProgram& c, const interpret::LastStore& by, int tensor, const std::string& what) {
  if (by.kernel < 0) return {c.file, c.tensors.at(tensor), what};
  const auto k = static_cast<std::size_t>(by.kernel);
  return {c.file, c.positions.at(k).nodes.at(by.node), fmt::format("{}: {}", c.program.plan.kernels[k].name(), what)};
}

/// Returns the first store to the tensor's memory.
interpret::LastStore first_store(const tile::TilePrograms& p, int tensor) {
  for (std::size_t k = 0; k < p.kernels.size(); ++k)
    for (std::size_t n = 0; n < p.kernels[k].nodes.size(); ++n)
      if (const tile::Node& node = p.kernels[k].nodes[n];
          node.kind == tile::NodeKind::store && p.memory_of(node.tensor) == p.memory_of(tensor))
        return {static_cast<int>(k), static_cast<int>(n)};
  return {};
}

/// Returns the index of the tensor in the program.
int index_of(const tile::TilePrograms& p, const std::string& name) {
  return static_cast<int>(std::ranges::find(p.tensors, name, &graph::KernelTensor::name) - p.tensors.begin());
}

/// Throws Mistake at a tensor whose strides spread it so far that the machine's memory does not hold what lies between.
void require_memory(const ir::ReadProgram& c, const tile::TilePrograms& p) {
  double left = reference::machine_memory() / 6 / (sizeof(double) + sizeof(int));
  for (int t = 0; t < static_cast<int>(p.tensors.size()); ++t) {
    const auto elements = static_cast<double>(graph::span(p.tensors[t].shape, p.tensors[t].strides));
    if (!p.views.contains(t)) left -= elements;
    if (left < 0 && elements > 8.0 * static_cast<double>(graph::size(p.tensors[t].shape)))
      throw mistake(
          c, {}, t,
          fmt::format("tensor {} reaches over {:.4g} elements by its strides; with these the machine has too little "
                      "memory to interpret the program",
                      p.tensors[t].name, elements));
  }
}

/// Throws Mistake if a stored tensor is wrong when the tile programs round as kernels do.
void require_roundings(const ir::ReadProgram& c, const tile::TilePrograms& p, const graph::KernelGraph& g,
                       const reference::RandomInputs& inputs) {
  const interpret::Memory memory = interpret::interpret(p, inputs.arrays, interpret::Rounding::of_kernels);
  std::vector<Bytes> storage;
  for (const manifest::TensorPlace& t : c.program.manifest.tensors)
    storage.push_back(pack(t, memory.values(index_of(p, t.name)).values));
  RunResult r{.graph = g.name, .status = Status::correct};
  check_all(g, c.program.manifest, storage, inputs, r);
  if (r.status != Status::wrong) return;
  const auto wrong = std::ranges::find_if(r.tensors, [&](const TensorResult& t) {
    return !t.fault.empty() && r.reason == fmt::format("{}: tensor {}: {}", g.name, t.name, t.fault);
  });
  if (wrong == r.tensors.end()) throw ir::Mistake(c.file, {}, r.reason);
  const int tensor = index_of(p, wrong->name);
  const interpret::LastStore by = first_store(p, tensor);
  throw mistake(
      c, by, tensor,
      fmt::format("store %{} writes {} with other roundings than the graph's: {}", by.node, wrong->name, wrong->fault));
}

}  // namespace

void require_computes(const ir::ReadProgram& c, const graph::KernelGraph& g, const reference::RandomInputs& inputs) {
  const tile::TilePrograms p = plan::planned(c.program.plan);
  require_memory(c, p);
  const auto refuse = [&](const std::optional<interpret::Difference>& d) {
    if (d) throw mistake(c, d->by, d->tensor, d->text(p));
  };
  refuse(interpret::difference(p, g, inputs.arrays));
  require_roundings(c, p, g, inputs);
  if (reference::work(g) <= small) refuse(interpret::difference(p, g, larger(g, inputs)));
}

}  // namespace zellige::run
