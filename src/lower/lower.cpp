#include "lower/lower.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "graph/elementwise.hpp"
#include "graph/infer.hpp"
#include "graph/view.hpp"
#include "lower/align.hpp"
#include "lower/by_parts.hpp"
#include "lower/pages.hpp"
#include "lower/repeats.hpp"
#include "lower/views.hpp"
#include "lower/write_through.hpp"
#include "tile/identifier.hpp"

namespace zellige::lower {
namespace {

/// Lowers one graph, operator by operator in launch order; see lower().
class Lowering {
 public:
  Lowering(const graph::KernelGraph& graph, const target::Target& target, const std::map<int, std::uint32_t>& copied)
      : graph_(graph), target_(target), copied_(copied), only_reader_(graph.tensors.size(), none) {
    for (std::size_t i = 0; i < graph.ops.size(); ++i)
      for (int t : graph.ops[i].inputs) {
        int& reader = only_reader_[t];
        reader = reader == none ? static_cast<int>(i) : several;
      }
  }

  LoweredOperators run() {
    begin();
    const std::vector<int> order = graph::in_place_order(graph_);
    std::set<int> done = write_through(program_, graph_, order, target_);
    const std::map<int, PagedReads> paged = paged_reads(graph_);
    for (int i : order) {
      if (done.count(i) > 0) continue;
      if (const auto reads = paged.find(i); reads != paged.end() && read_in_pages(program_, reads->second, target_)) {
        done.insert(reads->second.views.begin(), reads->second.views.end());
        continue;
      }
      const graph::KernelOp& op = graph_.ops[i];
      if (is_made_by_its_reader(op)) continue;
      if (op.kind == graph::OpKind::custom)
        custom(op);
      else if (may_be_read_by_parts(graph_, i) && program_.views.count(op.outputs[0]) == 0)
        unmade_[op.outputs[0]] = i;
      else
        lower_unfused(i);
    }
    for (const auto& [tensor, op] : unmade_) settle_strides(program_, tensor, true, target_);
    for (const auto& [tensor, kernel] : producers_) settle_strides(program_, tensor, true, target_);
    return {std::move(program_), std::move(copies_)};
  }

 private:
  /// Copies the graph's tensors to the program. Gives it a valid identifier, and each tensor without a name a unique
  /// one.
  void begin() {
    program_.name = tile::identifier(graph_.name);  // part of the names of files, kernels and the entry function
    if (program_.name.empty() || (program_.name[0] >= '0' && program_.name[0] <= '9'))
      program_.name = program_.name.empty() ? "g" : "g_" + program_.name;
    program_.tensors = graph_.tensors;
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t)
      if (graph_.tensors[t].strides.empty()) program_.open.insert(static_cast<int>(t));
    program_.inputs = graph_.inputs;
    program_.outputs = graph_.outputs;
    std::set<std::string> taken;
    for (const auto& t : program_.tensors) taken.insert(t.name);
    for (std::size_t i = 0; i < program_.tensors.size(); ++i)
      if (auto& t = program_.tensors[i]; t.name.empty()) {
        t.name = fmt::format("t{}", i);
        while (!taken.insert(t.name).second) t.name += '_';
      }
  }

  std::string next_name() const { return fmt::format("{}_k{}", program_.name, program_.kernels.size()); }
  void add(std::vector<tile::TileProgram> kernels) {
    for (tile::TileProgram& kernel : kernels) program_.kernels.push_back(std::move(kernel));
  }

