// CuTe's header for copy instructions of SM90 except TMA (stmatrix); adds copy_stsm and copy_stsm_trans.
#pragma once
#include <cute/arch/copy_sm75.hpp>

#if defined(__CUDACC__)
namespace zellige {

/// Stores a T of 4, 8 or 16 bytes per thread with stmatrix x1, x2 or x4. `row` is this lane's row address.
template <class T>
CUTE_HOST_DEVICE void copy_stsm(T const* registers, uint128_t* row) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "copy_stsm: registers of 4, 8 or 16 bytes");
  auto const* const r = reinterpret_cast<uint32_t const*>(registers);
  if constexpr (sizeof(T) == 4) SM90_U32x1_STSM_N::copy(r[0], *row);
  if constexpr (sizeof(T) == 8) SM90_U32x2_STSM_N::copy(r[0], r[1], *row);
  if constexpr (sizeof(T) == 16) SM90_U32x4_STSM_N::copy(r[0], r[1], r[2], r[3], *row);
}
/// Stores a T of 4, 8 or 16 bytes per thread with stmatrix.trans, which transposes each 8 x 8 matrix.
template <class T>
CUTE_HOST_DEVICE void copy_stsm_trans(T const* registers, uint128_t* row) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "copy_stsm_trans: registers of 4, 8 or 16 bytes");
  auto const* const r = reinterpret_cast<uint32_t const*>(registers);
  if constexpr (sizeof(T) == 4) SM90_U16x2_STSM_T::copy(r[0], *row);
  if constexpr (sizeof(T) == 8) SM90_U16x4_STSM_T::copy(r[0], r[1], *row);
  if constexpr (sizeof(T) == 16) SM90_U16x8_STSM_T::copy(r[0], r[1], r[2], r[3], *row);
}

}  // namespace zellige
#endif
