#include "emit/source_lines.hpp"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <zellige/layout/algebra/swizzle.hpp>

#include "graph/elementwise.hpp"
#include "kernel/index_width.hpp"

namespace zellige::emit {

std::string type_name(graph::DType dtype) {
  static constexpr const char* names[] = {
      "half_t",  "bfloat16_t", "float",   "float_e4m3_t", "float_e5m2_t", "int8_t",      "int",         "bool",
      "uint8_t", "int16_t",    "int64_t", "int4_packed",  "uint4_packed", "e2m1_packed", "e8m0_packed", "double"};
  static_assert(std::size(names) == std::size_t(graph::DType::f64) + 1);
  return names[std::size_t(dtype)];
}

std::string register_type(graph::DType dtype) {
  const graph::DType kept = tile::kept_in(dtype);
  return kept == graph::DType::int32 ? "int" : type_name(kept);
}

std::string int_literal(double value, graph::DType dtype) {
  constexpr double end = 0x1p63;  // above the largest int64, which is no double
  const std::int64_t n = value >= end ? std::numeric_limits<std::int64_t>::max() : static_cast<std::int64_t>(value);
  if (dtype == graph::DType::int64)
    return n == std::numeric_limits<std::int64_t>::min() ? "int64_t(-9223372036854775807ll - 1)"
                                                         : fmt::format("int64_t({}ll)", n);
  return n < -2147483647 ? "(-2147483647 - 1)" : n < 0 ? fmt::format("({})", n) : fmt::format("{}", n);
}

std::string float_literal(double value) {
  const float f = static_cast<float>(value);
  if (std::isinf(f)) return f > 0 ? "zellige::infinity" : "(-zellige::infinity)";
  if (std::isnan(f)) return "(0.0f / 0.0f)";
  std::string text;
  for (int digits = 1; digits <= 9; ++digits) {
    text = fmt::format("{:.{}g}", f, digits);
    if (std::strtof(text.c_str(), nullptr) == f) break;
  }
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  text += "f";
  return f < 0 ? "(" + text + ")" : text;
}

/// Returns a literal of a double: "0.25".
static std::string double_literal(double value) {
  if (std::isinf(value)) return value > 0 ? "double(zellige::infinity)" : "(-double(zellige::infinity))";
  if (std::isnan(value)) return "(0.0 / 0.0)";
  std::string digits = fmt::format("{}", value);  // the shortest that is this double
  if (digits.find_first_of(".e") == std::string::npos) digits += ".0";
  return std::signbit(value) ? "(" + digits + ")" : digits;
}

std::string literal(double value, graph::DType dtype) {
  if (dtype == graph::DType::f64) return double_literal(value);
  if (!graph::is_integer(dtype)) return float_literal(value);
  const graph::Format& format = graph::format(tile::kept_in(dtype));
  return int_literal(value < format.lowest ? format.lowest : value > format.greatest ? format.greatest : value, dtype);
}

const char* index_type(std::int64_t last) { return last > kernel::max_int32 ? "long long" : "int"; }

std::string formula(const tile::Node& n, const std::vector<std::string>& in, graph::DType from) {
  if (!graph::is_elementwise(n.op))
    fail("{} is not an elementwise operator: kernels have no formula for it", graph::name(n.op));
  const graph::Elementwise& row = graph::elementwise(n.op);
  const bool integers = graph::is_integer(from);
  const std::string_view text = integers ? row.integers : row.text;
  if (text.empty()) fail("{} of {}: kernels have no formula for it", graph::name(n.op), graph::name(from));
  const auto literal = [&](double x) { return integers ? int_literal(x, from) : emit::literal(x, from); };
  std::vector<std::string> all = in;
  if (graph::takes_scalar(n.op, in.size())) all.push_back(literal(n.scalar));
  const auto expected = static_cast<std::size_t>(row.operands);
  if (all.size() != expected)
    fail("{} takes {} operand{}, the plan gives it {}", row.name, expected, expected > 1 ? "s" : "", in.size());
  all.resize(graph::max_operands);
  const std::string y =
      fmt::format(fmt::runtime(text), all[0], all[1], all[2], fmt::arg("scalar", literal(n.scalar)),
                  fmt::arg("lo", literal(n.lo)), fmt::arg("hi", literal(n.hi)),
                  fmt::arg("dtype", type_name(n.to_dtype)), fmt::arg("saturate", n.saturate ? ", true" : ""));
  if (from == graph::DType::int64 && n.op != graph::OpKind::cast)
    return fmt::format("int64_t({})", y);  // a comparison is an int
  if (from == graph::DType::f64 && n.op != graph::OpKind::cast) return fmt::format("double({})", y);  // so is one
  const bool wraps = n.dtype == graph::DType::int8 && n.op != graph::OpKind::cast;
  return wraps ? fmt::format("int(int8_t({}))", y) : y;
}

std::string join_source(const graph::Monoid& monoid, graph::DType dtype) {
  return fmt::format("[]({0} x, {0} y) {{ return {1}; }}", dtype == graph::DType::f64 ? "double" : "float",
                     fmt::format(fmt::runtime(graph::elementwise(monoid.join).text), "x", "y"));
}

std::string carrier(const graph::Monoid& monoid, graph::DType dtype) {
  return fmt::format("{}{}", monoid.carrier, dtype == graph::DType::f64 ? "Of<double>" : "");
}

/// Returns the type of the extents of a layout or mode, or of its strides.
static std::string numbers_text(values::View layout, bool extents) {
  if (layout.is_leaf()) {
    const std::int64_t n = extents ? layout.root().s.v : layout.root().d.v;
    return fmt::format("{}<{}>", n > kernel::max_int32 ? "C" : "Int", n);
  }
  std::string modes;
  for (int i = 0; i < layout.rank(); ++i) modes += (i ? ", " : "") + numbers_text(layout[i], extents);
  return fmt::format("{}<{}>", extents ? "Shape" : "Stride", modes);
}

std::string layout_text(values::View layout) {
  if (!layout.is(ValueKind::composed))
    return fmt::format("Layout<{}, {}>", numbers_text(layout, true), numbers_text(layout, false));
  const ValueNode& swizzle = layout[0].root();
  return fmt::format("Swizzled<{}, {}, {}, {}>", swizzle.s.v, swizzle.d.v, swizzle.e, layout_text(layout[2]));
}

std::string buffer_layout(const kernel::SmemTensor& b) {
  if (b.partials == 1) return layout_text(b.layout);
  values::Value all = kernel::strided({b.partials}, {graph::elements_in(b.part_step, b.dtype)});
  for (int d = 0; d < b.tile().rank(); ++d) all.add(b.tile()[d]);
  return layout_text(algebra::with_innermost(b.layout, all));
}

CountedLoop counted(const char* counter, std::int64_t trip_count, const char* type, std::int64_t from) {
  if (trip_count == from + 1) return {"", from};
  return {fmt::format("for ({0} {1} = {3}; {1} < {2}; ++{1}) ", type, counter, trip_count, from),
          Index::named(counter)};
}

}  // namespace zellige::emit
