// The table of all rewrites, level by level in the order in which they are applied (rule.hpp). No rule changes a value or
// adds a rounding: one of graphs may omit a rounding between operators, or move one across a factor
// (docs/reference/verdicts.md), one of tile programs changes no bit.
//
//   for_each_rule([](rules::Level level, std::string_view name, std::string_view condition) { ... });
//
// The comment at each function says what its rule does. In these, shapes are in parentheses.
#pragma once
#include <memory>

#include "graph/graph.hpp"
#include "rules/rule.hpp"

namespace zellige::target {
struct Target;
}

// ---- graphs ----
namespace zellige::rewrite {

using rules::Level;
struct Known;
class Rewrite;

/// Rewrites a whole graph, or returns nullopt if there is nothing to rewrite.
using OfGraph = std::optional<graph::KernelGraph>(const graph::KernelGraph&);
OfGraph dead_code, computed_twice;  // live.cpp
OfGraph in_memory_order, heads_first, separate_pairs, decompose, split_rows,
    batched_tiles;  // memory_order.cpp, heads.cpp, pairs.cpp, decompose.cpp, split_rows.cpp, batched_tiles.cpp

/// Appends the replacement of an operator, with the same result, to the rewritten graph. Returns false and appends
/// nothing if the rule does not apply.
using OfOperator = bool(const Known&, const graph::KernelOp&, Rewrite&);
OfOperator identity, two_views, there_and_back, leading_ones, bias_before_view, two_masks,
    copied_view;                                     // rules_of_views.cpp
OfOperator broadcast, reshape_after, view_of_input;  // rules_of_reshapes.cpp
OfOperator moved_ones, batch_of_one, merged_batches, slice_before_view, part_of_concat, repeated_concat, bias_in_parts,
    kept_dimensions, permuted_reduction, split_reduction;  // rules_of_shapes.cpp
OfOperator scale_after_product, broadcast_batches, separate_batches, transposed_product, whole_weight, scale_after_cast,
    slice_after_view;                           // rules_of_products.cpp
OfGraph widened_weights, weights_in_registers;  // rules_of_weights.cpp
OfGraph scaled_blocks;                          // rules_of_scales.cpp
OfOperator silu, sigmoid, relu, gelu_of_tanh, negative_factor, square, difference, negative, exact_quotient,
    two_factors;                                                            // rules_of_functions.cpp
OfOperator softmax_of_logarithm, softmax_of_logsumexp, softmax_with_sinks;  // rules_of_softmax.cpp
OfGraph softmax_and_logarithm;                                              // rules_of_softmax.cpp
OfOperator softmax, rotary_of_halves, rotary_of_rotated, rotary_of_neighbours, rotary_of_rotated_neighbours,
    repeated_angles;  // rules_of_compositions.cpp

/// Applies a rule of one operator to all operators of a graph (rewrite.cpp).
std::optional<graph::KernelGraph> each_operator(const graph::KernelGraph&, OfOperator&);
template <OfOperator& rule>
std::optional<graph::KernelGraph> each(const graph::KernelGraph& g) {
  return each_operator(g, rule);
}

inline constexpr rules::RewriteRule<graph::KernelGraph> graph_rules[] = {
    {Level::custom, "custom operators apart",
     "one block of one iteration is proved to compute the same, and no tensor is rounded that was not", decompose},
    {Level::oversized, "tiles in a batch",
     "no tile depends on an earlier iteration except by an accumulator that only joins, and no tensor is rounded that "
     "was not",
     batched_tiles},
    {Level::given, "dead code", "nothing uses an operator or tensor", dead_code},
    {Level::given, "memory order",
     "an input's dimensions have another order in memory, and elementwise operators, reductions and concatenations "
     "read it",
     in_memory_order},
    {Level::given, "split rows",
     "a reshape splits rows of what elementwise operators or norms make, of no product, and the largest element of "
     "each "
     "part is taken",
     split_rows},
    {Level::given, "widened weights",
     "a matmul of at most 64 rows reads a cast of an input of 4 or 8 bits, perhaps less a zero point and times a scale "
     "of each row or group of K",
     widened_weights},
    {Level::warpgroups, "weights in registers",
     "a matmul reads such a cast, of groups of 128 at most, and warpgroups multiply it as A", weights_in_registers},
    {Level::warpgroups, "scaled blocks",
     "a matmul of bf16 reads casts of 8-bit floats along K, each times a float32 scale of blocks of a multiple of 128 "
     "of "
     "K",
     scaled_blocks},
    {Level::normal, "computed twice", "two operators are the same on the same operands, and not both outputs",
     computed_twice},
    {Level::normal, "identity",
     "a view, cast of float32 without saturation, or product with 1 that changes nothing is read", each<identity>},
    {Level::normal, "permuted reduction",
     "a reduction of a permute of no matmul, perhaps below functions that nobody else reads, after "
     "which the other dimensions are in order",
     each<permuted_reduction>},
    {Level::normal, "split reduction", "a reduction along all dimensions that a reshape splits one into",
     each<split_reduction>},
    {Level::normal, "kept dimensions",
     "a reduction along dimensions that it drops, read by an operator of one operand or by a "
     "reshape that puts them back, or made elsewhere without dropping them",
     each<kept_dimensions>},
    {Level::normal, "part of a concatenation", "a slice of a concatenation is one of its operands",
     each<part_of_concat>},
    {Level::normal, "repeated concatenation", "a tensor of extent 1 is concatenated with itself along that dimension",
     each<repeated_concat>},
    {Level::normal, "broadcast", "an operand is expanded to the result's shape, and another one has it",
     each<broadcast>},
    {Level::normal, "moved ones", "a permute beside a reshape only moves dimensions of 1, and not between the last two",
     each<moved_ones>},
    {Level::normal, "batch of one", "a matmul's second operand is a reshape that is a batch of one matrix",
     each<batch_of_one>},
    {Level::normal, "broadcast batches", "a matmul's operand is expanded along batches that the other one has",
     each<broadcast_batches>},
    {Level::normal, "there and back",
     "a reshape of what operators row by row make of another reshape, and nobody else reads what they make; it has the "
     "shape from before, but for a matmul's columns",
     each<there_and_back>},
    {Level::normal, "transposed product", "a product with a transposed operand is transposed, and nobody else reads it",
     each<transposed_product>},
    {Level::normal, "two views", "a reshape of a reshape, or a permute of a permute", each<two_views>},
    {Level::normal, "merged batches",
     "a reshape splits a matmul's batches as they were before reshapes of both operands, and nobody else reads it",
     each<merged_batches>},
    {Level::normal, "two masks",
     "a mask of a mask, with the same dimensions and value, and nobody else reads the first one", each<two_masks>},
    {Level::normal, "square", "x x, or x to the power of 2", each<square>},
    {Level::normal, "negative", "a product with -1", each<negative>},
    {Level::normal, "negative factor", "a product with -x, and nobody else reads that", each<negative_factor>},
    {Level::normal, "difference", "x + (-y)", each<difference>},
    {Level::normal, "sigmoid", "1 / (1 + exp(-x)), and nobody sees the steps rounded", each<sigmoid>},
    {Level::normal, "relu", "the maximum of x and 0, or 0 where x < 0 and x elsewhere", each<relu>},
    {Level::normal, "gelu of tanh",
     "x (1 + tanh(c (x + k x³))) / 2 with gelu_tanh's c and k, nobody else reads the tanh, and nobody sees the steps "
     "rounded",
     each<gelu_of_tanh>},
    {Level::normal, "silu", "x sigmoid(x), or x / (1 + exp(-x)), and nobody sees the steps rounded", each<silu>},
    {Level::normal, "exact quotient", "a quotient by a power of two", each<exact_quotient>},
    {Level::normal, "two factors",
     "two scalar factors, both at least 1 or both at most 1, one a power of two, and nobody else reads the first "
     "product",
     each<two_factors>},
    {Level::normal, "softmax", "exp(x - max) / sum along a dimension that is kept, and nobody else reads the steps",
     each<softmax>},
    {Level::normal, "softmax of a logarithm", "exp(log_softmax(x)), and nobody else reads the logarithm",
     each<softmax_of_logarithm>},
    {Level::normal, "softmax of logsumexp", "exp(x - logsumexp(x)), and nobody else reads the steps",
     each<softmax_of_logsumexp>},
    {Level::normal, "softmax beside its logarithm", "softmax(x) where log_softmax(x) is made, too, both f32",
     softmax_and_logarithm},
    {Level::normal, "rotary of halves",
     "a cos - b sin and b cos + a sin are concatenated, a and b being the halves of a tensor", each<rotary_of_halves>},
    {Level::normal, "rotary of rotated", "x cos + (-b, a) sin, where a and b are the halves of x",
     each<rotary_of_rotated>},
    {Level::normal, "rotary of neighbours",
     "a cos - b sin and b cos + a sin are stacked as neighbours, a and b being the neighbours of a tensor",
     each<rotary_of_neighbours>},
    {Level::normal, "rotary of rotated neighbours", "x cos + (-b, a) sin, where a and b are the neighbours of x",
     each<rotary_of_rotated_neighbours>},
    {Level::normal, "repeated angles", "a rotary embedding's cosines and sines are concatenated, each with itself",
     each<repeated_angles>},
    {Level::normal, "scale after cast",
     "bf16 is scaled and then cast to float32, without saturation, and nobody else reads the scaled",
     each<scale_after_cast>},
    {Level::normal, "scale after product",
     "an operand of a matmul of bf16 or f32 is scaled by 2^-12 to 2^12, perhaps below views, and nobody else reads "
     "that",
     each<scale_after_product>},
    {Level::normal, "batches apart", "a matmul's operand is expanded along a batch that a reshape merges",
     each<separate_batches>},
    {Level::normal, "whole weight",
     "a tensor is multiplied by rows of a weight, and by all others or by the whole weight", each<whole_weight>},
    {Level::normal, "bias in parts", "parts of a vector are added to all parts of a matmul's columns",
     each<bias_in_parts>},
    {Level::normal, "slice before view",
     "a reshape merges a slice of what another reshape splits the last dimension into", each<slice_before_view>},
    {Level::normal, "slice after view", "a reshape splits a slice of a matmul's columns into heads",
     each<slice_after_view>},
    {Level::normal, "leading ones",
     "a norm, softmax or matmul reads, row by row, a reshape that adds or removes leading dimensions of 1; or a sum or "
     "product of vectors reads a row as a vector",
     each<leading_ones>},
    {Level::normal, "bias before view", "a vector is added to a reshape that splits the last dimension, split as it",
     each<bias_before_view>},
    {Level::normal, "reshape after",
     "each operand of the result's shape is a reshape that merges dimensions of one split shape, of what a reduction "
     "or an operator element by element makes, and nobody else reads it",
     each<reshape_after>},
    {Level::normal, "view of an input",
     "a reshape or permute of what one operator makes of an input, or several make of vectors that are inputs, element "
     "by element, and nobody else reads that",
     each<view_of_input>},
    {Level::copied, "copied view", "a view is an output, and the kernel of its operand does not write it",
     each<copied_view>},
    {Level::heads, "heads first",
     "a matmul's columns are viewed as heads with dimensions of 1, and read by rotary embeddings and slices of heads "
     "alone",
     heads_first},
    {Level::heads, "softmax with sinks",
     "a slice of a softmax over a concatenation is one of the operands, and nobody else reads the softmax",
     each<softmax_with_sinks>},
    {Level::priced, "pairs apart",
     "a matmul's columns are heads, read by slices and rotary embeddings of one kind, of the same angles in all heads",
     separate_pairs},
};

}  // namespace zellige::rewrite

