#include "graph/matrices.hpp"

#include <algorithm>

namespace zellige::graph {

Shape without_vectors(Shape product, const Shape& a, const Shape& b) {
  const auto last = product.end() - 1;
  if (a.size() == 1 && b.size() == 1) return {1};
  if (b.size() == 1) product.erase(last);
  if (a.size() == 1) product.erase(last - 1);
  return product;
}

MatmulShapes matrices(const Shape& left, const Shape& right) {
  MatmulShapes m{left.size() == 1 ? Shape{1, left[0]} : left, right.size() == 1 ? Shape{right[0], 1} : right, {}};
  const std::size_t rank = std::max(m.a.size(), m.b.size());
  m.product.assign(rank, 1);
  for (const Shape* s : {&m.a, &m.b})
    for (std::size_t d = 0; d + 2 < s->size(); ++d) {
      std::int64_t& extent = m.product[d + rank - s->size()];
      extent = std::max(extent, (*s)[d]);
    }
  m.product[rank - 2] = m.a[m.a.size() - 2];
  m.product[rank - 1] = m.b.back();
  return m;
}

}  // namespace zellige::graph
