// The widest vector with which one strided tensor can be copied to another of the same shape.
//
//   // 64x128 row-major to 64x128 with rows padded to 136, both bases aligned to 8 elements.
//   CommonVector v = common_vector({64, 128}, {128, 1}, {136, 1}, 8, 8, 8);   // 8 elements along dimension 1
//
// A chunk is `elements` neighbours along `dimension`, starting at a multiple of `elements`. It is legal when
// in both tensors every chunk is contiguous and starts at a multiple of `elements`; an extent that `elements`
// does not divide is legal only with Tail::predicated, where the last chunk is cut by a predicate.
#pragma once
#include <cstdint>
#include <vector>

namespace zellige::plan {

enum class Tail { refused, predicated };

struct CommonVector {
  int elements = 1;    // a power of two
  int dimension = -1;  // -1 where elements == 1
};

/// `alignment_*`: the base address is a multiple of so many elements. Exact: no wider power of two is legal.
CommonVector common_vector(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides_a,
                           const std::vector<std::int64_t>& strides_b, int max_elements,
                           std::int64_t alignment_a, std::int64_t alignment_b, Tail tail = Tail::refused);

}  // namespace zellige::plan