// ---- the steps of groups ----
namespace zellige::candidate {

using rules::Level;
struct GroupSteps;
struct StepsContext;

using OfSteps = std::optional<GroupSteps>(const GroupSteps&, const StepsContext&);
OfSteps coalesce, mask_partial_tiles;  // coalesce.cpp, mask_partial_tiles.cpp

inline constexpr rules::RewriteRule<GroupSteps, StepsContext> steps_rules[] = {
    {Level::grouped, "contiguous dimensions",
     "all steps are elementwise, dimensions are contiguous in every operand and result, and none of these is part of a "
     "concatenation or stored slice by slice",
     coalesce},
    {Level::tiled, "partial tiles",
     "a reduction or matmul runs over an axis that tiles do not divide, and what its operand has beyond the end is not "
     "the identity, such as 0 of a sum",
     mask_partial_tiles},
};

}  // namespace zellige::candidate

// ---- block graphs ----
namespace zellige::rewrite {

using BlockForm = std::shared_ptr<const graph::BlockGraph>;  // tensors have shapes
bool swap_operands(BlockForm&, const target::Target&);       // swap_operands.cpp
/// Returns the block graph with A and B of its matmuls swapped, whether or not that may be faster; nullopt if it is not
/// possible.
std::optional<graph::BlockGraph> swapped(const graph::BlockGraph&, const target::Target&);

inline constexpr rules::RewriteRule<BlockForm, target::Target> block_rules[] = {
    {Level::block, "operands swapped",
     "a matmul's rows leave some of the 64 rows of a wgmma empty, or need more than two warpgroups, its columns do "
     "not, and the loop only multiplies what it loads",
     swap_operands},
};

}  // namespace zellige::rewrite

