#include "emit/source_lines.hpp"

#include <cmath>
#include <cstdlib>

#include "kernel/index_width.hpp"
#include "kernel/tensor_map.hpp"

namespace zellige::emit {

std::string type_name(graph::DType dtype) {
  switch (dtype) {
    case graph::DType::f16:
      return "half_t";
    case graph::DType::bf16:
      return "bfloat16_t";
    case graph::DType::f32:
      return "float";
    case graph::DType::e4m3:
      return "float_e4m3_t";
    case graph::DType::e5m2:
      return "float_e5m2_t";
    case graph::DType::int8:
      return "int8_t";
    case graph::DType::int32:
      return "int";
  }
  return "?";
}

std::string register_type(graph::DType dtype) { return graph::is_integer(dtype) ? "int" : "float"; }

std::string int_literal(double value) {
  const auto n = static_cast<std::int64_t>(value);
  return n < -2147483647 ? "(-2147483647 - 1)" : n < 0 ? fmt::format("({})", n) : fmt::format("{}", n);
}

std::string float_literal(double value) {
  const float f = static_cast<float>(value);
  if (std::isinf(f)) return f > 0 ? "zellige::infinity" : "(-zellige::infinity)";
  if (std::isnan(f)) return "(0.0f / 0.0f)";
  std::string text = fmt::format("{:.9g}", f);
  for (int digits = 1; digits < 9; ++digits) {
    const std::string shorter = fmt::format("{:.{}g}", f, digits);
    if (std::strtof(shorter.c_str(), nullptr) == f) {
      text = shorter;
      break;
    }
  }
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  text += "f";
  return f < 0 ? "(" + text + ")" : text;
}

const char* index_type(std::int64_t last) { return last > plan::max_int32 ? "long long" : "int"; }

std::string layout_text(const graph::Shape& shape, const graph::Strides& strides) {
  std::string s, d;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    s += fmt::format("{}Int<{}>", i ? ", " : "", shape[i]);
    d += fmt::format("{}{}<{}>", i ? ", " : "", strides[i] > plan::max_int32 ? "C" : "Int", strides[i]);
  }
  return fmt::format("Layout<Shape<{}>, Stride<{}>>", s, d);
}

/// Returns the layout type of a buffer that TMA fills box by box. In memory, the buffer is a sequence of spans: the
/// first span has columns 0 to b.span - 1 of all rows, the second one the next b.span columns, and so on. So the
/// layout's mode for columns is (columns per span, number of spans).
static std::string spans_text(const plan::Buffer& b) {
  std::string s, d;
  const std::int64_t rows = graph::size(b.padded) / b.padded[b.inner];
  for (int i = 0; i < static_cast<int>(b.padded.size()); ++i) {
    const char* comma = i ? ", " : "";
    if (i == b.inner) {
      s += fmt::format("{}Shape<Int<{}>, Int<{}>>", comma, b.span, plan::boxes(b));
      d += fmt::format("{}Stride<Int<1>, Int<{}>>", comma, rows * b.span);
    } else {
      s += fmt::format("{}Int<{}>", comma, b.padded[i]);
      d += fmt::format("{}Int<{}>", comma, b.strides[i]);
    }
  }
  return fmt::format("Layout<Shape<{}>, Stride<{}>>", s, d);
}

std::string swizzled(const plan::Buffer& b, const std::string& layout) {
  if (b.swizzle.B == 0) return layout;
  return fmt::format("Swizzled<{}, {}, {}, {}>", b.swizzle.B, b.swizzle.M, b.swizzle.S, layout);
}

std::string buffer_layout(const plan::Buffer& b) {
  graph::Shape shape = b.padded;
  graph::Strides strides = b.strides;
  if (b.partials > 1) {
    shape.insert(shape.begin(), b.partials);
    strides.insert(strides.begin(), b.partial_stride);
  }
  return swizzled(b, b.span > 0 ? spans_text(b) : layout_text(shape, strides));
}

Counted counted(const char* counter, std::int64_t trip_count, const char* type, std::int64_t from) {
  if (trip_count == from + 1) return {"", from};
  return {fmt::format("for ({0} {1} = {3}; {1} < {2}; ++{1}) ", type, counter, trip_count, from),
          Index::named(counter)};
}

}  // namespace zellige::emit
