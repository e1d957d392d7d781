// Layouts of a sparse A in shared memory, which count logical elements: S of them share one element that is stored. They are
// those of a dense operand, K divided into runs of S.
//
//   auto layout = UMMA::tile_to_mma_shape(UMMA::Layout_K_SW128_SpAtom<half_t, 2>{}, partition_shape_A(mma, tile));
//   auto a = mma.make_fragment_A(make_tensor(make_smem_ptr(make_sparse_ptr<2>(stored)), layout));    // descriptors
#pragma once

#include <zellige/atom/tmem_fragment.hpp>
#include <zellige/tensor/sparse_flag.hpp>

namespace zellige {

/// Returns the address of the element that is stored at p.
template <int N, class It>
ZELLIGE_HOST_DEVICE constexpr auto instruction_address(sparse_ptr<N, It> const& p) {
  return instruction_address(p.ptr_);
}

namespace detail {
template <class T, int S, class Dense>
struct sparse_layout_of;
template <class T, int S, class Sw, class Flag, class L>
struct sparse_layout_of<T, S, ComposedLayout<Sw, Flag, L>> {
  using type = ComposedLayout<Sw, smem_sparse_ptr_flag_bits<S, int(sizeof_bits_v<T>)>,
                              remove_cvref_t<decltype(blocked_product(Layout<Shape<_1, Int<S>>>{}, L{}))>>;
};
/// Returns the composed layout `tiled` of dense elements as one of sparse elements.
template <int S, int B, class Sw, class Flag, class L>
ZELLIGE_HOST_DEVICE constexpr auto with_sparse_flag(ComposedLayout<Sw, Flag, L> const& tiled) {
  return ComposedLayout<Sw, smem_sparse_ptr_flag_bits<S, B>, L>{tiled.layout_a(), {}, tiled.layout_b()};
}
}  // namespace detail

namespace UMMA {

#define ZELLIGE_SPARSE_ATOM(major, swizzle)   \
  template <class T, int S>                   \
  using Layout_##major##_##swizzle##_SpAtom = \
      typename zellige::detail::sparse_layout_of<T, S, Layout_##major##_##swizzle##_Atom<T>>::type;
ZELLIGE_SPARSE_ATOM(K, INTER)
ZELLIGE_SPARSE_ATOM(K, SW32)
ZELLIGE_SPARSE_ATOM(K, SW64)
ZELLIGE_SPARSE_ATOM(K, SW128)
ZELLIGE_SPARSE_ATOM(MN, INTER)
ZELLIGE_SPARSE_ATOM(MN, SW32)
ZELLIGE_SPARSE_ATOM(MN, SW64)
ZELLIGE_SPARSE_ATOM(MN, SW128)
#undef ZELLIGE_SPARSE_ATOM

/// Returns a layout atom of sparse elements repeated to the shape of a part.
template <class Sw, int S, int B, class L, class Part, class Order = GenColMajor>
ZELLIGE_HOST_DEVICE constexpr auto tile_to_mma_shape(ComposedLayout<Sw, smem_sparse_ptr_flag_bits<S, B>, L> const&,
                                                     Part const& part, Order const& order = {}) {
  using Dense = ComposedLayout<Sw, smem_ptr_flag_bits<B>, L>;
  return zellige::detail::with_sparse_flag<S, B>(tile_to_mma_shape(Dense{}, part, order));
}

}  // namespace UMMA

}  // namespace zellige
