#include "ranks/segments.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string_view>

#include "graph/collective.hpp"
#include "graph/infer.hpp"
#include "graph/sized_graph.hpp"

namespace zellige::ranks {
namespace {

using graph::IntegerPlace, graph::KernelGraph, graph::KernelOp, graph::KernelTensor, graph::SymbolicShape;

std::set<int> tensors_that_outputs_need(const KernelGraph& g) {
  std::set<int> needed(g.outputs.begin(), g.outputs.end());
  for (auto op = g.ops.rbegin(); op != g.ops.rend(); ++op)
    if (std::ranges::any_of(op->outputs, [&](int t) { return needed.contains(t); }))
      needed.insert(op->inputs.begin(), op->inputs.end());
  return needed;
}

/// Assigns operators to segments: those of level i are the kernels before the collectives of level i, whose results the
/// operators of level i + 1 may read.
class Levels {
 public:
  explicit Levels(const KernelGraph& g) : g_(g), of_tensor_(g.tensors.size(), 0), last_read_(g.tensors.size(), 0) {
    const std::set<int> needed = tensors_that_outputs_need(g);
    std::vector<int> order;
    for (int i : in_place_order(g))
      if (std::ranges::any_of(g.ops[i].outputs, [&](int t) { return needed.contains(t); })) order.push_back(i);
    for (int i : order) place(i);
    postpone(order);
    levels.resize(level_.empty() ? 0 : 1 + std::ranges::max(level_));
    for (int i : order)
      (is_collective(g.ops[i].kind) ? levels[level_[i]].second : levels[level_[i]].first).push_back(i);
  }

  /// By level: indices of its operators in order, and of its collectives.
  std::vector<std::pair<std::vector<int>, std::vector<int>>> levels;

 private:
  void place(int i) {
    const KernelOp& op = g_.ops[i];
    std::size_t level = 0;
    for (int t : op.inputs) level = std::max(level, of_tensor_[t]);
    for (int t : op.outputs) level = std::max(level, last_read_of_memory(t));
    for (int t : op.inputs) last_read_[t] = std::max(last_read_[t], level);
    for (int t : op.outputs) of_tensor_[t] = is_collective(op.kind) ? level + 1 : level;
    level_[i] = level;
  }

  /// Moves views, and what is computed of the graph's inputs alone, to the first level that reads the result, so that it is not
  /// stored in between.
  void postpone(const std::vector<int>& order) {
    std::set<int> given(g_.inputs.begin(), g_.inputs.end());  // and what follows from these alone
    for (int i : order) {
      const KernelOp& op = g_.ops[i];
      const auto is_given = [&](int t) { return given.contains(t); };
      if (!is_collective(op.kind) && std::ranges::all_of(op.inputs, is_given))
        given.insert(op.outputs.begin(), op.outputs.end());
    }
    std::vector<std::size_t> first_read(g_.tensors.size(), level_.size());
    for (int t : g_.outputs) first_read[t] = 0;
    for (auto i = order.rbegin(); i != order.rend(); ++i) {
      const KernelOp& op = g_.ops[*i];
      std::size_t first = level_.size();
      for (int t : op.outputs) first = std::min(first, first_read[t]);
      const auto remains = [&](int t) { return g_.tensors[t].memory >= 0 || !given.contains(t); };
      const bool moves = family(op.kind) == graph::OpFamily::view || std::ranges::none_of(op.outputs, remains);
      if (moves && !is_collective(op.kind) && !touches_changed_memory(op) && first < level_.size())
        level_[*i] = std::max(level_[*i], first);
      for (int t : op.inputs) first_read[t] = std::min(first_read[t], level_[*i]);
    }
  }

  /// Returns whether an operator reads or makes a tensor that shares memory with another one.
  bool touches_changed_memory(const KernelOp& op) const {
    const auto changed = [&](int t) {
      return g_.tensors[t].memory >= 0 ||
             std::ranges::any_of(g_.tensors, [t](const KernelTensor& other) { return other.memory == t; });
    };
    return std::ranges::any_of(op.inputs, changed) || std::ranges::any_of(op.outputs, changed);
  }

  /// Returns the last level that reads what an input holds before tensor t takes its memory; 0 if it takes none.
  std::size_t last_read_of_memory(int t) const {
    const int memory = g_.tensors[t].memory;
    if (memory < 0) return 0;
    std::size_t last = last_read_[memory];
    for (std::size_t other = 0; other < g_.tensors.size(); ++other)
      if (g_.tensors[other].memory == memory) last = std::max(last, last_read_[other]);
    return last;
  }

  const KernelGraph& g_;
  std::vector<std::size_t> of_tensor_, last_read_;
  std::vector<std::size_t> level_ = std::vector<std::size_t>(g_.ops.size(), 0);  // by operator
};

/// Builds the graph of one level's kernels.
class SegmentKernels {
 public:
  /// `extents`: the shapes of the graph's tensors for all values of its sizes; none if it has no sizes.
  SegmentKernels(const KernelGraph& g, const std::vector<SymbolicShape>& extents, std::string name,
                 const std::set<int>& read_later)
      : g_(g), extents_(extents), later_(read_later) {
    s_.kernels.name = std::move(name);
  }

