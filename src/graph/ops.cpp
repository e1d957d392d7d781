#include "graph/ops.hpp"

#include <array>

#include "graph/elementwise.hpp"
#include "graph/nearest.hpp"

namespace zellige::graph {
namespace {

using enum OpFamily;

// clang-format off
constexpr OpInfo in_front[] = {
    // kind, name, family, inputs, outputs, kernel, block, mirage
    {OpKind::input, "input", boundary, 0, 1, false, true, "input"},
    {OpKind::output, "output", boundary, 1, 0, false, true, "output"},
    {OpKind::custom, "custom", custom, -1, -1, true, false, "customized"},
    {OpKind::matmul, "matmul", matmul, 3, 1, true, true, "matmul", 1},
};
constexpr OpInfo elementwise_operators[] = {  // rows after the elementwise operators
    {OpKind::reduction, "reduction", reduction, 1, 1, true, true, "reduction_#"},
    {OpKind::reduction_max, "reduction_max", reduction, 1, 2, false, true, "reduction_#_max"},
    {OpKind::amax, "amax", reduction, 1, 1, true, true, ""},
    {OpKind::sum, "sum", composed, 1, 1, true, true, ""},
    {OpKind::mean, "mean", composed, 1, 1, true, true, ""},
    {OpKind::amin, "amin", composed, 1, 1, true, true, ""},
    {OpKind::softmax, "softmax", composed, 1, 1, true, true, ""},
    {OpKind::safe_softmax, "safe_softmax", composed, 1, 1, true, true, ""},
    {OpKind::log_softmax, "log_softmax", composed, 1, 1, true, true, ""},
    {OpKind::logsumexp, "logsumexp", composed, 1, 1, true, true, ""},
    {OpKind::rms_norm, "rms_norm", composed, 2, 1, true, true, "rms_norm", 1},
    {OpKind::layer_norm, "layer_norm", composed, 3, 1, true, true, "", 2},
    {OpKind::rotary, "rotary", composed, 3, 1, true, true, ""},
    {OpKind::rotary_interleaved, "rotary_interleaved", rotary, 3, 1, true, true, ""},
    {OpKind::concat, "concat", join, -1, 1, true, true, "concat_#"},
    {OpKind::split, "split", join, 1, -1, true, true, "split_#"},
    {OpKind::gather, "gather", rows, 2, 1, true, true, ""},
    {OpKind::scatter, "scatter", rows, 3, 1, true, false, ""},
    {OpKind::slice_scatter, "slice_scatter", rows, 3, 1, true, false, "", 1},
    {OpKind::permute, "permute", view, 1, 1, true, true, ""},
    {OpKind::reshape, "reshape", view, 1, 1, true, true, ""},
    {OpKind::expand, "expand", view, 1, 1, true, true, ""},
    {OpKind::slice, "slice", view, 1, 1, true, true, ""},
    {OpKind::mask, "mask", mask, 2, 1, true, true, "", 1},
    {OpKind::accum, "accum", accumulator, 1, 1, false, true, "accum_nored"},
    {OpKind::accum_red_sum, "accum_red_sum", accumulator, 1, 1, false, true, "accum_red_ld_sum"},
    {OpKind::accum_red_mean, "accum_red_mean", accumulator, 1, 1, false, true, "accum_red_ld_mean"},
    {OpKind::accum_red_rms, "accum_red_rms", accumulator, 1, 1, false, true, "accum_red_ld_rms"},
    {OpKind::accum_redtox_sum, "accum_redtox_sum", accumulator, 1, 1, false, true, "accum_redtox_ld_sum"},
    {OpKind::accum_max, "accum_max", accumulator, 1, 1, false, true, "accum_max"},
    {OpKind::accum_rescale, "accum_rescale", accumulator, 2, 1, false, true, "accum_nored_rescale"},
    {OpKind::accum_red_sum_rescale, "accum_red_sum_rescale", accumulator, 2, 1, false, true,
     "accum_red_ld_sum_rescale"},
};
// clang-format on

constexpr auto table = [] {
  constexpr std::size_t count = std::tuple_size_v<decltype(elementwise_rows)>;
  std::array<OpInfo, std::size(in_front) + count + std::size(elementwise_operators)> all{};
  std::size_t at = 0;
  for (const OpInfo& row : in_front) all[at++] = row;
  std::apply(
      [&](const auto&... row) {
        ((all[at++] = {row.kind, row.name, OpFamily::elementwise, row.operands, 1, true, true, row.mirage}),
         ...);
      },
      elementwise_rows);
  for (const OpInfo& row : elementwise_operators) all[at++] = row;
  return all;
}();

/// Returns whether the rows of the table are in the order of OpKind.
constexpr bool in_order() {
  for (std::size_t i = 0; i < std::size(table); ++i)
    if (static_cast<std::size_t>(table[i].kind) != i) return false;
  return true;
}
static_assert(in_order(), "the table lists the operators in the order of OpKind");

}  // namespace

const OpInfo& info(OpKind kind) { return table[static_cast<std::size_t>(kind)]; }

std::vector<AttributeKey> attribute_keys(OpKind kind) {
  constexpr bool optional = false;
  switch (kind) {
    case OpKind::matmul:
      return {{"tf32", optional}};
    case OpKind::slice_scatter:
      return {{"dim"}, {"start", optional}};
    case OpKind::mul_scalar:
      return {{"scalar"}};
    case OpKind::cast:
      return {{"dtype"}, {"saturate", optional}};
    case OpKind::permute:
      return {{"dims"}};
    case OpKind::reshape:
    case OpKind::expand:
      return {{"shape"}};
    case OpKind::slice:
      return {{"dim"}, {"start"}, {"end"}};
    case OpKind::mask:
      return {{"dims", optional},
              {"tril", optional},
              {"triu", optional},
              {"length", optional},
              {"value", optional}};
    case OpKind::clamp:
      return {{"lo"}, {"hi"}};
    case OpKind::reduction:
      return {{"dim"}, {"to", optional}};
    case OpKind::accum_redtox_sum:
      return {{"to"}};
    case OpKind::split:
      return {{"dim"}, {"sizes"}};
    case OpKind::reduction_max:
    case OpKind::concat:
    case OpKind::softmax:
    case OpKind::safe_softmax:
    case OpKind::log_softmax:
      return {{"dim"}};
    case OpKind::amax:
    case OpKind::sum:
    case OpKind::mean:
    case OpKind::amin:
    case OpKind::logsumexp:
      return {{"dim"}, {"keepdim", optional}};
    case OpKind::rms_norm:
    case OpKind::layer_norm:
      return {{"normalized_shape", optional}, {"eps", optional}};
    default:
      break;
  }
  if (is_elementwise(kind) && graph::elementwise(kind).scalar) return {{"scalar", optional}};
  return {};
}

std::optional<OpKind> find_op(std::string_view name) {
  for (const OpInfo& row : table)
    if (row.name == name) return row.kind;
  return std::nullopt;
}

std::string known_operators(std::string_view name, bool block) {
  std::vector<std::string> known;
  for (const OpInfo& row : table)
    if (block ? row.block : row.kernel) known.emplace_back(row.name);
  return known_names(block ? "operators of the block level" : "operators of the kernel level", known, name);
}

std::vector<OpKind> all_ops() {
  std::vector<OpKind> kinds;
  for (const OpInfo& row : table) kinds.push_back(row.kind);
  return kinds;
}

}  // namespace zellige::graph
