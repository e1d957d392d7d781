// wgmma on the emulator: the warpgroup meets, the engine reads the operands in shared memory and keeps the
// result until the wait, the reference body computes it.
#pragma once

#include <zellige/atom/wgmma_reference.hpp>
#include <zellige/emulate/device.hpp>

namespace zellige {

template <class T, class U, class D, bool Saturate>
void wgmma_body(const emulate::WgmmaOperands& o) {
  constexpr int k = 32 / sizeof(T), per = 4 / sizeof(T);
  T from_registers[64 * k];
  const T* a = reinterpret_cast<const T*>(o.a);
  if (o.ra) {
    for (int t = 0; t < 128; ++t) {
      for (int r = 0; r < 4; ++r) {
        T values[per];
        __builtin_memcpy(static_cast<void*>(values), &o.ra[t][r], 4);
        for (int i = 0; i < per; ++i) {
          const reference::WgmmaElement at = reference::wgmma_operand_element(t, r, i, per);
          from_registers[at.row * k + at.column] = values[i];
        }
      }
    }
    a = from_registers;
  }
  reference::wgmma<T, U, D, Saturate>(static_cast<int>(o.n), k, a, reinterpret_cast<const U*>(o.b), o.c, o.d,
                                      o.accumulate, o.sign_a, o.sign_b);
}

template <class T, class U, int N, bool Saturate, class D, int R>
ZELLIGE_CALL void wgmma_emulated(D (&d)[R], const uint32_t* ra, uint64_t a, uint64_t b, Major major_a,
                                 Major major_b, int sign_a, int sign_b, bool accumulate) {
  if (accumulate && !is_integer_register<D>)
    emulate::look_for_unwritten<wgmma_type<T, U, D>::packed == 1 ? 4 : 2>(d, sizeof(d),
                                                                          emulate::Use::accumulates);
  if (emulate::number_bytes<T> != 0 && ra)
    emulate::look_for_unwritten<emulate::number_bytes<T>>(ra, 16, emulate::Use::multiplies);
  const emulate::WgmmaCall call{d,
                                sizeof(d),
                                ra,
                                a,
                                b,
                                N,
                                32 / sizeof(T),
                                sizeof(T),
                                major_a == Major::MN,
                                major_b == Major::MN,
                                accumulate,
                                !is_integer_register<D> && wgmma_type<T, U, D>::packed == 1,
                                sign_a,
                                sign_b,
                                wgmma_body<T, U, D, Saturate>};
  emulate::wgmma(call);
}

}  // namespace zellige
