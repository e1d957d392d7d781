// The table of rewrites from graph to graph. A rule changes no value and adds no rounding: it may omit one between
// operators, or move one across a factor (docs/reference/verdicts.md).
//
//   KernelGraph g = rewritten(given, Stage::normal).value_or(given);
//
// A rule of one operator is a function OfOperator, each<rule> is the same on a graph. rules.cpp has the table, with the
// conditions in words; the comments here say what each rule does. In these, shapes are in parentheses.
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
/// Adds a copy after a view that is an output and that no kernel writes, so that the copy may be fused.
OfOperator copied_view;

// Views (rules_of_views.cpp).

/// Reads x instead of a view or copy of it that changes nothing.
OfOperator identity;
/// Makes one view of two: reshape(reshape(x)), permute(permute(x)).
OfOperator two_views;
/// Runs operators on x instead of on a reshape of it, after which the result is reshaped back:
/// reshape(f(reshape(x))) -> f(x).
OfOperator there_and_back;
/// Runs an operator before leading dimensions of 1 are added or removed instead of after that.
OfOperator leading_ones;
/// Adds a bias before a view instead of after it: reshape(x) + reshape(b) -> reshape(x + b).
OfOperator bias_before_view;
/// Makes one mask of two: mask(mask(x)).
OfOperator two_masks;

// Reshapes and expands beside elementwise operators (rules_of_reshapes.cpp).

/// Reads an operand before it is expanded: f(x, expand(y)) -> f(x, y).
OfOperator broadcast;
/// Applies an elementwise operator before dimensions are merged: f(reshape(x), w) -> reshape(f(x, reshape(w))).
OfOperator reshape_after;
/// Reshapes or permutes inputs instead of what elementwise operators make of them: reshape(f(x)) -> f(reshape(x)).
OfOperator view_of_input;

// Views that move or cut dimensions (rules_of_shapes.cpp).

/// Makes a permute that only moves dimensions of 1 a part of the reshape next to it, unless it exchanges the last two
/// dimensions.
OfOperator moved_ones;
/// Multiplies by a matrix instead of by a batch of one.
OfOperator batch_of_one;
/// Multiplies before batches are merged: reshape(reshape(a) reshape(b)) -> a b.
OfOperator merged_batches;
/// Slices before a view instead of after it: reshape(reshape(x)[i:j]) -> x[k:l].
OfOperator slice_before_view;
/// Reads a concatenation's operand instead of the slice that is it.
OfOperator part_of_concat;
/// Expands a tensor instead of concatenating it with itself.
OfOperator repeated_concat;
/// Adds a whole bias once instead of its parts: (a b)[i:j] + c[i:j] -> (a b + c)[i:j].
OfOperator bias_in_parts;
/// Reduces with keepdim, and drops the dimensions after that: sum(x) -> reshape(sum(x)).
OfOperator kept_dimensions;
/// Reduces x instead of a permute of it.
OfOperator permuted_reduction;
/// Reduces along a dimension instead of along the dimensions that a reshape splits it into.
OfOperator split_reduction;

// Products (rules_of_products.cpp).

/// Scales a product instead of an operand: (s a) b -> s (a b).
OfOperator scale_after_product;
/// Reads a matmul's operand before it is expanded: a expand(b) -> a b.
OfOperator broadcast_batches;
/// Multiplies by groups of batches that share an operand instead of repeating it:
/// a reshape(expand(b)) -> reshape(reshape(a) expand(b)).
OfOperator batches_apart;
/// Exchanges operands instead of transposing a product of transposed operands: (b a')' -> a b'.
OfOperator transposed_product;
/// Multiplies by a whole weight once instead of by its parts: x w[i:j] -> (x w)[i:j].
OfOperator whole_weight;
/// Scales after a cast to float32 instead of before it: cast(x s) -> cast(x) s.
OfOperator scale_after_cast;
/// Takes columns before they are split into heads: reshape(x[i:j]) -> reshape(x)[k:l].
OfOperator slice_after_view;

// Functions (rules_of_functions.cpp).

/// x sigmoid(x) and x / (1 + exp(-x)) -> silu(x).
OfOperator silu;
/// 1 / (1 + exp(-x)) -> sigmoid(x).
OfOperator sigmoid;
/// max(x, 0) and where(x < 0, 0, x) -> relu(x).
OfOperator relu;
/// x (1 + tanh(c (x + k x^3))) / 2 -> gelu_tanh(x).
OfOperator gelu_of_tanh;
/// (-x) y -> -(x y).
OfOperator negative_factor;
/// x x and x^2 -> square(x).
OfOperator square;
/// x + (-y) -> x - y.
OfOperator difference;
/// x (-1) -> -x.
OfOperator negative;
/// x / s -> x (1 / s), exactly.
OfOperator exact_quotient;
/// (x s) t -> x (s t), exactly.
OfOperator two_factors;
/// exp(x - logsumexp(x)) and exp(log_softmax(x)) -> softmax(x).
OfOperator softmax_of_logarithm;
/// softmax(x) beside log_softmax(x) -> exp(log_softmax(x)).
OfOperator softmax_beside_logarithm;

// Composed operators (rules_of_compositions.cpp).

/// exp(x - max(x)) / sum -> softmax(x).
OfOperator softmax;
/// (a cos - b sin, b cos + a sin), a and b being the halves of x -> rotary(x, cos, sin).
OfOperator rotary_of_halves;
/// x cos + (-b, a) sin -> rotary(x, cos, sin).
OfOperator rotary_of_rotated;
/// rotary(x, (c, c), (s, s)) -> rotary(x, c, s), and the same of an interleaved one.
OfOperator repeated_angles;
/// A part of a softmax over a concatenation -> the operators that compute it without the concatenation
/// (sink_softmax.cpp).
OfOperator softmax_with_sinks;

}  // namespace zellige::fuse
