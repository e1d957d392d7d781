// CuTe's header for copy instructions of SM75 (ldmatrix); adds copy_ldsm and copy_ldsm_trans.
#pragma once
#include <cute/atom/copy_atom.hpp>

#if defined(__CUDACC__)
namespace zellige {

/// Loads a T of 4, 8 or 16 bytes per thread with ldmatrix x1, x2 or x4. `row` is this lane's row address.
template <class T>
CUTE_HOST_DEVICE void copy_ldsm(uint128_t const* row, T* registers) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "copy_ldsm: registers of 4, 8 or 16 bytes");
  auto* const r = reinterpret_cast<uint32_t*>(registers);
  if constexpr (sizeof(T) == 4) SM75_U32x1_LDSM_N::copy(*row, r[0]);
  if constexpr (sizeof(T) == 8) SM75_U32x2_LDSM_N::copy(*row, r[0], r[1]);
  if constexpr (sizeof(T) == 16) SM75_U32x4_LDSM_N::copy(*row, r[0], r[1], r[2], r[3]);
}
/// Loads a T of 4, 8 or 16 bytes per thread with ldmatrix.trans, which transposes each 8 x 8 matrix.
template <class T>
CUTE_HOST_DEVICE void copy_ldsm_trans(uint128_t const* row, T* registers) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "copy_ldsm_trans: registers of 4, 8 or 16 bytes");
  auto* const r = reinterpret_cast<uint32_t*>(registers);
  if constexpr (sizeof(T) == 4) SM75_U16x2_LDSM_T::copy(*row, r[0]);
  if constexpr (sizeof(T) == 8) SM75_U16x4_LDSM_T::copy(*row, r[0], r[1]);
  if constexpr (sizeof(T) == 16) SM75_U16x8_LDSM_T::copy(*row, r[0], r[1], r[2], r[3]);
}

}  // namespace zellige
#endif
