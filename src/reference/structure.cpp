#include "reference/structure.hpp"

namespace zellige::reference {

void put(IntegerBytes& to, const graph::Attributes& a) {
  to.put(a.scalar, a.lo, a.hi, a.eps, a.value, std::int64_t{a.dim}, a.to, a.start, a.end, a.sizes);
  to.put(std::int64_t{a.keepdim} | std::int64_t{a.tf32} << 1 | std::int64_t{a.saturate} << 2 |
         std::int64_t{a.kept.first} << 3);
  to.put(static_cast<std::int64_t>(a.dtype), a.kept.tril, a.kept.triu, a.kept.length);
}

namespace {

/// Appends what operators of both levels have.
void put_common(IntegerBytes& to, const auto& op) {
  to.put(static_cast<std::int64_t>(op.kind), op.inputs, op.outputs);
  put(to, op.attributes);
}

/// Appends a serialized block graph, without the names of its tensors.
void put(IntegerBytes& to, const graph::BlockGraph& b) {
  to.put(b.grid, b.block, b.loop, std::ssize(b.tensors));
  for (const graph::BlockTensor& t : b.tensors) {
    to.put(static_cast<std::int64_t>(t.dtype) << 1 | std::int64_t{t.after_loop}, t.shape);
  }
  to.put(std::ssize(b.ops));
  for (const graph::BlockOp& op : b.ops) {
    put_common(to, op);
    to.put(std::int64_t{op.kernel_tensor}, std::int64_t{op.loop_dim});
    for (int dim : op.map) to.put(std::int64_t{dim});
  }
}

}  // namespace

std::string structure(const graph::KernelGraph& g) {
  IntegerBytes to;
  to.put(std::ssize(g.tensors));
  for (const graph::KernelTensor& t : g.tensors) {
    to.put(static_cast<std::int64_t>(t.dtype) << 1 | std::int64_t{t.constant}, t.shape, t.strides);
    to.put(std::int64_t{t.memory});
  }
  to.put(std::ssize(g.ops));
  for (const graph::KernelOp& op : g.ops) {
    put_common(to, op);
    to.put(std::int64_t{op.block != nullptr});
    if (op.block) put(to, *op.block);
  }
  to.put(g.inputs, g.outputs);
  return to.text();
}

}  // namespace zellige::reference
