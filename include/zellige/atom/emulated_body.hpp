// Calls an instruction's reference body (the function that computes its result on the CPU) on the emulator.
// Bodies are called by the instruction's name, through the emulator's library, so that kernels do not compile
// them.
#pragma once

#include <zellige/atom/body.hpp>
#include <zellige/atom/config.hpp>
#include <zellige/emulate/device.hpp>

namespace zellige {

/// Returns the descriptor of the instruction with this CuTe name. It is looked up at the first call only.
template <const char* Name>
[[gnu::noinline]] const Instruction& emulated_row() {
  static const Instruction& row = emulate::instruction(Name);
  return row;
}
/// Computes the results of the instruction with this CuTe name from the operands of all its threads.
template <const char* Name>
ZELLIGE_CALL void run_body(const BodyOperands& operands) {
  emulate::run_body(emulated_row<Name>(), operands);
}

}  // namespace zellige
