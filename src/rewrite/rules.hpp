// The rules of normalize() (normalize.hpp) that have files of their own. Each is a Rule::apply: it appends the
// replacement of an operator, with the same result, to the rewritten graph, or returns false and appends
// nothing. normalize.cpp lists them with their conditions; the comments here say what each does.
#pragma once
#include "rewrite/normalize.hpp"

namespace zellige::fuse {

// Views (rules_of_views.cpp).

/// Reads x instead of a view or copy of it that changes nothing.
bool identity(const Known&, const KernelOp&, Rewrite&);
/// Makes one view of two: reshape(reshape(x)), permute(permute(x)).
bool two_views(const Known&, const KernelOp&, Rewrite&);
/// Runs operators on x instead of on a reshape of it, after which the result is reshaped back:
/// reshape(f(reshape(x))) -> f(x).
bool there_and_back(const Known&, const KernelOp&, Rewrite&);
/// Runs an operator before leading dimensions of 1 are added or removed instead of after that.
bool leading_ones(const Known&, const KernelOp&, Rewrite&);
/// Adds a bias before a view instead of after it: reshape(x) + reshape(b) -> reshape(x + b).
bool bias_before_view(const Known&, const KernelOp&, Rewrite&);
/// Makes one mask of two: mask(mask(x)).
bool two_masks(const Known&, const KernelOp&, Rewrite&);

// Views that move or cut dimensions (rules_of_shapes.cpp).

/// Makes a permute that only moves dimensions of 1 a part of the reshape next to it, unless it exchanges the last two
/// dimensions.
bool moved_ones(const Known&, const KernelOp&, Rewrite&);
/// Multiplies by a matrix instead of by a batch of one.
bool batch_of_one(const Known&, const KernelOp&, Rewrite&);
/// Multiplies before batches are merged: reshape(reshape(a) reshape(b)) -> a b.
bool merged_batches(const Known&, const KernelOp&, Rewrite&);
/// Slices before a view instead of after it: reshape(reshape(x)[i:j]) -> x[k:l].
bool slice_before_view(const Known&, const KernelOp&, Rewrite&);
/// Reads a concatenation's operand instead of the slice that is it.
bool part_of_concat(const Known&, const KernelOp&, Rewrite&);
/// Expands a tensor instead of concatenating it with itself.
bool repeated_concat(const Known&, const KernelOp&, Rewrite&);
/// Adds a whole bias once instead of its parts: (a b)[i:j] + c[i:j] -> (a b + c)[i:j].
bool bias_in_parts(const Known&, const KernelOp&, Rewrite&);
/// Reduces x instead of a permute of it.
bool permuted_reduction(const Known&, const KernelOp&, Rewrite&);
/// Reduces along a dimension instead of along the dimensions that a reshape splits it into.
bool split_reduction(const Known&, const KernelOp&, Rewrite&);

// Products (rules_of_products.cpp).

/// Scales a product instead of an operand: (s a) b -> s (a b).
bool scale_after_product(const Known&, const KernelOp&, Rewrite&);
/// Reads a matmul's operand before it is expanded: a expand(b) -> a b.
bool broadcast_batches(const Known&, const KernelOp&, Rewrite&);
/// Multiplies by groups of batches that share an operand instead of repeating it:
/// a reshape(expand(b)) -> reshape(reshape(a) expand(b)).
bool batches_apart(const Known&, const KernelOp&, Rewrite&);
/// Exchanges operands instead of transposing a product of transposed operands: (b a')' -> a b'.
bool transposed_product(const Known&, const KernelOp&, Rewrite&);
/// Multiplies by a whole weight once instead of by its parts: x w[i:j] -> (x w)[i:j].
bool whole_weight(const Known&, const KernelOp&, Rewrite&);
/// Scales after a cast to float32 instead of before it: cast(x s) -> cast(x) s.
bool scale_after_cast(const Known&, const KernelOp&, Rewrite&);
/// Takes columns before they are split into heads: reshape(x[i:j]) -> reshape(x)[k:l].
bool slice_after_view(const Known&, const KernelOp&, Rewrite&);

// Functions (rules_of_functions.cpp).

/// x sigmoid(x) and x / (1 + exp(-x)) -> silu(x).
bool silu(const Known&, const KernelOp&, Rewrite&);
/// 1 / (1 + exp(-x)) -> sigmoid(x).
bool sigmoid(const Known&, const KernelOp&, Rewrite&);
/// max(x, 0) and where(x < 0, 0, x) -> relu(x).
bool relu(const Known&, const KernelOp&, Rewrite&);
/// x (1 + tanh(c (x + k x^3))) / 2 -> gelu_tanh(x).
bool gelu_of_tanh(const Known&, const KernelOp&, Rewrite&);
/// (-x) y -> -(x y).
bool negative_factor(const Known&, const KernelOp&, Rewrite&);
/// x x and x^2 -> square(x).
bool square(const Known&, const KernelOp&, Rewrite&);
/// x + (-y) -> x - y.
bool difference(const Known&, const KernelOp&, Rewrite&);
/// x (-1) -> -x.
bool negative(const Known&, const KernelOp&, Rewrite&);
/// x / s -> x (1 / s), exactly.
bool exact_quotient(const Known&, const KernelOp&, Rewrite&);
/// (x s) t -> x (s t), exactly.
bool two_factors(const Known&, const KernelOp&, Rewrite&);
/// exp(x - logsumexp(x)) and exp(log_softmax(x)) -> softmax(x).
bool softmax_of_logarithm(const Known&, const KernelOp&, Rewrite&);
/// softmax(x) beside log_softmax(x) -> exp(log_softmax(x)).
bool softmax_beside_logarithm(const Known&, const KernelOp&, Rewrite&);

// Composed operators (rules_of_compositions.cpp).

/// exp(x - max(x)) / sum -> softmax(x).
bool softmax(const Known&, const KernelOp&, Rewrite&);
/// (a cos - b sin, b cos + a sin), a and b being the halves of x -> rotary(x, cos, sin).
bool rotary_of_halves(const Known&, const KernelOp&, Rewrite&);
/// x cos + (-b, a) sin -> rotary(x, cos, sin).
bool rotary_of_rotated(const Known&, const KernelOp&, Rewrite&);
/// rotary(x, (c, c), (s, s)) -> rotary(x, c, s), and the same of an interleaved one.
bool repeated_angles(const Known&, const KernelOp&, Rewrite&);

}  // namespace zellige::fuse
