// The functions of tcgen05.hpp, umma.hpp and tmem_copy.hpp on the emulator: what a kernel does with tensor memory.
#pragma once

#include <zellige/atom/config.hpp>
#include <zellige/emulate/tcgen05.hpp>

namespace zellige {
namespace detail {

/// Returns a pointer to shared memory, checked or raw, as the emulator's checked one.
template <class T>
ZELLIGE_CALL emulate::Place checked_place(T const* p) {
  return emulate::known(const_cast<T*>(p));
}
ZELLIGE_CALL emulate::Place checked_place(emulate::Place p) { return p; }

/// Returns where each half of a register of a warp lies in tensor memory, for the move Op of `registers` registers a thread:
/// see emulate::TmemWords. Traits: Copy_Traits<Op>, whose ValID gives the place of each bit that the warp moves.
template <class Traits, int registers, bool load>
inline const uint32_t* tmem_places() {
  static const auto table = [] {
    struct {
      uint32_t at[32 * registers * 2];
    } all;
    auto const threads = [] {
      if constexpr (load)
        return typename Traits::DstLayout{};
      else
        return typename Traits::SrcLayout{};
    }();
    typename Traits::ValID const places;
    for (int t = 0; t < 32; ++t)
      for (int half = 0; half < 2 * registers; ++half) {
        const long long bit = static_cast<long long>(places(int(threads(t, 16 * half))));
        const uint32_t lane = uint32_t(bit >> 21), word = uint32_t(bit & ((1 << 21) - 1)) / 16;
        all.at[2 * registers * t + half] = lane << 16 | word;
      }
    return all;
  }();
  return table.at;
}

}  // namespace detail

template <class P>
ZELLIGE_CALL void tcgen05_commit(P barrier) {
  emulate::tcgen05_commit(detail::checked_place(barrier), 0, 1);
}
template <class P>
ZELLIGE_CALL void tcgen05_commit_pair(P barrier) {
  emulate::tcgen05_commit(detail::checked_place(barrier), 0, 2);
}
template <class P>
ZELLIGE_CALL void tcgen05_commit_multicast(P barrier, uint16_t ctas) {
  emulate::tcgen05_commit(detail::checked_place(barrier), emulate::multicast | ctas, 1);
}
template <class P>
ZELLIGE_CALL void tcgen05_commit_multicast_pair(P barrier, uint16_t ctas) {
  emulate::tcgen05_commit(detail::checked_place(barrier), emulate::multicast | ctas, 2);
}
ZELLIGE_CALL void tcgen05_before_thread_sync() { emulate::tcgen05_fence(false); }
ZELLIGE_CALL void tcgen05_after_thread_sync() { emulate::tcgen05_fence(true); }
ZELLIGE_CALL void tmem_load_wait() { emulate::tmem_wait(true); }
ZELLIGE_CALL void tmem_store_wait() { emulate::tmem_wait(false); }

}  // namespace zellige
