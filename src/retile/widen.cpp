#include "retile/widen.hpp"

#include "graph/infer.hpp"
#include "retile/block_writer.hpp"

namespace zellige::retile {
namespace {

using graph::BlockGraph;
using graph::BlockOp;
using graph::DType;
using graph::OpKind;

/// Rebuilds the block graph of a custom operator with casts.
class Widening {
 public:
  Widening(const graph::KernelGraph& g, const graph::KernelOp& op)
      : graph_(g), op_(op), old_(*op.block), block_(old_), writer_(block_) {
    block_.ops.clear();
  }

  BlockGraph run() {
    for (BlockOp op : old_.ops) {
      if (op.kind == OpKind::input) {
        block_.tensors[op.outputs[0]].dtype = graph_.tensors[op_.inputs[op.kernel_tensor]].dtype;
      } else {
        op.inputs = operands(op);
        for (int t : op.outputs)
          block_.tensors[t].dtype = graph::result_dtype(op.kind, op.attributes, block_.tensors[op.inputs[0]].dtype);
      }
      block_.ops.push_back(op);
    }
    return std::move(block_);
  }

 private:
  /// Returns a block operator's operands, each after a cast if the original graph rounded it to a narrower type.
  std::vector<int> operands(const BlockOp& op) {
    std::vector<int> in = op.inputs;
    if (op.kind == OpKind::output) return {writer_.cast(in[0], graph_.tensors[op_.outputs[op.kernel_tensor]].dtype)};
    if (op.kind != OpKind::matmul) return writer_.promoted(op.kind, std::move(in));
    const DType bias = graph::result_dtype(op.kind, op.attributes, old_.tensors[in[0]].dtype);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = writer_.cast(in[i], i < 2 ? old_.tensors[in[i]].dtype : bias);
    return in;
  }

  const graph::KernelGraph& graph_;
  const graph::KernelOp& op_;
  const BlockGraph& old_;
  BlockGraph block_;
  BlockWriter writer_;
};

}  // namespace

void widen(graph::KernelGraph& g, int op) {
  g.ops[op].block = std::make_shared<const BlockGraph>(Widening(g, g.ops[op]).run());
}

}  // namespace zellige::retile
