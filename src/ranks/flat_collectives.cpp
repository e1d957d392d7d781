#include "ranks/flat_collectives.hpp"

#include <memory>
#include <numeric>

#include "graph/collective.hpp"
#include "graph/infer.hpp"
#include "graph/sized_graph.hpp"

namespace zellige::ranks {
namespace {

using graph::Attributes, graph::IntegerPlace, graph::SymbolicExtent, graph::SymbolicShape, graph::SymbolicSizes,
    graph::KernelGraph, graph::KernelOp, graph::KernelTensor, graph::OpKind, graph::Shape, graph::row_major;

/// Rewrites collectives so that each moves whole contiguous tensors.
class Flat {
 public:
  explicit Flat(const KernelGraph& g) : g_(g), out_(g) {
    out_.ops.clear();
    if (g.sizes)
      extents_ = extents(g), sizes_.names = g.sizes->names;
    else
      for (const KernelTensor& t : g.tensors) extents_.emplace_back(t.shape);
  }

  KernelGraph run() {
    for (int i = 0; i < static_cast<int>(g_.ops.size()); ++i) {
      const KernelOp& op = g_.ops[i];
      if (is_collective(op.kind) && op.kind != OpKind::rank) {
        rewrite(op);
        continue;
      }
      keep_expressions(i);
      out_.ops.push_back(op);
    }
    if (g_.sizes) {
      for (const auto& [place, extent] : g_.sizes->integers)
        if (is_of_tensor(place)) sizes_.integers.emplace(place, extent);
      out_.sizes = std::make_shared<const SymbolicSizes>(std::move(sizes_));
    }
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
  static bool is_of_tensor(const IntegerPlace& p) {
    return p.of == IntegerPlace::Of::shape || p.of == IntegerPlace::Of::strides;
  }
  /// Has the attributes of operator `i` depend on sizes as they do now, when it is the next one.
  void keep_expressions(int i) {
    if (!g_.sizes) return;
    for (const auto& [place, extent] : g_.sizes->integers)
      if (!is_of_tensor(place) && place.index == i)
        sizes_.integers.emplace(IntegerPlace{place.of, static_cast<int>(out_.ops.size()), place.entry}, extent);
  }
  int reshaped(int x, const SymbolicShape& shape, int result) {
    Shape greatest;
    IntegerPlace place{IntegerPlace::Of::sizes, static_cast<int>(out_.ops.size())};
    for (const SymbolicExtent& e : shape) {
      greatest.push_back(e.planned());
      if (!e.constant()) sizes_.integers.emplace(place, e);
      ++place.entry;
    }
    return step(OpKind::reshape, x, {.sizes = std::move(greatest)}, result);
  }
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
  /// Returns the number of elements along dimensions [from, to).
  static SymbolicExtent count(const SymbolicShape& s, std::int64_t from, std::int64_t to) {
    SymbolicExtent all = 1;
    for (std::int64_t d = from; d < to; ++d) all = all * s[static_cast<std::size_t>(d)];
    return all;
  }

  /// Returns x with the ranks' parts along `dim` one after another in memory.
  int parts_first(int x, SymbolicShape shape, std::int64_t dim) {
    if (dim == 0 || g_.ranks == 1) return x;
    SymbolicExtent& along = shape[static_cast<std::size_t>(dim)];
    along = along / g_.ranks;
    const int split =
        reshaped(x, {count(shape, 0, dim), SymbolicExtent(g_.ranks), count(shape, dim, std::ssize(shape))}, between());
    shape[0] = shape[0] * SymbolicExtent(g_.ranks);
    return reshaped(swapped(split), shape, between());
  }
  /// Makes `y` of tensors that lie one after another in memory: those of `shape` from all ranks, joined along `dim`.
  void parts_joined(int x, const SymbolicShape& shape, std::int64_t dim, int y) {
    const int together =
        reshaped(x, {SymbolicExtent(g_.ranks), count(shape, 0, dim), count(shape, dim, std::ssize(shape))}, between());
    reshaped(swapped(together), extents_[y], y);
  }

  void rewrite(const KernelOp& op) {
    const Attributes& a = op.attributes;
    const int given = op.inputs[0], y = op.outputs[0];
    const SymbolicShape& shape = extents_[given];
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
    SymbolicShape part = shape;
    if (all_to_all) part[static_cast<std::size_t>(split)] = part[static_cast<std::size_t>(split)] / g_.ranks;
    parts_joined(made, part, joined, y);
  }

  const KernelGraph& g_;
  KernelGraph out_;
  std::vector<SymbolicShape> extents_;  // of the given tensors
  SymbolicSizes sizes_;                 // of out_
};

}  // namespace

KernelGraph flat_collectives(const KernelGraph& g) { return Flat(g).run(); }

}  // namespace zellige::ranks
