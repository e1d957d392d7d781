#include "plan/vector_width.hpp"

#include "graph/error.hpp"

namespace zellige::plan {
namespace {

bool divides(std::int64_t width, std::int64_t x) { return x % width == 0; }

}  // namespace

CommonVector common_vector(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides_a,
                           const std::vector<std::int64_t>& strides_b, int max_elements,
                           std::int64_t alignment_a, std::int64_t alignment_b, Tail tail) {
  const std::size_t rank = shape.size();
  if (strides_a.size() != rank || strides_b.size() != rank)
    fail("common vector: a shape of rank {} with strides of rank {} and {}; all must agree", rank,
         strides_a.size(), strides_b.size());
  if (max_elements < 1)
    fail("common vector: at most {} elements were asked for; at least 1 is needed", max_elements);
  if (alignment_a < 1 || alignment_b < 1)
    fail("common vector: base alignments of {} and {} elements; both must be at least 1", alignment_a,
         alignment_b);
  for (std::size_t d = 0; d < rank; ++d)
    if (shape[d] < 1) fail("common vector: dimension {} has extent {}; at least 1 is needed", d, shape[d]);

  // Chunk starts are the base, plus a multiple of the width along the dimension, plus any multiple of every
  // other stride: each summand occurs alone, so each must be a multiple of the width, and that is enough.
  auto legal = [&](std::int64_t width, std::size_t along) {
    if (strides_a[along] != 1 || strides_b[along] != 1 || shape[along] < width) return false;
    if (tail == Tail::refused && !divides(width, shape[along])) return false;
    if (!divides(width, alignment_a) || !divides(width, alignment_b)) return false;
    for (std::size_t d = 0; d < rank; ++d)
      if (d != along && shape[d] > 1 && (!divides(width, strides_a[d]) || !divides(width, strides_b[d])))
        return false;
    return true;
  };
  CommonVector best;
  for (std::int64_t width = 2; width <= max_elements; width *= 2)
    for (std::size_t d = 0; d < rank; ++d)
      if (legal(width, d)) best = {static_cast<int>(width), static_cast<int>(d)};
  return best;
}

}  // namespace zellige::plan
