// Merges dimensions of a group of elementwise operators that are contiguous in memory in every operand and result. Tiles
// of a group without broadcasts and gaps then depend on the number of elements, not on the shape:
//
//   gelu(x) * y, both (4768, 28144)                       ->  (1, 134190592)
//   x (8, 64, 100) + bias (100)                           ->  (1, 512, 100) + (100)
//   x (8, 64, 90) * y, a slice of rows of 100 elements    ->  (1, 512, 90)
//
// The kernel reads and writes its tensors through reshapes, which cost nothing. Where a kernel may read or write the
// parts of a concatenation or slice_scatter in place, the dimensions stay as they are.
#include <algorithm>
#include <utility>

#include "candidate/axes.hpp"
#include "graph/elementwise.hpp"
#include "graph/ops.hpp"
#include "graph/view.hpp"
#include "rewrite/lay_out.hpp"
#include "rules/table.hpp"
#include "select/layouts.hpp"

namespace zellige::fuse {
namespace {

/// Returns whether an operator that places its operands (a concatenation or slice_scatter) reads the tensor, directly or
/// through views. The planner may let the tensor's producer write into the result of such an operator.
bool is_placed(const KernelGraph& g, int tensor) {
  return std::ranges::any_of(g.ops, [&](const KernelOp& op) {
    if (std::ranges::count(op.inputs, tensor) == 0) return false;
    if (graph::is_view(op.kind)) return is_placed(g, op.outputs[0]);
    return graph::info(op.kind).places;
  });
}

/// Returns the strides that the planner gives the tensor: those that it has, or that follow from its operand if it is
/// a view, or that its views need; otherwise row-major ones, with rows padded to the target's access size.
Strides planned_strides(const KernelGraph& g, int tensor, const target::Target& target) {
  return strides_of(g, tensor, [&](int memory) {
    Strides laid_out = lay_out(g, memory);
    if (!laid_out.empty()) return laid_out;
    const KernelTensor& t = g.tensors[memory];
    return plan::padded_strides(t.shape, static_cast<int>(t.shape.size()) - 1,
                                graph::elements_in(target.access_bytes, t.dtype));
  });
}

/// Merges the dimensions of one group. Dimensions are numbered from the last one, as in broadcasting.
class Coalescing {
 public:
  Coalescing(const KernelGraph& g, Steps s, const target::Target& target) : s_(std::move(s)) {
    for (const Value& v : s_.values) rank_ = std::max(rank_, v.shape.size());
    whole_.resize(rank_, 1);
    for (const Value& v : s_.values)
      for (std::size_t back = 0; back < rank_; ++back) whole_[back] = std::max(whole_[back], from_last(v.shape, back));
    for (std::size_t v = 0; v < s_.values.size(); ++v) {
      const bool moved = s_.values[v].loaded || std::ranges::count(s_.outputs, static_cast<int>(v)) > 0;
      memory_.push_back(moved ? planned_strides(g, s_.values[v].tensor, target) : Strides{});
    }
  }

  /// Returns the steps with contiguous dimensions merged; nullopt if there are none, or if two values differ in an extent
  /// other than 1.
  std::optional<Steps> run() {
    const auto fits = [&](const Value& v) {
      for (std::size_t back = 0; back < rank_; ++back)
        if (const std::int64_t n = from_last(v.shape, back); n != 1 && n != whole_[back]) return false;
      return true;
    };
    if (!std::ranges::all_of(s_.values, fits)) return {};
    bool changed = false;
    std::size_t inner = 0;
    for (std::size_t outer = 1; outer < rank_; ++outer) {
      if (whole_[outer] == 1) continue;
      const bool merged = whole_[inner] != 1 && merge(outer, inner);
      if (!merged) inner = outer;
      changed = changed || merged;
    }
    return changed ? std::optional(std::move(s_)) : std::nullopt;
  }

 private:
  /// Returns whether dimensions `outer` and `inner` are contiguous in value `v`, or the value has neither.
  bool is_contiguous(std::size_t v, std::size_t outer, std::size_t inner) const {
    const Shape& shape = s_.values[v].shape;
    const bool has = from_last(shape, outer) != 1;
    if (has != (from_last(shape, inner) != 1)) return false;
    const Strides& memory = memory_[v];
    return !has || memory.empty() || from_last(memory, outer) == from_last(memory, inner) * whole_[inner];
  }

  /// Merges dimension `outer` into `inner` if they are contiguous in all values, and returns whether they are.
  bool merge(std::size_t outer, std::size_t inner) {
    for (std::size_t v = 0; v < s_.values.size(); ++v)
      if (!is_contiguous(v, outer, inner)) return false;
    for (Value& v : s_.values)
      if (const std::size_t last = v.shape.size() - 1; from_last(v.shape, outer) != 1)
        v.shape[last - inner] *= std::exchange(v.shape[last - outer], 1);
    whole_[inner] *= std::exchange(whole_[outer], 1);
    return true;
  }

  Steps s_;
  std::size_t rank_ = 0;
  Shape whole_;                  // by dimension: the greatest extent
  std::vector<Strides> memory_;  // by value: its strides; empty if it is neither loaded nor stored
};

}  // namespace

std::optional<Steps> coalesce(const Steps& s, const Grouped& of) {
  const auto elementwise = [](const Step& step) { return graph::is_elementwise(step.kind); };
  // A kernel may read the operands of a concatenation in place of its result.
  const auto by_parts = [&](const Value& v) {
    return v.loaded && std::ranges::any_of(of.graph.ops, [&](const KernelOp& op) {
             return op.kind == OpKind::concat && op.outputs[0] == v.tensor;
           });
  };
  if (!s.slices.empty() || !std::ranges::all_of(s.steps, elementwise) || std::ranges::any_of(s.values, by_parts) ||
      std::ranges::any_of(s.outputs, [&](int v) { return is_placed(of.graph, s.values[v].tensor); }))
    return {};
  return Coalescing(of.graph, s, of.target).run();
}

}  // namespace zellige::fuse
