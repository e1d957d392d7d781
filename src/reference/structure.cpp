#include "reference/structure.hpp"

namespace zellige::reference {

void put(IntegerBytes& to, const graph::Attributes& a) {
  to.put(a.scalar), to.put(a.lo), to.put(a.hi), to.put(a.eps), to.put(a.value);
  to.put(std::int64_t{a.dim}), to.put(a.to), to.put(a.start), to.put(a.end);
  to.put(a.sizes);
  to.put(std::int64_t{a.keepdim} | std::int64_t{a.tf32} << 1 | std::int64_t{a.saturate} << 2);
  to.put(static_cast<std::int64_t>(a.dtype));
  to.put(a.kept.tril), to.put(a.kept.triu), to.put(a.kept.length);
}

namespace {

/// Appends what operators of both levels have.
void put_common(IntegerBytes& to, const auto& op) {
  to.put(static_cast<std::int64_t>(op.kind));
  to.put(op.inputs), to.put(op.outputs);
  put(to, op.attributes);
}

/// Appends a serialized block graph, without the names of its tensors.
void put(IntegerBytes& to, const graph::BlockGraph& b) {
  to.put(b.grid), to.put(b.block), to.put(b.loop);
  to.put(std::ssize(b.tensors));
  for (const graph::BlockTensor& t : b.tensors) {
    to.put(static_cast<std::int64_t>(t.dtype) << 1 | std::int64_t{t.after_loop});
    to.put(t.shape);
  }
  to.put(std::ssize(b.ops));
  for (const graph::BlockOp& op : b.ops) {
    put_common(to, op);
    to.put(std::int64_t{op.kernel_tensor}), to.put(std::int64_t{op.loop_dim});
    for (int dim : op.map) to.put(std::int64_t{dim});
  }
}

}  // namespace

std::string structure(const graph::KernelGraph& g) {
  IntegerBytes to;
  to.put(std::ssize(g.tensors));
  for (const graph::KernelTensor& t : g.tensors) {
    to.put(static_cast<std::int64_t>(t.dtype) << 1 | std::int64_t{t.constant});
    to.put(t.shape), to.put(t.strides);
    to.put(std::int64_t{t.memory});
  }
  to.put(std::ssize(g.ops));
  for (const graph::KernelOp& op : g.ops) {
    put_common(to, op);
    to.put(std::int64_t{op.block != nullptr});
    if (op.block) put(to, *op.block);
  }
  to.put(g.inputs), to.put(g.outputs);
  return to.text();
}

}  // namespace zellige::reference
