// Implements ldmatrix, stmatrix and movmatrix on the CPU, for the emulator and the tests. The implementation uses
// only the two thread-value layouts in the instruction's descriptor: each bit moves from its position in the source
// layout to its position in the destination layout. Host code only.
#pragma once

#include <zellige/atom/mma_reference.hpp>

namespace zellige::reference {

/// Executes the ldmatrix, stmatrix or movmatrix that descriptor `row` describes, for all threads. operands.a[t] points
/// to the source of thread t: its registers, or the 16-byte row whose address it passes; it is null if the thread
/// passes no address. operands.d[t] points to the destination of thread t: registers, a row, or null.
inline void move_bits(const Instruction& row, const BodyOperands& operands) {
  uint16_t whole[256];  // the elements of up to four 8x8 matrices; the layouts never split one of them
  constexpr int unit = 16;
  const auto each = [&](const ThreadValue& layout, auto pointers, auto f) {
    const Offsets<32> threads(layout.threads);
    const Offsets<8> bits(layout.values, unit);
    for (int t = 0; t < threads.count; ++t) {
      const auto mine = pointers[t];
      if (!mine) continue;
      uint16_t* const first = whole + threads.at[t] / unit;
      for (int i = 0; i < bits.count; ++i) f(first[bits.at[i] / unit], mine, 2 * i);
    }
  };
  each(row.a.layout, operands.a, [](uint16_t& element, const void* from, int byte) {
    __builtin_memcpy(&element, static_cast<const char*>(from) + byte, sizeof(element));
  });
  each(row.c.layout, operands.d, [](uint16_t element, void* to, int byte) {
    __builtin_memcpy(static_cast<char*>(to) + byte, &element, sizeof(element));
  });
}

}  // namespace zellige::reference
