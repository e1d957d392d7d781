// Executes an instruction on the emulator: calls its reference body, the function that computes the instruction's
// result on the CPU. The body is found at run time, by the instruction's name, in the emulator's library, so that
// kernels need not compile it.
#pragma once

#include <zellige/atom/body.hpp>
#include <zellige/atom/config.hpp>
#include <zellige/emulate/device.hpp>

namespace zellige {

/// Returns the descriptor of the instruction with the CuTe name Name. Only the first call looks it up.
template <const char* Name>
[[gnu::noinline]] const Instruction& emulated_row() {
  static const Instruction& row = emulate::instruction(Name);
  return row;
}
/// Computes the results of the instruction with the CuTe name Name from the operands of all its threads.
template <const char* Name>
ZELLIGE_CALL void run_body(const BodyOperands& operands) {
  emulate::run_body(emulated_row<Name>(), operands);
}

}  // namespace zellige
