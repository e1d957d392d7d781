#include "graph/elementwise.hpp"

#include <array>

namespace zellige::graph {
namespace {

constexpr auto table = std::apply(
    [](const auto&... row) { return std::array{static_cast<const Elementwise&>(row)...}; }, elementwise_rows);

/// Returns whether the rows of the table are in the order of OpKind, without gaps.
constexpr bool in_order() {
  for (std::size_t i = 0; i < table.size(); ++i)
    if (static_cast<std::size_t>(table[i].kind) != static_cast<std::size_t>(table[0].kind) + i) return false;
  return true;
}
static_assert(in_order(), "the rows are in the order of OpKind, without gaps");

/// Returns the operator's row of the table, or nullptr if the operator is not elementwise.
const Elementwise* find(OpKind kind) {
  const auto at = static_cast<std::size_t>(kind) - static_cast<std::size_t>(table[0].kind);
  return at < table.size() ? &table[at] : nullptr;
}

}  // namespace

bool is_elementwise(OpKind kind) { return find(kind) != nullptr; }

const Elementwise& elementwise(OpKind kind) {
  if (const Elementwise* row = find(kind)) return *row;
  fail("{} is not an elementwise operator", name(kind));
}

bool takes_scalar(OpKind kind, std::size_t tensors) {
  const Elementwise* row = find(kind);
  return row && row->scalar && tensors + 1 == static_cast<std::size_t>(row->operands);
}

double apply(OpKind kind, const Attributes& attributes, const double* operands, DType dtype) {
  double y = 0;
  with_arithmetic(dtype, [&](auto m) {
    with_elementwise(kind, [&](const auto& f, auto) { y = f(m, attributes, operands); });
  });
  return y;
}

}  // namespace zellige::graph
