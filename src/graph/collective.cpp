#include "graph/collective.hpp"

#include <algorithm>

#include "graph/infer.hpp"

namespace zellige::graph {
namespace {

void check_dim(const Where& where, std::int64_t dim, const Shape& shape) {
  if (dim < 0 || dim >= static_cast<std::int64_t>(shape.size()))
    fail_at(where, "expected a dimension of {}, found {}", to_string(shape), dim);
}

/// Divides dimension `dim` of the shape by the number of ranks. Throws Error if it does not divide.
void divide(const Where& where, std::int64_t dim, Shape& shape, int ranks) {
  check_dim(where, dim, shape);
  if (shape[dim] % ranks != 0)
    fail_at(where, "expected a dimension {} that the graph's {} ranks divide, found {} of {}", dim, ranks, shape[dim],
            to_string(shape));
  shape[dim] /= ranks;
}

void multiply(const Where& where, std::int64_t dim, Shape& shape, int ranks) {
  check_dim(where, dim, shape);
  shape[dim] *= ranks;
}

/// Throws Error unless a rank's tensors of this dtype may be added or compared.
void check_reduced(const Where& where, DType dtype) {
  const bool known = dtype == DType::f16 || dtype == DType::bf16 || dtype == DType::f32 || dtype == DType::int32;
  if (!known) fail_at(where, "expected an operand of f16, bf16, f32 or int32, found {}: cast it first", name(dtype));
}

}  // namespace

bool has_collectives(const KernelGraph& g) {
  return std::ranges::any_of(g.ops, [](const KernelOp& op) { return is_collective(op.kind); });
}

void refuse_collectives(const KernelGraph& g, std::string_view what) {
  const auto op = std::ranges::find_if(g.ops, [](const KernelOp& o) { return is_collective(o.kind); });
  if (op != g.ops.end())
    fail_at(Where{g.name}.at(static_cast<int>(op - g.ops.begin()), name(op->kind)),
            "expected a graph without collectives, found one over {} ranks; {}", g.ranks, what);
}

KernelGraph with_ranks(KernelGraph g, int ranks) {
  g.ranks = ranks;
  std::vector<bool> given(g.tensors.size(), false);
  for (int t : g.inputs) given[t] = true;
  for (std::size_t t = 0; t < g.tensors.size(); ++t)
    if (!given[t]) g.tensors[t].shape.clear();
  for (KernelOp& op : g.ops) {
    if (!op.block) continue;
    auto block = std::make_shared<BlockGraph>(*op.block);
    for (BlockTensor& t : block->tensors) t.shape.clear();
    op.block = std::move(block);
  }
  KernelGraph other = infer(std::move(g));
  validate(other);
  return other;
}

KernelTensor collective_result(const Where& where, OpKind kind, const Attributes& a, const KernelTensor* operand,
                               int ranks) {
  if (kind == OpKind::rank) return {.dtype = DType::int32, .shape = {1}};
  KernelTensor y{.dtype = operand->dtype, .shape = operand->shape};
  if (kind == OpKind::all_reduce || kind == OpKind::all_reduce_max || kind == OpKind::reduce_scatter)
    check_reduced(where, y.dtype);
  if (kind == OpKind::all_gather) multiply(where, a.dim, y.shape, ranks);
  if (kind == OpKind::reduce_scatter) divide(where, a.dim, y.shape, ranks);
  if (kind == OpKind::all_to_all) {
    if (a.sizes.size() != 2)
      fail_at(where, "expected dims to be two: the one that is split and the one that is joined, found {}",
              to_string(a.sizes));
    divide(where, a.sizes[0], y.shape, ranks), multiply(where, a.sizes[1], y.shape, ranks);
  }
  if (kind == OpKind::broadcast && (a.start < 0 || a.start >= ranks))
    fail_at(where, "expected a root of the graph's {} ranks, 0 to {}, found {}", ranks, ranks - 1, a.start);
  return y;
}

}  // namespace zellige::graph
