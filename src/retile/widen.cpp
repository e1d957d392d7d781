#include "retile/widen.hpp"

#include "graph/infer.hpp"
#include "retile/block_writer.hpp"

namespace zellige::retile {

using graph::BlockGraph;
using graph::BlockOp;
using graph::DType;
using graph::OpKind;

void widen(graph::KernelGraph& g, int op) {
  graph::KernelOp& custom = g.ops[op];
  const BlockGraph& old = *custom.block;
  auto block = std::make_shared<BlockGraph>(old);
  block->ops.clear();
  BlockWriter writer(*block);
  // Returns a block operator's operands, each after a cast if the original graph rounded it to a narrower type.
  const auto operands = [&](const BlockOp& b) -> std::vector<int> {
    std::vector<int> in = b.inputs;
    if (b.kind == OpKind::output) return {writer.cast(in[0], g.tensors[custom.outputs[b.kernel_tensor]].dtype)};
    if (b.kind != OpKind::matmul) return writer.promoted(b.kind, std::move(in));
    const DType bias = graph::result_dtype(b.kind, b.attributes, old.tensors[in[0]].dtype);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = writer.cast(in[i], i < 2 ? old.tensors[in[i]].dtype : bias);
    return in;
  };
  for (BlockOp b : old.ops) {
    if (b.kind == OpKind::input) {
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
