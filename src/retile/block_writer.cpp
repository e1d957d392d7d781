#include "retile/block_writer.hpp"

#include <algorithm>

#include "graph/infer.hpp"

namespace zellige::retile {

int BlockWriter::tile(graph::DType dtype, const std::string& name) {
  block_.tensors.push_back({.dtype = dtype, .name = names_.insert(name).second ? name : std::string()});
  return static_cast<int>(block_.tensors.size()) - 1;
}

void BlockWriter::name(int tile, const std::string& name) {
  std::string& now = block_.tensors[tile].name;
  if (now.empty() && names_.insert(name).second) now = name;
}

int BlockWriter::emit(graph::OpKind kind, std::vector<int> in, const graph::Attributes& a) {
  in = promoted(kind, std::move(in));
  const int out = tile(graph::result_dtype(kind, a, dtype(in[0])));
  block_.ops.push_back({kind, std::move(in), {out}, a});
  return out;
}

int BlockWriter::emit_once(graph::OpKind kind, std::vector<int> in, const graph::Attributes& a) {
  in = promoted(kind, std::move(in));
  for (const graph::BlockOp& op : block_.ops)
    if (op.kind == kind && op.attributes == a && op.inputs == in) return op.outputs[0];
  return emit(kind, std::move(in), a);
}

int BlockWriter::cast(int tile, graph::DType to) {
  return dtype(tile) == to ? tile : emit_once(graph::OpKind::cast, {tile}, {.dtype = to});
}

std::vector<int> BlockWriter::promoted(graph::OpKind kind, std::vector<int> in) {
  const auto is_wide = [&](int t) { return dtype(t) == graph::DType::f32; };
  if (kind == graph::OpKind::matmul || kind == graph::OpKind::cast || std::ranges::none_of(in, is_wide)) return in;
  for (int& t : in)
    if (graph::is_narrow(dtype(t))) t = cast(t, graph::DType::f32);
  return in;
}

void widen(graph::KernelGraph& g, int op) {
  graph::KernelOp& custom = g.ops[op];
  const graph::BlockGraph& old = *custom.block;
  auto block = std::make_shared<graph::BlockGraph>(old);
  block->ops.clear();
  BlockWriter writer(*block);
  // Returns a block operator's operands, each after a cast if the original graph rounded it to a narrower type.
  const auto operands = [&](const graph::BlockOp& b) -> std::vector<int> {
    std::vector<int> in = b.inputs;
    if (b.kind == graph::OpKind::output) return {writer.cast(in[0], g.tensors[custom.outputs[b.kernel_tensor]].dtype)};
    if (b.kind != graph::OpKind::matmul) return writer.promoted(b.kind, std::move(in));
    const graph::DType bias = graph::result_dtype(b.kind, b.attributes, old.tensors[in[0]].dtype);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = writer.cast(in[i], i < 2 ? old.tensors[in[i]].dtype : bias);
    return in;
  };
  for (graph::BlockOp b : old.ops) {
    if (b.kind == graph::OpKind::input) {
      block->tensors[b.outputs[0]].dtype = g.tensors[custom.inputs[b.kernel_tensor]].dtype;
    } else {
      b.inputs = operands(b);
      for (int t : b.outputs)
        block->tensors[t].dtype = graph::result_dtype(b.kind, b.attributes, block->tensors[b.inputs[0]].dtype);
    }
    block->ops.push_back(b);
  }
  custom.block = std::move(block);
}

}  // namespace zellige::retile
