// Defines the matrix instructions of SM120 on floats of 4, 6 and 8 bits as types under CuTe's names. They are templates of
// the number types of A, B and D, and of the scales; mma_traits/narrow_table.hpp lists which exist. `fma` takes each
// register as an argument, `call` arrays.
//
//   SM120_16x8x32_TN<float_e4m3_t, float_e2m1_t, float>                                      d += a b
//   SM120::BLOCKSCALED::SM120_16x8x64_TN_VS<float_e2m1_t, float_e2m1_t, float, float_ue4m3_t, 16>
//                                                                                            with scales of 16 elements
//   SM120::SPARSE::SM120_SPARSE_16x8x64_TN<float_e5m2_t, float_e3m2_t, half_t>               A is sparse
//
// Compile them for sm_120a, with nvcc 12.8 or later.
#pragma once

#include <zellige/atom/mma_traits/fma.hpp>
#include <zellige/atom/mma_traits/narrow_table.hpp>
#include <zellige/atom/narrow_number.hpp>
#if defined(ZELLIGE_EMULATE)
#include <zellige/atom/narrow_mma_emulated.hpp>
#elif defined(__CUDACC__)
#include <zellige/atom/narrow_mma_ptx.hpp>
#endif

namespace zellige {

namespace detail {
/// The CuTe name of the instruction Base, and the part of its PTX before the operands.
template <class Base>
struct NarrowName {
  static constexpr ComposedText composed = narrow_mma_name(Base::row());
};
template <class Base>
struct NarrowMnemonic {
  static constexpr ComposedText composed = narrow_mma_ptx(Base::row());
};

/// The type of a register with this many bytes of scales.
template <int bytes>
struct scale_register {
  using type = uint32_t;
};
template <>
struct scale_register<1> {
  using type = uint8_t;
};
template <>
struct scale_register<2> {
  using type = uint16_t;
};

/// Properties of the instruction m16n8 with this K, types and scales. Scale is void and block is 0 if there are none.
template <int k, class A, class B, class D, class Scale, int block, bool sparse>
struct NarrowRow {
  ZELLIGE_ALGEBRA static constexpr MmaRow row() {
    return find_narrow_mma(k, number_of<A>, number_of<B>, number_of<D>, number_of_type<Scale>, block, sparse);
  }
  static_assert(
      bool(row()),
      "SM120: no matrix instruction has these types: A and B of float_e2m1_t, e2m3, e3m2, e4m3, e5m2 (K = 64 without "
      "sparsity and K = 128: float_e2m1_t), D of float, or half_t without scales; the scales are float_ue8m0_t "
      "for 32 elements, or 16 of float_ue4m3_t with K = 64; twice as many if A is sparse");
};

template <class Op>
struct NarrowOperands;

/// Registers, name, PTX and call of the instruction that NarrowRow describes.
template <int k, class A, class B, class D, class Scale = void, int block = 0, bool is_sparse = false>
struct NarrowMma {
  using Row = NarrowRow<k, A, B, D, Scale, block, is_sparse>;
  ZELLIGE_ALGEBRA static constexpr MmaRow row() { return Row::row(); }
  static constexpr auto& name = LettersOf<NarrowName<Row>>::text;
  static constexpr bool half_sums = is_same_v<D, half_t>, scaled = block != 0, sparse = is_sparse;
  static constexpr int words = half_sums ? 2 : 4, words_of_b = is_sparse ? 4 : 2;

  using DRegisters = conditional_t<half_sums, uint32_t, float>[words];
  using ARegisters = uint32_t[4];
  using BRegisters = uint32_t[words_of_b];
  using CRegisters = DRegisters;
  using ERegisters = uint32_t[1];
  using ScaleRegister = typename scale_register<scaled ? k / (scaled ? block : 1) : 4>::type;
  using SFARegisters = ScaleRegister[1];
  using SFBRegisters = ScaleRegister[1];

#if defined(ZELLIGE_EMULATE)
  /// Computes d += a b. All 32 threads of the warp must call it. `e` is the metadata of a sparse A, sfa and sfb are the
  /// scales; an instruction without them ignores them.
  static void call(DRegisters& d, ARegisters const& a, BRegisters const& b, uint32_t e = 0, uint32_t sfa = 0,
                   uint32_t sfb = 0) {
    narrow_mma_met<NarrowMma>(d, a, b, e, sfa, sfb);
  }
#elif defined(__CUDACC__)
  ZELLIGE_CALL static void call(DRegisters& d, ARegisters const& a, BRegisters const& b, uint32_t e = 0,
                                uint32_t sfa = 0, uint32_t sfb = 0) {
    using M = LettersOf<NarrowMnemonic<Row>>;
    if constexpr (scaled && sparse)
      narrow_mma_scaled_sparse<M>(d, a, b, e, sfa, sfb);
    else if constexpr (scaled)
      narrow_mma_scaled<M>(d, a, b, sfa, sfb);
    else if constexpr (sparse)
      narrow_mma_sparse<M>(d, a, b, e);
    else
      narrow_mma<M>(d, a, b);
  }
#endif

