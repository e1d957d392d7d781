// The elements that a thread of a warpgroup owns, as formulas: PTX ISA's figures of wgmma, independent of the
// rows.
#pragma once
#include <zellige/atom/half.hpp>

namespace zellige {

struct WgmmaElement {
  int row, column;
};
/// Value v of thread t's accumulators.
constexpr WgmmaElement wgmma_element(int t, int v) {
  return {16 * (t / 32) + t % 32 / 4 + 8 * (v / 2 % 2), 8 * (v / 4) + 2 * (t % 4) + v % 2};
}
/// The i-th element of thread t's register r of the first operand; `per` to a register.
constexpr WgmmaElement wgmma_operand_element(int t, int r, int i, int per) {
  return {16 * (t / 32) + t % 32 / 4 + 8 * (r % 2), r / 2 * 4 * per + per * (t % 4) + i};
}

template <class T>
inline constexpr bool is_integer_operand = false;
template <>
inline constexpr bool is_integer_operand<int8_t> = true;
template <>
inline constexpr bool is_integer_operand<uint8_t> = true;

/// The accumulators' numbers: halves come two to a register.
template <class D>
struct wgmma_number {
  using type = D;
};
template <>
struct wgmma_number<uint32_t> {
  using type = half_t;
};

}  // namespace zellige
