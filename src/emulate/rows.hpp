// The instruction descriptors of include/zellige/atom, looked up by emulated kernels.
#pragma once
#include <zellige/atom/instruction.hpp>

namespace zellige::emulate {

/// The instruction of that name.
const Instruction& row_of(const char* name);

/// The wgmma with that N and those types, spelled as in the mnemonic: "16.f32.f16.f16".
const Instruction& wgmma_row(unsigned n, const char* types, bool saturate, bool a_from_smem);

void run_body(const Instruction&, const BodyOperands&);

}  // namespace zellige::emulate
