// Declares the TMA and bulk copy instructions as types, under CuTe's names: arguments of make_tma_copy and
// make_im2col_tma_copy, with a static copy(...) that issues one instruction. The nested type PREFETCH loads the
// same data into the L2 only.
//
//   SM90_TMA_LOAD::copy(&map, &barrier, uint64_t(CacheHint::normal), tile, c0, ...)    1 to 5 coordinates
//   SM90_TMA_LOAD_3D::copy(...)                                                        exactly 3 coordinates
//   SM90_TMA_STORE::copy(&map, tile, c0, ...)         SM90_TMA_LOAD_MULTICAST::copy(&map, &barrier, mask, ...)
//   SM90_TMA_LOAD_IM2COL::copy(&map, &barrier, tile, c, w, h, d, n, s, r, t)
//   SM90_BULK_COPY_G2S::copy(source, &barrier, target, bytes)
//
// The arguments of SM90_TMA_LOAD_IM2COL are the channel c, the pixel (w, h, d), the image n, and the filter tap
// (s, r, t).
#pragma once

#include <zellige/atom/copy_traits/static_copy.hpp>

namespace zellige {

namespace detail {
/// The bases of the loads: map, barrier, cluster mask, cache hint and tile are operands by value, and Count coordinates
/// and filter offsets follow, or any number if Count is -1.
template <class Op, int Count = -1>
using TmaLoad = StaticCall<Op, Count, void const*, uint64_t*, uint64_t, void*>;
template <class Op, int Count = -1>
using TmaMulticast = StaticCall<Op, Count, void const*, uint64_t*, uint16_t, uint64_t, void*>;
template <class Op, int Count = -1>
using Im2colMulticast = StaticCall<Op, Count, void const*, uint64_t*, uint16_t, void*>;
}  // namespace detail

struct SM90_TMA_LOAD : detail::TmaLoad<SM90_TMA_LOAD> {
  struct PREFETCH : detail::StaticCopy<PREFETCH> {};
};
struct SM90_TMA_LOAD_MULTICAST : detail::TmaMulticast<SM90_TMA_LOAD_MULTICAST> {
  using PREFETCH = SM90_TMA_LOAD::PREFETCH;
};
struct SM90_TMA_LOAD_IM2COL : detail::StaticCopy<SM90_TMA_LOAD_IM2COL> {
  struct PREFETCH : detail::StaticCopy<PREFETCH> {};
};
struct SM90_TMA_LOAD_IM2COL_MULTICAST : detail::Im2colMulticast<SM90_TMA_LOAD_IM2COL_MULTICAST> {
  using PREFETCH = SM90_TMA_LOAD_IM2COL::PREFETCH;
};
struct SM90_TMA_STORE : detail::StaticCopy<SM90_TMA_STORE> {};
struct SM90_TMA_STORE_IM2COL : detail::StaticCopy<SM90_TMA_STORE_IM2COL> {};
struct SM90_TMA_REDUCE_ADD : detail::StaticCopy<SM90_TMA_REDUCE_ADD> {};
struct SM90_BULK_COPY_G2S : detail::StaticCall<SM90_BULK_COPY_G2S, 0, void const*, uint64_t*, void*, int> {
  struct PREFETCH : detail::StaticCall<PREFETCH, 0, void const*, int> {};
};
struct SM90_BULK_COPY_S2G : detail::StaticCall<SM90_BULK_COPY_S2G, 0, void const*, void*, int> {};
/// Copies with bulk copies that are as large as source and destination allow: bulk_copy_call.hpp.
struct SM90_BULK_COPY_AUTO {};

// Declares the TMA instructions for boxes of n dimensions. Their copy(...) takes exactly n coordinates.
#define ZELLIGE_TMA_OF(n)                                                                    \
  struct SM90_TMA_LOAD_##n##D : detail::TmaLoad<SM90_TMA_LOAD, n> {                          \
    using PREFETCH = detail::StaticCopy<SM90_TMA_LOAD::PREFETCH, 1 + n>;                     \
  };                                                                                         \
  struct SM90_TMA_LOAD_MULTICAST_##n##D : detail::TmaMulticast<SM90_TMA_LOAD_MULTICAST, n> { \
    using PREFETCH = SM90_TMA_LOAD_##n##D::PREFETCH;                                         \
  };                                                                                         \
  struct SM90_TMA_STORE_##n##D : detail::StaticCopy<SM90_TMA_STORE, 2 + n> {};               \
  struct SM90_TMA_REDUCE_ADD_##n##D : detail::StaticCopy<SM90_TMA_REDUCE_ADD, 2 + n> {};
// Declares the im2col instructions for tensors of n dimensions, with n coordinates and, for loads, n - 2 offsets.
#define ZELLIGE_TMA_IM2COL_OF(n)                                                                                      \
  struct SM90_TMA_LOAD_IM2COL_##n##D : detail::StaticCopy<SM90_TMA_LOAD_IM2COL, 1 + 2 * n> {                          \
    using PREFETCH = detail::StaticCopy<SM90_TMA_LOAD_IM2COL::PREFETCH, 2 * n - 1>;                                   \
  };                                                                                                                  \
  struct SM90_TMA_LOAD_IM2COL_MULTICAST_##n##D : detail::Im2colMulticast<SM90_TMA_LOAD_IM2COL_MULTICAST, 2 * n - 2> { \
  };                                                                                                                  \
  struct SM90_TMA_STORE_IM2COL_##n##D : detail::StaticCopy<SM90_TMA_STORE_IM2COL, 2 + n> {};
ZELLIGE_TMA_OF(1)
ZELLIGE_TMA_OF(2)
ZELLIGE_TMA_OF(3)
ZELLIGE_TMA_OF(4)
ZELLIGE_TMA_OF(5)
ZELLIGE_TMA_IM2COL_OF(3)
ZELLIGE_TMA_IM2COL_OF(4)
ZELLIGE_TMA_IM2COL_OF(5)
#undef ZELLIGE_TMA_OF
#undef ZELLIGE_TMA_IM2COL_OF

}  // namespace zellige
