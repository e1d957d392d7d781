// The table of rewrites from graph to graph. A rule changes no value and adds no rounding: it may omit one between
// operators, or move one across a factor (docs/reference/verdicts.md).
//
//   KernelGraph g = rewritten(given, Stage::normal).value_or(given);
//
// A rule of one operator is a function OfOperator, each<rule> is the same on a graph. rules.cpp has the table, with the
// conditions in words; the comment at each function says what the rule does. In these, shapes are in parentheses.
#pragma once
#include <optional>
#include <span>
#include <string_view>

#include "rewrite/rewrite.hpp"
#include "target/target.hpp"

namespace zellige::fuse {

/// When rules are applied. Those of one stage are applied until none of them applies.
enum class Stage : std::uint8_t {
  given,   // once, to the graph as it is given: what later stages need not look at any more
  normal,  // to a normal form, in which equal spellings are one
  copied,  // to views that are outputs, after the normal form, which would remove copies
  heads,   // to attention, after copies, since a head that is an output is one
  priced,  // to the result of the other stages: taken if the kernels cost less
  custom   // to custom operators before the other stages: taken if the kernels cost less
};

/// A row of the table.
struct Rule {
  std::string_view name, condition;  // shown in the documentation
  /// Returns the rewritten graph, with the same results, or nullopt if the rule applies nowhere.
  std::optional<KernelGraph> (*apply)(const KernelGraph&);
};

/// Returns the rules of a stage, in order: a rule waits until none before it applies anywhere.
std::span<const Rule> rules(Stage);

/// Returns the graph to which no rule of the stage applies any more, or nullopt if none applies to the given graph.
std::optional<KernelGraph> rewritten(const KernelGraph&, Stage);

/// Returns the graph in canonical form: no rule matches, and no value is computed twice except for outputs.
inline KernelGraph normalize(const KernelGraph& g) { return rewritten(g, Stage::normal).value_or(g); }

/// A row of the rewrites of a block graph. What it makes is offered beside the block graph that it is made of, and taken
/// if the kernel costs less.
struct BlockRule {
  std::string_view name, condition;
  /// Returns the rewritten block graph, or nullopt if the rule does not apply. The tensors of the given one have shapes.
  std::optional<BlockGraph> (*apply)(const BlockGraph&, const target::Target&);
};
std::span<const BlockRule> block_rules();

/// Appends the replacement of an operator, with the same result, to the rewritten graph. Returns false and appends
/// nothing if the rule does not apply.
using OfOperator = bool(const Known&, const KernelOp&, Rewrite&);
/// Rewrites a whole graph, or returns nullopt if there is nothing to rewrite.
using OfGraph = std::optional<KernelGraph>(const KernelGraph&);

/// Swaps A and B of a matmul: C^T = B^T A^T (swap_operands.cpp).
std::optional<BlockGraph> swap_operands(const BlockGraph&, const target::Target&);

// Graphs.

/// Removes operators and tensors that nothing uses (live.cpp).
OfGraph dead_code;
/// Computes a value once that is computed twice, unless both are outputs (live.cpp).
OfGraph computed_twice;
/// Renumbers the dimensions of tensors that are stored in another order, in the order in memory (memory_order.cpp).
OfGraph in_memory_order;
/// Views a matmul's columns as heads (rows, heads, columns) without dimensions of 1 (heads.cpp).
OfGraph heads_first;
/// Gives the two numbers that a rotary embedding of a matmul's columns rotates a dimension of their own (pairs.cpp).
OfGraph separate_pairs;
/// Writes what custom operators compute as operators of the graph (decompose.cpp). The graph must be validated. The
/// result rounds as its tensors are stored (roundings.hpp).
OfGraph decompose;

}  // namespace zellige::fuse
