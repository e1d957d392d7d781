// Tensors in tensor memory: where accumulators, and operands A, of SM100's matrix instructions are. make_fragment_C and
// make_fragment_A make them from the shape of a part, ((M, N), MMA_M, MMA_N), at address 0.
//
//   find_tmem_tensor_col_offset(c)     the number of columns that c takes
#pragma once

#include <zellige/atom/tmem_copy.hpp>
#include <zellige/atom/umma_descriptor.hpp>

namespace zellige {

namespace UMMA {

/// Where an instruction with 64 rows has them. Interleaved: instructions share the lanes of four warps, the second takes the
/// lanes that the first leaves. NonInterleaved: it takes other columns. Duplicated: A of a pair of CTAs is in all lanes.
/// ScaleFactorDuplicated: scales of blocks are in the lanes of each of four warps, or of each of two.
enum class TmemAllocMode {
  Interleaved = 0,
  NonInterleaved = 1,
  Duplicated = 2,
  ScaleFactorDuplicated4by1 = 3,
  ScaleFactorDuplicated2by2 = 4
};

namespace detail {
/// Returns the layout (M, N) -> lane + 128 column of the elements of one instruction.
template <int ctas, int M, int N, TmemAllocMode mode>
ZELLIGE_HOST_DEVICE constexpr auto tmem_atom() {
  if constexpr (ctas == 1 && M == 64)
    return Layout<Shape<Shape<_16, _4>, Int<N>>, Stride<Stride<_1, _32>, _128>>{};
  else if constexpr (ctas == 2 && M == 32)
    return Layout<Shape<_32, Shape<Int<N / 4>, _4>>, Stride<_1, Stride<_128, _32>>>{};
  else if constexpr (ctas == 2 && M == 64 && mode == TmemAllocMode::Interleaved)
    return Layout<Shape<_64, Shape<Int<N / 2>, _2>>, Stride<_1, Stride<_128, _64>>>{};
  else
    return Layout<Shape<_128, Int<N>>, Stride<_1, _128>>{};
}
}  // namespace detail

/// A fragment in tensor memory of elements of type T, each of which takes the bits of a Storage, of an instruction that
/// `ctas` CTAs issue.
template <class T, class Storage, int ctas, TmemAllocMode mode = TmemAllocMode::Interleaved>
struct tmem_frg {
  using tensor_memory_tag = void;

  /// Returns the tensor of a part of this shape, ((M, N), MMA_M, MMA_N, ...).
  template <class S>
  ZELLIGE_HOST_DEVICE static constexpr auto make(S const& part) {
    constexpr int all = decltype(size(part))::value * int(sizeof_bits_v<Storage>);
    static_assert(all <= TMEM::MAX_CAPACITY_BITS::value,
                  "make_fragment_A, _C: the part takes more than the 512 columns of 128 lanes of tensor memory");
    constexpr int M = decltype(size<0, 0>(part))::value, N = decltype(size<0, 1>(part))::value;
    constexpr int step = ctas == 1 && M == 64 && mode == TmemAllocMode::NonInterleaved ? 2 : 1;
    auto const rest = take<1, decltype(rank(part))::value>(part);
    auto const tiled =
        tiled_product(detail::tmem_atom<ctas, M, N, mode>(), make_layout(rest, compact_col_major(rest, Int<step>{})));
    auto const address =
        Layout<Shape<_128, _16384>, Stride<TMEM::DP<T>, Int<int(sizeof_bits_v<Storage> / sizeof_bits_v<T>)>>>{};
    return make_tensor(make_tmem_ptr<T>(), composition(address, tiled));
  }
};
template <class T, class Storage = uint32_t, TmemAllocMode mode = TmemAllocMode::Interleaved>
using tmem_frg_1sm = tmem_frg<T, Storage, 1, mode>;
template <class T, class Storage = uint32_t, TmemAllocMode mode = TmemAllocMode::Interleaved>
using tmem_frg_2sm = tmem_frg<T, Storage, 2, mode>;

/// Returns a layout atom, of UMMA::Layout_K_SW128_Atom and its like, repeated to the shape ((M, K), MMA_M, MMA_K, ...) of a
/// part, with modes as the part has them.
template <class Atom, class S, class Order = GenColMajor>
ZELLIGE_HOST_DEVICE constexpr auto tile_to_mma_shape(Atom const& atom, S const& part, Order const& order = {}) {
  constexpr int r = decltype(rank(part))::value;
  auto const whole = tuple_cat(zip(shape<0>(part), take<1, 3>(part)), take<3, r>(part));
  return tiled_divide(tile_to_shape(atom, whole, order), product_each(shape<0>(part)));
}

using zellige::GMMA::Layout_K_INTER_Atom;
using zellige::GMMA::Layout_K_SW128_Atom;
using zellige::GMMA::Layout_K_SW32_Atom;
using zellige::GMMA::Layout_K_SW64_Atom;
using zellige::GMMA::Layout_MN_INTER_Atom;
using zellige::GMMA::Layout_MN_SW128_Atom;
using zellige::GMMA::Layout_MN_SW32_Atom;
using zellige::GMMA::Layout_MN_SW64_Atom;

}  // namespace UMMA

/// Fragments in tensor memory, by make_tensor<UMMA::tmem_frg<...>>(shape).
template <class Fragment>
requires requires { typename Fragment::tensor_memory_tag; }
struct MakeTensor<Fragment> {
  template <class S>
  ZELLIGE_HOST_DEVICE constexpr auto operator()(S const& part) const {
    return Fragment::make(shape(part));
  }
};
/// Descriptors of operands in shared memory: the fragment of a part ((M, K), MMA_M, MMA_K, ...) has one per instruction.
template <UMMA::Major major>
struct MakeTensor<UMMA::smem_desc<major>> {
  template <tensor_like X>
  ZELLIGE_HOST_DEVICE constexpr auto operator()(X const& x) const {
    auto const chunks = recast_layout<typename X::value_type, uint128_t>(x.layout());
    return make_tensor(UMMA::DescriptorIterator{UMMA::make_umma_desc<major>(tensor<0>(x))},
                       replace<0>(chunks, Layout<_1, _0>{}));
  }
};

/// Returns the number of columns from the address of `x`, a tensor in tensor memory, to the end of its last one.
template <tensor_like X>
ZELLIGE_HOST_DEVICE constexpr auto find_tmem_tensor_col_offset(X const& x) {
  static_assert(is_tmem_v<X>, "find_tmem_tensor_col_offset(x): x is in tensor memory, make_tmem_ptr");
  using L = remove_cvref_t<decltype(recast_layout<typename X::value_type, uint32_t>(x.layout()))>;
  return Int<(decltype(cosize(L{}))::value & 0xffff)>{};
}

}  // namespace zellige
