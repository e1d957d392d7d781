// Copy instructions of SM90 except TMA; copy_stsm(registers, row): the stmatrix that stores a T.
#pragma once
#include <cute/arch/copy_sm75.hpp>

#if defined(__CUDACC__)
namespace zellige {

template <class T>
CUTE_HOST_DEVICE void copy_stsm(T const* registers, uint128_t* row) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16,
                "copy_stsm: registers of 4, 8 or 16 bytes");
  auto const* const r = reinterpret_cast<uint32_t const*>(registers);
  if constexpr (sizeof(T) == 4) SM90_U32x1_STSM_N::copy(r[0], *row);
  if constexpr (sizeof(T) == 8) SM90_U32x2_STSM_N::copy(r[0], r[1], *row);
  if constexpr (sizeof(T) == 16) SM90_U32x4_STSM_N::copy(r[0], r[1], r[2], r[3], *row);
}
template <class T>
CUTE_HOST_DEVICE void copy_stsm_trans(T const* registers, uint128_t* row) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16,
                "copy_stsm_trans: registers of 4, 8 or 16 bytes");
  auto const* const r = reinterpret_cast<uint32_t const*>(registers);
  if constexpr (sizeof(T) == 4) SM90_U16x2_STSM_T::copy(r[0], *row);
  if constexpr (sizeof(T) == 8) SM90_U16x4_STSM_T::copy(r[0], r[1], *row);
  if constexpr (sizeof(T) == 16) SM90_U16x8_STSM_T::copy(r[0], r[1], r[2], r[3], *row);
}

}  // namespace zellige
#endif
