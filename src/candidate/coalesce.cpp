// Merges dimensions of a group of elementwise operators that are contiguous in memory in every operand and result. Tiles
// of a group without broadcasts and gaps then depend on the number of elements, not on the shape:
//
//   gelu(x) * y, both (4768, 28144)                       ->  (1, 134190592)
//   x (8, 64, 100) + bias (100)                           ->  (1, 512, 100) + (100)
//   x (8, 64, 90) * y, a slice of rows of 100 elements    ->  (1, 512, 90)
//   x (8, 1, 64) W (64, 100)                              ->  (1, 8, 64) (64, 100)
//
// The kernel reads and writes its tensors through reshapes, which cost nothing. Where a kernel may read or write the
// parts of a concatenation or slice_scatter in place, the dimensions stay as they are.
#include <algorithm>
#include <utility>

#include "candidate/axes.hpp"
#include "graph/elementwise.hpp"
#include "graph/infer.hpp"
#include "graph/ops.hpp"
#include "graph/view.hpp"
#include "rewrite/lay_out.hpp"
#include "rules/table.hpp"
#include "selection/layouts.hpp"

namespace zellige::candidate {
namespace {

/// Returns whether an operator that places its operands (a concatenation or slice_scatter) reads the tensor, directly or
/// through views. The planner may let the tensor's producer write into the result of such an operator.
bool is_placed(const graph::KernelGraph& g, int tensor) {
  return std::ranges::any_of(g.ops, [&](const graph::KernelOp& op) {
    if (std::ranges::count(op.inputs, tensor) == 0) return false;
    if (graph::is_view(op.kind)) return is_placed(g, op.outputs[0]);
    return graph::info(op.kind).places;
  });
}

/// Returns the strides that the planner gives the tensor: those that it has, or that follow from its operand if it is
/// a view, or that its views need; otherwise row-major ones, with rows padded to the target's access size.
graph::Strides planned_strides(const graph::KernelGraph& g, int tensor, const target::Target& target) {
  return rewrite::strides_of(g, tensor, [&](int memory) {
    graph::Strides laid_out = rewrite::lay_out(g, memory);
    if (!laid_out.empty()) return laid_out;
    const graph::KernelTensor& t = g.tensors[memory];
    return selection::padded_strides(t.shape, static_cast<int>(t.shape.size()) - 1,
                                     graph::elements_in(target.access_bytes, t.dtype));
  });
}

/// Merges the axes of one group.
class Coalescing {
 public:
  Coalescing(const graph::KernelGraph& g, GroupSteps s, const target::Target& target)
      : s_(std::move(s)), axes_(axes_of(s_)) {
    for (std::size_t v = 0; v < s_.values.size(); ++v) {
      const bool moved = s_.values[v].loaded || std::ranges::count(s_.outputs, static_cast<int>(v)) > 0;
      memory_.push_back(moved ? planned_strides(g, s_.values[v].tensor, target) : graph::Strides{});
    }
  }

  /// Returns the steps with contiguous axes merged; nullopt if there are none.
  std::optional<GroupSteps> run() {
    bool changed = batches_to_rows();
    for (std::size_t v = 0; v < s_.values.size(); ++v)
      for (int inner = static_cast<int>(axes_.of[v].size()) - 1; inner > 0; --inner)
        for (int outer = outside(v, inner); outer >= 0 && merge(axes_.of[v][outer], axes_.of[v][inner]);
             outer = outside(v, inner))
          changed = true;
    return changed ? std::optional(std::move(s_)) : std::nullopt;
  }

 private:
  /// Returns the next dimension of value `v` outside of `inner` that has an axis, or -1.
  int outside(std::size_t v, int inner) const {
    if (axes_.of[v][inner] < 0) return -1;
    int d = inner - 1;
    while (d >= 0 && axes_.of[v][d] < 0) --d;
    return d;
  }
  /// Returns whether the axes `a` and `b` are adjacent and contiguous in value `v`, or the value has neither.
  bool is_contiguous(std::size_t v, int a, int b) const {
    const int outer = axes_.dim(static_cast<int>(v), a), inner = axes_.dim(static_cast<int>(v), b);
    if (outer < 0 || inner < 0) return outer < 0 && inner < 0;
    if (outside(v, inner) != outer) return false;
    const graph::Strides& memory = memory_[v];
    return memory.empty() || memory[outer] == memory[inner] * s_.values[v].shape[inner];
  }

