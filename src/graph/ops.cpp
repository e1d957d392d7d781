#include "graph/ops.hpp"

#include <array>
#include <map>

#include "graph/compose.hpp"
#include "graph/elementwise.hpp"
#include "graph/reductions.hpp"
#include "strings/nearest.hpp"

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
constexpr OpInfo others[] = {  // between the reductions and the accumulators
    {OpKind::sum, "sum", composed, 1, 1, true, true, ""},
    {OpKind::mean, "mean", composed, 1, 1, true, true, ""},
    {OpKind::amin, "amin", composed, 1, 1, true, true, ""},
    {OpKind::softmax, "softmax", composed, 1, 1, true, true, ""},
    {OpKind::safe_softmax, "safe_softmax", composed, 1, 1, true, true, ""},
    {OpKind::log_softmax, "log_softmax", composed, 1, 1, true, true, ""},
    {OpKind::rms_norm, "rms_norm", composed, 2, 1, true, true, "rms_norm", 1},
    {OpKind::layer_norm, "layer_norm", composed, 3, 1, true, true, "", 2},
    {OpKind::rotary, "rotary", composed, 3, 1, true, true, ""},
    {OpKind::rotary_interleaved, "rotary_interleaved", rotary, 3, 1, true, true, ""},
    {OpKind::concat, "concat", join, -1, 1, true, true, "concat_#", 0, true},
    {OpKind::split, "split", join, 1, -1, true, true, "split_#"},
    {OpKind::gather, "gather", rows, 2, 1, true, true, ""},
    {OpKind::scatter, "scatter", rows, 3, 1, true, false, ""},
    {OpKind::slice_scatter, "slice_scatter", rows, 3, 1, true, false, "", 1, true},
    {OpKind::permute, "permute", view, 1, 1, true, true, ""},
    {OpKind::reshape, "reshape", view, 1, 1, true, true, ""},
    {OpKind::expand, "expand", view, 1, 1, true, true, ""},
    {OpKind::slice, "slice", view, 1, 1, true, true, ""},
    {OpKind::unfold, "unfold", view, 1, 1, true, false, ""},
    {OpKind::mask, "mask", mask, 2, 1, true, true, "", 1},
    {OpKind::all_reduce, "all_reduce", collective, 1, 1, true, false, ""},
    {OpKind::all_reduce_max, "all_reduce_max", collective, 1, 1, true, false, ""},
    {OpKind::all_gather, "all_gather", collective, 1, 1, true, false, ""},
    {OpKind::reduce_scatter, "reduce_scatter", collective, 1, 1, true, false, ""},
    {OpKind::all_to_all, "all_to_all", collective, 1, 1, true, false, ""},
    {OpKind::broadcast, "broadcast", collective, 1, 1, true, false, ""},
    {OpKind::rank, "rank", collective, 0, 1, true, false, ""},
};
// clang-format on

/// Returns the row of a reduction or accumulator. Those over iterations are operators of block graphs alone.
constexpr OpInfo info_of(const ReductionRow& row) {
  const bool everywhere = row.along == Along::dim || row.along == Along::dims;
  const bool local = everywhere || row.along == Along::running;
  return {row.kind,
          row.name,
          local ? reduction : accumulator,
          row.rescales ? 2 : 1,
          row.along == Along::running ? 2 : 1,
          everywhere,
          true,
          row.mirage};
}

constexpr auto op_table = [] {
  constexpr std::size_t count = std::tuple_size_v<decltype(elementwise_rows)>;
  std::array<OpInfo, std::size(in_front) + count + std::size(others) + std::size(reduction_rows)> all{};
  std::size_t at = 0;
  for (const OpInfo& row : in_front) all[at++] = row;
  std::apply(
      [&](const auto&... row) {
        ((all[at++] = {row.kind, row.name, OpFamily::elementwise, row.operands, 1, true, true, row.mirage}), ...);
      },
      elementwise_rows);
  for (const ReductionRow& row : reduction_rows)
    if (row.kind < others[0].kind) all[at++] = info_of(row);
  for (const OpInfo& row : others) all[at++] = row;
  for (const ReductionRow& row : reduction_rows)
    if (row.kind > others[0].kind) all[at++] = info_of(row);
  return all;
}();

/// Returns whether the rows of the table are in the order of OpKind.
constexpr bool ops_in_order() {
  for (std::size_t i = 0; i < std::size(op_table); ++i)
    if (static_cast<std::size_t>(op_table[i].kind) != i) return false;
  return true;
}
static_assert(ops_in_order(), "the table lists the operators in the order of OpKind");

}  // namespace

const OpInfo& info(OpKind kind) { return op_table[static_cast<std::size_t>(kind)]; }

std::vector<AttributeKey> attribute_keys(OpKind kind) {
  constexpr bool optional = false;
  static const std::map<OpKind, std::vector<AttributeKey>> keys{
      {OpKind::matmul, {{"tf32", optional}, {"precision", optional}}},
      {OpKind::slice_scatter, {{"dim"}, {"start", optional}}},
      {OpKind::mul_scalar, {{"scalar"}}},
      {OpKind::cast, {{"dtype"}, {"saturate", optional}}},
      {OpKind::permute, {{"dims"}}},
      {OpKind::reshape, {{"shape"}}},
      {OpKind::expand, {{"shape"}}},
      {OpKind::slice, {{"dim"}, {"start"}, {"end"}}},
      {OpKind::unfold, {{"dim"}, {"size"}, {"step", optional}, {"dilation", optional}, {"padding", optional}}},
      {OpKind::mask,
       {{"dims", optional},
        {"tril", optional},
        {"triu", optional},
        {"length", optional},
        {"first", optional},
        {"value", optional}}},
      {OpKind::clamp, {{"lo"}, {"hi"}}},
      {OpKind::reduction, {{"dim"}, {"to", optional}}},
      {OpKind::accum_redtox_sum, {{"to"}}},
      {OpKind::split, {{"dim"}, {"sizes"}}},
      {OpKind::reduction_max, {{"dim"}}},
      {OpKind::concat, {{"dim"}}},
      {OpKind::all_gather, {{"dim"}}},
      {OpKind::reduce_scatter, {{"dim"}}},
      {OpKind::all_to_all, {{"dims"}}},
      {OpKind::broadcast, {{"root"}}},
      {OpKind::softmax, {{"dim"}}},
      {OpKind::safe_softmax, {{"dim"}}},
      {OpKind::log_softmax, {{"dim"}}},
      {OpKind::rms_norm, {{"normalized_shape", optional}, {"eps", optional}}},
      {OpKind::layer_norm, {{"normalized_shape", optional}, {"eps", optional}}}};
  if (const auto row = keys.find(kind); row != keys.end()) return row->second;
  if (reduces(kind)) return {{"dim"}, {"keepdim", optional}};
  if (is_elementwise(kind) && graph::elementwise(kind).scalar) return {{"scalar", optional}};
  return {};
}

std::optional<OpKind> find_op(std::string_view name) {
  for (const OpInfo& row : op_table)
    if (row.name == name) return row.kind;
  return std::nullopt;
}

std::string known_operators(std::string_view name, bool block) {
  std::vector<std::string> known;
  for (const OpInfo& row : op_table)
    if (block ? row.block : row.kernel) known.emplace_back(row.name);
  return known_names(block ? "operators of the block level" : "operators of the kernel level", known, name);
}

std::vector<OpKind> all_ops() {
  std::vector<OpKind> kinds;
  for (const OpInfo& row : op_table) kinds.push_back(row.kind);
  return kinds;
}

}  // namespace zellige::graph
