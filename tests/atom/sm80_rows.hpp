// The rows that hardware.cu checks, docs/reference/instructions.md lists and the PTX has: sm80.hpp's copies,
// and the MMAs that mma.hpp issues.
#pragma once
#include <vector>
#include <zellige/atom/instruction_table.hpp>
#include <zellige/atom/mma.hpp>

namespace zellige {

inline std::vector<Instruction> sm80_rows() {
  std::vector<Instruction> rows(std::begin(sm80_instructions), std::end(sm80_instructions));
  for (const char* name :
       {SM80_16x8x16_F32F16F16F32_TN::name, SM80_16x8x16_F16F16F16F16_TN::name, SM80_16x8x16_F32BF16BF16F32_TN::name,
        SM80_16x8x8_F32F16F16F32_TN::name, SM80_16x8x8_F16F16F16F16_TN::name, SM80_16x8x8_F32BF16BF16F32_TN::name,
        SM80_16x8x8_F32TF32TF32F32_TN::name, SM80_16x8x4_F32TF32TF32F32_TN::name})
    rows.push_back(*find_instruction(name));
  return rows;
}

}  // namespace zellige
