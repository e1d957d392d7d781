// Finds the descriptors of PTX instructions (zellige/atom/instruction.hpp) by the names that an emulated kernel passes.
#pragma once
#include <zellige/atom/instruction.hpp>

namespace zellige::emulate {

/// Returns the descriptor (shape, types, layouts) of the instruction with this name. Aborts the process if none has it.
const Instruction& row_of(const char* name);

/// Returns the descriptor (shape, types and layouts) of the wgmma with this N. `types`: K and the types of D,
/// A and B, spelled as in the PTX mnemonic: "16.f32.f16.f16". `saturate`: the variant .satfinite.
/// `a_in_smem`: the A operand is in shared memory, not in registers. Aborts the process if there is none.
const Instruction& wgmma_row(unsigned n, const char* types, bool saturate, bool a_in_smem);

}  // namespace zellige::emulate
