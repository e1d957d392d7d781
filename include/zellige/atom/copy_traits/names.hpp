// Declares the copy instructions as types, under CuTe's names: arguments of Copy_Atom and make_tiled_copy, with
// a static copy(...) that issues one instruction. DefaultCopy and AutoVectorizingCopy are in tensor/copy.hpp.
#pragma once

#include <zellige/atom/copy_traits/row.hpp>
#include <zellige/atom/copy_traits/tma_names.hpp>
#include <zellige/numeric/int.hpp>
#include <zellige/tensor/copy.hpp>

namespace zellige {

/// Copies by one assignment: `src` is read as an S, and a D is written.
template <class S, class D = S>
struct UniversalCopy {
  using SRegisters = S[1];
  using DRegisters = D[1];
  ZELLIGE_HOST_DEVICE static constexpr void copy(S const& src, D& dst) { dst = src; }
};
/// Copies by cp.async if the source is in global and the destination in shared memory, else by assignments.
struct AutoCopyAsync {
  static constexpr char name[] = "AutoCopyAsync";
};

#define ZELLIGE_COPY(op, S, D)          \
  struct op : detail::StaticCopy<op> {  \
    using SRegisters = S;               \
    using DRegisters = D;               \
    static constexpr char name[] = #op; \
  };
// Two threads, at lane distance 1 or 4, transpose the 2 x 2 matrix of their registers.
ZELLIGE_COPY(SM50_Shuffle_U32_2x2Trans_XOR1, uint32_t[2], uint32_t[2])
ZELLIGE_COPY(SM50_Shuffle_U32_2x2Trans_XOR4, uint32_t[2], uint32_t[2])
// ldmatrix
ZELLIGE_COPY(SM75_U32x1_LDSM_N, uint128_t[1], uint32_t[1])
ZELLIGE_COPY(SM75_U32x2_LDSM_N, uint128_t[1], uint32_t[2])
ZELLIGE_COPY(SM75_U32x4_LDSM_N, uint128_t[1], uint32_t[4])
ZELLIGE_COPY(SM75_U16x2_LDSM_T, uint128_t[1], uint32_t[1])
ZELLIGE_COPY(SM75_U16x4_LDSM_T, uint128_t[1], uint32_t[2])
ZELLIGE_COPY(SM75_U16x8_LDSM_T, uint128_t[1], uint32_t[4])
// movmatrix
ZELLIGE_COPY(SM75_U32x1_MOVM_T, uint32_t[1], uint32_t[1])
// stmatrix
ZELLIGE_COPY(SM90_U32x1_STSM_N, uint32_t[1], uint128_t[1])
ZELLIGE_COPY(SM90_U32x2_STSM_N, uint32_t[2], uint128_t[1])
ZELLIGE_COPY(SM90_U32x4_STSM_N, uint32_t[4], uint128_t[1])
ZELLIGE_COPY(SM90_U16x2_STSM_T, uint32_t[1], uint128_t[1])
ZELLIGE_COPY(SM90_U16x4_STSM_T, uint32_t[2], uint128_t[1])
ZELLIGE_COPY(SM90_U16x8_STSM_T, uint32_t[4], uint128_t[1])
#undef ZELLIGE_COPY

namespace detail {
/// A cp.async of one element of type TS to one of type TD, of the same size. row() marks sizes that PTX does
/// not have.
template <class TS, class TD, bool bypass_l1, bool zero_fill>
struct CpAsync : StaticCopy<CpAsync<TS, TD, bypass_l1, zero_fill>> {
  using SRegisters = TS[1];
  using DRegisters = TD[1];
  static constexpr int bytes = sizeof(TS);
  static constexpr bool fills_zeros = zero_fill;
  static_assert(sizeof(TS) == sizeof(TD), "cp.async: source and destination elements have the same size");
  ZELLIGE_ALGEBRA static constexpr CopyRow row() {
    bool const exists = bypass_l1 ? bytes == 16 : bytes == 4 || bytes == 8 || bytes == 16;
    return vector_copy(8 * bytes, 80, exists ? 0 : bypass_l1 ? 128 : 32);
  }
};
}  // namespace detail
/// cp.async of one element of 4, 8 or 16 bytes. CACHEALWAYS caches it in L1 and L2, CACHEGLOBAL in the L2 only
/// (16 bytes). The _ZFILL forms write zeros if the predicate of .with(predicate) is false.
template <class TS, class TD = TS>
struct SM80_CP_ASYNC_CACHEALWAYS : detail::CpAsync<TS, TD, false, false> {};
template <class TS, class TD = TS>
struct SM80_CP_ASYNC_CACHEGLOBAL : detail::CpAsync<TS, TD, true, false> {};
template <class TS, class TD = TS>
struct SM80_CP_ASYNC_CACHEALWAYS_ZFILL : detail::CpAsync<TS, TD, false, true> {};
template <class TS, class TD = TS>
struct SM80_CP_ASYNC_CACHEGLOBAL_ZFILL : detail::CpAsync<TS, TD, true, true> {};

}  // namespace zellige
