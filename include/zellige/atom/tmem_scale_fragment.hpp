// Fragments in tensor memory of what an SM100 MMA reads besides its operands: scales of blocks, and the metadata of a sparse A.
// make_tensor<UMMA::tmem_sf_frg<...>>(part) and make_tensor<UMMA::tmem_e_frg<...>>(part) make them from the shape of a part.
#pragma once

#include <zellige/atom/tmem_fragment.hpp>
#include <zellige/tensor/sparse.hpp>

namespace zellige {

namespace UMMA {

/// Scales of type T, one for each VecSize elements along K, of an operand of instructions of `ctas` CTAs. They are in the lanes
/// of each of four warps; those of B in mode ScaleFactorDuplicated2by2 in the lanes of two.
template <class T, int VecSize, int ctas, bool is_a, TmemAllocMode mode = TmemAllocMode::ScaleFactorDuplicated4by1>
struct tmem_sf_frg {
  using tensor_memory_tag = void;

  /// Returns the tensor of a part of this shape, ((M or N, (VecSize, scales)), MMA_M or MMA_N, MMA_K, ...).
  template <class S>
  ZELLIGE_HOST_DEVICE static constexpr auto make(S const& part) {
    static_assert(decltype(rank(part))::value >= 3 && decltype(rank(get<0, 1>(part)))::value == 2,
                  "make_tensor<tmem_sf_frg>(part): a part ((M, (VecSize, scales)), MMA_M, MMA_K, ...)");
    constexpr int rows = decltype(size<0, 0>(part))::value, shared = decltype(size<0, 1, 0>(part))::value;
    constexpr int scales = decltype(size<0, 1, 1>(part))::value;
    constexpr int sets = !is_a && mode == TmemAllocMode::ScaleFactorDuplicated2by2 ? 2 : 1;
    static_assert(sets == 1 || ctas == 2, "tmem_sf_frg: ScaleFactorDuplicated2by2 is of pairs of CTAs");
    using Rows = Shape<_32, Int<rows / 32 / sets>>;
    using Columns = Shape<Int<shared>, Int<scales>>;
    auto const atom = [] {
      if constexpr (sets == 1)
        return Layout<Shape<Shape<Rows, _4>, Columns>, Stride<Stride<Stride<_1, _512>, _32>, Stride<_0, _128>>>{};
      else
        return Layout<Shape<Shape<Rows, _2, _2>, Columns>,
                      Stride<Stride<Stride<_1, _512>, _64, _32>, Stride<_0, _128>>>{};
    }();
    auto const tiled = tiled_product(atom, make_layout(take<1, decltype(rank(part))::value>(part)));
    auto const address = Layout<Shape<_128, _16384>, Stride<TMEM::DP<T>, _1>>{};
    return make_tensor(make_tmem_ptr<T>(), composition(address, tiled));
  }
};

/// The metadata of a sparse A of elements of type T: one bit of tensor memory for each bit of metadata.
template <class T>
struct tmem_e_frg {
  using tensor_memory_tag = void;
  static constexpr int bits = int(sizeof_bits_v<T>);
  static_assert(bits == 32 || bits == 16 || bits == 8 || bits == 4,
                "tmem_e_frg<T>: the metadata of A of 32, 16, 8 or 4 bits");

  /// Returns the tensor of a part of this shape, ((M, K), MMA_M, MMA_K, ...).
  template <class S>
  ZELLIGE_HOST_DEVICE static constexpr auto make(S const& part) {
    constexpr int rows = decltype(size<0, 0>(part))::value, columns = decltype(size<0, 1>(part))::value;
    static_assert(rows == 128 && columns * bits == 512,
                  "make_tensor<tmem_e_frg>(part): a part ((128, K), MMA_M, MMA_K, ...), K of one instruction");
    auto const tiled = tiled_product(atom(), make_layout(take<1, decltype(rank(part))::value>(part)));
    using Element = sparse_elem<bits == 32 ? 4 : bits == 4 ? 16 : 8, uint8_t>;
    return make_tensor(make_tmem_ptr<Element>(), composition(address(), tiled));
  }

 private:
  /// The layout (M, K) -> lane + 128 column of one instruction's elements.
  ZELLIGE_HOST_DEVICE static constexpr auto atom() {
    if constexpr (bits == 32)
      return Layout<Shape<Shape<_8, _2, _8>, Shape<_8, _2>>, Stride<Stride<_1, _1024, _16>, Stride<_128, _8>>>{};
    else if constexpr (bits == 16)
      return Layout<Shape<Shape<_8, _2, _8>, Shape<_16, _2>>, Stride<Stride<_1, _2048, _16>, Stride<_128, _8>>>{};
    else
      return Layout<Shape<_128, Int<512 / bits>>, Stride<_1, _128>>{};
  }
  ZELLIGE_HOST_DEVICE static constexpr auto address() {
    if constexpr (bits == 32)
      return upcast<2>(Layout<Shape<_128, _16384>, Stride<TMEM::DP_b, _1>>{});
    else if constexpr (bits == 4)
      return Layout<Shape<_128, Int<32768>>, Stride<Int<(1 << 22)>, _1>>{};
    else
      return Layout<Shape<_128, _16384>, Stride<TMEM::DP_b, _1>>{};
  }
};

/// The fragment type of a sparse A in shared memory: its fragments are tensors of descriptors.
template <Major major>
struct sparse_smem_desc : DescriptorIterator {};

}  // namespace UMMA

template <UMMA::Major major>
struct MakeTensor<UMMA::sparse_smem_desc<major>> {
  template <tensor_like X>
  ZELLIGE_HOST_DEVICE constexpr auto operator()(X const& x) const {
    static_assert(is_sparse_v<typename X::value_type>,
                  "make_fragment_A: a sparse A in shared memory has elements sparse_elem: make_sparse_ptr");
    return MakeTensor<UMMA::smem_desc<major>>{}(x);
  }
};

}  // namespace zellige
