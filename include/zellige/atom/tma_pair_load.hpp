// Issues the TMA loads of SM100 by inline PTX: of tiles, of im2col matrices, and of four rows of a matrix (gather4), by one CTA
// or a pair of CTAs. Mnemonic::text is the instruction. Device code of nvcc only.
//
//   tma_gather4(tile, map, barrier, x, y0, y1, y2, y3)       four rows of a matrix; tma_scatter4 stores them
//
// A load of a pair completes on the mbarrier of the pair's first CTA: its address has 0 in the bit of the CTA.
#pragma once

#include <zellige/atom/cache_hint.hpp>
#include <zellige/atom/composed_text.hpp>
#include <zellige/atom/pointer.hpp>
#include <zellige/atom/tma_descriptor.hpp>

namespace zellige::detail {

/// The mask that turns a barrier's address into that of the pair's first CTA.
inline constexpr uint32_t first_of_pair = 0xfeffffff;

enum class TmaMode { tile, im2col, gather4 };

/// The PTX of a load of a tensor of `dims` dimensions, up to its operands. It has an L2 cache policy.
template <TmaMode mode, int dims, bool pair, bool multicast>
struct TmaMnemonic {
  ZELLIGE_ALGEBRA static constexpr ComposedText make() {
    ComposedText t;
    t += "cp.async.bulk.tensor.";
    t += dims;
    t += "d.shared::cluster.global";
    if (mode == TmaMode::im2col) t += ".im2col";
    if (mode == TmaMode::gather4) t += ".tile::gather4";
    t += ".mbarrier::complete_tx::bytes";
    if (multicast) t += ".multicast::cluster";
    if (pair) t += ".cta_group::2";
    t += ".L2::cache_hint";
    return t;
  }
  static constexpr ComposedText composed = make();
};

/// Issues a load with the coordinates c, of which there are n, and m offsets o of a filter's tap. The mask is that of a
/// multicast.
template <class Mnemonic, bool multicast, int n, int m>
ZELLIGE_CALL void tma_issue(uint32_t tile, void const* map, uint32_t barrier, [[maybe_unused]] uint16_t mask,
                            uint64_t hint, int const (&c)[n], [[maybe_unused]] uint16_t const (&o)[m == 0 ? 1 : m]) {
#define ZELLIGE_TMA_ISSUE(coordinates, offsets, list, after, ...)                                                \
  if constexpr (n == coordinates && m == offsets) {                                                              \
    if constexpr (multicast)                                                                                     \
      asm volatile("%0 [%1], [%2, " list "], [%3]" after ", %5, %4;" ::"C"(Mnemonic::text), "r"(tile), "l"(map), \
                   "r"(barrier), "l"(hint), "h"(mask), __VA_ARGS__                                               \
                   : "memory");                                                                                  \
    else                                                                                                         \
      asm volatile("%0 [%1], [%2, " list "], [%3]" after ", %4;" ::"C"(Mnemonic::text), "r"(tile), "l"(map),     \
                   "r"(barrier), "l"(hint), "n"(0), __VA_ARGS__                                                  \
                   : "memory");                                                                                  \
  }
  ZELLIGE_TMA_ISSUE(1, 0, "{%6}", "", "r"(c[0]))
  ZELLIGE_TMA_ISSUE(2, 0, "{%6, %7}", "", "r"(c[0]), "r"(c[1]))
  ZELLIGE_TMA_ISSUE(3, 0, "{%6, %7, %8}", "", "r"(c[0]), "r"(c[1]), "r"(c[2]))
  ZELLIGE_TMA_ISSUE(4, 0, "{%6, %7, %8, %9}", "", "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]))
  ZELLIGE_TMA_ISSUE(5, 0, "{%6, %7, %8, %9, %10}", "", "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4]))
  ZELLIGE_TMA_ISSUE(3, 1, "{%6, %7, %8}", ", {%9}", "r"(c[0]), "r"(c[1]), "r"(c[2]), "h"(o[0]))
  ZELLIGE_TMA_ISSUE(4, 2, "{%6, %7, %8, %9}", ", {%10, %11}", "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "h"(o[0]),
                    "h"(o[1]))
  ZELLIGE_TMA_ISSUE(5, 3, "{%6, %7, %8, %9, %10}", ", {%11, %12, %13}", "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]),
                    "r"(c[4]), "h"(o[0]), "h"(o[1]), "h"(o[2]))
#undef ZELLIGE_TMA_ISSUE
}

}  // namespace zellige::detail

namespace zellige {

/// Loads four rows y0 to y3 of a matrix, of each the elements from column x on, to `tile`: the descriptor's box is one row.
/// Completes on `barrier`. Aligned like other loads.
ZELLIGE_CALL void tma_gather4(void* tile, TmaDescriptor const& map, uint64_t* barrier, int x, int y0, int y1, int y2,
                              int y3, CacheHint hint = CacheHint::normal) {
  using Text = detail::LettersOf<detail::TmaMnemonic<detail::TmaMode::gather4, 2, false, false>>;
  detail::tma_issue<Text, false, 5, 0>(smem_address(tile), &map, smem_address(barrier), 0, uint64_t(hint),
                                       {x, y0, y1, y2, y3}, {0});
}
/// The same into every CTA of the mask.
ZELLIGE_CALL void tma_gather4_multicast(void* tile, TmaDescriptor const& map, uint64_t* barrier, uint16_t mask, int x,
                                        int y0, int y1, int y2, int y3, CacheHint hint = CacheHint::normal) {
  using Text = detail::LettersOf<detail::TmaMnemonic<detail::TmaMode::gather4, 2, false, true>>;
  detail::tma_issue<Text, true, 5, 0>(smem_address(tile), &map, smem_address(barrier), mask, uint64_t(hint),
                                      {x, y0, y1, y2, y3}, {0});
}
/// The same by one CTA of a pair: it completes on the barrier of the pair's first CTA.
ZELLIGE_CALL void tma_gather4_pair(void* tile, TmaDescriptor const& map, uint64_t* barrier, int x, int y0, int y1,
                                   int y2, int y3, CacheHint hint = CacheHint::normal) {
  using Text = detail::LettersOf<detail::TmaMnemonic<detail::TmaMode::gather4, 2, true, false>>;
  detail::tma_issue<Text, false, 5, 0>(smem_address(tile), &map, smem_address(barrier) & detail::first_of_pair, 0,
                                       uint64_t(hint), {x, y0, y1, y2, y3}, {0});
}
/// Stores `tile` to four rows y0 to y3 of a matrix, of each from column x on; completes in groups, as tma_store_2d does.
ZELLIGE_CALL void tma_scatter4(TmaDescriptor const& map, void const* tile, int x, int y0, int y1, int y2, int y3) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%0, {%2, %3, %4, %5, %6}], [%1];" ::"l"(
          &map),
      "r"(smem_address(tile)), "r"(x), "r"(y0), "r"(y1), "r"(y2), "r"(y3)
      : "memory");
}
/// Loads four rows into the L2 only.
ZELLIGE_CALL void tma_prefetch_gather4(TmaDescriptor const& map, int x, int y0, int y1, int y2, int y3) {
  asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4 [%0, {%1, %2, %3, %4, %5}];" ::"l"(&map),
               "r"(x), "r"(y0), "r"(y1), "r"(y2), "r"(y3)
               : "memory");
}

}  // namespace zellige
