// Implements wgmma on the emulator, as a warpgroup collective. The emulator reads the operands in shared memory, runs
// the instruction's reference implementation, and makes the result available at wgmma_wait.
#pragma once

#include <zellige/atom/wgmma_type.hpp>
#include <zellige/emulate/device.hpp>

namespace zellige {

/// Performs wgmma on the emulator: d = a b + (accumulate ? d : 0). If A is in registers, `ra` points to them;
/// otherwise it is null and a is A's descriptor. b is B's descriptor.
template <class T, class U, int N, bool Saturate, class D, int R>
ZELLIGE_CALL void wgmma_emulated(D (&d)[R], const uint32_t* ra, uint64_t a, uint64_t b, Major major_a, Major major_b,
                                 int sign_a, int sign_b, bool accumulate) {
  if (accumulate && !is_integer_register<D>)
    emulate::look_for_unwritten<wgmma_type<T, U, D>::packed == 1 ? 4 : 2>(d, sizeof(d), emulate::Use::accumulates);
  if (emulate::number_bytes<T> != 0 && ra)
    emulate::look_for_unwritten<emulate::number_bytes<T>>(ra, 16, emulate::Use::multiplies);
  const emulate::WgmmaCall call{d,
                                ra,
                                a,
                                b,
                                wgmma_type<T, U, D>::text,
                                N,
                                Saturate,
                                major_a == Major::MN,
                                major_b == Major::MN,
                                accumulate,
                                sign_a * sign_b};
  emulate::wgmma(call);
}

}  // namespace zellige
