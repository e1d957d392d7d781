#include "rewrite/rules.hpp"

#include "graph/view.hpp"
#include "lower/write_through.hpp"

namespace zellige::fuse {

// Rules of one operator, by file.
OfOperator identity, two_views, there_and_back, leading_ones, bias_before_view, two_masks;  // rules_of_views.cpp
OfOperator broadcast, reshape_after, view_of_input;                                         // rules_of_reshapes.cpp
OfOperator moved_ones, batch_of_one, merged_batches, slice_before_view, part_of_concat, repeated_concat, bias_in_parts,
    kept_dimensions, permuted_reduction, split_reduction;  // rules_of_shapes.cpp
OfOperator scale_after_product, broadcast_batches, batches_apart, transposed_product, whole_weight, scale_after_cast,
    slice_after_view;  // rules_of_products.cpp
OfOperator silu, sigmoid, relu, gelu_of_tanh, negative_factor, square, difference, negative, exact_quotient,
    two_factors, softmax_of_logarithm, softmax_beside_logarithm;           // rules_of_functions.cpp
OfOperator softmax, rotary_of_halves, rotary_of_rotated, repeated_angles;  // rules_of_compositions.cpp
OfOperator softmax_with_sinks;                                             // sink_softmax.cpp

namespace {

/// A rule of one operator, applied to all operators of a graph.
template <OfOperator rule>
std::optional<KernelGraph> each(const KernelGraph& g) {
  const Known known(g);
  Rewrite out(g);
  bool changed = false;
  for (const KernelOp& op : g.ops) {
    const bool fits = rule(known, op, out);
    if (!fits) out.keep(op);
    changed = changed || fits;
  }
  return changed ? std::optional(out.finished()) : std::nullopt;
}

/// Adds a copy after a view that is an output and that no kernel writes, so that the copy may be fused.
bool copied_view(const Known& g, const KernelOp& op, Rewrite& out) {
  const int to = op.outputs[0];
  if (!graph::is_view(op.kind) || !is_output(g.graph, to)) return false;
  for (const plan::WrittenAs& w : plan::written_as(g.graph))
    if (g.graph.ops[w.view].outputs[0] == to) return false;
  const int seen = out.step(op, op.kind, op.inputs, op.attributes, "_view");
  return out.replace(op, OpKind::mul_scalar, {seen});
}

constexpr Rule given[] = {
    {"dead code", "nothing uses an operator or tensor", dead_code},
    {"memory order",
     "an input's dimensions have another order in memory, and elementwise operators, reductions and "
     "concatenations read it",
     in_memory_order},
};

constexpr Rule normal[] = {
    {"computed twice", "two operators are the same on the same operands, and not both outputs", computed_twice},
    {"identity", "a view, cast of float32 or product with 1 that changes nothing is read", each<identity>},
    {"permuted reduction",
     "a sum, mean, maximum or minimum of a permute of no matmul, perhaps below functions that nobody else "
     "reads, after which the other dimensions are in order",
     each<permuted_reduction>},
    {"split reduction", "a reduction along all dimensions that a reshape splits one into", each<split_reduction>},
    {"kept dimensions",
     "a sum, mean, maximum or minimum along dimensions that it drops, read by an operator of one operand or "
     "by a reshape that puts them back, or made elsewhere without dropping them",
     each<kept_dimensions>},
    {"part of a concatenation", "a slice of a concatenation is one of its operands", each<part_of_concat>},
    {"repeated concatenation", "a tensor of extent 1 is concatenated with itself along that dimension",
     each<repeated_concat>},
    {"broadcast", "an operand is expanded to the result's shape, and another one has it", each<broadcast>},
    {"moved ones", "a permute beside a reshape only moves dimensions of 1, and not between the last two",
     each<moved_ones>},
    {"batch of one", "a matmul's second operand is a reshape that is a batch of one matrix", each<batch_of_one>},
    {"broadcast batches", "a matmul's operand is expanded along batches that the other one has",
     each<broadcast_batches>},
    {"there and back",
     "a reshape of what operators row by row make of another reshape, and nobody else reads what they make; "
     "it has the shape from before, but for a matmul's columns",
     each<there_and_back>},
    {"transposed product", "a product with a transposed operand is transposed, and nobody else reads it",
     each<transposed_product>},
    {"two views", "a reshape of a reshape, or a permute of a permute", each<two_views>},
    {"merged batches",
     "a reshape splits a matmul's batches as they were before reshapes of both operands, and nobody else "
     "reads it",
     each<merged_batches>},
    {"two masks", "a mask of a mask, with the same dimensions and value, and nobody else reads the first one",
     each<two_masks>},
    {"square", "x x, or x to the power of 2", each<square>},
    {"negative", "a product with -1", each<negative>},
    {"negative factor", "a product with -x, and nobody else reads that", each<negative_factor>},
    {"difference", "x + (-y)", each<difference>},
    {"sigmoid", "1 / (1 + exp(-x))", each<sigmoid>},
    {"relu", "the maximum of x and 0, or 0 where x < 0 and x elsewhere", each<relu>},
    {"gelu of tanh", "x (1 + tanh(c (x + k x³))) / 2 with gelu_tanh's c and k, and nobody else reads the tanh",
     each<gelu_of_tanh>},
    {"silu", "x sigmoid(x), or x / (1 + exp(-x))", each<silu>},
    {"exact quotient", "a quotient by a power of two", each<exact_quotient>},
    {"two factors", "two scalar factors, one a power of two, and nobody else reads the first product",
     each<two_factors>},
    {"softmax", "exp(x - max) / sum along a dimension that is kept, and nobody else reads the steps", each<softmax>},
    {"softmax of a logarithm", "exp(x - logsumexp(x)) or exp(log_softmax(x)), and nobody else reads the logarithm",
     each<softmax_of_logarithm>},
    {"softmax beside its logarithm", "softmax(x) where log_softmax(x) is made, too, both f32",
     each<softmax_beside_logarithm>},
    {"rotary of halves", "a cos - b sin and b cos + a sin are concatenated, a and b being the halves of a tensor",
     each<rotary_of_halves>},
    {"rotary of rotated", "x cos + (-b, a) sin, where a and b are the halves of x", each<rotary_of_rotated>},
    {"repeated angles", "a rotary embedding's cosines and sines are concatenated, each with itself",
     each<repeated_angles>},
    {"scale after cast", "bf16 is scaled and then cast to float32, and nobody else reads the scaled",
     each<scale_after_cast>},
    {"scale after product",
     "an operand of a matmul of bf16 or f32 is scaled, perhaps below views, and nobody else reads that",
     each<scale_after_product>},
    {"batches apart", "a matmul's operand is expanded along a batch that a reshape merges", each<batches_apart>},
    {"whole weight", "a tensor is multiplied by rows of a weight, and by all others or by the whole weight",
     each<whole_weight>},
    {"bias in parts", "parts of a vector are added to all parts of a matmul's columns", each<bias_in_parts>},
    {"slice before view", "a reshape merges a slice of what another reshape splits the last dimension into",
     each<slice_before_view>},
    {"slice after view", "a reshape splits a slice of a matmul's columns into heads", each<slice_after_view>},
    {"leading ones",
     "a norm, softmax or matmul reads, row by row, a reshape that adds or removes leading dimensions of 1; "
     "or a sum or product of vectors reads a row as a vector",
     each<leading_ones>},
    {"bias before view", "a vector is added to a reshape that splits the last dimension, split as it",
     each<bias_before_view>},
    {"reshape after",
     "each operand of the result's shape is a reshape that merges dimensions of one split shape, of what a "
     "reduction or an operator element by element makes, and nobody else reads it",
     each<reshape_after>},
    {"view of an input",
     "a reshape or permute of what one operator makes of an input, or several make of vectors that are "
     "inputs, element by element, and nobody else reads that",
     each<view_of_input>},
};

constexpr Rule copied[] = {
    {"copied view", "a view is an output, and the kernel of its operand does not write it", each<copied_view>},
};

constexpr Rule heads[] = {
    {"heads first",
     "a matmul's columns are viewed as heads with dimensions of 1, and read by rotary embeddings and slices "
     "of heads alone",
     heads_first},
    {"softmax with sinks",
     "a slice of a softmax over a concatenation is one of the operands, and nobody else reads the softmax",
     each<softmax_with_sinks>},
};

constexpr Rule priced[] = {
    {"pairs apart",
     "a matmul's columns are heads, read by slices and rotary embeddings of one kind, of the same angles in "
     "all heads",
     separate_pairs},
};

constexpr Rule custom[] = {
    {"custom operators apart",
     "one block of one iteration is proved to compute the same, and no tensor is rounded that was not", decompose},
};

constexpr BlockRule of_blocks[] = {
    {"operands swapped",
     "a matmul's rows leave some of the 64 rows of a wgmma empty, or need more than two warpgroups, its columns do "
     "not, and the loop only multiplies what it loads",
     swap_operands},
};

}  // namespace

std::span<const Rule> rules(Stage stage) {
  const std::span<const Rule> all[] = {given, normal, copied, heads, priced, custom};
  return all[static_cast<std::size_t>(stage)];
}

std::span<const BlockRule> block_rules() { return of_blocks; }

std::optional<KernelGraph> rewritten(const KernelGraph& g, Stage stage) {
  std::optional<KernelGraph> result;
  const std::span<const Rule> all = rules(stage);
  for (std::size_t at = 0; at < all.size();) {
    std::optional<KernelGraph> made = all[at].apply(result ? *result : g);
    at = made ? 0 : at + 1;
    if (made) result = std::move(made);
  }
  return result;
}

}  // namespace zellige::fuse
