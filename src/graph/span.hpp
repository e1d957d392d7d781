// The memory that a tensor spans: from its first element to its last one, with what lies between.
//
//   span({4, 3}, {8, 1})   // 27 elements: the last one is at 3 * 8 + 2
#pragma once
#include "graph/graph.hpp"

namespace zellige::graph {

/// Returns the elements from the first of a tensor to its last, as its strides place them. Preconditions: extents are at least 1,
/// no stride is negative, and a stride for each extent is there.
inline std::int64_t span(const Shape& shape, const Strides& strides) {
  std::int64_t last = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) last += (shape[d] - 1) * strides[d];
  return last + 1;
}

}  // namespace zellige::graph
