// Which of the swizzles that an instruction admits its tiles in shared memory get: the column `swizzles` of an operand
// that a descriptor or TMA addresses.
//
//   widest_span(row.b)      // 128 of wgmma's B, which admits all four
#pragma once
#include <bit>
#include <cstdint>
#include <zellige/atom/instruction.hpp>
#include <zellige/atom/swizzle_mode.hpp>

namespace zellige::target {

/// Returns the widest swizzle of a set (bit i: SwizzleMode i), which must not be empty: the wider, the fewer bank conflicts.
constexpr SwizzleMode widest(unsigned swizzles) { return static_cast<SwizzleMode>(std::bit_width(swizzles) - 1); }
/// Returns the swizzle whose lines have `bytes` bytes; none for 0.
constexpr SwizzleMode swizzle_of(std::int64_t bytes) {
  return static_cast<SwizzleMode>(std::bit_width(static_cast<unsigned>(bytes) / swizzle_span(SwizzleMode::none)) -
                                  (bytes > 0));
}
/// Returns the bytes of a line of the widest swizzle that the operand admits.
constexpr int widest_span(const Instruction::Operand& operand) {
  return static_cast<int>(swizzle_span(widest(operand.swizzles)));
}

}  // namespace zellige::target
