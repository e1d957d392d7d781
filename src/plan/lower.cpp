#include "plan/lower.hpp"

#include <algorithm>
#include <set>

#include "graph/in_place.hpp"
#include "graph/view.hpp"
#include "plan/align.hpp"
#include "plan/identifier.hpp"
#include "plan/write_through.hpp"

namespace zellige::plan {
Program lower(const graph::KernelGraph& graph, const target::Target& target, const retile::Tiling& stated) {
  Program program;
  program.name = identifier(graph.name);  // of files and of the kernels, and behind a prefix of the entry
  if (program.name.empty() || (program.name[0] >= '0' && program.name[0] <= '9'))
    program.name = program.name.empty() ? "g" : "g_" + program.name;
  program.tensors = graph.tensors;
  program.inputs = graph.inputs;
  program.outputs = graph.outputs;
  std::set<std::string> taken;
  for (const auto& t : program.tensors) taken.insert(t.name);
  for (std::size_t i = 0; i < program.tensors.size(); ++i)
    if (auto& t = program.tensors[i]; t.name.empty()) {
      t.name = fmt::format("t{}", i);
      while (!taken.insert(t.name).second) t.name += '_';
    }
  const std::vector<int> order = graph::in_place_order(graph);
  const std::set<int> written = write_through(program, graph, order, target);
  for (int i : order) {
    if (written.count(i) > 0) continue;
    const graph::KernelOp& op = graph.ops[static_cast<std::size_t>(i)];
    const std::string name = fmt::format("{}_k{}", program.name, program.kernels.size());
    if (op.kind == OpKind::custom) {
      BlockProgram kernel = lower_block(program, op, name, target);
      if (const LineCopies copies = align_operands(program, kernel, target); !copies.empty())
        program.kernels.push_back(copy_lines(program, copies, name));
      program.kernels.push_back(std::move(kernel));
    } else {
      std::optional<retile::ProductTile> product;
      for (const retile::OpTiling& t : stated)
        if (t.op == i) product = t.product;
      if (product && op.kind != OpKind::matmul)
        fail("graph {}: expected the tile of operator {} to be a product's, found {}", graph.name, i,
             graph::name(op.kind));
      for (BlockProgram& kernel : graph::is_view(op.kind) ? lower_view(program, op, name, target)
                                                          : lower_kernel(program, op, name, target, product))
        program.kernels.push_back(std::move(kernel));
      if (product) program.products.push_back({.op = i, .product = product});
    }
  }
  return program;
}

}  // namespace zellige::plan
