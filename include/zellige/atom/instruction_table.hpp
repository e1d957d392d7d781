// Finds instructions at run time: instructions() returns the instructions of all architectures,
// find_instruction(name) the instruction with a given CuTe name.
//
//   for (const Instruction& row : instructions())
//     if (row.kind == Instruction::Kind::mma && row.compute_capability <= 80) fmt::print("{}\n", row.name);
//   const Instruction* row = find_instruction("SM80_16x8x16_F32F16F16F32_TN");
//   to_string(row->c.layout)                                      // ((_4,_8),(_2,_2)):((_32,_1),(_16,_8))
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <zellige/atom/instruction_rows.hpp>

namespace zellige {

/// Returns all instructions: those of sm80.hpp, mma_traits/table.hpp and sm90.hpp.
inline std::span<const Instruction> instructions() { return detail::instruction_rows().rows; }

/// Returns the instructions of SM120 on floats of 4, 6 and 8 bits, mma_traits/narrow_table.hpp. The planner has no target
/// that has them, so they are none of instructions().
inline std::span<const Instruction> narrow_instructions() { return detail::narrow_instruction_rows().rows; }

/// Returns the instruction with this CuTe name, or nullptr if there is none.
inline const Instruction* find_instruction(std::string_view name) {
  for (const Instruction& row : instructions())
    if (row.name == name) return &row;
  for (const Instruction& row : narrow_instructions())
    if (row.name == name) return &row;
  return nullptr;
}

/// Returns the layout in CuTe's notation, such as ((_4,_8),(_2,_2)):((_32,_1),(_16,_8)). A single mode of the
/// threads or of the values has no parentheses.
inline std::string to_string(const ThreadValue& layout) {
  std::string text;
  const auto group = [&](const ThreadValue::Mode(&modes)[ThreadValue::max_modes], int ThreadValue::Mode::*part) {
    const bool parentheses = modes[1].shape != 0;
    if (parentheses) text += '(';
    for (const auto& mode : modes) {
      if (mode.shape == 0) break;
      if (&mode != modes) text += ',';
      text += '_';
      text += std::to_string(mode.*part);
    }
    if (parentheses) text += ')';
  };
  const auto both = [&](int ThreadValue::Mode::*part) {
    text += '(';
    group(layout.threads, part);
    text += ',';
    group(layout.values, part);
    text += ')';
  };
  both(&ThreadValue::Mode::shape);
  text += ':';
  both(&ThreadValue::Mode::stride);
  return text;
}

}  // namespace zellige
