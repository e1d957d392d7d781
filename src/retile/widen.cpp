#include "retile/widen.hpp"

#include <map>

#include "graph/infer.hpp"
#include "graph/rows.hpp"

namespace zellige::retile {
namespace {

using graph::BlockGraph;
using graph::BlockOp;
using graph::DType;
using graph::OpKind;

class Widening {
 public:
  Widening(const graph::KernelGraph& g, const graph::KernelOp& op)
      : graph_(g), op_(op), old_(*op.block), block_(old_) {
    block_.ops.clear();
  }

  BlockGraph run() {
    for (BlockOp op : old_.ops) {
      if (op.kind == OpKind::input) {
        block_.tensors[op.outputs[0]].dtype = graph_.tensors[op_.inputs[op.kernel_tensor]].dtype;
        block_.ops.push_back(op);
        continue;
      }
      for (int& t : op.inputs) t = cast(t, wanted(op, t));
      for (int t : op.outputs)
        block_.tensors[t].dtype =
            graph::result_dtype(op.kind, op.attributes, block_.tensors[op.inputs[0]].dtype);
      block_.ops.push_back(op);
    }
    return std::move(block_);
  }

 private:
  DType wanted(const BlockOp& op, int operand) const {
    if (op.kind == OpKind::output) return graph_.tensors[op_.outputs[op.kernel_tensor]].dtype;
    const int number = graph::number_operand(op.kind);
    if (number >= 0 && number < static_cast<int>(op.inputs.size()) &&
        operand == op.inputs[static_cast<std::size_t>(number)])
      return old_.tensors[operand].dtype;
    if (op.kind == OpKind::matmul) {
      const bool bias = op.inputs.size() > 2 && operand == op.inputs[2] && operand != op.inputs[0];
      return bias ? graph::result_dtype(op.kind, op.attributes, old_.tensors[op.inputs[0]].dtype)
                  : old_.tensors[operand].dtype;
    }
    for (int t : op.inputs)
      if (block_.tensors[t].dtype == DType::f32) return DType::f32;
    return block_.tensors[operand].dtype;
  }

  int cast(int tensor, DType dtype) {
    if (block_.tensors[tensor].dtype == dtype) return tensor;
    const auto [entry, fresh] = casts_.try_emplace({tensor, dtype}, static_cast<int>(block_.tensors.size()));
    if (!fresh) return entry->second;
    graph::BlockTensor t = block_.tensors[tensor];
    t.dtype = dtype;
    t.name.clear();
    block_.tensors.push_back(t);
    BlockOp op;
    op.kind = OpKind::cast;
    op.inputs = {tensor};
    op.outputs = {entry->second};
    op.attributes.dtype = dtype;
    block_.ops.push_back(op);
    return entry->second;
  }

  const graph::KernelGraph& graph_;
  const graph::KernelOp& op_;
  const BlockGraph& old_;
  BlockGraph block_;
  std::map<std::pair<int, DType>, int> casts_;
};

}  // namespace

void widen(graph::KernelGraph& g, int op) {
  g.ops[op].block = std::make_shared<const BlockGraph>(Widening(g, g.ops[op]).run());
}

}  // namespace zellige::retile