// ---- tile programs ----
namespace zellige::tile {

using rules::Level;
struct TileProgram;
struct Node;

using OfProgram = bool(TileProgram&, const target::Target&);
OfProgram precompute_a, share;  // precompute_a.cpp, share.cpp

/// A rule of one node: replaces the node, which is about to be added to the program and whose operands are there already,
/// by a node with the same value. Returns false and changes nothing if the rule does not apply.
using OfNode = bool(TileProgram&, Node&);
OfNode cast_twice, cast_of_packed, mask_of_scaled, max_of_scaled;  // simplify.cpp

/// Applies a rule of one node to all nodes of a program (simplify.cpp).
bool each_node(TileProgram&, OfNode&);
template <OfNode& rule>
bool each(TileProgram& p, const target::Target&) {
  return each_node(p, rule);
}

// What simplifies comes first.
inline constexpr rules::RewriteRule<TileProgram, target::Target> program_rules[] = {
    {Level::tile, "cast twice",
     "a floating-point value is cast without saturation, and then rounded or stored in the same dtype",
     each<cast_twice>},
    {Level::tile, "cast of packed", "an integer of 4 bits is cast to a floating-point dtype", each<cast_of_packed>},
    {Level::tile, "mask of scaled",
     "masked elements are -inf, and the operand is scaled by a positive finite number, in f32", each<mask_of_scaled>},
    {Level::tile, "max of scaled",
     "the operand of a maximum, which no iteration carries, is scaled by a positive finite number, in f32",
     each<max_of_scaled>},
    {Level::tile, "precompute A",
     "a matmul of at most 8 rows reads a part of A in each iteration, all of A fits in shared memory, and all blocks "
     "start at once",
     precompute_a},
    {Level::tile, "shared value",
     "an elementwise operator is needed at more than 16 coordinates, or a task would evaluate more than 24 again",
     share},
};

}  // namespace zellige::tile

// ---- expressions of kernels ----
namespace zellige::emit {

struct NodeValue;
struct Applied;

bool exp_of_scaled_less(NodeValue&, const Applied&);  // expression.cpp

inline constexpr rules::RewriteRule<NodeValue, Applied> expression_rules[] = {
    {rules::Level::expression, "exp of scaled less",
     "exp(x c - y) or exp(x - y), in f32 in the layout of accumulators, with one y per row", exp_of_scaled_less},
};

}  // namespace zellige::emit

namespace zellige::rules {

/// Calls f(level, name, condition) for each rule, in order.
template <class F>
void for_each_rule(const F& f) {
  const auto all = [&](const auto& table) {
    for (const auto& rule : table) f(rule.level, rule.name, rule.condition);
  };
  all(rewrite::graph_rules), all(candidate::steps_rules), all(rewrite::block_rules);
  all(tile::program_rules), all(emit::expression_rules);
}

}  // namespace zellige::rules
