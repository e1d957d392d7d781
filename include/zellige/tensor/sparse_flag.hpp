// Layouts of sparse elements in shared memory whose pointer is set later: their offset is a smem_sparse_ptr_flag_bits.
#pragma once

#include <zellige/tensor/sparse.hpp>
#include <zellige/tensor/swizzle_ptr.hpp>

namespace zellige {

/// The offset of a layout whose pointer to sparse elements is set later: one stored element of B bits
/// represents S logical ones.
template <int S, int B>
struct smem_sparse_ptr_flag_bits : Int<0> {};
template <int S>
using smem_sparse_ptr_flag = smem_sparse_ptr_flag_bits<S, 1>;

/// Returns the tensor of a sparse pointer under such a layout; the swizzle is attached to the pointer.
template <class It, class Sw, int S, int B, class L>
ZELLIGE_HOST_DEVICE constexpr auto make_tensor(It const& it,
                                               ComposedLayout<Sw, smem_sparse_ptr_flag_bits<S, B>, L> const& layout) {
  static_assert(is_sparse_ptr<It>::value, "a layout for sparse elements needs a sparse pointer: make_sparse_ptr");
  return make_tensor(make_swizzle_ptr(it, layout.layout_a()), layout.layout_b());
}

}  // namespace zellige
