#include "ranks/flat_collectives.hpp"

#include <algorithm>
#include <numeric>

#include "graph/collective.hpp"
#include "graph/infer.hpp"

namespace zellige::ranks {
namespace {

using graph::Attributes, graph::KernelGraph, graph::KernelOp, graph::KernelTensor, graph::OpKind, graph::Shape,
    graph::row_major, graph::size;

/// Rewrites collectives so that each moves whole contiguous tensors.
class Flat {
 public:
  explicit Flat(const KernelGraph& g) : g_(g), out_(g) { out_.ops.clear(); }

  KernelGraph run() {
    for (const KernelOp& op : g_.ops)
      if (is_collective(op.kind) && op.kind != OpKind::rank)
        rewrite(op);
      else
        out_.ops.push_back(op);
    return infer(std::move(out_));
  }

 private:
  int between() {
    out_.tensors.emplace_back();
    return static_cast<int>(out_.tensors.size()) - 1;
  }
  int step(OpKind kind, int x, Attributes a, int result) {
    out_.ops.push_back({.kind = kind, .inputs = {x}, .outputs = {result}, .attributes = std::move(a)});
    return result;
  }
  int reshaped(int x, Shape shape, int result) { return step(OpKind::reshape, x, {.sizes = std::move(shape)}, result); }
  int swapped(int x) { return step(OpKind::permute, x, {.sizes = {1, 0, 2}}, between()); }
  int copied(int x, std::size_t dims, int result) {
    std::vector<std::int64_t> same(dims);
    std::iota(same.begin(), same.end(), 0);
    return step(OpKind::permute, x, {.sizes = std::move(same)}, result);
  }
  bool is_row_major(int t) const {
    const KernelTensor& tensor = g_.tensors[t];
    return tensor.strides.empty() || tensor.strides == row_major(tensor.shape);
  }
  static std::int64_t before(const Shape& s, std::int64_t dim) { return size({s.begin(), s.begin() + dim}); }

  /// Returns x with the ranks' parts along `dim` one after another in memory.
  int parts_first(int x, Shape shape, std::int64_t dim) {
    if (dim == 0 || g_.ranks == 1) return x;
    const std::int64_t outer = before(shape, dim), all = size(shape);
    const int split = reshaped(x, {outer, g_.ranks, all / outer / g_.ranks}, between());
    shape[dim] /= g_.ranks, shape[0] *= g_.ranks;
    return reshaped(swapped(split), std::move(shape), between());
  }
  /// Makes `y` of tensors that lie one after another in memory: those of `shape` from all ranks, joined along `dim`.
  void parts_joined(int x, const Shape& shape, std::int64_t dim, int y) {
    const std::int64_t outer = before(shape, dim);
    const int together = reshaped(x, {g_.ranks, outer, size(shape) / outer}, between());
    reshaped(swapped(together), g_.tensors[y].shape, y);
  }

  void rewrite(const KernelOp& op) {
    const Attributes& a = op.attributes;
    const int given = op.inputs[0], y = op.outputs[0];
    const Shape& shape = g_.tensors[given].shape;
    const bool all_to_all = op.kind == OpKind::all_to_all, scatters = op.kind == OpKind::reduce_scatter;
    const std::int64_t split = all_to_all ? a.sizes[0] : scatters ? a.dim : 0;
    const std::int64_t joined = all_to_all ? a.sizes[1] : op.kind == OpKind::all_gather ? a.dim : 0;
    int x = is_row_major(given) ? given : copied(given, shape.size(), between());
    x = parts_first(x, shape, split);
    Attributes flat = a;
    if (all_to_all) flat.sizes = {0, 0};
    if (scatters || op.kind == OpKind::all_gather) flat.dim = 0;
    const bool joins = joined != 0 && g_.ranks > 1;
    if (!joins && is_row_major(y)) return void(step(op.kind, x, std::move(flat), y));
    const int made = step(op.kind, x, std::move(flat), between());
    if (!joins) return void(copied(made, g_.tensors[y].shape.size(), y));
    Shape part = shape;
    if (all_to_all) part[split] /= g_.ranks;
    parts_joined(made, part, joined, y);
  }

  const KernelGraph& g_;
  KernelGraph out_;
};

}  // namespace

KernelGraph flat_collectives(const KernelGraph& g) { return Flat(g).run(); }

}  // namespace zellige::ranks
