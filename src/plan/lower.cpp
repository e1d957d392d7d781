#include "plan/lower.hpp"

#include <algorithm>
#include <set>

#include "graph/in_place.hpp"
#include "graph/view.hpp"
#include "plan/identifier.hpp"
#include "plan/views.hpp"

namespace zellige::plan {
namespace {

/// What a custom operator makes and the caller gets in another shape is written where the caller gets it, and not copied.
void write_through(Program& program, const graph::KernelGraph& graph, const target::Target& target) {
  const auto is_output = [&](int t) { return std::ranges::count(graph.outputs, t) > 0; };
  const auto is_moved = [](const graph::KernelOp& op) {
    return op.kind == OpKind::reshape || op.kind == OpKind::permute;
  };
  const auto maker = [&](int t) -> const graph::KernelOp* {
    const auto by = std::ranges::find_if(
        graph.ops, [&](const graph::KernelOp& op) { return std::ranges::count(op.outputs, t) > 0; });
    return by == graph.ops.end() ? nullptr : &*by;
  };
  for (const graph::KernelOp& op : graph.ops) {
    if (!is_moved(op) || !is_output(op.outputs[0])) continue;
    const int to = op.outputs[0];
    const graph::KernelTensor& got = graph.tensors[to];
    graph::Strides strides = got.strides.empty() ? graph::row_major(got.shape) : got.strides;
    // Back through one view after the other, to what an operator makes.
    const graph::KernelOp* made_by = &op;
    int from = -1;
    while (made_by != nullptr && is_moved(*made_by)) {
      from = made_by->inputs[0];
      const Shape& shape = graph.tensors[from].shape;
      graph::Attributes back;
      back.sizes.resize(shape.size());
      for (std::size_t d = 0; made_by->kind == OpKind::permute && d < back.sizes.size(); ++d)
        back.sizes[static_cast<std::size_t>(made_by->attributes.sizes[d])] = static_cast<std::int64_t>(d);
      const auto seen =
          graph::viewed(made_by->kind, back, graph.tensors[made_by->outputs[0]].shape, strides, shape);
      if (!seen) break;
      strides = seen->steps;
      made_by = maker(from);
    }
    if (made_by == nullptr || made_by->kind != OpKind::custom) continue;
    const graph::KernelTensor& made = graph.tensors[from];
    if (is_output(from) || program.views.count(from) > 0) continue;
    if (!made.strides.empty() && made.strides != strides) continue;
    settle_strides(program, to, true, target);
    make_view(program, from, to, made.shape, strides, Shape(made.shape.size(), 0));
  }
}

}  // namespace

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
  write_through(program, graph, target);
  for (int i : graph::in_place_order(graph)) {
    const graph::KernelOp& op = graph.ops[static_cast<std::size_t>(i)];
    const std::string name = fmt::format("{}_k{}", program.name, program.kernels.size());
    if (op.kind == OpKind::custom) {
      program.kernels.push_back(lower_block(program, op, name, target));
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