  /// Makes rows of the batches of matmuls that have one row each and share B: (6, 1, k) (k, n) multiplies 6 rows. Returns
  /// whether there are any.
  bool batches_to_rows() {
    bool changed = false;
    for (int axis = 0; axis < static_cast<int>(axes_.axes.size()); ++axis) {
      const bool shared = std::ranges::any_of(s_.steps, [&](const GroupStep& s) {
        return is_matmul(s) && axes_.has(s.output, axis) && !axes_.has(s.inputs[1], axis);
      });
      if (!shared || !is_above_one_row(axis)) continue;
      changed = true;
      for (std::size_t v = 0; v < s_.values.size(); ++v)
        if (const int d = axes_.dim(static_cast<int>(v), axis); d >= 0) {
          std::swap(s_.values[v].shape[d], s_.values[v].shape[d + 1]);
          std::swap(axes_.of[v][d], axes_.of[v][d + 1]);
          if (!memory_[v].empty()) std::swap(memory_[v][d], memory_[v][d + 1]);
        }
    }
    return changed;
  }
  /// Returns whether the axis is the innermost batch dimension of all values that have it, they have one row, and it is no
  /// batch of any B.
  bool is_above_one_row(int axis) const {
    for (std::size_t v = 0; v < s_.values.size(); ++v) {
      const int d = axes_.dim(static_cast<int>(v), axis);
      if (d >= 0 && (d + 3 != std::ssize(s_.values[v].shape) || s_.values[v].shape[d + 1] != 1)) return false;
    }
    return std::ranges::none_of(s_.steps,
                                [&](const GroupStep& s) { return is_matmul(s) && axes_.has(s.inputs[1], axis); });
  }

  /// Merges axis `a` into `b` if they are contiguous in all values, no step runs along one of them, and the extent of both
  /// together is not too large. Returns whether.
  bool merge(int a, int b) {
    constexpr std::int64_t largest = graph::max_extent / 2;  // tiles may extend beyond the end
    if (axes_.axes[a].extent > largest / axes_.axes[b].extent) return false;
    for (const int axis : {a, b})
      if (axes_.axes[axis].summed || axes_.axes[axis].whole) return false;
    for (std::size_t v = 0; v < s_.values.size(); ++v)
      if (!is_contiguous(v, a, b)) return false;
    axes_.axes[b].extent *= axes_.axes[a].extent;
    for (std::size_t v = 0; v < s_.values.size(); ++v)
      if (const int outer = axes_.dim(static_cast<int>(v), a); outer >= 0) {
        graph::Shape& shape = s_.values[v].shape;
        shape[axes_.dim(static_cast<int>(v), b)] *= std::exchange(shape[outer], 1);
        axes_.of[v][outer] = -1;
      }
    return true;
  }

  GroupSteps s_;
  Axes axes_;
  std::vector<graph::Strides> memory_;  // by value: its strides; empty if it is neither loaded nor stored
};

}  // namespace

std::optional<GroupSteps> coalesce(const GroupSteps& s, const StepsContext& of) {
  const auto elementwise = [](const GroupStep& step) { return graph::is_elementwise(step.kind) || is_matmul(step); };
  // A kernel may read the operands of a concatenation in place of its result.
  const auto by_parts = [&](const StepValue& v) {
    return v.loaded && std::ranges::any_of(of.graph.ops, [&](const graph::KernelOp& op) {
             return op.kind == graph::OpKind::concat && op.outputs[0] == v.tensor;
           });
  };
  if (!s.slices.empty() || !std::ranges::all_of(s.steps, elementwise) || std::ranges::any_of(s.values, by_parts) ||
      std::ranges::any_of(s.outputs, [&](int v) { return is_placed(of.graph, s.values[v].tensor); }))
    return {};
  return Coalescing(of.graph, s, of.target).run();
}

}  // namespace zellige::candidate
