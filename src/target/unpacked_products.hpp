// Instruction descriptors of matmuls of 8-bit floats that are unpacked to halves in registers (atom/mma_unpacked.hpp).
//
//   find_mma(target::find("sm_90a"), "e4m3", "e4m3", "f32")->name   // Unpacked<float_e4m3_t>; on sm_89 m16n8k32 itself
//
// The tensor cores of sm_90 multiply 8-bit floats by wgmma only. Its mma.sync of them is several instructions, which are
// slower than these. A descriptor has the shape and the layouts of that mma.sync.
#pragma once
#include <span>
#include <zellige/atom/instruction.hpp>

namespace zellige::target {

/// Returns the descriptors of all matmuls of unpacked 8-bit floats.
std::span<const Instruction> unpacked_products();

/// Returns how many matrix instructions a warp executes for one step of `row`: 2 for a row of unpacked_products(), else 1.
int instructions_in(const Instruction& row);

}  // namespace zellige::target
