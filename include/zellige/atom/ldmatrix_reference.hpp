// What ldmatrix computes, as a pure function of the rows that its threads address: the definition that the
// emulator runs, the tests examine and the hardware is compared with. Host code only.
#pragma once

#include <zellige/atom/config.hpp>

namespace zellige::reference {

/// rows[8 i + j] is where row j of matrix i lies, 16 bytes; registers[t][i] receives thread t's two elements
/// of matrix i.
template <int Matrices, bool Transposed>
void ldmatrix(const void* const* rows, uint32_t (*registers)[Matrices]) {
  for (int i = 0; i < Matrices; ++i) {
    uint16_t matrix[8][8];
    for (int j = 0; j < 8; ++j) __builtin_memcpy(matrix[j], rows[8 * i + j], 16);
    for (int t = 0; t < 32; ++t) {
      const int line = t / 4, first = 2 * (t % 4);
      const uint32_t low = Transposed ? matrix[first][line] : matrix[line][first];
      const uint32_t high = Transposed ? matrix[first + 1][line] : matrix[line][first + 1];
      registers[t][i] = low | high << 16;
    }
  }
}

}  // namespace zellige::reference
