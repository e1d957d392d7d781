// CuTe's header for TMA and bulk copies: make_tma_atom, make_tma_copy, tma_partition.
#pragma once
#include <cute/arch/copy_sm90_desc.hpp>
#include <cute/atom/copy_atom.hpp>
#include <zellige/atom/tma_copy.hpp>
#include <zellige/atom/tma_tiled.hpp>

#if defined(__CUDACC__) || defined(ZELLIGE_EMULATE)
#include <zellige/atom/bulk_copy_call.hpp>
#include <zellige/atom/tma_call.hpp>
#endif

namespace zellige {

/// Base class of TMA load traits whose operations CUTLASS's headers define: implements copy() by a call of
/// the operation's `copy` with `opargs_`, the shared-memory address and the coordinates.
template <class Op, class... Args>
struct TMA_LOAD_Unpack {
  template <tensor_like S, tensor_like D>
  CUTE_HOST_DEVICE friend constexpr void copy_unpack(Copy_Traits<Op, Args...> const& traits, S const& src, D&& dst) {
    static_assert(is_smem_v<remove_cvref_t<D>>, "a load by TMA writes shared memory: make_smem_ptr");
    auto const coordinates = src(Int<0>{});
    using Known = remove_cvref_t<decltype(traits.opargs_)>;
    detail::explode_tuple(detail::CallCOPY<Op>{}, traits.opargs_, make_seq<int(tuple_size<Known>::value)>{},
                          make_tuple(static_cast<void*>(raw_pointer_cast(dst.data()))), seq<0>{}, coordinates,
                          make_seq<detail::rank_v<decltype(coordinates)>>{});
  }
};

}  // namespace zellige

namespace zellige::detail {

/// Computes the extents and strides (in elements) of a global tensor as a TMA descriptor needs them, for
/// kernels that write their own descriptors. Mode i of the box counts along those modes of `x` that the basis
/// elements in mode i of `box_modes` select. On entry, box_shape must be all ones and box_stride all zeros.
template <tensor_like X, class BoxModes, class S, size_t N>
CUTE_HOST_DEVICE constexpr void fill_tma_gmem_shape_stride(X const& x, BoxModes const& box_modes,
                                                           array<S, N>& box_shape, array<uint64_t, N>& box_stride) {
  auto const shape_of_x = shape(x);
  auto const stride_of_x = stride(x);
  for_each(make_seq<rank_v<BoxModes>>{}, [&](auto i) {
    auto const modes = flatten_to_tuple(get<i>(box_modes));
    if constexpr (rank_v<decltype(modes)> == 1) {
      box_shape[i] = S(basis_get(get<0>(modes), shape_of_x));
      box_stride[i] = uint64_t(basis_get(get<0>(modes), stride_of_x));
    } else {
      // Modes with several strides are counted in steps of their greatest common divisor.
      for_each(modes, [&](auto e) {
        auto const extent = uint64_t(basis_get(e, shape_of_x)), step = uint64_t(basis_get(e, stride_of_x));
        uint64_t const before = box_stride[i];
        box_stride[i] = uint64_t(gcd(static_cast<long long>(before), static_cast<long long>(step)));
        if (box_stride[i] != 0)
          box_shape[i] = S((box_shape[i] - 1) * (before / box_stride[i]) + (extent - 1) * (step / box_stride[i]) + 1);
        else
          box_shape[i] = S(extent);
      });
    }
  });
}
/// Computes the extents and strides (in elements) of a global tensor as the descriptor of a TMA copy, or of
/// its traits, needs them.
template <class Copy, tensor_like X, class S, size_t N>
requires requires { typename Copy::AuxParams; }
CUTE_HOST_DEVICE constexpr void fill_tma_gmem_shape_stride(Copy const&, X const& x, array<S, N>& box_shape,
                                                           array<uint64_t, N>& box_stride) {
  fill_tma_gmem_shape_stride(x, stride(typename Copy::AuxParams::TmaGmemBasis{}), box_shape, box_stride);
}
template <class Copy, tensor_like X, class S, size_t N>
requires(
    requires { typename Copy::Traits::AuxParams; } && !requires { typename Copy::AuxParams; }) CUTE_HOST_DEVICE
    constexpr void fill_tma_gmem_shape_stride(Copy const&, X const& x, array<S, N>& box_shape,
                                              array<uint64_t, N>& box_stride) {
  fill_tma_gmem_shape_stride(x, stride(typename Copy::Traits::AuxParams::TmaGmemBasis{}), box_shape, box_stride);
}

}  // namespace zellige::detail
