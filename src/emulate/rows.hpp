// The rows of the atom room's tables, as emulated kernels ask for them.
#pragma once
#include <zellige/atom/instruction.hpp>

namespace zellige::emulate {

/// The instruction of that name.
const Instruction& row_of(const char* name);

/// The warpgroup's product of that N and those types, "16.f32.f16.f16" as the mnemonic has them.
const Instruction& wgmma_row(unsigned n, const char* types, bool saturate, bool a_from_smem);

void run_body(const Instruction&, const BodyOperands&);

}  // namespace zellige::emulate
