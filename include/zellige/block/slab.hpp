// Slabs: pieces of a warpgroup's 64-row accumulator on their way to global memory. Each is written by stmatrix
// without bank conflicts and left by TMA: 64 columns with the 128-byte swizzle, or 40 columns, whose pitch of 80
// bytes needs none.
//
//   write_slab<half_t, 64>(slab, d + 32 * j);             // by the warpgroup: columns 64 j to 64 j + 63
//   fence_proxy_async_shared();
//   named_barrier_sync(1 + warpgroup, 128);
//   if (first) tma_store_2d(map, slab, column, row), tma_store_commit();
#pragma once
#include <zellige/atom/convert.hpp>
#include <zellige/atom/stmatrix.hpp>

namespace zellige {

template <int Columns>
inline constexpr int slab_bytes = 64 * Columns * 2;

/// d[Columns / 2]: the accumulators of so many columns, laid out as wgmma leaves them.
template <class T, int Columns>
ZELLIGE_CALL void write_slab(smem<T> slab, const float* d) {
  static_assert(Columns == 64 || Columns == 40, "write_slab: 64 columns, swizzled, or 40, without");
  const int lane = threadIdx.x % 32, row = threadIdx.x % 128 / 32 * 16 + lane % 16;
#pragma unroll
  for (int c = 0; c < Columns / 16; ++c) {
    const float* x = d + 8 * c;
    const int chunk = 2 * c + lane / 16;
#if defined(ZELLIGE_EMULATE)
    emulate::look_for_unwritten<4>(x, 32, emulate::Use::stores);
#endif
    const uint32_t r[4] = {pack<T>(x[0], x[1]), pack<T>(x[2], x[3]), pack<T>(x[4], x[5]),
                           pack<T>(x[6], x[7])};
    stmatrix_x4(slab + row * Columns + 8 * (Columns == 64 ? chunk ^ (row % 8) : chunk), r);
  }
  if constexpr (Columns % 16 != 0) {
    const float* x = d + 8 * (Columns / 16);
#if defined(ZELLIGE_EMULATE)
    emulate::look_for_unwritten<4>(x, 16, emulate::Use::stores);
#endif
    const uint32_t r[2] = {pack<T>(x[0], x[1]), pack<T>(x[2], x[3])};
    stmatrix_x2(slab + row * Columns + Columns - 8, r);
  }
}

}  // namespace zellige
