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
  for (const graph::KernelOp& op : graph.ops) {
    if ((op.kind != OpKind::reshape && op.kind != OpKind::permute) || !is_output(op.outputs[0])) continue;
    const int from = op.inputs[0], to = op.outputs[0];
    const graph::KernelTensor &made = graph.tensors[from], &got = graph.tensors[to];
    const bool custom = std::ranges::any_of(graph.ops, [&](const graph::KernelOp& maker) {
      return maker.kind == OpKind::custom && std::ranges::count(maker.outputs, from) > 0;
    });
    if (!custom || is_output(from) || !made.strides.empty() || program.views.count(from) > 0) continue;
    const graph::Strides strides = got.strides.empty() ? graph::row_major(got.shape) : got.strides;
    graph::Attributes back;
    back.sizes.resize(made.shape.size());
    for (std::size_t d = 0; op.kind == OpKind::permute && d < back.sizes.size(); ++d)
      back.sizes[static_cast<std::size_t>(op.attributes.sizes[d])] = static_cast<std::int64_t>(d);
    const auto seen = graph::viewed(op.kind, back, got.shape, strides, made.shape);
    if (!seen) continue;
    settle_strides(program, to, true, target);
    make_view(program, from, to, made.shape, seen->steps, seen->starts);
  }
}

}  // namespace

Program lower(const graph::KernelGraph& graph, const target::Target& target) {
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
      const bool view = graph::is_view(op.kind);
      for (BlockProgram& kernel :
           view ? lower_view(program, op, name, target) : lower_kernel(program, op, name, target))
        program.kernels.push_back(std::move(kernel));
    }
  }
  return program;
}

}  // namespace zellige::plan
