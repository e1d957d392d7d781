// The reference body of ldmatrix, stmatrix and movmatrix, from their rows alone: moves each bit from its
// place in the source layout to its place in the destination layout. Host code only.
#pragma once

#include <zellige/atom/mma_reference.hpp>

namespace zellige::reference {

/// operands.a: each thread's registers, or the 16 bytes that it addresses; operands.d: the same at the other end.
inline void move_bits(const Instruction& row, const BodyOperands& operands) {
  uint16_t whole[256];  // of four 8x8 matrices; no layout splits a unit
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