  /// Computes d = a b + c. Each register is an argument: those of D, A, B and C, then the metadata of a sparse A, then
  /// the scales of A and B. On the CPU it does nothing.
  template <class... R>
  ZELLIGE_ANYWHERE static void fma([[maybe_unused]] R&&... registers) {
    constexpr int more = (sparse ? 1 : 0) + (scaled ? 2 : 0);
    static_assert(
        sizeof...(R) == 2 * words + 4 + words_of_b + more,
        "fma takes each register of D, A, B and C of this instruction by itself, then the metadata and the scales "
        "that it has");
#if defined(__CUDA_ARCH__)
    NarrowOperands<NarrowMma> all;
    all.template set<0>(registers...);
    call(all.d, all.a, all.b, all.rest[0], all.rest[1], all.rest[2]);
    all.template get<0>(registers...);
#endif
  }
};

/// Collects the separate register arguments of fma in the arrays that Op::call takes, and copies the results back.
template <class Op>
struct NarrowOperands {
  typename Op::DRegisters d;
  typename Op::ARegisters a;
  typename Op::BRegisters b;
  uint32_t rest[3] = {};  // metadata, scales of A, scales of B

  template <int I, class R, class... More>
  ZELLIGE_ANYWHERE void set(R const& r, More const&... more) {
    constexpr int at_b = Op::words + 4, at_c = at_b + Op::words_of_b, after = at_c + Op::words;
    if constexpr (I >= after)
      rest[I - after + (Op::sparse ? 0 : 1)] = r;
    else if constexpr (I >= at_c)
      d[I - at_c] = r;
    else if constexpr (I >= at_b)
      b[I - at_b] = r;
    else if constexpr (I >= Op::words)
      a[I - Op::words] = r;
    if constexpr (sizeof...(More) > 0) set<I + 1>(more...);
  }
  template <int I, class R, class... More>
  ZELLIGE_ANYWHERE void get(R& r, More&... more) const {
    r = d[I];
    if constexpr (I + 1 < Op::words) get<I + 1>(more...);
  }
};

}  // namespace detail

template <class A, class B, class D>
struct SM120_16x8x32_TN : detail::NarrowMma<32, A, B, D> {};

namespace SM120::SPARSE {
template <class A, class B, class D>
struct SM120_SPARSE_16x8x64_TN : detail::NarrowMma<64, A, B, D, void, 0, true> {};
}  // namespace SM120::SPARSE

namespace SM120::BLOCKSCALED {
/// The scales SF are of blocks of VS elements along K: float_ue8m0_t of 32.
template <class A, class B, class D, class SF, int VS>
struct SM120_16x8x32_TN_VS : detail::NarrowMma<32, A, B, D, SF, VS> {};
/// A and B are float_e2m1_t. The scales are float_ue8m0_t of 32 elements, or float_ue4m3_t of 16.
template <class A, class B, class D, class SF, int VS>
struct SM120_16x8x64_TN_VS : detail::NarrowMma<64, A, B, D, SF, VS> {};
}  // namespace SM120::BLOCKSCALED

namespace SM120::BLOCKSCALED::SPARSE {
template <class A, class B, class D, class SF, int VS>
struct SM120_SPARSE_16x8x64_TN_VS : detail::NarrowMma<64, A, B, D, SF, VS, true> {};
template <class A, class B, class D, class SF, int VS>
struct SM120_SPARSE_16x8x128_TN_VS : detail::NarrowMma<128, A, B, D, SF, VS, true> {};
}  // namespace SM120::BLOCKSCALED::SPARSE

}  // namespace zellige
