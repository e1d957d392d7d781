#include "graph/graph.hpp"

#include "graph/ops.hpp"

namespace zellige::graph {

int bits(DType dtype) {
  switch (dtype) {
    case DType::f16:
    case DType::bf16:
      return 16;
    case DType::e4m3:
    case DType::e5m2:
    case DType::int8:
      return 8;
    default:
      return 32;
  }
}

std::int64_t bytes_of(std::int64_t elements, DType dtype) { return (elements * bits(dtype) + 7) / 8; }

int elements_in(std::int64_t bytes, DType dtype) { return static_cast<int>(8 * bytes / bits(dtype)); }

int whole_bytes(DType dtype) {
  if (bits(dtype) % 8 != 0)
    throw Fault(fmt::format("{} has elements of {} bits, which are no whole bytes", name(dtype), bits(dtype)));
  return bits(dtype) / 8;
}

std::string_view name(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return "f16";
    case DType::bf16:
      return "bf16";
    case DType::f32:
      return "f32";
    case DType::e4m3:
      return "e4m3";
    case DType::e5m2:
      return "e5m2";
    case DType::int8:
      return "int8";
    case DType::int32:
      return "int32";
  }
  return "unknown dtype";
}

std::vector<DType> all_dtypes() {
  return {DType::f16, DType::bf16, DType::f32, DType::e4m3, DType::e5m2, DType::int8, DType::int32};
}

std::string_view name(OpKind kind) { return info(kind).name; }

Strides row_major(const Shape& shape) {
  Strides strides(shape.size());
  std::int64_t step = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = step;
    step *= shape[d];
  }
  return strides;
}

std::int64_t size(const Shape& shape) {
  std::int64_t product = 1;
  for (std::int64_t extent : shape) product *= extent;
  return product;
}

Shape coordinates(std::int64_t index, const Shape& shape) {
  Shape at(shape.size());
  for (std::size_t d = shape.size(); d-- > 0; index /= shape[d]) at[d] = index % shape[d];
  return at;
}

std::string to_string(const Shape& shape) { return fmt::format("({})", fmt::join(shape, ", ")); }

}  // namespace zellige::graph