  /// Adds the kernels of a custom operator: one, or one per operand if it reads concatenations that need not be
  /// stored. Before them come kernels that copy its operands to aligned rows, or that store concatenations which it
  /// can only read as a whole.
  void custom(const graph::KernelOp& op) {
    tile::TileProgram kernel = lower_block(program_, op, next_name(), target_);
    std::vector<Concatenation> read;
    for (int t : std::set<int>(op.inputs.begin(), op.inputs.end()))
      if (const auto c = unmade_.find(t); c != unmade_.end()) {
        const graph::KernelOp& concat = graph_.ops[c->second];
        Concatenation& joined = read.emplace_back(Concatenation{t, concat.attributes.dim, concat.inputs, {}});
        for (int x : concat.inputs) joined.producers.push_back(producers_.contains(x) ? &producers_.at(x) : nullptr);
      }
    if (std::optional<std::vector<tile::TileProgram>> programs = by_parts(program_, kernel, read))
      return add(*std::move(programs));
    if (!read.empty()) {
      for (const Concatenation& c : read) {
        const int made_by = unmade_.at(c.result);
        unmade_.erase(c.result);
        lower_unfused(made_by);
      }
      kernel = lower_block(program_, op, next_name(), target_);
    }
    const int index = static_cast<int>(&op - graph_.ops.data());
    const auto asked = copied_.find(index);
    AlignedOperands aligned =
        align_operands(program_, kernel, asked == copied_.end() ? std::nullopt : std::optional(asked->second), target_);
    if (aligned.copies.possible != 0) copies_.emplace(index, aligned.copies);
    if (aligned.kernel) program_.kernels.push_back(*std::move(aligned.kernel));
    program_.kernels.push_back(std::move(kernel));
  }

  /// Returns whether the operator is elementwise and only a concatenation reads its result. If so, keeps its program in
  /// `producers_`: the program that copies this operand of the concatenation inlines it.
  bool is_made_by_its_reader(const graph::KernelOp& op) {
    const int x = op.outputs[0];
    if (op.outputs.size() != 1 || op.kind != graph::OpKind::custom) return false;
    if (std::ranges::count(graph_.outputs, x) > 0 || !graph_.tensors[x].strides.empty() || program_.views.count(x) > 0)
      return false;
    if (std::ranges::any_of(op.inputs, [&](int t) { return unmade_.contains(t) || producers_.contains(t); }))
      return false;
    const int reader = only_reader_[x];
    if (reader < 0 || graph_.ops[reader].kind != graph::OpKind::concat) return false;
    const int joined = graph_.ops[reader].outputs[0];
    const bool made_often = may_be_read_by_parts(graph_, reader) && only_reader_[joined] < 0;
    if (made_often || graph::writes_in_place(graph_)) return false;
    tile::TileProgram kernel = lower_block(program_, op, next_name(), target_);
    if (!is_elementwise(program_, kernel, x)) return false;
    producers_.emplace(x, std::move(kernel));
    return true;
  }

  /// Adds the kernels of operator `i`, which is not custom: none for a view that needs no copy.
  void lower_unfused(int i) {
    const graph::KernelOp& op = graph_.ops[i];
    const std::string name = next_name();
    if (see_repeated(program_, graph_, op)) return;
    std::vector<tile::TileProgram> kernels = lower_copies(program_, op, name, target_);
    if (op.kind == graph::OpKind::concat)
      for (std::size_t k = 0; k < op.inputs.size(); ++k)
        if (const auto producer = producers_.find(op.inputs[k]); producer != producers_.end())
          kernels[k] = with_producer(kernels[k], producer->second, op.inputs[k]);
    add(std::move(kernels));
  }

  const graph::KernelGraph& graph_;
  const target::Target& target_;
  const std::map<int, std::uint32_t>& copied_;  // by operator: the operands of which it reads copies
  std::map<int, OperandCopies> copies_;         // by operator that may read copies of operands with aligned lines
  static constexpr int none = -1, several = -2;
  std::vector<int> only_reader_;  // by tensor: the only operator that reads it, else `none` or `several`
  tile::TilePrograms program_;
  std::map<int, tile::TileProgram> producers_;  // by result tensor: elementwise programs to be inlined in a reader
  std::map<int, int> unmade_;                   // by result tensor: concatenations without a kernel of their own
};

}  // namespace

tile::TilePrograms lower(const graph::KernelGraph& graph, const target::Target& target) {
  return lower_operators(graph, target, {}).program;
}

LoweredOperators lower_operators(const graph::KernelGraph& graph, const target::Target& target,
                                 const std::map<int, std::uint32_t>& copied) {
  return Lowering(graph, target, copied).run();
}

}  // namespace zellige::lower
