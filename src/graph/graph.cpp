#include "graph/graph.hpp"

#include "graph/ops.hpp"

namespace zellige::graph {

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

std::int64_t span(const Shape& shape, const Strides& strides) {
  std::int64_t last = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) last += (shape[d] - 1) * strides[d];
  return last + 1;
}

Shape coordinates(std::int64_t index, const Shape& shape) {
  Shape at(shape.size());
  for (std::size_t d = shape.size(); d-- > 0; index /= shape[d]) at[d] = index % shape[d];
  return at;
}

std::string to_string(const Shape& shape) { return fmt::format("({})", fmt::join(shape, ", ")); }

}  // namespace zellige::graph
