#include "graph/elementwise.hpp"

#include <algorithm>
#include <array>

#include "graph/operand_scalar.hpp"

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
const Elementwise* row_of(OpKind kind) {
  const auto at = static_cast<std::size_t>(kind) - static_cast<std::size_t>(table[0].kind);
  return at < table.size() ? &table[at] : nullptr;
}

}  // namespace

bool is_elementwise(OpKind kind) { return row_of(kind) != nullptr; }

const Elementwise& elementwise(OpKind kind) {
  if (const Elementwise* row = row_of(kind)) return *row;
  fail("{} is not an elementwise operator", name(kind));
}

bool takes_scalar(OpKind kind, std::size_t tensors) {
  const Elementwise* row = row_of(kind);
  return row && row->scalar && tensors + 1 == static_cast<std::size_t>(row->operands);
}

ScalarRange scalar_range(OpKind kind) {
  const Elementwise* row = row_of(kind);
  const bool takes = row && (row->scalar || kind == OpKind::mul_scalar);
  const bool arithmetic = kind == OpKind::add || kind == OpKind::sub || kind == OpKind::mul || kind == OpKind::div ||
                          kind == OpKind::pow || kind == OpKind::mul_scalar;
  return !takes ? ScalarRange::none : arithmetic ? ScalarRange::finite : ScalarRange::any;
}

double apply(OpKind kind, const Attributes& attributes, const double* operands, DType dtype) {
  double y = 0;
  with_arithmetic(
      dtype, [&](auto m) { with_elementwise(kind, [&](const auto& f, auto) { y = f(m, attributes, operands); }); });
  return y;
}

bool is_linear(OpKind kind, const Attributes& a, std::size_t tensors) {
  const Elementwise* row = row_of(kind);
  if (!row || (kind == OpKind::cast && (a.saturate || is_integer(a.dtype)))) return false;
  return row->law.linear == Linearity::first ? tensors == 1
                                             : row->law.linear == Linearity::all && !takes_scalar(kind, tensors);
}

Image converted(Image x, DType dtype, bool saturate) {
  const bool finite = saturate || !std::isinf(format(dtype).overflow);
  return is_integer(dtype) || (x == Image::lowest && finite) ? Image::anything : x;
}

Image image(OpKind kind, const Attributes& a, std::vector<Image> x) {
  if (kind == OpKind::cast) return converted(x[0], a.dtype, a.saturate);
  const Law& law = elementwise(kind).law;
  const bool unary = x.size() == 1;
  if (takes_scalar(kind, x.size())) x.push_back(Image::same);
  for (std::size_t i = 0; i < x.size(); ++i) {
    bool same = true, finite = true, zeros = false;  // of the other operands
    for (std::size_t k = 0; k < x.size(); ++k) {
      if (k == i) continue;
      same = same && x[k] == Image::same;
      finite = finite && x[k] != Image::anything && x[k] != Image::lowest && x[k] != Image::floor;
      zeros = zeros || x[k] == Image::zero;
    }
    const bool grows = law.monotone == Monotone::every || (law.monotone == Monotone::up && i == 0) ||
                       (law.monotone == Monotone::by_scalar && unary && i == 0 && a.scalar > 0);
    const bool scaled = law.linear == Linearity::each || (law.linear == Linearity::first && i == 0 && !zeros);
    if (x[i] == Image::zero && scaled && finite) return Image::zero;
    if (x[i] == Image::floor && grows && same) return Image::floor;
    if (x[i] == Image::lowest && finite && (grows || (i == 0 && law.monotone == Monotone::never)))
      return law.lowest == Image::floor && !same ? Image::anything : law.lowest;
  }
  const bool zeros = std::ranges::all_of(x, [](Image y) { return y == Image::zero; });
  return zeros ? law.zero : Image::anything;
}

Image image(double x) {
  if (x == 0) return Image::zero;
  return x == 1 ? Image::one : std::isinf(x) && x < 0 ? Image::lowest : Image::anything;
}

}  // namespace zellige::graph
