// Wraps the warp shuffles (shfl.sync), which exchange register values between the 32 threads of a warp. All 32 threads
// must call a shuffle.
//
//   for (int mask = 16; mask > 0; mask /= 2) sum += shfl_xor(sum, mask);    // every lane has the sum of all
//
// Values have 4 bytes; convert narrower numbers to float first.
#pragma once

#include <zellige/atom/config.hpp>
#if defined(ZELLIGE_EMULATE)
#include <zellige/emulate/device.hpp>
#endif

namespace zellige {

/// Returns this thread's index in its warp, 0 to 31. Warps consist of consecutive threads of the block, numbered x
/// fastest, then y, then z.
ZELLIGE_CALL unsigned lane_index() {
#if defined(ZELLIGE_EMULATE)
  return emulate::lane();
#else
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
#endif
}

#if defined(ZELLIGE_EMULATE)
/// Performs a shuffle on the emulator: returns the `value` that lane from(l) passed, where l is the index of the
/// calling lane. `name` is the shuffle's name in the emulator's error reports.
template <class T, class From>
ZELLIGE_CALL T shuffle_emulated(T value, From from, const char* name) {
  struct Shared {
    T value;
    unsigned from;
  };
  const auto compute = [](const Shared* in, T* out) {
    emulate::count(emulate::Counter::shuffle);
    for (int lane = 0; lane < 32; ++lane) out[lane] = in[in[lane].from].value;
  };
  return emulate::meet<Shared, T>(Shared{value, from(emulate::lane())}, compute, name);
}
#endif

/// Returns the value that lane (lane_index() ^ mask) % 32 passed.
template <class T>
ZELLIGE_CALL T shfl_xor(T value, unsigned mask) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "shfl_xor: a value of 4 or 8 bytes");
#if defined(ZELLIGE_EMULATE)
  return shuffle_emulated(
      value, [mask](unsigned lane) { return (lane ^ mask) % 32; }, "shfl_xor");
#else
  return __shfl_xor_sync(0xffffffffu, value, static_cast<int>(mask));
#endif
}

/// Returns the value that lane `source % 32` passed.
template <class T>
ZELLIGE_CALL T shfl_idx(T value, unsigned source) {
  static_assert(sizeof(T) == 4, "shfl_idx: a value of 4 bytes");
#if defined(ZELLIGE_EMULATE)
  return shuffle_emulated(
      value, [source](unsigned) { return source % 32; }, "shfl_idx");
#else
  return __shfl_sync(0xffffffffu, value, static_cast<int>(source));
#endif
}

/// Returns the value that lane lane_index() + delta passed; in the last `delta` lanes of the warp, returns the
/// thread's own value.
template <class T>
ZELLIGE_CALL T shfl_down(T value, unsigned delta) {
  static_assert(sizeof(T) == 4, "shfl_down: a value of 4 bytes");
#if defined(ZELLIGE_EMULATE)
  return shuffle_emulated(
      value, [delta](unsigned lane) { return lane + delta < 32 ? lane + delta : lane; }, "shfl_down");
#else
  return __shfl_down_sync(0xffffffffu, value, delta);
#endif
}

}  // namespace zellige
