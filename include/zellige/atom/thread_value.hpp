// Defines ThreadValue, a thread-value layout as a plain struct, for the tables of instructions. It maps (thread, value)
// to an offset, in the convention of CuTe's traits. For an MMA operand the offset is the colexicographic index into
// (M,K), (N,K) or (M,N). For a copy it is in bits.
//
//   constexpr ThreadValue c{{{4, 32}, {8, 1}}, {{2, 16}, {2, 8}}};     // ((4,8),(2,2)):((32,1),(16,8))
//   c(5, 3) == 32 * 1 + 1 * 1 + 16 * 1 + 8 * 1                         // thread 5 is (1,1), value 3 is (1,1)
//
// Host code only: device code has the layouts built into its instructions.
#pragma once

#include <zellige/layout/config.hpp>

namespace zellige {

/// A layout ((threads), (values)) with up to three modes each.
struct ThreadValue {
  struct Mode {
    int shape = 0, stride = 0;  // shape 0: the mode is absent
    bool operator==(const Mode&) const = default;
  };
  static constexpr int max_modes = 3;
  Mode threads[max_modes];
  Mode values[max_modes];

  bool operator==(const ThreadValue&) const = default;
  /// Returns the offset of value number `value` of thread `thread`.
  ZELLIGE_ALGEBRA constexpr int operator()(int thread, int value) const {
    return at(threads, thread) + at(values, value);
  }
  ZELLIGE_ALGEBRA constexpr int thread_count() const { return count(threads); }
  ZELLIGE_ALGEBRA constexpr int value_count() const { return count(values); }

 private:
  ZELLIGE_ALGEBRA static constexpr int at(const Mode (&modes)[max_modes], int index) {
    int result = 0;
    for (const Mode& mode : modes) {
      if (mode.shape == 0) break;
      result += index % mode.shape * mode.stride;
      index /= mode.shape;
    }
    return result;
  }
  ZELLIGE_ALGEBRA static constexpr int count(const Mode (&modes)[max_modes]) {
    int result = 1;
    for (const Mode& mode : modes) result *= mode.shape == 0 ? 1 : mode.shape;
    return result;
  }
};

}  // namespace zellige