  void add(int index) {
    const KernelOp& op = g_.ops[index];
    KernelOp mine = op;
    if (g_.sizes)
      for (const auto& [place, extent] : g_.sizes->integers)
        if (place.index == index && place.of != IntegerPlace::Of::shape && place.of != IntegerPlace::Of::strides)
          sizes_.integers.emplace(IntegerPlace{place.of, static_cast<int>(s_.kernels.ops.size()), place.entry}, extent);
    for (int& t : mine.inputs) t = read(t);
    for (std::size_t i = 0; i < op.outputs.size(); ++i) mine.outputs[i] = make(op, op.outputs[i]);
    s_.kernels.ops.push_back(std::move(mine));
  }
  Segment take() {
    std::set<std::string_view> used;
    for (const auto& [place, extent] : sizes_.integers)
      for (const graph::NamedSize* size : extent.sizes()) used.insert(size->name);
    for (const graph::NamedSize& size : graph::sizes_of(g_))
      if (used.contains(size.name)) sizes_.names.push_back(size);
    if (!sizes_.names.empty()) s_.kernels.sizes = std::make_shared<const graph::SymbolicSizes>(std::move(sizes_));
    return std::move(s_);
  }

 private:
  /// Adds the copy `mine` of a tensor of the graph. `given`: its shape is given, not inferred.
  int add(int t, const KernelTensor& mine, bool given) {
    s_.kernels.tensors.push_back(mine);
    const int index = static_cast<int>(s_.kernels.tensors.size()) - 1;
    if (!g_.sizes) return index;
    const KernelTensor& whole = g_.tensors[t];
    if (given) express({IntegerPlace::Of::shape, index}, extents_[t]);
    if (!mine.strides.empty())
      express({IntegerPlace::Of::strides, index},
              whole.strides.empty() ? row_major(extents_[t])
                                    : expressed(*g_.sizes, whole.strides, {IntegerPlace::Of::strides, t}));
    return index;
  }
  /// Keeps the expressions of those integers of a list that depend on sizes.
  void express(IntegerPlace place, const SymbolicShape& list) {
    for (const graph::SymbolicExtent& e : list) {
      if (!e.constant()) sizes_.integers.emplace(place, e);
      ++place.entry;
    }
  }
  /// Returns the tensor's index in the excerpt, of which it becomes an input if it is not there.
  int read(int t) {
    const auto there = at_.find(t);
    if (there != at_.end()) return there->second;
    KernelTensor input = g_.tensors[t];
    input.memory = -1;
    if (input.strides.empty()) input.strides = graph::row_major(input.shape);
    s_.inputs.push_back(t), memory_[t] = t;
    s_.kernels.inputs.push_back(at_[t] = add(t, input, true));
    return at_[t];
  }
  /// Adds a result. One that takes an input's memory takes that of the operand into which it writes, if an earlier segment
  /// has made this operand.
  int make(const KernelOp& op, int t) {
    KernelTensor result = g_.tensors[t];
    if (result.memory >= 0) memory_[t] = memory_.at(op.inputs[0]), result.memory = at_.at(memory_[t]);
    const bool stored = later_.contains(t);
    if (stored && result.strides.empty() && result.memory < 0) result.strides = graph::row_major(result.shape);
    at_[t] = add(t, result, false);
    if (stored) s_.outputs.push_back(t), s_.kernels.outputs.push_back(at_[t]);
    return at_[t];
  }

  const KernelGraph& g_;
  const std::vector<SymbolicShape>& extents_;
  const std::set<int>& later_;
  Segment s_;
  graph::SymbolicSizes sizes_;
  std::map<int, int> at_;      // by tensor of the graph: that of the excerpt
  std::map<int, int> memory_;  // by input and result in an input's memory: this input, a tensor of the graph
};

}  // namespace

std::vector<Segment> segments(const KernelGraph& g) {
  const Levels by(g);
  std::vector<std::set<int>> later(by.levels.size() +
                                   1);  // by level: tensors that its collectives or later levels read
  later.back().insert(g.outputs.begin(), g.outputs.end());
  for (std::size_t i = by.levels.size(); i-- > 0;) {
    later[i].insert(later[i + 1].begin(), later[i + 1].end());
    const auto& [kernels, collectives] = by.levels[i];
    for (int op : collectives) later[i].insert(g.ops[op].inputs.begin(), g.ops[op].inputs.end());
    if (i > 0)
      for (int op : kernels) later[i - 1].insert(g.ops[op].inputs.begin(), g.ops[op].inputs.end());
  }
  const std::vector<SymbolicShape> extents = g.sizes ? graph::extents(g) : std::vector<SymbolicShape>();
  std::vector<Segment> all;
  for (std::size_t i = 0; i < by.levels.size(); ++i) {
    const auto& [kernels, collectives] = by.levels[i];
    SegmentKernels excerpt(g, extents, has_collectives(g) ? fmt::format("{}_{}", g.name, i) : g.name, later[i]);
    for (int op : kernels) excerpt.add(op);
    if (!kernels.empty()) all.push_back(excerpt.take());
    for (int op : collectives)
      all.push_back({.collective = g.ops[op], .inputs = g.ops[op].inputs, .outputs = g.ops[op].outputs});
  }
  return all;
}

}  // namespace zellige::ranks
