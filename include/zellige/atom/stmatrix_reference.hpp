// What stmatrix and movmatrix do, as pure functions of what the 32 threads hold: the definition that the
// emulator runs, the tests examine and the hardware is compared with. Host code only.
#pragma once

#include <zellige/atom/config.hpp>

namespace zellige::reference {

/// registers[t][i] are thread t's two elements of matrix i; rows[8 i + j] is where row j of it goes, 16
/// bytes.
template <int Matrices, bool Transposed>
void stmatrix(const uint32_t (*registers)[Matrices], void* const* rows) {
  for (int i = 0; i < Matrices; ++i) {
    uint16_t matrix[8][8];
    for (int t = 0; t < 32; ++t) {
      const int line = t / 4, first = 2 * (t % 4);
      const auto low = static_cast<uint16_t>(registers[t][i]);
      const auto high = static_cast<uint16_t>(registers[t][i] >> 16);
      (Transposed ? matrix[first][line] : matrix[line][first]) = low;
      (Transposed ? matrix[first + 1][line] : matrix[line][first + 1]) = high;
    }
    for (int j = 0; j < 8; ++j) __builtin_memcpy(rows[8 * i + j], matrix[j], 16);
  }
}

/// The transpose of an 8x8 matrix of 16-bit elements, held as ldmatrix leaves it.
inline void movmatrix(const uint32_t (&from)[32], uint32_t (&to)[32]) {
  const auto element = [&](int row, int column) {
    return from[4 * row + column / 2] >> 16 * (column % 2) & 0xffffu;
  };
  for (int t = 0; t < 32; ++t) to[t] = element(2 * (t % 4), t / 4) | element(2 * (t % 4) + 1, t / 4) << 16;
}

}  // namespace zellige::reference
