#include "rewrite/rewrite.hpp"

#include <algorithm>

#include "graph/infer.hpp"
#include "rewrite/live.hpp"

namespace zellige::fuse {

Rewrite::Rewrite(const KernelGraph& g) : graph_(g) {
  for (const KernelTensor& t : g.tensors) names_.insert(t.name);
  graph_.ops.clear();
}

int Rewrite::make(KernelTensor t) {
  while (!names_.insert(t.name).second) t.name += '_';
  graph_.tensors.push_back(std::move(t));
  return static_cast<int>(graph_.tensors.size()) - 1;
}

int Rewrite::add(OpKind kind, std::vector<int> in, const Attributes& a, const std::string& name, int to) {
  if (to < 0) {
    std::vector<Shape> shapes;
    for (int t : in) shapes.push_back(shape(t));
    to = make({tensor(in[0]).dtype, graph::infer_shapes({graph_.name}, kind, a, shapes)[0], {}, name});
  }
  graph_.ops.push_back({kind, std::move(in), {to}, a, nullptr});
  return to;
}

KernelGraph Rewrite::finished() { return graph::infer(live(std::move(graph_))); }

std::vector<int> readers(const KernelGraph& g, int tensor) {
  std::vector<int> result;
  for (std::size_t i = 0; i < g.ops.size(); ++i)
    if (std::ranges::count(g.ops[i].inputs, tensor) > 0) result.push_back(static_cast<int>(i));
  return result;
}

const KernelOp* producer(const KernelGraph& g, int tensor) {
  const auto op = std::ranges::find_if(
      g.ops, [&](const KernelOp& o) { return std::ranges::count(o.outputs, tensor) > 0; });
  return op == g.ops.end() ? nullptr : &*op;
}

bool is_output(const KernelGraph& g, int tensor) { return std::ranges::count(g.outputs, tensor) > 0; }

bool is_copy(const KernelOp& op) { return op.kind == OpKind::mul_scalar && op.attributes.scalar == 1; }

bool is_rotary(OpKind kind) { return kind == OpKind::rotary || kind == OpKind::rotary_interleaved; }

}  // namespace zellige::fuse
